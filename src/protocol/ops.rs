//! The operation table: every operation is defined here, once.
//!
//! A row says what an operation is called, which arguments and forms it has, which dtypes it takes, how its result is
//! typed, how results are compared, and, as tokens that only their users expand, the reference's kernel, its gradient,
//! and the methods of `tch` that run it. The rows stand in one file a family, below this module;
//! [`for_each_op!`](crate::for_each_op) hands all of them to a macro of the caller's choice: this file makes the enum
//! [`Op`] and its facts from them, `reference` makes the kernels and gradients, the libtorch adapter makes the calls.
//!
//! Fields of a row, in order:
//!
//! - the variant, the documented name, libtorch's schema name (`-` where libtorch's operators have none), and a sentence
//!   on the result;
//! - `arguments`: the name and the [kind](ParamKind) of each argument, and the default of those that may be left out;
//! - `forms`: the forms it has ([`Form`]);
//! - `dtypes`, unless it takes all of them: the dtypes that its kernel computes in ([`DtypeSet`]), and the name under
//!   which libtorch rejects the others (`"lt_cpu" not implemented for …`);
//! - `quirks`, if it has any: what sets it apart from other operations of its kind ([`Quirk`]);
//! - `absent`, if libtorch has forms of it that it does not have here, each with the reason;
//! - `aliases`, if it has any: other names for it, each with libtorch's schema name; they only call it;
//! - `result`: how the dtype of the result follows ([`ResultType`]);
//! - `compare`: how values are compared ([`Compare`]); a bound in units in the last place has its reason next to it;
//! - `kernel`: the computation of the reference, after the word for its [`Kernel`]: an expression over one element of each
//!   operand, or the name of a function of the reference;
//! - `gradient`: `none`, `kernel` (the kernel's function says it), or the partial derivative for each operand;
//! - `tch`, unless the call goes to libtorch's dispatcher by the schema name: the methods of `tch`, in the order that
//!   `adapters/libtorch` documents for such arguments, `-` for a form that `tch` does not have.

mod arguments;
mod backward;
mod dtypes;
mod functions;
mod indexing;
mod kernel;
mod losses;
mod pointwise;
mod products;
mod programs;
mod reductions;
mod sizes;
mod unary;
mod views;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::tensor::{Category, DType};

pub use arguments::{Param, ParamDefault, ParamKind, REDUCTIONS};
pub use kernel::{Family, Kernel, Rounding};

/// Hands every row of the operation table to the macro `$then`, as
/// `Variant { facts: (…) kernel: (…) gradient: (…) calls: (…) }` each, so that a new fact of a row is news to this module
/// only.
#[macro_export]
macro_rules! for_each_op {
    ($then:ident) => {
        $crate::__join_rows! {
            { pointwise_rows functions_rows unary_rows backward_rows views_rows indexing_rows products_rows reductions_rows losses_rows programs_rows sizes_rows dtypes_rows }
            $then {} []
        }
    };
}

/// Collects the rows of one family after the other.
#[doc(hidden)]
#[macro_export]
macro_rules! __join_rows {
    ({ $next:ident $($queue:ident)* } $then:ident { $($rows:tt)* } [ $($new:tt)* ]) => {
        $crate::$next! { { $($queue)* } $then { $($rows)* $($new)* } }
    };
    ({} $then:ident { $($rows:tt)* } [ $($new:tt)* ]) => {
        $crate::__split_rows! { $then $($rows)* $($new)* }
    };
}

/// Bundles the fields of each row for those who use them.
#[doc(hidden)]
#[macro_export]
macro_rules! __split_rows {
    ($then:ident $($variant:ident $name:literal $schema:literal: $doc:literal {
        arguments: ($($param:ident: $kind:ident $(= $word:ident)? $(= $value:literal)?),*),
        forms: [$($form:ident),+],
        $(dtypes: $dtypes:ident $($names:literal)?,)?
        $(quirks: [$($quirk:ident),+],)?
        $(absent: [$($absent:ident $reason:literal),+],)?
        $(aliases: [$($alias:literal $alias_schema:literal),+],)?
        result: $result:ident, compare: $compare:ident $(($ulps:literal, $why:literal))?,
        kernel: $shape:ident $arguments:tt $(=> $body:expr)?,
        gradient: $gradient:ident $(($terms:ident) => $partials:tt)?,
        $(tch: [$($tch:tt),+],)?
    })+) => {
        $then! {
            $($variant {
                facts: (
                    $name $schema $doc [$(($param $kind $($word)? $($value)?))*] [$($form)+] [$($dtypes $($names)?)?] $result [$compare $($ulps $why)?] $shape
                    $gradient [$($($tch)+)?] [$($($quirk)+)?] [$($($absent $reason)+)?]
                    [$($($alias $alias_schema)+)?]
                )
                kernel: ($shape $arguments $($body)?)
                gradient: ($gradient $($terms $partials)?)
                calls: ([$($kind)*] [$($($tch)+)?])
            })+
        }
    };
}

