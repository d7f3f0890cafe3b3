// An index of no dimensions for a vector, and no indices for a matrix.
use ferrotorch_core::{FerrotorchResult, IntTensor, ones, scatter};

fn main() -> FerrotorchResult<()> {
    println!("{}", ones::<f32>(&[3])?.gather(0, &IntTensor::scalar(0i64)).unwrap_err());
    println!("{}", scatter(&ones::<f32>(&[2, 3])?, 0, &[], &[0], &ones(&[0])?).unwrap_err());
    Ok(())
}
// prints: shape mismatch: gather: index ndim 0 != input ndim 1
// invalid argument: gather/scatter: input ndim (2) must equal index ndim (1)
