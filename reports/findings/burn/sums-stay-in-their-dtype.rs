// A sum of bytes.
use burn_tensor::{DType, Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1, Int>::full([2], 150, (&device, DType::U8));
    println!("{}", x.sum().into_scalar::<i32>());
}
// prints: 44
