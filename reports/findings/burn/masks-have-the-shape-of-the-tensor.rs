// A mask for two columns.
use burn_tensor::{Bool, Device, Tensor};

fn main() {
    let device = Device::flex();
    let (x, mask) = (Tensor::<2>::ones([2, 2], &device), Tensor::<2, Bool>::from_data([[true], [false]], &device));
    println!("{:?}", x.clone().mask_fill(mask.clone(), 0.0).dims());
    println!("{}", std::panic::catch_unwind(|| x.mask_select(mask)).is_err());
}
// prints: [2, 2]
// true
