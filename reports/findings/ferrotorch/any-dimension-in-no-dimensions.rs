// Dimension 7 of none.
use ferrotorch_core::grad_fns::reduction::{all_dim, amax_dim};
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    let x = scalar(3f32)?;
    println!("{:?} {:?}", amax_dim(&x, 7, false)?.data()?, all_dim(&x, 7, false)?.data()?);
    Ok(())
}
// prints: [3.0] [true]
