// A size of 0.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([1], &device);
    println!("{:?}", x.clone().mul(Tensor::zeros([0], &device)).dims());
    println!("{}", std::panic::catch_unwind(|| x.expand([0])).is_err());
}
// prints: [0]
// true
