//! From the operation table to calls of libtorch: every row becomes a [`Method`] by its signature, and a method knows
//! how to run any operation of that signature. No operation is named here.
//!
//! Where `tch` has no method for a form or an argument, the call goes to libtorch's dispatcher under the row's schema
//! name.

use std::cell::RefCell;
use std::collections::HashMap;

use broadcheck::ops::{Form, Op, ParamKind};
use broadcheck::tensor::Scalar;
use tch::{Kind, TchError, Tensor};

use crate::shim::{self, Argument, Operator, Raised, Returned};

/// Why a call has no result.
#[derive(Debug)]
pub enum Fault {
    /// libtorch raised: its `what()`.
    Raised(String),
    /// libtorch does not have it.
    Unsupported(String),
    /// The program or the adapter is wrong.
    Failed(String),
}

impl From<Raised> for Fault {
    fn from(Raised(what): Raised) -> Fault {
        if what.starts_with("shim: ") { Fault::Failed(what) } else { Fault::Raised(what) }
    }
}

impl From<TchError> for Fault {
    fn from(error: TchError) -> Fault {
        match error {
            TchError::Torch(what) => Fault::Raised(what),
            other => Fault::Failed(other.to_string()),
        }
    }
}

/// Runs one operation.
pub fn call(op: Op, form: Form, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Fault> {
    if out.is_some() != (form == Form::Out) {
        return Err(Fault::Failed(format!("{op}: an out tensor and the form {form:?}")));
    }
    let one = |tensor: Result<Tensor, TchError>| Ok(Returned::Tensor(tensor?));
    match (method(op), form, args) {
        (Method::Absent, ..) => Err(Fault::Unsupported(format!("{op}: only PyTorch's Python front end has it"))),
        (Method::Elementwise(methods), _, args) => elementwise(op, &methods, form, args, out),
        // tch has methods for these forms too, but under names that follow no rule.
        (_, Form::InPlace | Form::Out, args) => dispatch(op, form, args, out),
        (Method::Unary(f), _, [Argument::Tensor(a)]) => one(f(a)),
        (Method::TwoTensors(f), _, [Argument::Tensor(a), Argument::Tensor(b)]) => one(f(a, b)),
        (Method::Sizes(f), _, [Argument::Tensor(a), Argument::Ints(sizes)]) => one(f(a, sizes)),
        (Method::Dim(f), _, [Argument::Tensor(a), Argument::Number(Scalar::Int(dim))]) => one(f(a, *dim)),
        (
            Method::TwoDims(f),
            _,
            [Argument::Tensor(a), Argument::Number(Scalar::Int(d0)), Argument::Number(Scalar::Int(d1))],
        ) => one(f(a, *d0, *d1)),
        (Method::Tensors(f), _, [Argument::Tensors(tensors)]) => Ok(Returned::Tensors(f(tensors)?)),
        (Method::Reduction(f), _, [Argument::Tensor(a), dims, Argument::Number(Scalar::Bool(keepdim))]) => match dims {
            Argument::Nothing => one(f(a, None, *keepdim)),
            Argument::Number(Scalar::Int(dim)) => one(f(a, Some(&[*dim]), *keepdim)),
            Argument::Ints(dims) => one(f(a, Some(dims), *keepdim)),
            _ => Err(malformed(op, args)),
        },
        (Method::Truth(all, along), _, [Argument::Tensor(a), dim, Argument::Number(Scalar::Bool(keepdim))]) => {
            match dim {
                Argument::Nothing if !keepdim => one(all(a)),
                // `all()` has no keepdim: the overload for several dimensions takes None for all of them.
                Argument::Nothing => match Operator::find(op.info().schema, "dims") {
                    Some(operator) => Ok(operator.call(args, None)?),
                    None => Err(Fault::Unsupported(format!("{op} over all dimensions with keepdim"))),
                },
                Argument::Number(Scalar::Int(dim)) => one(along(a, *dim, *keepdim)),
                _ => Err(malformed(op, args)),
            }
        }
        (Method::Einsum(f), _, [Argument::Text(equation), Argument::Tensors(operands)]) => one(f(equation, operands)),
        (Method::Index, _, [Argument::Tensor(a), Argument::Index(items)]) => {
            Ok(Returned::Tensor(shim::index(a, items)?))
        }
        (Method::Backward, _, [Argument::Tensor(a), gradient]) => {
            let gradient = match gradient {
                Argument::Tensor(gradient) => Some(*gradient),
                Argument::Nothing => None,
                _ => return Err(malformed(op, args)),
            };
            shim::backward(a, gradient)?;
            Ok(Returned::Nothing)
        }
        (Method::Grad, _, [Argument::Tensor(a)]) => {
            let gradient = a.f_grad()?;
            Ok(if gradient.defined() { Returned::Tensor(gradient) } else { Returned::Nothing })
        }
        (Method::Dispatcher, _, args) => dispatch(op, form, args, out),
        _ => Err(malformed(op, args)),
    }
}

type One = Result<Tensor, TchError>;

/// How an operation is run: a signature and `tch`'s methods for it.
pub enum Method {
    /// Two operands, either of which may be a number, and perhaps a factor for the second.
    Elementwise(Elementwise),
    Unary(fn(&Tensor) -> One),
    TwoTensors(fn(&Tensor, &Tensor) -> One),
    Sizes(fn(&Tensor, &[i64]) -> One),
    Dim(fn(&Tensor, i64) -> One),
    TwoDims(fn(&Tensor, i64, i64) -> One),
    Tensors(fn(&[&Tensor]) -> Result<Vec<Tensor>, TchError>),
    Reduction(fn(&Tensor, Option<&[i64]>, bool) -> One),
    /// Over everything, and along one dimension.
    Truth(fn(&Tensor) -> One, fn(&Tensor, i64, bool) -> One),
    Einsum(fn(&str, &[&Tensor]) -> One),
    Index,
    Backward,
    Grad,
    /// By schema name.
    Dispatcher,
    /// Not in libtorch.
    Absent,
}

/// The methods of an operation on two operands, in the order in which the table lists them.
pub struct Elementwise {
    functional: fn(&Tensor, &Tensor) -> One,
    in_place: fn(&mut Tensor, &Tensor) -> One,
    /// The operands, then the tensor that is written to.
    out: fn(&Tensor, &Tensor, &Tensor) -> One,
}

/// One row of the table: kernel shape, signature, `tch` methods.
macro_rules! method {
    (front_end $signature:ident []) => { Method::Absent };
    (autograd Backward []) => { Method::Backward };
    (autograd Unary []) => { Method::Grad };
    ($shape:ident Index []) => { Method::Index };
    ($shape:ident $signature:ident []) => { Method::Dispatcher };
    ($shape:ident Arithmetic [$($tch:ident)*]) => { method!($shape Binary [$($tch)*]) };
    ($shape:ident Binary [$functional:ident $in_place:ident $out:ident]) => {
        Method::Elementwise(Elementwise {
            functional: |a, b| a.$functional(b),
            in_place: |a, b| a.$in_place(b),
            out: |a, b, out| a.$out(out, b),
        })
    };
    ($shape:ident Unary [$tch:ident]) => { Method::Unary(|a| a.$tch()) };
    ($shape:ident TwoTensors [$tch:ident]) => { Method::TwoTensors(|a, b| a.$tch(b)) };
    // The one method of these that has a further parameter: `implicit`, which only autograd's tracing sets.
    ($shape:ident Sizes [f_expand]) => { Method::Sizes(|a, sizes| a.f_expand(sizes, false)) };
    ($shape:ident Sizes [$tch:ident]) => { Method::Sizes(|a, sizes| a.$tch(sizes)) };
    ($shape:ident Dim [$tch:ident]) => { Method::Dim(|a, dim| a.$tch(dim)) };
    ($shape:ident TwoDims [$tch:ident]) => { Method::TwoDims(|a, dim0, dim1| a.$tch(dim0, dim1)) };
    ($shape:ident Tensors [$tch:ident]) => { Method::Tensors(|tensors| Tensor::$tch(tensors)) };
    ($shape:ident Reduction [$tch:ident]) => {
        Method::Reduction(|a, dim, keepdim| a.$tch(dim, keepdim, None::<Kind>))
    };
    ($shape:ident Truth [$all:ident $along:ident]) => {
        Method::Truth(|a| a.$all(), |a, dim, keepdim| a.$along(dim, keepdim))
    };
    ($shape:ident Einsum [$tch:ident]) => {
        Method::Einsum(|equation, operands| Tensor::$tch(equation, operands, None::<&[i64]>))
    };
}

macro_rules! methods {
    ($($variant:ident $name:literal $schema:literal {
        signature: $signature:ident, forms: [$($form:ident),+], result: $result:ident, compare: $compare:ident,
        kernel: $shape:ident($($pattern:tt)*) $(=> $body:expr)?,
        gradient: $gradient:ident $(($derivative:ident) => [$($partial:expr),+])?,
        tch: [$($tch:ident),*],
    })+) => {
        /// How `op` is run.
        pub fn method(op: Op) -> Method {
            match op {
                $(Op::$variant => method!($shape $signature [$($tch)*])),+
            }
        }
    };
}

broadcheck::for_each_op!(methods);

/// An operation on two operands.
///
/// `tch` has methods for numbers too, but they are of no use here: the number that they make is dropped before the
/// error is read, its drop takes the error for its own, and panics.
///
/// A number as the second operand takes the overload for numbers, as Python does for comparisons; for arithmetic
/// Python wraps it into a tensor first, and so does that overload itself (`wrapped_scalar_tensor`). A number as the
/// first operand is wrapped here, which is what PyTorch's argument parser does for `torch.sub(2, x)`; `2 - x` and
/// `2 < x` take other ways in Python (`rsub`, the reflected comparison) to the same result.
fn elementwise(
    op: Op,
    methods: &Elementwise,
    form: Form,
    args: &[Argument<'_>],
    out: Option<&Tensor>,
) -> Result<Returned, Fault> {
    let (first, second, alpha) = match args {
        [first, second] => (first, second, None),
        [first, second, alpha] => (first, second, Some(alpha).filter(|alpha| !is_one(alpha))),
        _ => return Err(malformed(op, args)),
    };
    if form == Form::InPlace && !matches!(first, Argument::Tensor(_)) {
        return Err(malformed(op, args));
    }
    if let (Argument::Tensor(_), Argument::Number(_), None) = (first, second, alpha) {
        let (name, _) = schema(op);
        match form {
            Form::Functional => return number_overload(op, Operator::find(name, "Scalar"), args, None),
            Form::InPlace => return number_overload(op, Operator::find(&format!("{name}_"), "Scalar"), args, None),
            // Comparisons have a kernel for a number and `out`. Those of arithmetic are derived: they compute first and
            // copy then, which no user of PyTorch ever gets, since Python wraps the number instead.
            Form::Out => {
                if let Some(operator) = Operator::find_with_kernel(name, "Scalar_out") {
                    return Ok(operator.call(args, out)?);
                }
            }
        }
    }
    let (first, second) = (Operand::new(op, first)?, Operand::new(op, second)?);
    let (a, b) = (first.tensor(), second.tensor());
    if let Some(alpha) = alpha {
        return dispatch(op, form, &[Argument::Tensor(a), Argument::Tensor(b), alpha.clone()], out);
    }
    Ok(Returned::Tensor(match (form, out) {
        (Form::InPlace, _) => (methods.in_place)(&mut a.shallow_clone(), b)?,
        (_, Some(out)) => (methods.out)(a, b, out)?,
        (_, None) => (methods.functional)(a, b)?,
    }))
}

fn number_overload(
    op: Op,
    operator: Option<Operator>,
    args: &[Argument<'_>],
    out: Option<&Tensor>,
) -> Result<Returned, Fault> {
    match operator {
        Some(operator) => Ok(operator.call(args, out)?),
        None => Err(Fault::Unsupported(format!("{op} with a number"))),
    }
}

/// An operand as a tensor, made from a number if need be.
enum Operand<'a> {
    Given(&'a Tensor),
    Wrapped(Tensor),
}

impl<'a> Operand<'a> {
    fn new(op: Op, arg: &Argument<'a>) -> Result<Operand<'a>, Fault> {
        match arg {
            Argument::Tensor(tensor) => Ok(Operand::Given(tensor)),
            Argument::Number(number) => Ok(Operand::Wrapped(shim::wrapped_number(*number)?)),
            other => Err(malformed(op, std::slice::from_ref(other))),
        }
    }

    fn tensor(&self) -> &Tensor {
        match self {
            Operand::Given(tensor) => tensor,
            Operand::Wrapped(tensor) => tensor,
        }
    }
}

/// Python's default `alpha` is the integer 1. A float 1.0 is not the same: integers refuse it.
fn is_one(alpha: &Argument<'_>) -> bool {
    matches!(alpha, Argument::Number(Scalar::Int(1)))
}

/// Runs an operation by its schema name, with numbers in the place of operands wrapped.
fn dispatch(op: Op, form: Form, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Fault> {
    let Some(operator) = operator(op, form) else {
        return Err(Fault::Unsupported(format!("{op} in the form {form:?}: libtorch has no such operator")));
    };
    let params = op.info().signature.params();
    // What is wrapped or listed here must live until the call, so it is collected before it is borrowed.
    let wrapped: Vec<Option<Tensor>> = args
        .iter()
        .zip(params)
        .map(|(arg, param)| match (arg, param.kind) {
            (Argument::Number(number), ParamKind::Operand) => shim::wrapped_number(*number).map(Some),
            _ => Ok(None),
        })
        .collect::<Result<_, _>>()?;
    let single: Vec<Option<[i64; 1]>> = args
        .iter()
        .zip(params)
        .map(|(arg, param)| match (arg, param.kind) {
            (Argument::Number(Scalar::Int(dim)), ParamKind::Dims) => Some([*dim]),
            _ => None,
        })
        .collect();
    let args: Vec<Argument<'_>> = args
        .iter()
        .zip(wrapped.iter().zip(&single))
        .map(|(arg, made)| match made {
            (Some(tensor), _) => Argument::Tensor(tensor),
            (_, Some(dims)) => Argument::Ints(dims),
            _ => arg.clone(),
        })
        .collect();
    Ok(operator.call(&args, out)?)
}

/// libtorch's operator for a form. Looking for the ones that write to a tensor goes through all of libtorch's names, so
/// the answers are kept.
fn operator(op: Op, form: Form) -> Option<Operator> {
    thread_local! {
        static FOUND: RefCell<HashMap<(Op, Form), Option<Operator>>> = RefCell::default();
    }
    let find = || {
        let (name, overload) = schema(op);
        let functional = Operator::find(name, overload)?;
        match form {
            Form::Functional => Some(functional),
            Form::InPlace => functional.sibling(&format!("{name}_")),
            Form::Out => functional.sibling(name),
        }
    };
    FOUND.with_borrow_mut(|found| found.entry((op, form)).or_insert_with(find).clone())
}

/// The schema name and the overload.
fn schema(op: Op) -> (&'static str, &'static str) {
    let schema = op.info().schema;
    schema.split_once('.').unwrap_or((schema, ""))
}

fn malformed(op: Op, args: &[Argument<'_>]) -> Fault {
    Fault::Failed(format!("{op} with the arguments {args:?}"))
}
