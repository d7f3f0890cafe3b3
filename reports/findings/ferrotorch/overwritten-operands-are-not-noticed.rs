// The derivative of xy by x is y, which was 2 when it was used.
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    let (x, y) = (scalar(3f32)?.requires_grad_(true), scalar(2f32)?);
    let product = x.mul_t(&y)?;
    y.fill_(5.)?;
    product.backward()?;
    println!("{:?}", x.grad()?.unwrap().data()?);
    Ok(())
}
// prints: [5.0]
