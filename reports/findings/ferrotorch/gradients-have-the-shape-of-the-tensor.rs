// A row of ones for each of two rows.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    let x = ones::<f32>(&[3])?.requires_grad_(true);
    println!("{}", x.neg_t()?.backward_with_gradient(&ones(&[2, 3])?).unwrap_err());
    Ok(())
}
// prints: shape mismatch: gradient shape [2, 3] does not match root shape [3]
