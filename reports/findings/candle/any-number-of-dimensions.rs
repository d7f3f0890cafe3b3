// A sum over one of 65 dimensions.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::zeros(vec![1; 65], F32, &Cpu)?.sum(0)?.rank());
    Ok(())
}
// prints: 64
