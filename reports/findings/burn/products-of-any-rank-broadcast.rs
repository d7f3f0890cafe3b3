// Vectors have no product, and matrices of several batches broadcast.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::ones([3], &device);
    println!("{}", std::panic::catch_unwind(|| x.clone().matmul(x)).is_err());
    println!("{:?}", Tensor::<3>::ones([1, 2, 3], &device).matmul(Tensor::ones([5, 3, 2], &device)).dims());
}
// prints: true
// [5, 2, 2]
