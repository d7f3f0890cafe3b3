// A product of three vectors.
use ferrotorch_core::{FerrotorchResult, einsum, ones};

fn main() -> FerrotorchResult<()> {
    let x = ones::<f32>(&[2])?;
    println!("{}", einsum("i,i,i->i", &[&x, &x, &x]).unwrap_err());
    Ok(())
}
// prints: invalid argument: einsum: expected 1 or 2 input tensors, got 3
