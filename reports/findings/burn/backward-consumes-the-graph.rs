// Two times backward.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([1], &device.autodiff()).require_grad();
    let sum = x.clone() + 1.0;
    println!("{}", x.grad(&sum.backward()).unwrap().into_scalar::<f32>());
    println!("{}", std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sum.backward())).is_err());
}
// prints: 1
// true
