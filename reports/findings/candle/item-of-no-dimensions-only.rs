// One element in one dimension.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(&[1f32], &Cpu)?.to_scalar::<f32>().unwrap_err());
    Ok(())
}
// prints: unexpected rank, expected: 0, got: 1 ([1])
