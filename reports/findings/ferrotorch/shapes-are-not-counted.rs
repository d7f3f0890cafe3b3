// More elements than 64 bits can count.
use ferrotorch_core::{FerrotorchResult, expand, ones};

fn main() -> FerrotorchResult<()> {
    let x = expand(&ones::<f32>(&[1, 1])?, &[1 << 40, 1 << 40])?;
    println!("{:?} {}", x.shape(), x.numel());
    Ok(())
}
// prints: [1099511627776, 1099511627776] 0
