// A sum over no elements.
use burn_tensor::{Device, Tensor};

fn main() {
    let device = Device::flex();
    let (x, y) = (Tensor::<2>::zeros([2, 0], &device), Tensor::<2>::zeros([0, 2], &device));
    println!("{:?}", x.clone().sum_dim(1).into_data().try_to_vec::<f32>().unwrap());
    println!("{:?}", Tensor::<2>::einsum("ij,jk->ik", [x.into(), y.into()]).into_data().try_to_vec::<f32>().unwrap());
}
// prints: [-0.0, -0.0]
// [-0.0, -0.0, -0.0, -0.0]
