//! The operation table: every operation is defined here, once.
//!
//! A row says what an operation is called, which arguments and forms it has, how its result is typed, how results are
//! compared, and, as tokens that only their users expand, the reference's kernel and the methods of `tch` that run it.
//! [`for_each_op!`](crate::for_each_op) hands the rows to a macro of the caller's choice: this file makes the enum
//! [`Op`] and its facts from them, `reference` makes the kernels, the libtorch adapter makes the calls.
//!
//! Fields of a row, in order:
//!
//! - the variant, the documented name, and libtorch's schema name (`-` where libtorch's operators have none);
//! - `signature`: which arguments it takes ([`Signature`]);
//! - `forms`: the forms it has ([`Form`]);
//! - `result`: how the dtype of the result follows ([`ResultType`]);
//! - `compare`: how values are compared ([`Compare`]);
//! - `kernel`: what the reference computes: `number`, `compare` or `order` with an expression over one element of each
//!   operand, or the module and the name of a function of the reference;
//! - `gradient`: `none`, `kernel` (the kernel's function says it), or the partial derivative for each operand;
//! - `tch`: the methods, in the order that the signature's expansion in `adapters/libtorch` documents.

use serde::{Deserialize, Serialize};

/// Hands every row of the operation table to the macro `$then`.
#[macro_export]
macro_rules! for_each_op {
    ($then:ident) => {
        $then! {
            Add "add" "add.Tensor" {
                signature: Arithmetic, forms: [Functional, InPlace, Out], result: Promoted, compare: Bits,
                kernel: number(a, b, alpha) => a.plus(alpha.times(b)),
                gradient: partials(d) => [d.gradient(), d.times(d.gradient(), d.alpha())],
                tch: [f_add, f_add_, f_add_out],
            }
            Sub "sub" "sub.Tensor" {
                signature: Arithmetic, forms: [Functional, InPlace, Out], result: Promoted, compare: Bits,
                kernel: number(a, b, alpha) => a.minus(alpha.times(b)),
                gradient: partials(d) => [d.gradient(), d.times(d.gradient(), d.minus_alpha())],
                tch: [f_sub, f_sub_, f_sub_out],
            }
            Mul "mul" "mul.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Promoted, compare: Bits,
                kernel: number(a, b, _alpha) => a.times(b),
                gradient: partials(d) => [d.times(d.gradient(), d.right()), d.times(d.gradient(), d.left())],
                tch: [f_mul, f_mul_, f_mul_out],
            }
            Div "div" "div.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Float, compare: Bits,
                kernel: number(a, b, _alpha) => a.over(b),
                gradient: partials(d) => [
                    d.over(d.gradient(), d.right()),
                    d.negative(d.times(d.gradient(), d.over(d.over(d.left(), d.right()), d.right())))
                ],
                tch: [f_div, f_div_, f_div_out],
            }
            Eq "eq" "eq.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Bool, compare: Bits,
                kernel: compare(a, b) => a == b,
                gradient: none,
                tch: [f_eq_tensor, f_eq_tensor_, f_eq_tensor_out],
            }
            Ne "ne" "ne.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Bool, compare: Bits,
                kernel: compare(a, b) => a != b,
                gradient: none,
                tch: [f_ne_tensor, f_ne_tensor_, f_ne_tensor_out],
            }
            Lt "lt" "lt.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Bool, compare: Bits,
                kernel: order(a, b) => a < b,
                gradient: none,
                tch: [f_lt_tensor, f_lt_tensor_, f_lt_tensor_out],
            }
            Le "le" "le.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Bool, compare: Bits,
                kernel: order(a, b) => a <= b,
                gradient: none,
                tch: [f_le_tensor, f_le_tensor_, f_le_tensor_out],
            }
            Gt "gt" "gt.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Bool, compare: Bits,
                kernel: order(a, b) => a > b,
                gradient: none,
                tch: [f_gt_tensor, f_gt_tensor_, f_gt_tensor_out],
            }
            Ge "ge" "ge.Tensor" {
                signature: Binary, forms: [Functional, InPlace, Out], result: Bool, compare: Bits,
                kernel: order(a, b) => a >= b,
                gradient: none,
                tch: [f_ge_tensor, f_ge_tensor_, f_ge_tensor_out],
            }
            Expand "expand" "expand" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand),
                gradient: kernel,
                tch: [f_expand],
            }
            ExpandAs "expand_as" "expand_as" {
                signature: TwoTensors, forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand_as),
                gradient: kernel,
                tch: [f_expand_as],
            }
            BroadcastTo "broadcast_to" "broadcast_to" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(expand),
                gradient: kernel,
                tch: [f_broadcast_to],
            }
            BroadcastTensors "broadcast_tensors" "broadcast_tensors" {
                signature: Tensors, forms: [Functional], result: Same, compare: Bits,
                kernel: view(broadcast_tensors),
                gradient: kernel,
                tch: [f_broadcast_tensors],
            }
            BroadcastShapes "broadcast_shapes" "-" {
                signature: Shapes, forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_shapes),
                gradient: none,
                tch: [],
            }
            SumToSize "sum_to_size" "sum_to_size" {
                signature: Sizes, forms: [Functional], result: Sum, compare: Bits,
                kernel: reduction(sum_to_size),
                gradient: kernel,
                tch: [f_sum_to_size],
            }
            Unsqueeze "unsqueeze" "unsqueeze" {
                signature: Dim, forms: [Functional], result: Same, compare: Bits,
                kernel: view(unsqueeze),
                gradient: kernel,
                tch: [f_unsqueeze],
            }
            Transpose "transpose" "transpose.int" {
                signature: TwoDims, forms: [Functional], result: Same, compare: Bits,
                kernel: view(transpose),
                gradient: kernel,
                tch: [f_transpose],
            }
            Permute "permute" "permute" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(permute),
                gradient: kernel,
                tch: [f_permute],
            }
            View "view" "view" {
                signature: Sizes, forms: [Functional], result: Same, compare: Bits,
                kernel: view(view),
                gradient: kernel,
                tch: [f_view],
            }
            Index "index" "-" {
                signature: Index, forms: [Functional], result: Same, compare: Bits,
                kernel: view(index),
                gradient: kernel,
                tch: [],
            }
            Contiguous "contiguous" "contiguous" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: view(contiguous),
                gradient: kernel,
                tch: [f_contiguous],
            }
            Sum "sum" "sum.dim_IntList" {
                signature: Reduction, forms: [Functional], result: Sum, compare: Tolerance,
                kernel: reduction(sum),
                gradient: kernel,
                tch: [f_sum_dim_intlist],
            }
            Mean "mean" "mean.dim" {
                signature: Reduction, forms: [Functional], result: Same, compare: Tolerance,
                kernel: reduction(mean),
                gradient: kernel,
                tch: [f_mean_dim],
            }
            All "all" "all" {
                signature: Truth, forms: [Functional], result: Bool, compare: Bits,
                kernel: reduction(all),
                gradient: none,
                tch: [f_all, f_all_dim],
            }
            Any "any" "any" {
                signature: Truth, forms: [Functional], result: Bool, compare: Bits,
                kernel: reduction(any),
                gradient: none,
                tch: [f_any, f_any_dim],
            }
            Einsum "einsum" "einsum" {
                signature: Einsum, forms: [Functional], result: Same, compare: Tolerance,
                kernel: product(einsum),
                gradient: kernel,
                tch: [f_einsum],
            }
            Matmul "matmul" "matmul" {
                signature: TwoTensors, forms: [Functional], result: Same, compare: Tolerance,
                kernel: product(matmul),
                gradient: kernel,
                tch: [f_matmul],
            }
            Item "item" "item" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: reduction(item),
                gradient: none,
                tch: [],
            }
            Backward "backward" "-" {
                signature: Backward, forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(backward),
                gradient: none,
                tch: [],
            }
            Grad "grad" "-" {
                signature: Unary, forms: [Functional], result: Same, compare: Bits,
                kernel: autograd(grad),
                gradient: none,
                tch: [],
            }
            BroadcastWarning "backcompat.broadcast_warning" "-" {
                signature: Setting, forms: [Functional], result: Same, compare: Bits,
                kernel: front_end(broadcast_warning),
                gradient: none,
                tch: [],
            }
        }
    };
}

