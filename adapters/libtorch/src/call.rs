//! From the operation table to calls of libtorch: every row becomes a [`Method`] by the kinds of its arguments, and a
//! method runs any operation with arguments of those kinds. No operation is named here.
//!
//! Where `tch` has no method for a form or an argument, the call goes to libtorch's dispatcher under the row's schema
//! name. Everything goes there in an adapter that is built without `tch`, and after [`dispatch_all`].

pub mod aliases;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::shim::{self, Argument, Error, Operator, Raised, Returned, Tensor};
use broadcheck_protocol::adapter::UnsupportedCall;
use broadcheck_protocol::ops::{Family, Form, Op, ParamKind, Quirk, REDUCTIONS};
use broadcheck_protocol::tensor::Scalar;

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

#[cfg(feature = "tch")]
impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        match error {
            Error::Torch(what) => Fault::Raised(what),
            other => Fault::Failed(other.to_string()),
        }
    }
}

/// True if the libtorch that is linked has the operation. Old releases lack some; those of Python's front end none has.
pub fn has(op: Op) -> bool {
    match method(op) {
        Method::Absent => false,
        Method::Index | Method::SetItem | Method::Backward | Method::Grad => true,
        _ => {
            let (name, overload) = schema(op);
            Operator::find(name, overload).is_some()
        }
    }
}

/// The overloads that libtorch lacks of an operation that it has, with the text of the answer to a step that asks for one.
pub fn lacks(op: Op) -> Vec<UnsupportedCall> {
    let overloads: &[&'static str] = match op.info().has(Quirk::DimOverloads) {
        true => &["", "all_out", "dim", "out", "dims", "dims_out"],
        false if names_dims(op) => &["", "dim", "dims"],
        false => &[],
    };
    let (name, _) = schema(op);
    let missing = overloads.iter().filter(|overload| Operator::find(name, overload).is_none());
    let mut lacking: Vec<_> = missing.map(|name| UnsupportedCall::of(&no_overload(op, name), &[op])).collect();
    if op == Op::Prod {
        let everything = UnsupportedCall::of(&no_overload(op, NO_OUT), &[op]);
        lacking.push(UnsupportedCall { forms: vec![Form::Out], ..everything });
    }
    lacking
}

/// In place of the name of an overload where no front end lets the result be written to a tensor.
const NO_OUT: &str = "-";

fn no_overload(op: Op, overload: &str) -> String {
    format!("{op}: libtorch has no overload {overload:?}")
}

static DISPATCH_ALL: AtomicBool = AtomicBool::new(false);

/// From now on no method of `tch` is called: every operation goes to libtorch's dispatcher.
pub fn dispatch_all() {
    DISPATCH_ALL.store(true, Ordering::Relaxed);
}

