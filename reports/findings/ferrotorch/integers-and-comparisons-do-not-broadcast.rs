// Integers of two shapes, and a comparison of floats.
use ferrotorch_core::{BoolTensor, FerrotorchResult, IntTensor, from_slice};

fn main() -> FerrotorchResult<()> {
    let (a, b) = (IntTensor::from_slice(&[1i64, 2], &[2, 1])?, IntTensor::from_slice(&[1i64, 2, 3], &[3])?);
    println!("{}", a.add(&b).unwrap_err());
    let (x, y) = (from_slice(&[1f32, 2.], &[2, 1])?, from_slice(&[1f32, 2., 3.], &[3])?);
    println!("{:?}", x.add_t(&y)?.shape());
    println!("{}", BoolTensor::lt(&x, &y).unwrap_err());
    Ok(())
}
// prints: shape mismatch: IntTensor::add: operand shapes differ [2, 1] vs [3] (broadcasting is out of scope for Phase 2b — same shape only)
// [2, 3]
// shape mismatch: BoolTensor::lt: shapes [2, 1] vs [3]
