// A summand of three for a product of two.
use ferrotorch_core::{FerrotorchResult, linalg, ones};

fn main() -> FerrotorchResult<()> {
    let (matrix, vector) = (ones::<f32>(&[2, 2])?, ones(&[2])?);
    println!("{}", linalg::addmv(&ones(&[3])?, &matrix, &vector, 1., 1.).unwrap_err());
    Ok(())
}
// prints: shape mismatch: cannot broadcast [3] to [2]
