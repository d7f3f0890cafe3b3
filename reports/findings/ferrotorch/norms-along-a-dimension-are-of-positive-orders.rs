// The largest of a row.
use ferrotorch_core::{FerrotorchResult, norm_with_dim, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", norm_with_dim(&ones::<f32>(&[2, 2])?, f64::INFINITY, 1, false).unwrap_err());
    Ok(())
}
// prints: invalid argument: norm_with_dim: p must be finite and > 0; got inf. Other norms (inf, 0) are non-differentiable / piecewise and tracked separately.
