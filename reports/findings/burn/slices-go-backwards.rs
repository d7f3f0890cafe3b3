// A step of -1.
use burn_tensor::{Device, Tensor, s};

fn main() {
    let device = Device::flex();
    let x = Tensor::<1>::from_data([1f32, 2.0, 3.0], &device);
    println!("{:?}", x.slice(s![..;-1]).into_data().try_to_vec::<f32>().unwrap());
}
// prints: [3.0, 2.0, 1.0]
