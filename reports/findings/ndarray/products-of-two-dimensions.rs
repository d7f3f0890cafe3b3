// Arrays of dynamic rank have products of vectors and matrices, and of no batch.
use ndarray::linalg::Dot;
use ndarray::{ArrayD, IxDyn};

fn ones(sizes: &[usize]) -> ArrayD<f32> {
    ArrayD::ones(IxDyn(sizes))
}

fn main() {
    println!("{:?}", Dot::dot(&*ones(&[2, 3]), &*ones(&[3])).shape());
    let batch = std::panic::catch_unwind(|| Dot::dot(&*ones(&[5, 2, 3]), &*ones(&[3, 4])));
    println!("{}", batch.unwrap_err().downcast::<&str>().unwrap());
}
// prints: [2]
// Dot product for ArrayD is only supported for 1D and 2D arrays
