//! Values as Rust writes them.

use broadcheck_protocol::tensor::{Category, DType, Element, Scalar};
use broadcheck_protocol::with_element_type as with_type;
use std::fmt::Debug;

use half::{bf16, f16};
use num_complex::Complex;

/// A type of elements that Rust has literals or constructors of.
pub trait Literal: Copy + Debug {
    /// Returns an expression of the value, which names its type unless `bare`.
    fn literal(self, bare: bool) -> String;
}

macro_rules! integers {
    ($($type:ident),+) => {$(
        impl Literal for $type {
            fn literal(self, bare: bool) -> String {
                if bare { self.to_string() } else { format!("{self}{}", stringify!($type)) }
            }
        }
    )+};
}

integers!(u8, i8, i16, i32, i64);

macro_rules! floats {
    ($($type:ident: |$value:ident, $bare:ident| $finite:expr;)+) => {$(
        impl Literal for $type {
            fn literal(self, $bare: bool) -> String {
                let ($value, name) = (self, stringify!($type));
                match $value {
                    _ if $value.to_bits() == $type::NAN.to_bits() => format!("{name}::NAN"),
                    _ if $value.is_nan() => format!("{name}::from_bits({:#x})", $value.to_bits()),
                    _ if $value == $type::INFINITY => format!("{name}::INFINITY"),
                    _ if $value == $type::NEG_INFINITY => format!("{name}::NEG_INFINITY"),
                    _ => $finite,
                }
            }
        }
    )+};
}

floats! {
    f32: |value, bare| if bare { format!("{value:?}") } else { format!("{value:?}f32") };
    f64: |value, bare| if bare { format!("{value:?}") } else { format!("{value:?}f64") };
    f16: |value, _bare| format!("f16::from_f32({})", value.to_f32().literal(true));
    bf16: |value, _bare| format!("bf16::from_f32({})", value.to_f32().literal(true));
}

impl Literal for bool {
    fn literal(self, _bare: bool) -> String {
        self.to_string()
    }
}

impl<T: Literal> Literal for Complex<T> {
    fn literal(self, bare: bool) -> String {
        format!("Complex::new({}, {})", self.re.literal(bare), self.im.literal(bare))
    }
}

/// Returns the expressions of elements in little-endian bytes, the first with its type.
pub fn elements(dtype: DType, data: &[u8]) -> Vec<String> {
    with_type!(dtype, T => {
        let elements = broadcheck_protocol::adapter::library::elements::<T>(data);
        elements.into_iter().enumerate().map(|(at, element)| element.literal(at > 0)).collect()
    })
}

/// Returns a vector of these elements.
pub fn vector(dtype: DType, data: &[u8]) -> String {
    let elements = elements(dtype, data);
    let count = with_type!(dtype, T => {
        let numbers = broadcheck_protocol::adapter::library::elements::<T>(data).into_iter().map(Element::to_scalar);
        numbers.enumerate().all(|(at, number)| number == T::from_scalar(Scalar::Int(at as i64 + 1)).to_scalar())
    });
    if elements.len() > 64
        && count
        && dtype.category() != Category::Complex
        && !matches!(dtype, DType::Bool | DType::Float16 | DType::Bfloat16)
    {
        return format!("(1..={}).map(|n| n as {}).collect::<Vec<_>>()", elements.len(), name(dtype));
    }
    if elements.is_empty() {
        format!("Vec::<{}>::new()", name(dtype))
    } else {
        format!("vec![{}]", elements.join(", "))
    }
}

/// Returns vectors of the real and of the imaginary parts of these elements, which are complex.
pub fn real_and_imaginary(dtype: DType, data: &[u8]) -> [String; 2] {
    let (part, size) = if dtype == DType::Complex64 { (DType::Float32, 4) } else { (DType::Float64, 8) };
    let of = |first: usize| {
        let bytes: Vec<u8> = data.chunks(size).skip(first).step_by(2).flatten().copied().collect();
        vector(part, &bytes)
    };
    [of(0), of(1)]
}

/// Returns what `{:?}` prints of a vector of these elements.
pub fn debug_elements(dtype: DType, data: &[u8]) -> String {
    with_type!(dtype, T => format!("{:?}", broadcheck_protocol::adapter::library::elements::<T>(data)))
}

/// Returns the type of the elements of a dtype.
pub fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Uint8 => "u8",
        DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::Float16 => "f16",
        DType::Bfloat16 => "bf16",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
        DType::Complex64 => "Complex<f32>",
        DType::Complex128 => "Complex<f64>",
    }
}

/// Returns a number as a literal of a dtype, or as a bare one.
pub fn number(number: Scalar, dtype: Option<DType>) -> String {
    match (number, dtype) {
        (number, Some(dtype)) => with_type!(dtype, T => {
            <T as Element>::from_scalar(number).literal(false)
        }),
        (Scalar::Bool(flag), None) => flag.to_string(),
        (Scalar::Int(int), None) => int.to_string(),
        (Scalar::Float(real), None) => real.literal(true),
        (Scalar::Complex(complex), None) => complex.literal(true),
    }
}

/// Returns what `{:?}` prints of a number that a tensor of this dtype has.
pub fn debugged(number: Scalar, dtype: Option<DType>) -> String {
    match (number, dtype) {
        (Scalar::Bool(flag), _) => flag.to_string(),
        (number, Some(dtype)) => with_type!(dtype, T => format!("{:?}", <T as Element>::from_scalar(number))),
        (number, None) => number.to_string(),
    }
}

/// Returns integers with commas between them, the first with its type if that may not be the default.
pub fn integer_list(integers: &[i64]) -> String {
    let is_wide = integers.iter().any(|&integer| i32::try_from(integer).is_err());
    let kind = if is_wide { "i64" } else { "" };
    let each = integers
        .iter()
        .enumerate()
        .map(|(at, integer)| if at == 0 { format!("{integer}{kind}") } else { integer.to_string() });
    each.collect::<Vec<_>>().join(", ")
}

/// Returns a vector of sizes.
pub fn sizes(of: &[i64]) -> String {
    if of.is_empty() { "Vec::<usize>::new()".to_owned() } else { format!("vec![{}]", list(of)) }
}

/// Returns numbers with commas between them.
pub fn list<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
