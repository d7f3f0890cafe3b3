//! One element: Rust types for the dtypes, and a scalar, which has no dtype yet.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use serde::{Deserialize, Serialize};

use super::dtype::{Category, DType};

/// A scalar (Python number) as a program writes it: it has a category, and a dtype only once it meets tensors.
///
/// ```
/// use broadcheck_protocol::tensor::{DType, Scalar};
///
/// assert!(Scalar::Int(255).fits(DType::Uint8) && !Scalar::Int(256).fits(DType::Uint8));
/// assert_eq!(serde_json::from_str::<Scalar>(r#"{"float":"0.5"}"#).unwrap(), Scalar::Float(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    /// Booleans.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    #[serde(with = "float_text")]
    Float(f64),
    /// Complex numbers.
    #[serde(with = "complex_text")]
    Complex(Complex64),
}

impl Scalar {
    /// The negative; the least integer is its own.
    pub fn negative(self) -> Scalar {
        match self {
            Scalar::Bool(value) => Scalar::Int(-i64::from(value)),
            Scalar::Int(value) => Scalar::Int(value.wrapping_neg()),
            Scalar::Float(value) => Scalar::Float(-value),
            Scalar::Complex(value) => Scalar::Complex(-value),
        }
    }

    /// Returns whether a dtype of its category or a higher one can hold it, but for rounding (`c10::overflows`). An
    /// unsigned integer holds the negative of each number that it holds.
    pub fn fits(self, dtype: DType) -> bool {
        let float = |value: f64| {
            let greatest = match dtype {
                DType::Float16 => 65504.0,
                DType::Bfloat16 => f64::from(bf16::MAX),
                DType::Float32 | DType::Complex64 => f64::from(f32::MAX),
                _ => f64::MAX,
            };
            !value.is_finite() || value.abs() <= greatest
        };
        let whole = |value: i64| match dtype {
            DType::Uint8 => (-255..=255).contains(&value),
            DType::Int8 => i8::try_from(value).is_ok(),
            DType::Int16 => i16::try_from(value).is_ok(),
            DType::Int32 => i32::try_from(value).is_ok(),
            DType::Bool | DType::Int64 => true,
            _ => float(value as f64),
        };
        match self {
            Scalar::Bool(_) => true,
            Scalar::Int(value) => whole(value),
            Scalar::Float(value) => float(value),
            Scalar::Complex(value) => float(value.re) && float(value.im),
        }
    }

    /// The category that takes part in type promotion.
    pub fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) => Category::Integral,
            Scalar::Float(_) => Category::Floating,
            Scalar::Complex(_) => Category::Complex,
        }
    }

    /// The dtype of a tensor made from this number alone, under the default dtype float32.
    pub fn dtype(self) -> DType {
        match self.category() {
            Category::Bool => DType::Bool,
            Category::Integral => DType::Int64,
            Category::Floating => DType::Float32,
            Category::Complex => DType::Complex64,
        }
    }
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Scalar::Bool(value) => write!(f, "{value}"),
            Scalar::Int(value) => write!(f, "{value}"),
            Scalar::Float(value) if value.is_nan() => f.write_str("nan"),
            Scalar::Float(value) => write!(f, "{value:?}"),
            Scalar::Complex(value) => write!(f, "{:?}{:+?}j", value.re, value.im),
        }
    }
}

/// A Rust type that holds one element of one dtype.
pub trait Element: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The dtype.
    const DTYPE: DType;

    /// Appends the little-endian bytes.
    fn write(self, bytes: &mut Vec<u8>);

    /// Reads the little-endian bytes of exactly one element.
    fn read(bytes: &[u8]) -> Self;

    /// The number it is.
    fn to_scalar(self) -> Scalar;

    /// The conversion that `Tensor::to` does (`c10::convert`): integers wrap, floats truncate, anything but 0 is true.
    fn from_scalar(scalar: Scalar) -> Self;
}

macro_rules! element {
    ($($type:ty, $dtype:ident, $variant:ident, $wide:ty;)+) => {$(
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().expect("the bytes of one element"))
            }
            fn to_scalar(self) -> Scalar {
                Scalar::$variant(<$wide>::from(self))
            }
            fn from_scalar(scalar: Scalar) -> Self {
                convert!($type, scalar)
            }
        }
    )+};
}

macro_rules! convert {
    (f16, $scalar:expr) => {
        half_from!(f16, $scalar)
    };
    (bf16, $scalar:expr) => {
        half_from!(bf16, $scalar)
    };
    ($type:ty, $scalar:expr) => {
        match $scalar {
            Scalar::Bool(value) => u8::from(value) as $type,
            Scalar::Int(value) => value as $type,
            Scalar::Float(value) => <$type as FromFloat>::from_float(value),
            Scalar::Complex(value) => <$type as FromFloat>::from_float(value.re),
        }
    };
}

macro_rules! half_from {
    ($type:ty, $scalar:expr) => {
        match $scalar {
            Scalar::Bool(value) => <$type>::from_f32(f32::from(u8::from(value))),
            Scalar::Int(value) => <$type>::from_f32(value as f32),
            Scalar::Float(value) => <$type>::from_f32(value as f32),
            Scalar::Complex(value) => <$type>::from_f32(value.re as f32),
        }
    };
}

const TWO_TO_63: f64 = (1u64 << 63) as f64;

/// The conversion of a float to this type: by `as` for floats; through `i64`, as x86-64 compilers do it, for
/// integers.
trait FromFloat {
    fn from_float(value: f64) -> Self;
}

