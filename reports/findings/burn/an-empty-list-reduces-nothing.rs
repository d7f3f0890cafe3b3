// A sum over no dimensions.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    println!("{:?}", Tensor::<2>::ones([2, 3], &device).sum_dims::<i64>(&[]).dims());
}
// prints: [2, 3]
