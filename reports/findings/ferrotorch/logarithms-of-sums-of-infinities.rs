// Infinity, and minus infinity.
use ferrotorch_core::{FerrotorchResult, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = from_slice(&[f32::INFINITY, 1., f32::NEG_INFINITY, f32::NEG_INFINITY], &[2, 2])?;
    println!("{:?}", x.logsumexp_dim_t(1, false)?.data()?);
    Ok(())
}
// prints: [NaN, NaN]
