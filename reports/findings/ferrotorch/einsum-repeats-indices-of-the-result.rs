// The index i, twice on the right.
use ferrotorch_core::{FerrotorchResult, einsum, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = einsum("i->ii", &[&from_slice(&[1f32, 2.], &[2])?])?;
    println!("{:?} {:?}", x.shape(), x.data()?);
    Ok(())
}
// prints: [2, 2] [1.0, 2.0, 1.0, 2.0]
