// A matrix and a batch.
use ferrotorch_core::{FerrotorchResult, cdist, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", cdist(&ones::<f32>(&[2, 3])?, &ones(&[5, 4, 3])?, 2.).unwrap_err());
    println!("{}", cdist(&ones::<f32>(&[1, 2, 3])?, &ones(&[5, 4, 3])?, 2.).unwrap_err());
    Ok(())
}
// prints: invalid argument: cdist: expected 2-D or 3-D inputs, got [2, 3] and [5, 4, 3]
// shape mismatch: cdist: batch dims mismatch: 1 vs 5
