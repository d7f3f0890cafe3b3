// any of bytes.
use burn_tensor::{DType, Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let any = Tensor::<1, Int>::ones([2], (&device, DType::U8)).any();
    println!("{:?} {:?}", any.dtype(), any.dims());
}
// prints: Bool(Native) [1]
