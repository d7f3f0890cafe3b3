// The row of a matrix is the slice [0, ..]; the slice [0] is refused.
use ndarray::{ArrayD, IxDyn, SliceInfoElem, s};

fn main() {
    let x = ArrayD::<f32>::ones(IxDyn(&[2, 3]));
    println!("{:?}", x.slice(s![0, ..]).shape());
    let first = std::panic::catch_unwind(|| x.slice([SliceInfoElem::Index(0)].as_slice()).shape().to_vec());
    println!("{}", first.unwrap_err().downcast::<String>().unwrap().lines().next().unwrap());
}
// prints: [3]
// assertion `left == right` failed: The input dimension of `info` must match the array to be sliced.
