// Rows of a transposed matrix.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[[1f32, 2.], [3., 4.]], &Cpu)?.t()?;
    println!("{}", x.index_select(&Tensor::new(&[0u32], &Cpu)?, 0).unwrap_err());
    Ok(())
}
// prints: index-select only supports contiguous tensors
