// Integers to a number, and to a tensor.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[2i64], &Cpu)?;
    println!("{}", x.powf(2.).unwrap_err());
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| x.pow(&x).is_ok())).unwrap_err();
    println!("{}", panic.downcast::<&str>().unwrap());
    Ok(())
}
// prints: unsupported dtype I64 for op powf
// not yet implemented: no unary function for i64
