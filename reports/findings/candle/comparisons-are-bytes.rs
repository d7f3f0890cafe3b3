// A comparison, and what it is no factor for.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[1f32, 3.], &Cpu)?;
    let large = x.gt(2f32)?;
    println!("{:?}", large.dtype());
    println!("{}", large.broadcast_mul(&x).unwrap_err());
    Ok(())
}
// prints: U8
// dtype mismatch in mul, lhs: U8, rhs: F32
