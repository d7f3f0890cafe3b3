// The gradient of a row that two rows were multiplied by.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let row = Tensor::<2>::ones([1, 3], &device.clone().autodiff()).require_grad();
    let product = row.clone().cross(Tensor::ones([2, 3], &device.autodiff()), 1);
    println!("{:?}", row.grad(&product.sum().backward()).unwrap().dims());
}
// prints: [2, 3]
