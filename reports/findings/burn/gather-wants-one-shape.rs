// One index for two rows.
use burn_tensor::{Device, Int, Tensor};

fn main() {
    let device = Device::flex();
    let (x, index) = (Tensor::<2>::ones([2, 2], &device), Tensor::<2, Int>::zeros([1, 1], &device));
    println!("{}", std::panic::catch_unwind(|| x.gather(1, index)).is_err());
}
// prints: true
