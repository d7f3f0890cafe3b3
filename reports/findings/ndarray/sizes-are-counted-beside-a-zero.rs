// A shape without elements, whose other sizes are too many to count, is no shape to broadcast to.
use ndarray::{ArrayD, IxDyn};

fn main() {
    let x = ArrayD::<f32>::zeros(IxDyn(&[1, 1]));
    println!("{:?}", x.broadcast(IxDyn(&[0, 1 << 40, 1 << 20])).map(|view| view.shape().to_vec()));
    println!("{:?}", x.broadcast(IxDyn(&[0, 1 << 40, 1 << 40])).map(|view| view.shape().to_vec()));
}
// prints: Some([0, 1099511627776, 1048576])
// None
