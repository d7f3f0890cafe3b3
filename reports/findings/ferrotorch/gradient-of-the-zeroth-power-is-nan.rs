// The gradient of the sum of x ** 0 by x.
use ferrotorch_core::{FerrotorchResult, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = from_slice(&[3f32, 0.], &[2])?.requires_grad_(true);
    x.pow_t(0.)?.sum_all()?.backward()?;
    println!("{:?}", x.grad()?.expect("x requires grad").data()?);
    Ok(())
}
// prints: [0.0, NaN]
