// Integers and a fraction, and bytes less one.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{:?}", (Tensor::new(&[1i64, 2], &Cpu)? + 0.5)?.to_vec1::<i64>()?);
    println!("{:?}", (Tensor::new(&[1i64, 2], &Cpu)? * 0.5)?.to_vec1::<i64>()?);
    println!("{:?}", (Tensor::new(&[5u8], &Cpu)? - 1.)?.to_vec1::<u8>()?);
    Ok(())
}
// prints: [1, 2]
// [0, 0]
// [5]
