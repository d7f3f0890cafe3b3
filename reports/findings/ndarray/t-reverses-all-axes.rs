// t of three dimensions.
use ndarray::Array3;

fn main() {
    println!("{:?}", Array3::<f32>::zeros((2, 3, 4)).t().shape());
}
// prints: [4, 3, 2]
