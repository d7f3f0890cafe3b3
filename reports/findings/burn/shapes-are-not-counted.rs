// More elements than 64 bits can count.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let x = Tensor::<2>::ones([1, 1], &device).expand([1i64 << 40, 1 << 40]);
    println!("{:?}", x.dims());
    println!("{:?}", (x + 1.0).dims());
}
// prints: [1099511627776, 1099511627776]
// [1099511627776, 1099511627776]
