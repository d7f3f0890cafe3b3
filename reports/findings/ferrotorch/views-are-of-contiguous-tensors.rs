// A dimension that is split in two after a permutation.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", ones::<f32>(&[4, 3])?.t()?.view(&[3, 2, 2]).unwrap_err());
    Ok(())
}
// prints: invalid argument: view: tensor must be contiguous; call .contiguous() first
