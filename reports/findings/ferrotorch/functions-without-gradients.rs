// Which results keep a gradient.
use ferrotorch_core::grad_fns::reduction::{amax_dim, var_dim};
use ferrotorch_core::{FerrotorchResult, IntTensor, linalg, ones, ops, scalar, select, special};

fn main() -> FerrotorchResult<()> {
    let x = ones::<f32>(&[3])?.requires_grad_(true);
    println!("{} {}", x.sum_all()?.requires_grad(), x.var_t(true)?.requires_grad());
    println!("{} {}", special::xlogy(&x, &x)?.requires_grad(), ops::elementwise::nansum(&x)?.requires_grad());
    println!("{} {}", select(&x, 0, 0)?.requires_grad(), var_dim(&x, 0, 1., false)?.requires_grad());
    println!("{}", x.index_select(0, &IntTensor::from_slice(&[0i64], &[1])?)?.requires_grad());
    println!("{} {}", linalg::vector_norm(&x, 2.)?.requires_grad(), linalg::vector_norm(&x, 0.5)?.requires_grad());
    println!("{}", amax_dim(&scalar(3f32)?.requires_grad_(true), 0, false)?.requires_grad());
    Ok(())
}
// prints: true true
// false false
// false false
// false
// true false
// false
