// The logarithm of an infinite sum.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(&[f32::INFINITY, 1.], &Cpu)?.log_sum_exp(0)?.to_scalar::<f32>()?);
    Ok(())
}
// prints: NaN
