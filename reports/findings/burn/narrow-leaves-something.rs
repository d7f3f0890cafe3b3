// A length of 0.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([3], &device);
    println!("{}", std::panic::catch_unwind(|| x.narrow(0, 1, 0)).is_err());
}
// prints: true
