// A dimension of size 0.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrotorch_core::grad_fns::reduction::amax_dim;
use ferrotorch_core::{FerrotorchResult, zeros};

fn main() -> FerrotorchResult<()> {
    let x = zeros::<f32>(&[2, 0])?;
    println!("{}", catch_unwind(AssertUnwindSafe(|| amax_dim(&x, 1, false))).is_err());
    Ok(())
}
// prints: true
