// The dtype of a position.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{:?}", Tensor::new(&[1f32, 3., 2.], &Cpu)?.argmax(0)?.dtype());
    Ok(())
}
// prints: U32
