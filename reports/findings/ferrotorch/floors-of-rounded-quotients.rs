// 17 / 0.1 as f32 is less than 170, and rounded to it.
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    let (a, b) = (scalar(17f32)?, scalar(0.1f32)?.requires_grad_(true));
    let remainder = a.remainder_t(&b)?;
    remainder.backward()?;
    println!("{:?} {:?}", remainder.data()?, b.grad()?.unwrap().data()?);
    Ok(())
}
// prints: [0.09999975] [-170.0]
