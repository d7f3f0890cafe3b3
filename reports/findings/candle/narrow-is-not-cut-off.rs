// A range from beyond the end.
use candle_core::{Device::Cpu, IndexOp, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(&[1f32, 2.], &Cpu)?.i(5..).unwrap_err());
    Ok(())
}
// prints: narrow invalid args start > dim_len: [2], dim: 0, start: 5, len:0