/// Runs one operation.
pub fn call(op: Op, form: Form, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Fault> {
    if out.is_some() != (form == Form::Out) {
        return Err(Fault::Failed(format!("{op}: an out tensor and the form {form:?}")));
    }
    let one = |tensor: Result<Tensor, Error>| Ok(Returned::Tensor(tensor?));
    let method = if DISPATCH_ALL.load(Ordering::Relaxed) { method(op).dispatched() } else { method(op) };
    match (method, form, args) {
        (Method::Absent, ..) => Err(Fault::Unsupported(format!("{op}: only PyTorch's Python front end has it"))),
        (Method::Elementwise(methods), _, args) => elementwise(op, &methods, form, args, out),
        (Method::Overloads(choose), _, args) => overload(op, choose, args, out),
        (Method::Value, _, args) => value(op, form, args, out),
        (Method::SetItem, _, [Argument::Tensor(a), Argument::Index(items), value]) => {
            shim::set_item(a, items, value)?;
            Ok(Returned::Tensor(a.shallow_clone()))
        }
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

type One = Result<Tensor, Error>;

/// The signature of an operation: the kinds of its arguments, and `tch`'s methods for them.
#[cfg_attr(not(feature = "tch"), allow(dead_code))] // Without `tch` nothing runs by its methods.
pub enum Method {
    /// Two operands, either of which may be a number, and perhaps a factor for the second.
    Elementwise(Elementwise),
    Unary(fn(&Tensor) -> One),
    TwoTensors(fn(&Tensor, &Tensor) -> One),
    Sizes(fn(&Tensor, &[i64]) -> One),
    Dim(fn(&Tensor, i64) -> One),
    TwoDims(fn(&Tensor, i64, i64) -> One),
    Tensors(fn(&[&Tensor]) -> Result<Vec<Tensor>, Error>),
    /// By schema name, under the overload that the arguments decide.
    Overloads(for<'a> fn(&[Argument<'a>]) -> Option<Overload<'a>>),
    Einsum(fn(&str, &[&Tensor]) -> One),
    Index,
    SetItem,
    Backward,
    Grad,
    /// By schema name, with an overload of its own for a number in the place of the last tensor.
    Value,
    /// By schema name.
    Dispatcher,
    /// Not in libtorch.
    Absent,
}

impl Method {
    /// The same without the methods of `tch`.
    fn dispatched(self) -> Method {
        match self {
            Method::Elementwise(_) => Method::Elementwise(Elementwise { functional: None, in_place: None, out: None }),
            Method::Unary(_)
            | Method::TwoTensors(_)
            | Method::Sizes(_)
            | Method::Dim(_)
            | Method::TwoDims(_)
            | Method::Tensors(_)
            | Method::Einsum(_) => Method::Dispatcher,
            other => other,
        }
    }
}

/// The methods of an operation on two operands, in the order in which the table lists them; `None` where `tch` has none.
pub struct Elementwise {
    functional: Option<fn(&Tensor, &Tensor) -> One>,
    in_place: Option<fn(&mut Tensor, &Tensor) -> One>,
    /// The operands, then the tensor that is written to.
    out: Option<fn(&Tensor, &Tensor, &Tensor) -> One>,
}

/// A row's methods of `tch`, by the kinds of its arguments; `None` if it has none.
#[cfg(feature = "tch")]
macro_rules! by_tch {
    ($kinds:tt []) => { None };
    ([Operand Operand $($option:ident)?] [$functional:ident $in_place:tt $out:tt]) => {
        Some(Method::Elementwise(Elementwise {
            functional: Some(|a, b| a.$functional(b)),
            in_place: by_tch!(@in_place $in_place),
            out: by_tch!(@out $out),
        }))
    };
    (@in_place -) => { None };
    (@in_place $method:ident) => { Some(|a, b| a.$method(b)) };
    (@out -) => { None };
    (@out $method:ident) => { Some(|a, b, out| a.$method(out, b)) };
    ([Tensor] [$tch:ident]) => { Some(Method::Unary(|a| a.$tch())) };
    ([Tensor Tensor] [$tch:ident]) => { Some(Method::TwoTensors(|a, b| a.$tch(b))) };
    // The one method of these that has a further parameter: `implicit`, which only autograd's tracing sets.
    ([Tensor Ints] [f_expand]) => { Some(Method::Sizes(|a, sizes| a.f_expand(sizes, false))) };
    ([Tensor Ints] [$tch:ident]) => { Some(Method::Sizes(|a, sizes| a.$tch(sizes))) };
    ([Tensor Int] [$tch:ident]) => { Some(Method::Dim(|a, dim| a.$tch(dim))) };
    ([Tensor Int Int] [$tch:ident]) => { Some(Method::TwoDims(|a, dim0, dim1| a.$tch(dim0, dim1))) };
    ([Tensors] [$tch:ident]) => { Some(Method::Tensors(|tensors| Tensor::$tch(tensors))) };
    ([Text Tensors] [$tch:ident]) => {
        Some(Method::Einsum(|equation, operands| Tensor::$tch(equation, operands, None::<&[i64]>)))
    };
}

#[cfg(feature = "tch")]
macro_rules! methods {
    ($($variant:ident { facts: $facts:tt kernel: $kernel:tt gradient: $gradient:tt calls: $calls:tt })+) => {
        fn by_tch(op: Op) -> Option<Method> {
            match op {
                $(Op::$variant => by_tch! $calls),+
            }
        }
    };
}

#[cfg(feature = "tch")]
broadcheck_protocol::for_each_op!(methods);

/// The signature of `op`.
pub fn method(op: Op) -> Method {
    use ParamKind::{Dims, Dtype, Flag, Index, Int, Number, Operand, Value};
    #[cfg(feature = "tch")]
    if let Some(method) = by_tch(op) {
        return method;
    }
    let info = op.info();
    match (info.family(), info.kinds) {
        (Family::FrontEnd, _) => Method::Absent,
        (Family::Autograd, [_]) => Method::Grad,
        (Family::Autograd, _) => Method::Backward,
        (_, [_, Index]) => Method::Index,
        (_, [_, Index, _]) => Method::SetItem,
        _ if info.has(Quirk::DimOverloads) => Method::Overloads(truth),
        (_, [_, Int, Flag, Dtype]) => Method::Overloads(product),
        (_, [_, Dims, Number, Flag, Flag]) => Method::Overloads(variance),
        (_, [.., Value]) => Method::Value,
        (_, [Operand, Operand, ..]) if !info.tch.is_empty() => {
            Method::Elementwise(Elementwise { functional: None, in_place: None, out: None })
        }
        _ => Method::Dispatcher,
    }
}

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
        [first, second, alpha] => (first, second, Some(alpha).filter(|alpha| !is_default(alpha))),
        _ => return Err(malformed(op, args)),
    };
    if form == Form::InPlace && !matches!(first, Argument::Tensor(_)) {
        return Err(malformed(op, args));
    }
    if let (Argument::Tensor(_), Argument::Number(_), None) = (first, second, alpha) {
        let (name, _) = schema(op);
        match form {
            Form::Functional => return number_overload(op, name, &args[..2]),
            Form::InPlace => return number_overload(op, &format!("{name}_"), &args[..2]),
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
    let Elementwise { functional, in_place, out: writing } = *methods;
    Ok(Returned::Tensor(match (form, out, functional, in_place, writing) {
        (Form::Functional, _, Some(method), ..) => method(a, b)?,
        (Form::InPlace, _, _, Some(method), _) => method(&mut a.shallow_clone(), b)?,
        (Form::Out, Some(out), .., Some(method)) => method(a, b, out)?,
        _ => return without_option(op, form, &[Argument::Tensor(a), Argument::Tensor(b)], out),
    }))
}

/// Without a rounding mode a division has an overload of its own; other operations take the default of their option.
fn without_option(op: Op, form: Form, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Fault> {
    let (name, _) = schema(op);
    let operator = match form {
        _ if !matches!(op.info().kinds, [.., ParamKind::Text]) => None,
        Form::Functional => Operator::find(name, "Tensor"),
        Form::InPlace => Operator::find(&format!("{name}_"), "Tensor"),
        Form::Out => Operator::find(name, "out"),
    };
    match operator {
        Some(operator) => Ok(operator.call(args, out)?),
        None => dispatch(op, form, args, out),
    }
}

/// The overload for a number as the second operand; shifts have it under another name.
fn number_overload(op: Op, name: &str, args: &[Argument<'_>]) -> Result<Returned, Fault> {
    match Operator::find(name, "Scalar").or_else(|| Operator::find(name, "Tensor_Scalar")) {
        Some(operator) => Ok(operator.call(args, None)?),
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

/// Python's default `alpha` is the integer 1. A float 1.0 is not the same: integers reject it. That of `rounding_mode`
/// is none.
fn is_default(argument: &Argument<'_>) -> bool {
    matches!(argument, Argument::Number(Scalar::Int(1)) | Argument::Nothing)
}

/// An overload, the overload that writes to `out`, and the arguments in the order of their schema.
pub type Overload<'a> = (&'static str, &'static str, Vec<Argument<'a>>);

/// A truth of everything, along one dimension, or along several.
fn truth<'a>(args: &[Argument<'a>]) -> Option<Overload<'a>> {
    let [x, dims, keepdim] = args else { return None };
    Some(match (dims, keepdim) {
        (Argument::Nothing, Argument::Number(Scalar::Bool(false))) => ("", "all_out", vec![x.clone()]),
        (Argument::Number(_), _) => ("dim", "out", args.to_vec()),
        _ => ("dims", "dims_out", args.to_vec()),
    })
}

/// A product of everything, which no front end lets be written to a tensor, or along one dimension.
fn product<'a>(args: &[Argument<'a>]) -> Option<Overload<'a>> {
    let [x, dim, keepdim, dtype] = args else { return None };
    match (dim, keepdim) {
        (Argument::Nothing, Argument::Number(Scalar::Bool(false))) => {
            Some(("", NO_OUT, vec![x.clone(), dtype.clone()]))
        }
        (Argument::Nothing, _) => None,
        _ => Some(("dim_int", "int_out", args.to_vec())),
    }
}

