// A variable with no element in the result.
use candle_core::{Device::Cpu, Result, Tensor, Var};

fn main() -> Result<()> {
    let x = Var::new(&[1f32], &Cpu)?;
    let empty = Tensor::zeros(0, candle_core::DType::F32, &Cpu)?;
    println!("{}", empty.broadcast_mul(&x)?.sum_all()?.backward()?.get(&x).is_none());
    Ok(())
}
// prints: true
