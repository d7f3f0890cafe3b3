// t of three dimensions.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    println!("{:?}", Tensor::<3>::ones([2, 3, 4], &device).t().dims());
}
// prints: [2, 4, 3]
