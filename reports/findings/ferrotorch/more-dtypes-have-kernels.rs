// A polynomial of a half.
use ferrotorch_core::{FerrotorchResult, scalar, special};
use half::f16;

fn main() -> FerrotorchResult<()> {
    println!("{:?}", special::chebyshev_polynomial_t(&scalar(f16::from_f32(2.))?, 2)?.data()?);
    Ok(())
}
// prints: [7.0]
