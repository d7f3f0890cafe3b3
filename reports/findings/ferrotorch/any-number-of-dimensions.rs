// A sum along one of 65 dimensions.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", ones::<f32>(&[1; 65])?.sum_dim(0, false)?.ndim());
    Ok(())
}
// prints: 64
