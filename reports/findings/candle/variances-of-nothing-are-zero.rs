// The variance of no elements.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{:?}", Tensor::zeros((2, 0), F32, &Cpu)?.var(1)?.to_vec1::<f32>()?);
    Ok(())
}
// prints: [0.0, 0.0]
