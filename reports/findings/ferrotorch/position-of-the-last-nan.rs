// NaN at 1 and at 2.
use ferrotorch_core::{FerrotorchResult, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = from_slice(&[1f32, f32::NAN, f32::NAN], &[3])?;
    println!("{:?} {:?}", x.argmax_t()?.data()?, x.argmin_t()?.data()?);
    Ok(())
}
// prints: [2] [2]
