// A sum of everything.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    println!("{:?}", Tensor::<2>::ones([2, 3], &device).sum().dims());
}
// prints: [1]
