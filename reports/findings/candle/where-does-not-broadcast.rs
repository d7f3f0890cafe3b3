// A condition for two rows.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let (rows, condition) = (Tensor::new(&[[1f32], [2.]], &Cpu)?, Tensor::new(&[1u8], &Cpu)?);
    println!("{}", condition.where_cond(&rows, &rows).unwrap_err());
    Ok(())
}
// prints: shape mismatch in where_cond, lhs: [1], rhs: [2, 1]
