// Two sizes and three.
use burn_tensor::{Bool, Device, Tensor};

fn main() {
    let device = Device::flex();
    let (x, mask) = (Tensor::<1>::ones([3], &device), Tensor::<1, Bool>::from_data([true, false], &device));
    let panic = std::panic::catch_unwind(|| x.clone().mask_where(mask, x)).unwrap_err();
    println!("{}", panic.downcast::<String>().unwrap());
}
// prints: broadcast_shape: incompatible dimensions 3 and 2 at position 0
