// Two ones.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([1], &device.clone().autodiff()).require_grad();
    let y = Tensor::<1>::ones([1], &device.autodiff()).require_grad();
    let gradients = x.clone().max_pair(y.clone()).backward();
    println!("{}", x.grad(&gradients).unwrap().into_scalar::<f32>());
    println!("{}", y.grad(&gradients).unwrap().into_scalar::<f32>());
}
// prints: 1
// 0
