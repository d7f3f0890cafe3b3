// No elements, far away, and a stride beyond counting.
use ferrotorch_core::{FerrotorchResult, ones};

fn main() -> FerrotorchResult<()> {
    let x = ones::<f32>(&[6])?;
    println!("{}", x.as_strided(&[0], &[1], Some(50)).unwrap_err());
    println!("{}", x.as_strided(&[2], &[1 << 62], None).unwrap_err());
    Ok(())
}
// prints: invalid argument: as_strided: storage_offset 50 > storage length 6
// invalid argument: as_strided: storage_offset 0 with shape [2] and strides [4611686018427387904] reaches offset 4611686018427387904, beyond storage length 6
