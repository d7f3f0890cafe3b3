// One index for two rows: the elements are there, their gradient is not.
use candle_core::{Device::Cpu, Result, Tensor, Var};

fn main() -> Result<()> {
    let x = Var::new(&[[1f32, 2.], [3., 4.]], &Cpu)?;
    let taken = x.gather(&Tensor::new(&[[1u32]], &Cpu)?, 1)?;
    println!("{:?}", taken.to_vec2::<f32>()?);
    println!("{}", taken.backward().unwrap_err());
    Ok(())
}
// prints: [[2.0]]
// shape mismatch in scatter (self, src), lhs: [2, 2], rhs: [1, 1]
