// The gradient of 0 to the power of 1.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::zeros([1], &device.clone().autodiff()).require_grad();
    let gradients = x.clone().powf(Tensor::zeros([1], &device.autodiff())).backward();
    println!("{}", x.grad(&gradients).unwrap().into_scalar::<f32>());
}
// prints: NaN
