// A quotient of integers.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let quotient = Tensor::new(&[1i64, 3, -3], &Cpu)?.broadcast_div(&Tensor::new(&[2i64], &Cpu)?)?;
    println!("{:?}", quotient.to_vec1::<i64>()?);
    Ok(())
}
// prints: [0, 1, -1]
