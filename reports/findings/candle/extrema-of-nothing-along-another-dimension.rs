// Of no rows there is no maximum for a row that is not there.
use candle_core::{DType::F32, Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    println!("{}", Tensor::zeros((0, 3), F32, &Cpu)?.max(1).unwrap_err());
    Ok(())
}
// prints: empty tensor for reduce
