// A vector.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", ones::<f32>(&[3])?.t().unwrap_err());
    Ok(())
}
// prints: invalid argument: transpose_2d requires 2-D tensor, got [3]
