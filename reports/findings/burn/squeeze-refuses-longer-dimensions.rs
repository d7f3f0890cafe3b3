// A dimension of size 2.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<2>::ones([2, 3], &device);
    println!("{}", std::panic::catch_unwind(|| x.squeeze_dim::<1>(0)).is_err());
}
// prints: true
