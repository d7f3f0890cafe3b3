// t of three dimensions, and of one.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{:?}", Tensor::zeros((2, 3, 4), F32, &Cpu)?.t()?.dims());
    println!("{}", Tensor::zeros(3, F32, &Cpu)?.t().unwrap_err());
    Ok(())
}
// prints: [2, 4, 3]
// unexpected rank, expected: 2, got: 1 ([3])
