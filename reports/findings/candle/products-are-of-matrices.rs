// A matrix and a vector.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let (matrix, vector) = (Tensor::ones((2, 3), F32, &Cpu)?, Tensor::ones(3, F32, &Cpu)?);
    println!("{}", matrix.broadcast_matmul(&vector).unwrap_err());
    Ok(())
}
// prints: only 2d matrixes are supported [2, 3] [3]
