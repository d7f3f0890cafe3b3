// No elements.
use ferrotorch_core::{FerrotorchResult, zeros};

fn main() -> FerrotorchResult<()> {
    let x = zeros::<f32>(&[0])?;
    println!("{:?} {:?}", x.amax()?.data()?, x.amin()?.data()?);
    Ok(())
}
// prints: [-inf] [inf]
