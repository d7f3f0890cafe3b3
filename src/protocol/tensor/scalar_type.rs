//! Every dtype of PyTorch, by its name: those of tensors of programs, and those that are only spoken of.

use serde::{Deserialize, Serialize};

use super::DType;

/// The kind of a dtype, as the rules of promotion and of casts tell kinds apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Booleans.
    Bool,
    /// Integers that promotion has rules for.
    Integer,
    /// Unsigned integers of more than 8 bits, which promote to floating-point numbers alone.
    Unsigned,
    /// Unsigned integers of fewer than 8 bits. libtorch has no operations on them, and casts no less to them than to any other dtype.
    NarrowUnsigned,
    /// Signed integers of fewer than 8 bits, likewise, without a place in the table of promotion.
    Narrow,
    /// Floating-point numbers that promotion has rules for.
    Floating,
    /// Floating-point numbers of 8 bits, which do not promote.
    Float8,
    /// Pairs of floating-point numbers of 4 bits, without a place in the table of promotion.
    Float4,
    /// Complex numbers.
    Complex,
    /// Integers that stand for floating-point numbers.
    Quantized,
    /// Memory without meaning.
    Bits,
}

macro_rules! scalar_types {
    ($($variant:ident $name:literal $libtorch:literal $kind:ident $($dtype:ident)?),+ $(,)?) => {
        /// A dtype as data (`c10::ScalarType`). [`DType`] has those of the tensors of programs.
        ///
        /// ```
        /// use broadcheck_protocol::tensor::{DType, ScalarType};
        ///
        /// assert_eq!(ScalarType::parse("uint16"), Some(ScalarType::Uint16));
        /// assert_eq!(ScalarType::from(DType::Float16).code(), 5);
        /// assert_eq!(ScalarType::Uint16.dtype(), None);
        /// assert!(!ScalarType::Float32.can_cast_to(ScalarType::Uint16));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum ScalarType {
            $(#[doc = concat!("`torch.", $name, "`")] #[serde(rename = $name)] $variant),+
        }

        impl ScalarType {
            /// Every one, in the order of libtorch's numbers for them.
            pub const ALL: &[ScalarType] = &[$(ScalarType::$variant),+];

            /// The name that PyTorch's front end prints, without `torch.`.
            pub fn name(self) -> &'static str {
                match self { $(ScalarType::$variant => $name),+ }
            }

            /// The name that libtorch's C++ messages use (`c10::toString(ScalarType)`).
            pub fn libtorch_name(self) -> &'static str {
                match self { $(ScalarType::$variant => $libtorch),+ }
            }

            /// Its kind.
            pub fn kind(self) -> ScalarKind {
                match self { $(ScalarType::$variant => ScalarKind::$kind),+ }
            }

            /// The same, if tensors of programs have it.
            pub fn dtype(self) -> Option<DType> {
                match self {
                    $($(ScalarType::$variant => Some(DType::$dtype),)?)+
                    _ => None,
                }
            }
        }

        impl From<DType> for ScalarType {
            fn from(dtype: DType) -> ScalarType {
                match dtype { $($(DType::$dtype => ScalarType::$variant,)?)+ }
            }
        }
    };
}

scalar_types! {
    Uint8 "uint8" "Byte" Integer Uint8,
    Int8 "int8" "Char" Integer Int8,
    Int16 "int16" "Short" Integer Int16,
    Int32 "int32" "Int" Integer Int32,
    Int64 "int64" "Long" Integer Int64,
    Float16 "float16" "Half" Floating Float16,
    Float32 "float32" "Float" Floating Float32,
    Float64 "float64" "Double" Floating Float64,
    Complex32 "complex32" "ComplexHalf" Complex,
    Complex64 "complex64" "ComplexFloat" Complex Complex64,
    Complex128 "complex128" "ComplexDouble" Complex Complex128,
    Bool "bool" "Bool" Bool Bool,
    Qint8 "qint8" "QInt8" Quantized,
    Quint8 "quint8" "QUInt8" Quantized,
    Qint32 "qint32" "QInt32" Quantized,
    Bfloat16 "bfloat16" "BFloat16" Floating Bfloat16,
    Quint4x2 "quint4x2" "QUInt4x2" Quantized,
    Quint2x4 "quint2x4" "QUInt2x4" Quantized,
    Bits1x8 "bits1x8" "Bits1x8" Bits,
    Bits2x4 "bits2x4" "Bits2x4" Bits,
    Bits4x2 "bits4x2" "Bits4x2" Bits,
    Bits8 "bits8" "Bits8" Bits,
    Bits16 "bits16" "Bits16" Bits,
    Float8E5m2 "float8_e5m2" "Float8_e5m2" Float8,
    Float8E4m3fn "float8_e4m3fn" "Float8_e4m3fn" Float8,
    Float8E5m2fnuz "float8_e5m2fnuz" "Float8_e5m2fnuz" Float8,
    Float8E4m3fnuz "float8_e4m3fnuz" "Float8_e4m3fnuz" Float8,
    Uint16 "uint16" "UInt16" Unsigned,
    Uint32 "uint32" "UInt32" Unsigned,
    Uint64 "uint64" "UInt64" Unsigned,
    Uint1 "uint1" "UInt1" NarrowUnsigned,
    Uint2 "uint2" "UInt2" NarrowUnsigned,
    Uint3 "uint3" "UInt3" NarrowUnsigned,
    Uint4 "uint4" "UInt4" NarrowUnsigned,
    Uint5 "uint5" "UInt5" NarrowUnsigned,
    Uint6 "uint6" "UInt6" NarrowUnsigned,
    Uint7 "uint7" "UInt7" NarrowUnsigned,
    Int1 "int1" "Int1" Narrow,
    Int2 "int2" "Int2" Narrow,
    Int3 "int3" "Int3" Narrow,
    Int4 "int4" "Int4" Narrow,
    Int5 "int5" "Int5" Narrow,
    Int6 "int6" "Int6" Narrow,
    Int7 "int7" "Int7" Narrow,
    Float8E8m0fnu "float8_e8m0fnu" "Float8_e8m0fnu" Float8,
    Float4E2m1fnX2 "float4_e2m1fn_x2" "Float4_e2m1fn_x2" Float4,
    Bcomplex32 "bcomplex32" "BComplex32" Complex,
}

