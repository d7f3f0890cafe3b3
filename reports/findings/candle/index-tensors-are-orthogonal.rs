// Two vectors of indices, and an index of two dimensions.
use candle_core::{Device::Cpu, IndexOp, Result, Tensor};

fn main() -> Result<()> {
    let (x, index) = (Tensor::new(&[[1f32, 2.], [3., 4.]], &Cpu)?, Tensor::new(&[0u32, 1], &Cpu)?);
    println!("{:?}", x.i((&index, &index))?.to_vec2::<f32>()?);
    println!("{}", x.i(&index.unsqueeze(0)?).unwrap_err());
    Ok(())
}
// prints: [[1.0, 2.0], [3.0, 4.0]]
// multi-dimensional tensor indexing is not supported
