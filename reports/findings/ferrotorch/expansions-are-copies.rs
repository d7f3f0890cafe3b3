// What is written to an expansion.
use ferrotorch_core::{FerrotorchResult, expand, ones};

fn main() -> FerrotorchResult<()> {
    let x = ones::<f32>(&[1])?;
    let expanded = expand(&x, &[3])?;
    expanded.fill_(2.5)?;
    println!("{:?} {:?}", expanded.data()?, x.data()?);
    Ok(())
}
// prints: [2.5, 2.5, 2.5] [1.0]
