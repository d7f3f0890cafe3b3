// A sum of rows.
use ferrotorch_core::{FerrotorchResult, einsum, ones};

fn main() -> FerrotorchResult<()> {
    println!("{}", einsum("...i->...", &[&ones::<f32>(&[2, 3])?]).unwrap_err());
    Ok(())
}
// prints: invalid argument: einsum: invalid character '.' in output subscripts
