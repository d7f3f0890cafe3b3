// The maximum of NaN and 1, and of 1 and NaN.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let (nan, one) = (Tensor::new(&[f32::NAN], &Cpu)?, Tensor::new(&[1f32], &Cpu)?);
    println!("{:?} {:?}", nan.maximum(&one)?.to_vec1::<f32>()?, one.maximum(&nan)?.to_vec1::<f32>()?);
    println!("{}", Tensor::new(&[1f32, f32::NAN], &Cpu)?.max(0)?);
    Ok(())
}
// prints: [NaN] [1.0]
// [1.]
// Tensor[[], f32]
