// Sizes that fit nowhere, and a target that would have to grow, are refused alike.
use ndarray::{ArrayD, IxDyn};

fn refused(target: &[usize], operand: &[usize]) -> String {
    let (target, operand) = (target.to_vec(), operand.to_vec());
    let add = move || {
        let mut a = ArrayD::<f32>::zeros(IxDyn(&target));
        a += &ArrayD::<f32>::zeros(IxDyn(&operand));
    };
    *std::panic::catch_unwind(add).unwrap_err().downcast().unwrap()
}

fn main() {
    println!("{}", refused(&[3, 2], &[3]));
    println!("{}", refused(&[1], &[3]));
}
// prints: ndarray: could not broadcast array from shape: [3] to: [3, 2]
// ndarray: could not broadcast array from shape: [3] to: [1]