macro_rules! dtype_set {
    () => {
        (DtypeSet::All, "")
    };
    ($set:ident) => {
        (DtypeSet::$set, "")
    };
    ($set:ident $names:literal) => {
        (DtypeSet::$set, $names)
    };
}

macro_rules! compare_mode {
    ($mode:ident) => {
        (Compare::$mode, "")
    };
    ($mode:ident $ulps:literal $why:literal) => {
        (Compare::$mode($ulps), $why)
    };
}

macro_rules! info {
    (
        $name:literal $schema:literal $doc:literal [$(($param:ident $kind:ident $($default:tt)?))*] [$($form:ident)+] [$($dtypes:tt)*] $result:ident [$($compare:tt)+]
        $shape:ident $gradient:ident [$($tch:tt)*] [$($quirk:ident)*] [$($absent:ident $reason:literal)*]
        [$($alias:literal $alias_schema:literal)*]
    ) => {
        OpInfo {
            name: $name,
            schema: $schema,
            doc: $doc,
            arguments: &[$(Param {
                name: stringify!($param),
                kind: ParamKind::$kind,
                default: arguments::default!($kind $($default)?),
            }),*],
            kinds: &[$(ParamKind::$kind),*],
            forms: &[$(Form::$form),+],
            dtypes: dtype_set!($($dtypes)*).0,
            kernel_names: dtype_set!($($dtypes)*).1,
            result: ResultType::$result,
            compare: compare_mode!($($compare)+).0,
            bound: compare_mode!($($compare)+).1,
            kernel: kernel::word::$shape,
            differentiable: !matches!(stringify!($gradient).as_bytes(), b"none"),
            tch: &[$(stringify!($tch)),*],
            quirks: &[$(Quirk::$quirk),*],
            absent: &[$((Form::$absent, $reason)),*],
            aliases: &[$(($alias, $alias_schema)),*],
        }
    };
}

macro_rules! doc {
    ($name:literal $schema:literal $doc:literal $($rest:tt)*) => {
        concat!("`", $name, "`: ", $doc)
    };
}

macro_rules! define {
    ($($variant:ident { facts: $facts:tt kernel: $kernel:tt gradient: $gradient:tt calls: $calls:tt })+) => {
        /// An operation.
        ///
        /// ```
        /// use broadcheck_protocol::ops::{Form, Op};
        ///
        /// assert_eq!(Op::parse("add_"), Some((Op::Add, Form::InPlace)));
        /// assert_eq!(Op::parse("matmul_"), None, "matmul has no in-place form");
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Op {
            $(#[doc = doc! $facts] $variant),+
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$variant),+];

            /// The row of the table.
            #[inline]
            pub fn info(self) -> &'static OpInfo {
                &TABLE[self as usize]
            }
        }

        static TABLE: [OpInfo; Op::ALL.len()] = [$(info! $facts),+];
    };
}

for_each_op!(define);

/// The entry of one operation in the table.
///
/// ```
/// use broadcheck_protocol::ops::{Form, Op};
/// use broadcheck_protocol::tensor::DType;
///
/// let info = Op::BitwiseXor.info();
/// assert_eq!(info.schema, "bitwise_xor.Tensor");
/// assert_eq!(info.forms, [Form::Functional, Form::InPlace, Form::Out]);
/// assert!(!info.dtypes.contains(DType::Float32));
/// assert_eq!(info.kernel_names().collect::<Vec<_>>(), ["bitwise_xor_cpu"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The documented name.
    pub name: &'static str,
    /// libtorch's schema name and overload, or `-`.
    pub schema: &'static str,
    /// The result, in a sentence.
    pub doc: &'static str,
    /// The arguments, in order.
    pub arguments: &'static [Param],
    /// The kinds of the arguments, in order.
    pub kinds: &'static [ParamKind],
    /// The forms.
    pub forms: &'static [Form],
    /// The dtypes that it computes in.
    pub dtypes: DtypeSet,
    /// The name of libtorch's kernel in the message that rejects any other dtype; several, with bars between them,
    /// where several kernels share the work.
    pub kernel_names: &'static str,
    /// The dtype of the result.
    pub result: ResultType,
    /// The way in which values are compared.
    pub compare: Compare,
    /// The reason why values are not compared bit for bit, if they are not.
    pub bound: &'static str,
    /// The kind of the reference's kernel.
    pub kernel: Kernel,
    /// True if gradients flow through it.
    pub differentiable: bool,
    /// The methods of `tch`.
    pub tch: &'static [&'static str],
    /// The properties that set it apart.
    pub quirks: &'static [Quirk],
    /// Forms that libtorch has and this table has not, each with the reason.
    pub absent: &'static [(Form, &'static str)],
    /// Other names for it, with libtorch's schema names.
    pub aliases: &'static [(&'static str, &'static str)],
}

