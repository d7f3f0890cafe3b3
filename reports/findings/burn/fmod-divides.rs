// The remainder by the least number.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let (x, y) = (Tensor::<1>::from_data([3.5f32], &device), Tensor::<1>::from_data([1e-45f32], &device));
    println!("{} {}", 3.5f32 % 1e-45, x.fmod(y).into_scalar::<f32>());
}
// prints: 0 -inf
