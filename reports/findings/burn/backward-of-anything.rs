// Three elements.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([3], &device.autodiff()).require_grad();
    let gradients = (x.clone() * 2.0).backward();
    println!("{:?}", x.grad(&gradients).unwrap().into_data().try_to_vec::<f32>().unwrap());
}
// prints: [2.0, 2.0, 2.0]
