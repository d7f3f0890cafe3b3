// The sum is divided in the element type.
use ndarray::array;

fn main() {
    println!("{:?}", array![1, 2, 4].mean());
}
// prints: Some(2)
