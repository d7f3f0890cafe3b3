// The operator is that of the element type.
use ndarray::array;

fn main() {
    println!("{}", array![1, 3, -3] / 2);
}
// prints: [0, 1, -1]
