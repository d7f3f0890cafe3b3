// A dimension of size 2.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", ones::<f32>(&[2, 1])?.squeeze_t(0).unwrap_err());
    Ok(())
}
// prints: invalid argument: squeeze: dimension 0 has size 2, expected 1
