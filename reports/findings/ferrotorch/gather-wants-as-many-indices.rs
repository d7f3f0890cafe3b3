// One index for two rows.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrotorch_core::{FerrotorchResult, IntTensor, ones};

fn main() -> FerrotorchResult<()> {
    let (x, index) = (ones::<f32>(&[2, 2])?, IntTensor::from_slice(&[0i64], &[1, 1])?);
    println!("{}", catch_unwind(AssertUnwindSafe(|| x.gather(1, &index))).is_err());
    Ok(())
}
// prints: true
