// The norm of order -2 of no elements.
use ferrotorch_core::{FerrotorchResult, linalg, zeros};

fn main() -> FerrotorchResult<()> {
    println!("{:?}", linalg::vector_norm(&zeros::<f32>(&[0])?, -2.)?.data()?);
    Ok(())
}
// prints: [inf]
