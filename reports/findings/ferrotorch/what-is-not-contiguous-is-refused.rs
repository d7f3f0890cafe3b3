// A transposed matrix: its sum, its squares, and its square.
use ferrotorch_core::{FerrotorchResult, from_slice};

fn main() -> FerrotorchResult<()> {
    let x = from_slice(&[1f32, 2., 3., 4.], &[2, 2])?.t()?;
    println!("{}", x.sum_all().unwrap_err());
    println!("{}", x.mul_t(&x).unwrap_err());
    println!("{:?}", x.mm(&x)?.data()?);
    Ok(())
}
// prints: invalid argument: tensor is not contiguous; call .contiguous() or use .data_vec()
// invalid argument: tensor is not contiguous; call .contiguous() or use .data_vec()
// [7.0, 15.0, 10.0, 22.0]