/// A variance with a correction, or the older one that is either biased or not.
fn variance<'a>(args: &[Argument<'a>]) -> Option<Overload<'a>> {
    let [x, dims, correction, keepdim, unbiased] = args else { return None };
    match (correction, unbiased) {
        (_, Argument::Nothing) => Some(("correction", "correction_out", args[..4].to_vec())),
        (Argument::Nothing, _) => {
            Some(("dim", "out", vec![x.clone(), dims.clone(), unbiased.clone(), keepdim.clone()]))
        }
        _ => None,
    }
}

/// Runs the overload that the arguments decide.
fn overload(
    op: Op,
    choose: for<'a> fn(&[Argument<'a>]) -> Option<Overload<'a>>,
    args: &[Argument<'_>],
    out: Option<&Tensor>,
) -> Result<Returned, Fault> {
    let Some((functional, writing, args)) = choose(args) else {
        return Err(Fault::Unsupported(format!("{op} with these arguments: no overload takes them")));
    };
    let overload = if out.is_some() { writing } else { functional };
    // One dimension is a list of one, unless there is an overload for it.
    let listed = !op.info().has(Quirk::DimOverloads);
    let single = match args.get(1) {
        Some(Argument::Number(Scalar::Int(dim))) if listed && kind(op, 1) == Some(ParamKind::Dims) => Some([*dim]),
        _ => None,
    };
    let mut args = args;
    if let Some(single) = &single {
        args[1] = Argument::Ints(single);
    }
    match Operator::find(schema(op).0, overload) {
        Some(operator) => Ok(operator.call(&args, out)?),
        None => Err(Fault::Unsupported(no_overload(op, overload))),
    }
}

