// A batch of one matrix, and one for a batch.
use ferrotorch_core::{FerrotorchResult, linalg, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", linalg::solve(&ones::<f32>(&[1, 1, 1])?, &ones(&[1, 1])?).unwrap_err());
    println!("{}", linalg::solve(&ones::<f32>(&[1, 1])?, &ones(&[2, 1, 1])?).unwrap_err());
    Ok(())
}
// prints: invalid argument: solve: `a` must be 2-D, got [1, 1, 1]
// shape mismatch: solve: b must be 1D or 2D
