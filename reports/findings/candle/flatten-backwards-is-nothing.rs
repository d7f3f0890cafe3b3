// From dimension 1 to dimension 0.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{:?}", Tensor::zeros((2, 3), F32, &Cpu)?.flatten(1, 0)?.dims());
    Ok(())
}
// prints: [2, 3]
