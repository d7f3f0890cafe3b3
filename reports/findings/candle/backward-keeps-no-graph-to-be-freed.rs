// Two times backward, each with gradients of its own.
use candle_core::{Device::Cpu, Result, Var};

fn main() -> Result<()> {
    let x = Var::new(&[3f32], &Cpu)?;
    let square = (x.as_tensor() * x.as_tensor())?;
    for _ in 0..2 {
        println!("{:?}", square.backward()?.get(&x).unwrap().to_vec1::<f32>()?);
    }
    Ok(())
}
// prints: [6.0]
// [6.0]
