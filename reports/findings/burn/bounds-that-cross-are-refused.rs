// A lower bound above the upper one.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([3], &device);
    println!("{}", std::panic::catch_unwind(|| x.clamp(5.0, 2.0)).is_err());
}
// prints: true
