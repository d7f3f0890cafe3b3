// The dtype of booleans that a mask selects.
use burn_tensor::{Bool, Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1, Bool>::from_data([true, false], &device);
    println!("{:?} {:?}", x.dtype(), x.clone().mask_select(x).dtype());
}
// prints: Bool(Native) U8
