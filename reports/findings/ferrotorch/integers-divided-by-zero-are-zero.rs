// Quotient and remainder of 7 and 0.
use ferrotorch_core::{FerrotorchResult, IntTensor};

fn main() -> FerrotorchResult<()> {
    let (seven, zero) = (IntTensor::scalar(7i64), IntTensor::scalar(0));
    println!("{:?} {:?}", seven.floor_div(&zero)?.data()?, seven.remainder(&zero)?.data()?);
    Ok(())
}
// prints: [0] [0]
