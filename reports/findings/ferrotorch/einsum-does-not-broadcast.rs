// One beside two.
use ferrotorch_core::{FerrotorchResult, einsum, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", einsum("i,i->i", &[&ones::<f32>(&[1])?, &ones(&[2])?]).unwrap_err());
    Ok(())
}
// prints: shape mismatch: einsum: index 'i' has inconsistent sizes: 1 vs 2
