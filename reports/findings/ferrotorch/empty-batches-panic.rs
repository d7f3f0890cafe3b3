// No matrices by one.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    let (a, b) = (ones::<f32>(&[0, 2, 3])?, ones(&[3, 4])?);
    println!("{}", catch_unwind(AssertUnwindSafe(|| a.matmul(&b))).is_err());
    Ok(())
}
// prints: true
