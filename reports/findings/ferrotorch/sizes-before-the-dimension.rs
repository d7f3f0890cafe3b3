// No sizes for dimension 7, and batches and inner sizes that do not fit.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", ones::<f32>(&[2])?.unflatten_t(7, &[]).unwrap_err());
    println!("{}", ones::<f32>(&[2, 2, 3])?.matmul(&ones(&[5, 7, 4])?).unwrap_err());
    Ok(())
}
// prints: invalid argument: unflatten: sizes must be non-empty
// shape mismatch: matmul: inner dimensions mismatch: [2, 2, 3] @ [5, 7, 4]
