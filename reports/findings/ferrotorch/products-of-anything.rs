// Vectors of two sizes, a batch for a matrix, and a vector that is too short.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    let (two, three) = (ones::<f32>(&[2])?, ones(&[3])?);
    println!("{:?}", two.dot_t(&three)?.data()?);
    println!("{:?}", ones::<f32>(&[1, 2, 3])?.mm(&ones(&[2, 2])?)?.shape());
    println!("{}", catch_unwind(AssertUnwindSafe(|| ones::<f32>(&[2, 3])?.mv_t(&two))).is_err());
    Ok(())
}
// prints: [2.0]
// [1, 2]
// true
