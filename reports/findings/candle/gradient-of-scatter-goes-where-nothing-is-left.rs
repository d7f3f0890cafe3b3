// The first element is written over, and has a gradient.
use candle_core::{Device::Cpu, Result, Tensor, Var};

fn main() -> Result<()> {
    let x = Var::new(&[1f32, 2.], &Cpu)?;
    let y = x.scatter(&Tensor::new(&[0u32], &Cpu)?, &Tensor::new(&[9f32], &Cpu)?, 0)?;
    println!("{:?}", y.to_vec1::<f32>()?);
    println!("{:?}", y.backward()?.get(&x).unwrap().to_vec1::<f32>()?);
    Ok(())
}
// prints: [9.0, 2.0]
// [1.0, 1.0]
