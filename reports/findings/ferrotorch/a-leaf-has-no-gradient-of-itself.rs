// The derivative of x by x.
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    let x = scalar(3f32)?.requires_grad_(true);
    x.backward()?;
    println!("{}", x.grad()?.is_none());
    Ok(())
}
// prints: true
