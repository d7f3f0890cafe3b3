// The gradient of a maximum that is NaN.
use candle_core::{Device::Cpu, Result, Tensor, Var};

fn main() -> Result<()> {
    let x = Var::new(&[f32::NAN], &Cpu)?;
    let gradients = x.maximum(&Tensor::new(&[2f32], &Cpu)?)?.backward()?;
    println!("{:?}", gradients.get(&x).unwrap().to_vec1::<f32>()?);
    Ok(())
}
// prints: [0.0]
