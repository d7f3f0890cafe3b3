// -1 is no index.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[10f32, 20.], &Cpu)?;
    println!("{}", x.index_select(&Tensor::new(&[-1i64], &Cpu)?, 0).unwrap_err());
    Ok(())
}
// prints: index-select invalid index 18446744073709551615 with dim size 2
