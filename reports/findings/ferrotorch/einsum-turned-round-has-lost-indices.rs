// The product of two sums.
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrotorch_core::{FerrotorchResult, einsum_differentiable, ones};

fn main() -> FerrotorchResult<()> {
    let (x, y) = (ones::<f32>(&[2])?.requires_grad_(true), ones(&[3])?);
    println!("{}", einsum_differentiable("i,j->", &[&x, &y])?.backward().unwrap_err());
    let (x, y) = (ones::<f32>(&[2, 2])?.requires_grad_(true), ones(&[2])?);
    let product = einsum_differentiable("ii,i->", &[&x, &y])?;
    println!("{}", catch_unwind(AssertUnwindSafe(|| product.backward())).is_err());
    Ok(())
}
// prints: invalid argument: einsum: output index 'i' does not appear in any input subscripts
// true
