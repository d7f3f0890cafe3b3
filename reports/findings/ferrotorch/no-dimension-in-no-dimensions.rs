// Dimension 0 of none.
use ferrotorch_core::{FerrotorchResult, IntTensor, scalar};

fn main() -> FerrotorchResult<()> {
    let x = scalar(3f32)?;
    println!("{}", x.squeeze_t(0).unwrap_err());
    println!("{}", x.sum_dim(0, false).unwrap_err());
    println!("{}", x.index_select(0, &IntTensor::scalar(0i64)).unwrap_err());
    Ok(())
}
// prints: invalid argument: axis 0 is out of bounds for tensor with 0 dimensions
// invalid argument: sum_dim: cannot reduce a scalar (0-D) tensor along a dimension
// invalid argument: axis 0 is out of bounds for tensor with 0 dimensions