fn kind(op: Op, at: usize) -> Option<ParamKind> {
    op.info().arguments.get(at).map(|param| param.kind)
}

/// Runs an operation by its schema name: the overload for numbers where there are numbers in the place of operands and
/// libtorch has one; else with the numbers wrapped.
fn dispatch(op: Op, form: Form, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Fault> {
    dispatch_by(op, op.info().schema, form, args, out)
}

/// The same by this schema name, which may be that of an alias.
fn dispatch_by(
    op: Op,
    schema: &'static str,
    form: Form,
    args: &[Argument<'_>],
    out: Option<&Tensor>,
) -> Result<Returned, Fault> {
    if let Some(operator) = numbers(op, args).and_then(|numbers| operator(schema, form, numbers)) {
        return Ok(operator.call(args, out)?);
    }
    let all = args;
    let (operator, args) = match dims_overload(op, args) {
        Some((overload, args)) => {
            let (name, _) = parts(schema);
            let name = if form == Form::InPlace { format!("{name}_") } else { name.to_owned() };
            (Operator::find(&name, overload), args)
        }
        None => (operator(schema, form, 0), args),
    };
    let Some(operator) = operator else {
        return Err(Fault::Unsupported(match dims_overload(op, all) {
            Some((overload, _)) => no_overload(op, overload),
            None => format!("{op} in the form {form:?}: libtorch has no such operator"),
        }));
    };
    let params = op.info().arguments;
    let single_overload = dims_overload(op, args).is_some();
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
            (Argument::Number(Scalar::Int(dim)), ParamKind::Dims) if !single_overload => Some([*dim]),
            _ => None,
        })
        .collect();
    let args: Vec<Argument<'_>> = args
        .iter()
        .zip(params)
        .zip(wrapped.iter().zip(&single))
        .map(|((arg, param), made)| match made {
            (Some(tensor), _) => Argument::Tensor(tensor),
            (_, Some(dims)) => Argument::Ints(dims),
            _ => plain(arg, param.kind),
        })
        .zip(params)
        .map(|(arg, param)| match (arg, param.kind) {
            // An empty list stands for all dimensions, and a few operators take no None.
            (Argument::Nothing, ParamKind::Dims) if op.info().has(Quirk::NoOptionalDims) => Argument::Ints(&[]),
            (arg, _) => arg,
        })
        .collect();
    Ok(operator.call(&args, out)?)
}