macro_rules! from_float {
    ($($type:ty),+) => {$(
        impl FromFloat for $type {
            fn from_float(value: f64) -> Self {
                // Out of range and NaN are undefined in C++; x86-64 gives i64::MIN, whose low bits are zero.
                let fits = (-TWO_TO_63..TWO_TO_63).contains(&value);
                (if fits { value as i64 } else { i64::MIN }) as $type
            }
        }
    )+};
}

from_float!(u8, i8, i16, i32, i64);

impl FromFloat for f32 {
    fn from_float(value: f64) -> Self {
        value as f32
    }
}

impl FromFloat for f64 {
    fn from_float(value: f64) -> Self {
        value
    }
}

element! {
    u8, Uint8, Int, i64;
    i8, Int8, Int, i64;
    i16, Int16, Int, i64;
    i32, Int32, Int, i64;
    i64, Int64, Int, i64;
    f32, Float32, Float, f64;
    f64, Float64, Float, f64;
}

macro_rules! half_element {
    ($($type:ty, $dtype:ident;)+) => {$(
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().expect("the bytes of one element"))
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Float(f64::from(self))
            }
            fn from_scalar(scalar: Scalar) -> Self {
                half_from!($type, scalar)
            }
        }
    )+};
}

half_element! { f16, Float16; bf16, Bfloat16; }

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self)
    }
    fn from_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
            Scalar::Complex(value) => value.re != 0.0 || value.im != 0.0,
        }
    }
}

macro_rules! complex_element {
    ($($type:ty, $part:ty, $dtype:ident;)+) => {$(
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            fn write(self, bytes: &mut Vec<u8>) {
                self.re.write(bytes);
                self.im.write(bytes);
            }
            fn read(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(size_of::<$part>());
                Self::new(<$part>::read(re), <$part>::read(im))
            }
            fn to_scalar(self) -> Scalar {
                Scalar::Complex(Complex64::new(f64::from(self.re), f64::from(self.im)))
            }
            fn from_scalar(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Complex(value) => Self::new(value.re as $part, value.im as $part),
                    real => Self::new(<$part>::from_scalar(real), 0.0),
                }
            }
        }
    )+};
}

complex_element! { Complex32, f32, Complex64; Complex64, f64, Complex128; }

/// Runs `$body` with the type `$T` bound to the element type of `$dtype`.
#[macro_export]
macro_rules! with_element_type {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::tensor::DType::Bool => {
                type $T = bool;
                $body
            }
            $crate::tensor::DType::Uint8 => {
                type $T = u8;
                $body
            }
            $crate::tensor::DType::Int8 => {
                type $T = i8;
                $body
            }
            $crate::tensor::DType::Int16 => {
                type $T = i16;
                $body
            }
            $crate::tensor::DType::Int32 => {
                type $T = i32;
                $body
            }
            $crate::tensor::DType::Int64 => {
                type $T = i64;
                $body
            }
            $crate::tensor::DType::Float16 => {
                type $T = half::f16;
                $body
            }
            $crate::tensor::DType::Bfloat16 => {
                type $T = half::bf16;
                $body
            }
            $crate::tensor::DType::Float32 => {
                type $T = f32;
                $body
            }
            $crate::tensor::DType::Float64 => {
                type $T = f64;
                $body
            }
            $crate::tensor::DType::Complex64 => {
                type $T = num_complex::Complex32;
                $body
            }
            $crate::tensor::DType::Complex128 => {
                type $T = num_complex::Complex64;
                $body
            }
        }
    };
}

/// A float, which is text in JSON: that has no NaN and no infinity.
mod float_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            format!("{value:?}").serialize(serializer)
        } else {
            value.serialize(serializer)
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        if !deserializer.is_human_readable() {
            return f64::deserialize(deserializer);
        }
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not a float written as text")))
    }
}

/// A complex number, as the pair of its parts.
mod complex_text {
    use num_complex::Complex64;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(value: &Complex64, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return [value.re, value.im].serialize(serializer);
        }
        [format!("{:?}", value.re), format!("{:?}", value.im)].serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Complex64, D::Error> {
        if !deserializer.is_human_readable() {
            let [re, im] = <[f64; 2]>::deserialize(deserializer)?;
            return Ok(Complex64::new(re, im));
        }
        let [re, im] = <[String; 2]>::deserialize(deserializer)?;
        match (re.parse(), im.parse()) {
            (Ok(re), Ok(im)) => Ok(Complex64::new(re, im)),
            _ => Err(D::Error::custom("a complex number is a pair of floats written as text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_round_trips_its_bytes() {
        for &dtype in DType::ALL {
            crate::with_element_type!(dtype, T => {
                assert_eq!(T::DTYPE, dtype);
                let mut bytes = Vec::new();
                T::from_scalar(Scalar::Int(1)).write(&mut bytes);
                assert_eq!(bytes.len(), dtype.size());
                assert_eq!(T::read(&bytes), T::from_scalar(Scalar::Int(1)));
            });
        }
    }

    #[test]
    fn scalars_that_json_cannot_hold_survive_it() {
        for value in [f64::INFINITY, -0.0, 1e-310, f64::MAX] {
            let text = serde_json::to_string(&Scalar::Float(value)).unwrap();
            let Scalar::Float(back) = serde_json::from_str(&text).unwrap() else { panic!("{text}") };
            assert_eq!(back.to_bits(), value.to_bits(), "{text}");
        }
    }
}
