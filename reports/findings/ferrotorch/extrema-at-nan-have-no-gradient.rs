// The largest of 1 and NaN.
use ferrotorch_core::grad_fns::reduction::amax_dim;
use ferrotorch_core::{FerrotorchResult, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = from_slice(&[1f32, f32::NAN], &[2])?.requires_grad_(true);
    amax_dim(&x, 0, false)?.backward()?;
    println!("{:?}", x.grad()?.unwrap().data()?);
    Ok(())
}
// prints: [0.0, 0.0]
