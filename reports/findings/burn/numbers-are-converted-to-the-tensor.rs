// Integers and fractions, and a number that is too large.
use burn_tensor::{Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1, Int>::from_data([1, 2], &device);
    println!("{:?}", (x.clone() + 0.5).into_data().try_to_vec::<i32>().unwrap());
    println!("{:?}", x.equal_elem(1.5).into_data().try_to_vec::<bool>().unwrap());
}
// prints: [1, 2]
// [true, false]
