// Beyond the end of a row, before its beginning, and beyond all.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrotorch_core::{FerrotorchResult, IntTensor, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = from_slice(&[1f32, 2., 3., 4.], &[2, 2])?;
    println!("{:?}", x.gather(1, &IntTensor::from_slice(&[2i64, -1], &[2, 1])?)?.data()?);
    let beyond = IntTensor::from_slice(&[2i64], &[1])?;
    println!("{}", catch_unwind(AssertUnwindSafe(|| x.index_select(0, &beyond))).is_err());
    Ok(())
}
// prints: [3.0, 2.0]
// true
