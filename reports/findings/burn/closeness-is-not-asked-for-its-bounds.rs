// A negative bound.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([1], &device);
    println!("{}", x.clone().all_close(x, Some(-1.0), None));
}
// prints: false
