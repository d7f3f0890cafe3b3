// There is no axis 0 in an array of no dimensions.
use ndarray::{ArrayD, Axis, IxDyn};

fn main() {
    let selected = std::panic::catch_unwind(|| ArrayD::<f32>::zeros(IxDyn(&[])).select(Axis(0), &[0]));
    println!("{}", selected.unwrap_err().downcast::<String>().unwrap());
}
// prints: index out of bounds: the len is 0 but the index is 0
