// A sum over dimension 0 of a tensor that has none.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::new(3f32, &Cpu)?.sum(0).unwrap_err());
    Ok(())
}
// prints: sum: dimension index 0 out of range for shape []