macro_rules! define {
    ($($variant:ident $name:literal $schema:literal {
        signature: $signature:ident, forms: [$($form:ident),+], result: $result:ident, compare: $compare:ident,
        kernel: $shape:ident($($pattern:tt)*) $(=> $body:expr)?,
        gradient: $gradient:ident $(($derivative:ident) => [$($partial:expr),+])?,
        tch: [$($tch:ident),*],
    })+) => {
        /// An operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Op {
            $(#[doc = concat!("`", $name, "`")] #[serde(rename = $name)] $variant),+
        }

        impl Op {
            /// Every operation, in the order of the table.
            pub const ALL: &[Op] = &[$(Op::$variant),+];

            /// The row of the table.
            pub fn info(self) -> &'static OpInfo {
                match self {
                    $(Op::$variant => {
                        const INFO: OpInfo = OpInfo {
                            name: $name,
                            schema: $schema,
                            signature: Signature::$signature,
                            forms: &[$(Form::$form),+],
                            result: ResultType::$result,
                            compare: Compare::$compare,
                            kernel: stringify!($shape),
                            differentiable: !matches!(stringify!($gradient).as_bytes(), b"none"),
                            tch: &[$(stringify!($tch)),*],
                        };
                        &INFO
                    })+
                }
            }
        }
    };
}

for_each_op!(define);

/// What the table says of one operation.
#[derive(Clone, Copy, Debug)]
pub struct OpInfo {
    /// The documented name.
    pub name: &'static str,
    /// libtorch's schema name and overload, or `-`.
    pub schema: &'static str,
    /// The arguments.
    pub signature: Signature,
    /// The forms.
    pub forms: &'static [Form],
    /// The dtype of the result.
    pub result: ResultType,
    /// How values are compared.
    pub compare: Compare,
    /// The kernel shape in the reference.
    pub kernel: &'static str,
    /// Whether gradients flow through it.
    pub differentiable: bool,
    /// The methods of `tch`.
    pub tch: &'static [&'static str],
}

