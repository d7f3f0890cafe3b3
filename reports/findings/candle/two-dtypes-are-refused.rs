// A vector of integers and one of floats.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(&[1i64], &Cpu)?.broadcast_add(&Tensor::new(&[1f32], &Cpu)?).unwrap_err());
    Ok(())
}
// prints: dtype mismatch in add, lhs: I64, rhs: F32
