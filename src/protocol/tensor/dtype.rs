//! The element types, and what two of them promote to.

use serde::{Deserialize, Serialize};

/// The kind of number a dtype holds; promotion never goes down this order (`torch.result_type`, "Type promotion").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Booleans.
    Bool,
    /// Integers.
    Integral,
    /// Floating-point numbers.
    Floating,
    /// Complex numbers.
    Complex,
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $libtorch:literal $size:literal $category:ident),+ $(,)?) => {
        /// An element type.
        ///
        /// ```
        /// use broadcheck_protocol::tensor::DType;
        ///
        /// assert_eq!(DType::Int64.promote(DType::Float16), DType::Float16);
        /// assert_eq!(DType::Uint8.promote(DType::Int8), DType::Int16);
        /// assert_eq!(DType::parse("bfloat16"), Some(DType::Bfloat16));
        /// assert!(!DType::Float32.can_cast_to(DType::Int32));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum DType {
            $(#[doc = concat!("`torch.", $name, "`")] #[serde(rename = $name)] $variant),+
        }

        impl DType {
            /// Every dtype, in the order of the table.
            pub const ALL: &[DType] = &[$(DType::$variant),+];

            /// The name that PyTorch's front end prints, without `torch.`.
            pub fn name(self) -> &'static str {
                match self { $(DType::$variant => $name),+ }
            }

            /// The name that libtorch's C++ messages use (`c10::toString(ScalarType)`).
            pub fn libtorch_name(self) -> &'static str {
                match self { $(DType::$variant => $libtorch),+ }
            }

            /// Bytes of one element.
            pub fn size(self) -> usize {
                match self { $(DType::$variant => $size),+ }
            }

            /// The kind of number it holds.
            pub fn category(self) -> Category {
                match self { $(DType::$variant => Category::$category),+ }
            }
        }
    };
}

dtypes! {
    Bool "bool" "Bool" 1 Bool,
    Uint8 "uint8" "Byte" 1 Integral,
    Int8 "int8" "Char" 1 Integral,
    Int16 "int16" "Short" 2 Integral,
    Int32 "int32" "Int" 4 Integral,
    Int64 "int64" "Long" 8 Integral,
    Float16 "float16" "Half" 2 Floating,
    Bfloat16 "bfloat16" "BFloat16" 2 Floating,
    Float32 "float32" "Float" 4 Floating,
    Float64 "float64" "Double" 8 Floating,
    Complex64 "complex64" "ComplexFloat" 8 Complex,
    Complex128 "complex128" "ComplexDouble" 16 Complex,
}

impl DType {
    /// The C++ type of an element, as the compiler names it (`caffe2::TypeMeta::name`).
    pub fn cpp_name(self) -> &'static str {
        match self {
            DType::Uint8 => "unsigned char",
            DType::Int8 => "signed char",
            DType::Int16 => "short int",
            DType::Int64 => "long int",
            other => other.spelled_name(),
        }
    }

    /// The dtype called `name` by PyTorch.
    pub fn parse(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// The name of the C++ type as libtorch's source spells it, which the conversion of a number prints
    /// (`c10::checked_convert`).
    pub fn spelled_name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::Uint8 => "uint8_t",
            DType::Int8 => "int8_t",
            DType::Int16 => "int16_t",
            DType::Int32 => "int",
            DType::Int64 => "int64_t",
            DType::Float16 => "c10::Half",
            DType::Bfloat16 => "c10::BFloat16",
            DType::Float32 => "float",
            DType::Float64 => "double",
            DType::Complex64 => "c10::complex<float>",
            DType::Complex128 => "c10::complex<double>",
        }
    }

    /// Returns the dtype to which a tensor of each promotes when both take part with the same priority
    /// (`c10::promoteTypes`).
    pub fn promote(self, other: DType) -> DType {
        use DType::*;
        if self == other {
            return self;
        }
        let (low, high) = if self.category() <= other.category() { (self, other) } else { (other, self) };
        match (low.category(), high.category()) {
            (Category::Bool, _) => high,
            (Category::Integral, Category::Integral) => match (low, high) {
                (Uint8, Int8) | (Int8, Uint8) => Int16,
                _ => wider(low, high),
            },
            (Category::Integral, _) => high,
            (Category::Floating, Category::Floating) => match (low, high) {
                (Float16, Bfloat16) | (Bfloat16, Float16) => Float32,
                _ => wider(low, high),
            },
            (Category::Floating, Category::Complex) => {
                if low == Float64 {
                    Complex128
                } else {
                    high
                }
            }
            _ => wider(low, high),
        }
    }
}

fn wider(a: DType, b: DType) -> DType {
    if a.size() >= b.size() { a } else { b }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_never_lowers_the_category() {
        for &a in DType::ALL {
            for &b in DType::ALL {
                assert_eq!(a.promote(b), b.promote(a), "{a} {b}");
                assert!(a.promote(b).category() >= a.category().max(b.category()), "{a} {b}");
            }
        }
    }

    #[test]
    fn promotion_of_pairs_that_neither_side_can_hold() {
        assert_eq!(DType::Uint8.promote(DType::Int8), DType::Int16);
        assert_eq!(DType::Float16.promote(DType::Bfloat16), DType::Float32);
        assert_eq!(DType::Complex64.promote(DType::Float64), DType::Complex128);
        assert_eq!(DType::Int64.promote(DType::Float16), DType::Float16);
    }
}
