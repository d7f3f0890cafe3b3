// A bound of one element.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let (x, low) = (Tensor::new(&[1f32, 2.], &Cpu)?, Tensor::new(&[1.5f32], &Cpu)?);
    println!("{:?}", x.broadcast_maximum(&low)?.to_vec1::<f32>()?);
    println!("{}", x.clamp(&low, 3f32).unwrap_err());
    Ok(())
}
// prints: [1.5, 2.0]
// shape mismatch in maximum, lhs: [2], rhs: [1]
