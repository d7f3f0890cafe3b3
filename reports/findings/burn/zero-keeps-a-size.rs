// The second size stays as it is.
use burn_tensor::{Device, Tensor};

fn main() {
    println!("{:?}", Tensor::<2>::ones([2, 3], &Device::flex()).reshape([2, 0]).dims());
}
// prints: [2, 3]