impl ScalarType {
    /// The dtype called `name` by PyTorch.
    pub fn parse(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.iter().copied().find(|scalar_type| scalar_type.name() == name)
    }

    /// libtorch's number for it, which is the same in all releases that have it.
    pub fn code(self) -> i64 {
        self as i64
    }

    /// Returns whether libtorch counts it among the floating-point numbers (`c10::isFloatingType`).
    pub fn is_floating(self) -> bool {
        matches!(self.kind(), ScalarKind::Floating | ScalarKind::Float8 | ScalarKind::Float4)
    }

    /// Returns the dtype to which tensors of both promote, if the table of promotion has both (`_promoteTypesLookup`).
    pub fn promote(self, other: ScalarType) -> Option<ScalarType> {
        let parts = self.parts()?.promote(other.parts()?);
        let is_complex = [self, other].iter().any(|one| one.kind() == ScalarKind::Complex);
        Some(match parts {
            DType::Float16 if is_complex => ScalarType::Complex32,
            DType::Bfloat16 if is_complex => ScalarType::Bcomplex32,
            DType::Float32 if is_complex => ScalarType::Complex64,
            DType::Float64 if is_complex => ScalarType::Complex128,
            real => real.into(),
        })
    }

    /// The dtype of the parts of a complex number, or of a number that is its own part.
    fn parts(self) -> Option<DType> {
        match self {
            ScalarType::Complex32 => Some(DType::Float16),
            ScalarType::Bcomplex32 => Some(DType::Bfloat16),
            ScalarType::Complex64 => Some(DType::Float32),
            ScalarType::Complex128 => Some(DType::Float64),
            other => other.dtype(),
        }
    }

    /// Returns whether a result of this dtype may be written into a tensor of dtype `target` (`c10::canCast`).
    pub fn can_cast_to(self, target: ScalarType) -> bool {
        let (from, to) = (self.kind(), target.kind());
        if from == ScalarKind::Complex && to != ScalarKind::Complex {
            return false;
        }
        // Integers of fewer than 8 bits are none here (`c10::isIntegralType`).
        if self.is_floating() && matches!(to, ScalarKind::Integer | ScalarKind::Unsigned) {
            return false;
        }
        from == ScalarKind::Bool || to != ScalarKind::Bool
    }
}

impl DType {
    /// Returns whether a result of this dtype may be written into a tensor of dtype `target` (`c10::canCast`).
    pub fn can_cast_to(self, target: DType) -> bool {
        ScalarType::from(self).can_cast_to(target.into())
    }
}

impl std::fmt::Display for ScalarType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dtypes_of_tensors_have_their_names_here() {
        for &dtype in DType::ALL {
            let scalar_type = ScalarType::from(dtype);
            assert_eq!((scalar_type.name(), scalar_type.libtorch_name()), (dtype.name(), dtype.libtorch_name()));
            assert_eq!(scalar_type.dtype(), Some(dtype));
        }
        assert_eq!(ScalarType::ALL.iter().filter_map(|one| one.dtype()).count(), DType::ALL.len());
    }

    #[test]
    fn complex_dtypes_promote_by_their_parts() {
        use ScalarType::*;
        let promoted = |a: ScalarType, b: ScalarType| {
            assert_eq!(a.promote(b), b.promote(a), "{a} {b}");
            a.promote(b)
        };
        assert_eq!(promoted(Complex32, Int64), Some(Complex32));
        assert_eq!(promoted(Complex32, Bfloat16), Some(Complex64));
        assert_eq!(promoted(Bcomplex32, Bfloat16), Some(Bcomplex32));
        assert_eq!(promoted(Bcomplex32, Complex32), Some(Complex64));
        assert_eq!(promoted(Complex64, Float64), Some(Complex128));
        assert_eq!(promoted(Complex64, Int4), None);
        for &a in DType::ALL {
            for &b in DType::ALL {
                assert_eq!(promoted(a.into(), b.into()), Some(a.promote(b).into()));
            }
        }
    }

    #[test]
    fn names_parse_back_and_codes_count_from_zero() {
        for (code, &scalar_type) in ScalarType::ALL.iter().enumerate() {
            assert_eq!(ScalarType::parse(scalar_type.name()), Some(scalar_type));
            assert_eq!(scalar_type.code(), code as i64);
        }
    }
}
