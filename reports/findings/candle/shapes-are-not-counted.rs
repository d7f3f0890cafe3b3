// More elements than 64 bits can count: the number of them wraps around to 0.
use candle_core::{Device::Cpu, Result, Tensor};

fn main() -> Result<()> {
    let x = Tensor::new(&[1f32], &Cpu)?.broadcast_as((1usize << 40, 1usize << 40))?;
    println!("{:?} {}", x.dims(), x.elem_count());
    println!("{:?}", (x + 1.)?.dims());
    Ok(())
}
// prints: [1099511627776, 1099511627776] 0
// [1099511627776, 1099511627776]
