// A sum along one of 65 axes.
use ndarray::{ArrayD, Axis, IxDyn};

fn main() {
    println!("{}", ArrayD::<f32>::zeros(IxDyn(&[1; 65])).sum_axis(Axis(0)).ndim());
}
// prints: 64