impl OpInfo {
    /// Returns whether this sets it apart.
    pub fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }

    /// The names of the kernels.
    pub fn kernel_names(&self) -> impl Iterator<Item = &'static str> {
        self.kernel_names.split('|')
    }

    /// The operations that it shares rules with.
    pub fn family(&self) -> Family {
        self.kernel.family()
    }

    /// Returns whether it takes two operands, `self` and `other`, either of which may be a scalar, and at most a
    /// factor.
    pub fn takes_two_operands(&self) -> bool {
        use ParamKind::{Number, Operand};
        matches!(self.kinds, [Operand, Operand] | [Operand, Operand, Number]) && self.arguments[1].name == "other"
    }

    /// Returns whether it takes `alpha`, the factor of its second operand.
    pub fn takes_alpha(&self) -> bool {
        matches!(self.kinds, [ParamKind::Operand, ParamKind::Operand, ParamKind::Number])
    }

    /// Returns whether all strides of the result are part of what is compared. A gradient is whatever tensor arrived
    /// at a leaf, as long as its strides are the leaf's where the sizes are not 1 (`AccumulateGrad`).
    pub fn layout_is_specified(&self) -> bool {
        self.family() != Family::Autograd
    }
}

/// The place where a call puts its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Into a new tensor, or a view.
    #[default]
    Functional,
    /// Into the first operand: `name_`.
    InPlace,
    /// Into a tensor that is given: `out=`.
    Out,
}

/// A property that sets an operation apart from others of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quirk {
    /// Bool operands are rejected before anything else (`sub_check`).
    RefusesBool,
    /// Complex operands are rejected before anything else; the message names the operation (`TORCH_META_FUNC(maximum)`).
    RefusesComplex,
    /// The second operand, if it has one element, meets float16 and bfloat16 in float32, not rounded to them
    /// (`TensorIteratorBase::original_scalar_value`).
    UnroundedSecond,
    /// In place, a scalar is the first operand and the target the second (`mul_(Tensor&, const Scalar&)`).
    NumberFirstInPlace,
    /// The added term is the product with the negative of the factor (`sub_out`).
    NegatedFactor,
    /// Its two operands may change places.
    Commutes,
    /// For the gradient of an operand, it and the result are kept, and not the other operand (`derivatives.yaml`).
    KeepsOwn,
    /// For the gradient of the first operand, it and the result are kept, for that of the second one nothing.
    KeepsFirst,
    /// For the gradient of the first operand, the second one is kept, for that of the second one the result.
    KeepsSecond,
    /// `out=` has no autograd of its own, and is rejected with the message of the fallback
    /// (`autogradNotImplementedFallback`).
    AutogradFallback,
    /// Autograd does not see it at all, not even when it writes to a leaf.
    NoAutograd,
    /// A target has the dtype of the operand (`check_all_same_dtype`).
    ExactTarget,
    /// The iterator meets the second operand before the first.
    SecondFirst,
    /// The iterator meets the first operand, an upstream gradient, after the others.
    FirstLast,
    /// It is not a structured operator: a resized `out=` gives one warning, whatever its dtype.
    Unstructured,
    /// libtorch has an overload for all dimensions, one for a single dimension, and one for a list.
    DimOverloads,
    /// All dimensions are an empty list for libtorch's operator, which takes no `None`.
    NoOptionalDims,
}

/// The dtypes in which an operation computes, which are not always those of its operands: they are promoted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DtypeSet {
    /// Every one.
    All,
    /// All but complex ones.
    NotComplex,
    /// All but bool.
    NotBool,
    /// Integers and floating-point numbers.
    Real,
    /// Integers and bool.
    Integral,
    /// Integers.
    Integers,
    /// Floating-point numbers.
    Floats,
    /// float32 and float64.
    WideFloats,
    /// Floating-point and complex numbers.
    Fractions,
    /// Complex numbers.
    Complex,
}

