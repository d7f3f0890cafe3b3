// 0.1 * 10 - 1, whose product is 1 when it is rounded.
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    let sum = scalar(-1f64)?.addcmul_t(&scalar(0.1)?, &scalar(10.)?, 1.)?;
    println!("{:?} {:e}", sum.data()?, 0.1f64.mul_add(10., -1.));
    Ok(())
}
// prints: [0.0] 5.551115123125783e-17
