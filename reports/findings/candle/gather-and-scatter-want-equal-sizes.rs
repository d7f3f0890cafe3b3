// A source that is larger than the indices.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let (x, index) = (Tensor::new(&[1f32, 2., 3.], &Cpu)?, Tensor::new(&[0u32], &Cpu)?);
    println!("{}", x.scatter(&index, &Tensor::new(&[7f32, 8.], &Cpu)?, 0).unwrap_err());
    println!("{}", x.gather(&Tensor::new(0u32, &Cpu)?, 0).unwrap_err());
    Ok(())
}
// prints: shape mismatch in scatter (indexes, src), lhs: [1], rhs: [2]
// shape mismatch in gather, lhs: [3], rhs: []
