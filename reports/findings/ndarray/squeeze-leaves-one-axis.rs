// Of two axes of length 1 one stays.
use ndarray::{ArrayD, IxDyn};

fn main() {
    println!("{:?}", ArrayD::<f32>::zeros(IxDyn(&[1, 1])).squeeze().shape());
}
// prints: [1]
