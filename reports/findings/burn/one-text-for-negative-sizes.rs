// Sizes below -1.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([1], &device);
    let panic = std::panic::catch_unwind(|| x.expand([-2])).unwrap_err();
    println!("{}", panic.downcast::<String>().unwrap());
}
// prints: Broadcast arguments must be positive or -1! Got -2
