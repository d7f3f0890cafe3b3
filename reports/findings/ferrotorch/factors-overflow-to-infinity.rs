// A factor that f32 does not have.
use ferrotorch_core::grad_fns::arithmetic::add_scaled;
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    let x = ones::<f32>(&[1])?;
    println!("{:?}", add_scaled(&x, &x, 1e39)?.data()?);
    Ok(())
}
// prints: [inf]