impl OpInfo {
    /// Whether strides and storage of the result are part of what is compared. Those of a product are whatever the
    /// matrix library underneath leaves behind.
    pub fn layout_is_specified(&self) -> bool {
        self.kernel != "product"
    }
}

/// Where a call puts its result.
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

/// How the dtype of the result follows from those of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultType {
    /// By type promotion (`torch.result_type`).
    Promoted,
    /// By type promotion, integers becoming the default float dtype.
    Float,
    /// bool, whatever the operands are.
    Bool,
    /// That of the first operand.
    Same,
    /// That of the first operand, integers and bool becoming int64.
    Sum,
}

/// How the values of two implementations are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Bit for bit: the operation is exact, or IEEE 754 says how it rounds. Any NaN equals any NaN.
    Bits,
    /// Within a bound that grows with the number of terms: the order of a sum is the implementation's own.
    Tolerance,
}

/// One parameter of a signature.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The documented name, usable as a keyword.
    pub name: &'static str,
    /// What it takes.
    pub kind: ParamKind,
    /// What it is when it is left out; `None` where it must be given.
    pub default: Option<ParamDefault>,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor.
    Tensor,
    /// A tensor or a number.
    Operand,
    /// All the remaining arguments, each a tensor.
    Tensors,
    /// All the remaining arguments, each a list of sizes or a single size.
    Shapes,
    /// A number.
    Number,
    /// An integer.
    Int,
    /// A list of integers.
    Ints,
    /// An integer or a list of integers.
    Dims,
    /// True or false.
    Flag,
    /// Text.
    Text,
    /// What stands between the brackets of `x[...]`, as text.
    Index,
}

/// The value of a parameter that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamDefault {
    /// Python's `None`.
    Nothing,
    /// The integer 1.
    One,
    /// False.
    False,
}

macro_rules! default {
    () => {
        None
    };
    ($default:ident) => {
        Some(ParamDefault::$default)
    };
}

macro_rules! signatures {
    ($($(#[$doc:meta])* $variant:ident ($($name:literal $kind:ident $(= $default:ident)?),*))+) => {
        /// The arguments of an operation. An adapter turns each signature, not each operation, into calls.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Signature {
            $($(#[$doc])* $variant),+
        }

        impl Signature {
            /// The parameters, in order.
            pub fn params(self) -> &'static [Param] {
                match self {
                    $(Signature::$variant => const { &[$(Param {
                        name: $name,
                        kind: ParamKind::$kind,
                        default: default!($($default)?),
                    }),*] }),+
                }
            }
        }
    };
}

signatures! {
    /// Two operands and a factor for the second.
    Arithmetic("self" Operand, "other" Operand, "alpha" Number = One)
    /// Two operands.
    Binary("self" Operand, "other" Operand)
    /// One tensor.
    Unary("self" Tensor)
    /// Two tensors, no numbers.
    TwoTensors("self" Tensor, "other" Tensor)
    /// A tensor and a list of sizes or dimensions.
    Sizes("self" Tensor, "size" Ints)
    /// A tensor and a dimension.
    Dim("self" Tensor, "dim" Int)
    /// A tensor and two dimensions.
    TwoDims("self" Tensor, "dim0" Int, "dim1" Int)
    /// A tensor and what stands between its brackets.
    Index("self" Tensor, "index" Index)
    /// Any number of tensors.
    Tensors("tensors" Tensors)
    /// Any number of shapes.
    Shapes("shapes" Shapes)
    /// A reduction over a list of dimensions, or all of them.
    Reduction("self" Tensor, "dim" Dims = Nothing, "keepdim" Flag = False)
    /// A reduction over one dimension, or all of them.
    Truth("self" Tensor, "dim" Int = Nothing, "keepdim" Flag = False)
    /// An equation and its operands.
    Einsum("equation" Text, "operands" Tensors)
    /// A tensor to differentiate and, unless it has one element, the gradient to begin with.
    Backward("self" Tensor, "gradient" Tensor = Nothing)
    /// A switch of the front end.
    Setting("enabled" Flag)
}

impl Op {
    /// The documented name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The operation and form that `name` means: `add`, `add_`; `out=` is an argument, not a name.
    pub fn parse(name: &str) -> Option<(Op, Form)> {
        let find = |name: &str| Op::ALL.iter().copied().find(|op| op.name() == name);
        if let Some(op) = find(name) {
            return Some((op, Form::Functional));
        }
        let op = find(name.strip_suffix('_')?)?;
        op.info().forms.contains(&Form::InPlace).then_some((op, Form::InPlace))
    }

    /// Whether only PyTorch's Python front end has it.
    pub fn is_front_end(self) -> bool {
        self.info().kernel == "front_end"
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
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
