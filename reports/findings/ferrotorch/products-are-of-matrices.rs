// A vector and a matrix.
use ferrotorch_core::{FerrotorchResult, linalg, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", linalg::kron(&ones::<f32>(&[2])?, &ones(&[2, 1])?).unwrap_err());
    Ok(())
}
// prints: invalid argument: kron: only 2-D × 2-D supported here, got [2] and [2, 1]
