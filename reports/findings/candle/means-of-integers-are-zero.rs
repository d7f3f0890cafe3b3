// The mean of 2 and 4.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(&[2i64, 4], &Cpu)?.mean(0)?.to_scalar::<i64>()?);
    Ok(())
}
// prints: 0
