// Matrices of integers.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[[1i64]], &Cpu)?;
    println!("{}", x.matmul(&x).unwrap_err());
    Ok(())
}
// prints: unsupported dtype I64 for op matmul
