// 2 to the power of -1.
use burn_tensor::{Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    println!("{}", Tensor::<1, Int>::from_data([2], &device).powi_scalar(-1).into_scalar::<i32>());
}
// prints: 0
