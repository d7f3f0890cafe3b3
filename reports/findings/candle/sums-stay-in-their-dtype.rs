// A sum of bytes.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(&[200u8, 100], &Cpu)?.sum_all()?.to_scalar::<u8>()?);
    Ok(())
}
// prints: 44
