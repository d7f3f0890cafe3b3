// 0 to the power of 0, and -2 to the power of 2, by a tensor and by a number.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let (x, y) = (Tensor::new(&[0f32, -2.], &Cpu)?, Tensor::new(&[0f32, 2.], &Cpu)?);
    println!("{:?}", x.broadcast_pow(&y)?.to_vec1::<f32>()?);
    println!("{:?}", x.powf(2.)?.to_vec1::<f32>()?);
    Ok(())
}
// prints: [NaN, NaN]
// [0.0, 4.0]