/// An operation whose last argument is a tensor or a number. The overload for a number is called `Scalar` or `value`, and
/// `int_Scalar` where a dimension is an integer and not a name.
fn value(op: Op, form: Form, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Fault> {
    if !matches!(args.last(), Some(Argument::Number(_))) {
        return dispatch(op, form, args, out);
    }
    let (name, _) = schema(op);
    let functional = ["Scalar", "value", "int_Scalar"].into_iter().find_map(|overload| Operator::find(name, overload));
    let operator = functional.and_then(|functional| match form {
        Form::Functional => Some(functional),
        Form::InPlace => functional.sibling(&format!("{name}_")),
        Form::Out => functional.sibling(name),
    });
    match operator {
        Some(operator) => Ok(operator.call(args, out)?),
        None => Err(Fault::Unsupported(format!("{op} with a number"))),
    }
}

/// Returns whether the operation has an overload for each way of naming dimensions.
fn names_dims(op: Op) -> bool {
    let info = op.info();
    info.arguments.last().is_some_and(|param| param.kind == ParamKind::Dims) && !info.schema.contains('.')
}

/// The overload that the dimensions ask for, where the row names none because there is one for each way of naming them:
/// all, one, or a list.
fn dims_overload<'a, 'b>(op: Op, args: &'b [Argument<'a>]) -> Option<(&'static str, &'b [Argument<'a>])> {
    let (last, before) = args.split_last().filter(|_| names_dims(op))?;
    Some(match last {
        Argument::Nothing => ("", before),
        Argument::Number(_) => ("dim", args),
        _ => ("dims", args),
    })
}

/// A bit for each operand that is a scalar, or is left out next to one; `None` if no operand is a scalar.
fn numbers(op: Op, args: &[Argument<'_>]) -> Option<u64> {
    let params = op.info().arguments;
    let operand = |at: &usize| params.get(*at).is_some_and(|param| param.kind == ParamKind::Operand);
    let is_number = |at: &usize| matches!(args[*at], Argument::Number(_));
    let operands = || (0..args.len()).filter(operand);
    let stands_for_one = |at: &usize| matches!(args[*at], Argument::Number(_) | Argument::Nothing);
    operands().any(|at| is_number(&at)).then(|| operands().filter(stands_for_one).fold(0, |bits, at| bits | 1 << at))
}

/// libtorch's operator for a form, with numbers as the arguments whose bits are set. Looking for others than the one that
/// the schema names goes through all of libtorch's names, so the answers are kept.
fn operator(schema: &'static str, form: Form, numbers: u64) -> Option<Operator> {
    /// By schema, form and numbers.
    type Found = HashMap<(&'static str, Form, u64), Option<Operator>>;
    thread_local! {
        static FOUND: RefCell<Found> = RefCell::default();
    }
    let find = || {
        let (name, overload) = parts(schema);
        let own = Operator::find(name, overload)?;
        match (form, augmented(name)) {
            (Form::Functional, false) | (Form::InPlace, true) if numbers == 0 => Some(own),
            (Form::Functional, false) | (Form::InPlace, true) => own.overload(name, false, numbers),
            (Form::InPlace, false) => own.overload(&format!("{name}_"), false, numbers),
            // Python's operators have no `out`; `__lshift__.Tensor_out` is generated for compilers.
            (Form::Out, false) if !name.starts_with("__") => own.overload(name, true, numbers),
            _ => None,
        }
    };
    FOUND.with_borrow_mut(|found| found.entry((schema, form, numbers)).or_insert_with(find).clone())
}

/// True if this is the method of an augmented assignment, such as `__iand__`, which is always in place.
fn augmented(name: &str) -> bool {
    name.starts_with("__i")
}

/// The schema name and the overload.
fn schema(op: Op) -> (&'static str, &'static str) {
    parts(op.info().schema)
}

fn parts(schema: &str) -> (&str, &str) {
    schema.split_once('.').unwrap_or((schema, ""))
}

/// The number that libtorch's operators take for the name of a reduction.
fn plain<'a>(arg: &Argument<'a>, kind: ParamKind) -> Argument<'a> {
    match (arg, kind) {
        (Argument::Text(text), ParamKind::Reduction) => {
            let number = REDUCTIONS.iter().position(|name| name == text);
            number.map_or(arg.clone(), |number| Argument::Number(Scalar::Int(number as i64)))
        }
        _ => arg.clone(),
    }
}

fn malformed(op: Op, args: &[Argument<'_>]) -> Fault {
    Fault::Failed(format!("{op} with the arguments {args:?}"))
}
