// A vector and two.
use ferrotorch_core::{FerrotorchResult, linalg, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", linalg::cross(&ones::<f32>(&[1, 3])?, &ones(&[2, 3])?, -1).unwrap_err());
    Ok(())
}
// prints: invalid argument: cross: inputs must share the same shape, got [1, 3] and [2, 3]
