// Differences of 0 and 3: how many there are, and the largest.
use ferrotorch_core::{FerrotorchResult, cdist, from_slice};

fn main() -> FerrotorchResult<()> {
    let (x, y) = (from_slice(&[0f32, 0.], &[1, 2])?, from_slice(&[0f32, 3.], &[1, 2])?);
    println!("{:?} {:?}", cdist(&x, &y, 0.)?.data()?, cdist(&x, &y, f64::INFINITY)?.data()?);
    Ok(())
}
// prints: [inf] [1.0]
