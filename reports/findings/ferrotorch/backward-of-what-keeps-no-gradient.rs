// A number that depends on nothing.
use ferrotorch_core::{FerrotorchResult, scalar};

fn main() -> FerrotorchResult<()> {
    println!("{:?}", scalar(3f32)?.backward());
    Ok(())
}
// prints: Ok(())
