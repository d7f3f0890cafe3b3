// A slope for each column.
use ferrotorch_core::grad_fns::activation::prelu;
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", prelu(&ones::<f32>(&[2, 3])?, &ones(&[3])?).unwrap_err());
    Ok(())
}
// prints: shape mismatch: prelu: alpha must be a scalar (numel==1), got shape [3]
