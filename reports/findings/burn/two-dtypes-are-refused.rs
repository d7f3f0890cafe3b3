// A float and a double.
use burn_tensor::{DType, Device, Tensor};

fn main() {
    let device = Device::flex();
    let (x, y) = (Tensor::<1>::ones([1], (&device, DType::F32)), Tensor::<1>::ones([1], (&device, DType::F64)));
    println!("{}", std::panic::catch_unwind(|| x + y).is_err());
}
// prints: true
