// Two times backward, whose gradients add up.
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    let x = scalar(3f32)?.requires_grad_(true);
    let square = x.mul_t(&x)?;
    for _ in 0..2 {
        square.backward()?;
        println!("{:?}", x.grad()?.unwrap().data()?);
    }
    Ok(())
}
// prints: [6.0]
// [12.0]
