//! Functions of dtypes: what two of them promote to, which of them may be cast to which, and what operands promote to.

/// The rows of this family, put before the rows of the families that follow.
#[doc(hidden)]
#[macro_export]
macro_rules! dtypes_rows {
    ($($state:tt)*) => {
        $crate::__join_rows! {
            $($state)* [
            PromoteTypes "promote_types" "promote_types": "The dtype that two dtypes promote to." {
                arguments: (type1: ScalarType, type2: ScalarType), forms: [Functional], result: Same, compare: Bits,
                kernel: dtypes(promote_types), gradient: none,
            }
            CanCast "can_cast" "can_cast": "Whether a result of one dtype may be written to a tensor of another." {
                arguments: (from_: ScalarType, to: ScalarType), forms: [Functional], result: Same, compare: Bits,
                kernel: dtypes(can_cast), gradient: none,
            }
            ResultType "result_type" "result_type.Tensor": "The dtype of the result of arithmetic on two operands." {
                arguments: (tensor1: Operand, tensor2: Operand), forms: [Functional], result: Same, compare: Bits,
                kernel: dtypes(result_type), gradient: none,
            }
            ]
        }
    };
}
