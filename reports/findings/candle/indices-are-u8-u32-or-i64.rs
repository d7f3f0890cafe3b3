// Bytes are indices, int32 are none.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[10f32, 20.], &Cpu)?;
    println!("{:?}", x.index_select(&Tensor::new(&[0u8, 1, 1], &Cpu)?, 0)?.to_vec1::<f32>()?);
    println!("{}", x.index_select(&Tensor::new(&[0i32], &Cpu)?, 0).unwrap_err());
    Ok(())
}
// prints: [10.0, 20.0, 20.0]
// unsupported dtype F32 for op index-select
