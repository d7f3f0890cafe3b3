// Three elements, and an operand that is no variable.
use candle_core::{Device::Cpu, Result, Tensor, Var};

fn main() -> Result<()> {
    let (x, y) = (Var::new(&[1f32], &Cpu)?, Tensor::new(&[1f32, 2., 3.], &Cpu)?);
    let gradients = x.broadcast_add(&y)?.backward()?;
    println!("{:?}", gradients.get(&x).unwrap().to_vec1::<f32>()?);
    println!("{:?}", gradients.get(&y).unwrap().to_vec1::<f32>()?);
    println!("{}", y.backward().is_ok());
    Ok(())
}
// prints: [3.0]
// [1.0, 1.0, 1.0]
// true