impl DtypeSet {
    /// The set in words.
    pub fn name(self) -> &'static str {
        match self {
            DtypeSet::All => "all",
            DtypeSet::NotComplex => "all but complex",
            DtypeSet::NotBool => "all but bool",
            DtypeSet::Real => "integers and floats",
            DtypeSet::Integral => "integers and bool",
            DtypeSet::Integers => "integers",
            DtypeSet::Floats => "floats",
            DtypeSet::WideFloats => "float32 and float64",
            DtypeSet::Fractions => "floats and complex",
            DtypeSet::Complex => "complex",
        }
    }

    /// Returns whether `dtype` is one of them.
    pub fn contains(self, dtype: DType) -> bool {
        let category = dtype.category();
        match self {
            DtypeSet::All => true,
            DtypeSet::NotComplex => category < Category::Complex,
            DtypeSet::NotBool => category > Category::Bool,
            DtypeSet::Real => matches!(category, Category::Integral | Category::Floating),
            DtypeSet::Integral => category <= Category::Integral,
            DtypeSet::Integers => category == Category::Integral,
            DtypeSet::Floats => category == Category::Floating,
            DtypeSet::WideFloats => matches!(dtype, DType::Float32 | DType::Float64),
            DtypeSet::Fractions => category >= Category::Floating,
            DtypeSet::Complex => category == Category::Complex,
        }
    }
}

/// The rule by which the dtype of the result follows from those of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultType {
    /// By type promotion (`torch.result_type`).
    Promoted,
    /// By type promotion, integers becoming the default float dtype.
    Float,
    /// float64, or complex128 for complex operands.
    Double,
    /// bool, whatever the operands are.
    Bool,
    /// By type promotion of all operands but the first.
    Chosen,
    /// The complex dtype of which the operands are parts.
    Complex,
    /// That of the first operand.
    Same,
    /// That of the second operand, which it is the gradient of.
    Second,
    /// That of the first operand, integers and bool becoming int64.
    Sum,
    /// That of the parts of the first operand's numbers.
    Real,
    /// int64, whatever the operands are.
    Int64,
}

/// The way in which the values of two implementations are compared, from the closest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compare {
    /// Bit for bit: the operation is exact, or IEEE 754 says how it rounds. Any NaN equals any NaN.
    Bits,
    /// Within so many units in the last place of the result's dtype: a transcendental function, which every
    /// implementation rounds in its own way. NaN, infinities and the signs of zeros are compared exactly.
    Ulps(u32),
    /// Within a bound that grows with the number of terms: the order of a sum is the implementation's own.
    Tolerance,
}

impl Op {
    /// The documented name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The operation and form that `name` means: `add`, `add_`; `out=` is an argument, not a name.
    pub fn parse(name: &str) -> Option<(Op, Form)> {
        if let Some(op) = Op::named(name) {
            return Some((op, Form::Functional));
        }
        let op = Op::named(name.strip_suffix('_')?)?;
        op.info().forms.contains(&Form::InPlace).then_some((op, Form::InPlace))
    }

    /// The operation with this documented name.
    pub fn named(name: &str) -> Option<Op> {
        static NAMED: LazyLock<HashMap<&str, Op>> =
            LazyLock::new(|| Op::ALL.iter().map(|op| (op.name(), *op)).collect());
        NAMED.get(name).copied()
    }

    /// The place of the matrix among the arguments, if it solves linear equations.
    pub fn matrix_of_equations(self) -> Option<usize> {
        match self {
            Op::LinalgSolve | Op::LinalgSolveTriangular | Op::LinalgLuSolve => Some(0),
            Op::CholeskySolve => Some(1),
            _ => None,
        }
    }

    /// Returns whether it decomposes matrices, and takes what is within tolerances for zeros.
    pub fn decomposes(self) -> bool {
        matches!(self, Op::LinalgMatrixRank | Op::LinalgPinv)
    }

    /// Returns whether only PyTorch's Python front end has it.
    pub fn is_front_end(self) -> bool {
        self.info().family() == Family::FrontEnd
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Op {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Op {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Op, D::Error> {
        deserializer.deserialize_str(Name)
    }
}

/// Reads the name of an operation where it stands.
struct Name;

impl serde::de::Visitor<'_> for Name {
    type Value = Op;

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("the name of an operation")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Op, E> {
        Op::named(name).ok_or_else(|| E::custom(format!("no operation is called {name:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        for &op in Op::ALL {
            assert_eq!(Op::parse(op.name()), Some((op, Form::Functional)));
        }
        assert_eq!(Op::parse("add_"), Some((Op::Add, Form::InPlace)));
        assert_eq!(Op::parse("expand_"), None);
        assert_eq!(Op::parse("nothing"), None);
    }
}
