// The maximum of NaN and 1, and of 1 and NaN.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let (nan, one) = (Tensor::<1>::from_data([f32::NAN], &device), Tensor::<1>::from_data([1f32], &device));
    println!("{}", nan.clone().max_pair(one.clone()).into_scalar::<f32>());
    println!("{}", one.max_pair(nan).into_scalar::<f32>());
}
// prints: NaN
// 1
