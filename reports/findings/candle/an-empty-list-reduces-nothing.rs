// A sum over no dimensions.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{:?}", Tensor::new(&[[1f32, 2.]], &Cpu)?.sum(())?.dims());
    Ok(())
}
// prints: [1, 2]
