// A quotient of integers.
use burn_tensor::{Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let (x, y) = (Tensor::<1, Int>::from_data([1, 3], &device), Tensor::<1, Int>::from_data([2, 2], &device));
    println!("{:?}", (x / y).into_data().try_to_vec::<i32>().unwrap());
}
// prints: [0, 1]
