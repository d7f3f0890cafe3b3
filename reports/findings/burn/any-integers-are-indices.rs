// Bytes.
use burn_tensor::{DType, Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let (x, index) = (Tensor::<1>::ones([2], &device), Tensor::<1, Int>::zeros([1], (&device, DType::U8)));
    println!("{:?}", x.gather(0, index).dims());
}
// prints: [1]
