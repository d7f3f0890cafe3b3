// The mean of 1 and 2.
use burn_tensor::{Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    println!("{}", Tensor::<1, Int>::from_data([1, 2], &device).mean().into_scalar::<i32>());
}
// prints: 1
