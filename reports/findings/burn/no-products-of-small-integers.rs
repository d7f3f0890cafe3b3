// Matrices of bytes.
use burn_tensor::{DType, Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<2, Int>::ones([1, 1], (&device, DType::U8));
    println!("{}", std::panic::catch_unwind(|| x.clone().matmul(x)).is_err());
}
// prints: true
