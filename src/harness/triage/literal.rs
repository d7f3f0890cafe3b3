//! Numbers and bytes as both programming languages write them.

use crate::tensor::{Buffer, DType, Scalar};

/// The maximum number of elements that are written as numbers; more are written as bytes.
const MOST: usize = 64;

/// The elements as numbers, if there are few and each number means the very same bytes: a NaN may have others than the
/// usual ones.
pub(super) fn numbers(dtype: DType, data: &[u8]) -> Option<Vec<Scalar>> {
    let scalars = Buffer::from_bytes(dtype, data)?.scalars();
    if scalars.len() > MOST {
        return None;
    }
    let size = dtype.size();
    let usual = |(number, bytes): (&Scalar, &[u8])| !is_nan(*number) || usual_nan(dtype, bytes);
    scalars.iter().zip(data.chunks_exact(size)).all(usual).then_some(scalars)
}

fn is_nan(number: Scalar) -> bool {
    match number {
        Scalar::Float(value) => value.is_nan(),
        Scalar::Complex(value) => value.re.is_nan() || value.im.is_nan(),
        _ => false,
    }
}

/// Returns whether every NaN in it is the one that a conversion from Python's or Rust's makes.
fn usual_nan(dtype: DType, bytes: &[u8]) -> bool {
    let usual: &[u8] = match dtype {
        DType::Float16 => &[0x00, 0x7e],
        DType::Bfloat16 => &[0xc0, 0x7f],
        DType::Float32 | DType::Complex64 => &[0, 0, 0xc0, 0x7f],
        _ => &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
    };
    let part = |part: &[u8]| {
        let nan = match part.len() {
            4 => f32::from_le_bytes(part.try_into().expect("four bytes")).is_nan(),
            8 => f64::from_le_bytes(part.try_into().expect("eight bytes")).is_nan(),
            _ => true,
        };
        !nan || part == usual
    };
    bytes.chunks_exact(usual.len()).all(part)
}

/// The shortest text that is this number of its dtype: `0.1` and not `0.10000000149011612`. Not for NaN and infinities.
pub(super) fn float(value: f64, dtype: DType) -> String {
    match dtype {
        DType::Float32 | DType::Complex64 => format!("{:?}", value as f32),
        _ => format!("{value:?}"),
    }
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
