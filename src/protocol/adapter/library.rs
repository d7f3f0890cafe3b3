//! The shared part of adapters of Rust libraries: the values of a program, blocked steps, rejections, panics. An
//! adapter says how tensors are made and read and which function each operation is, and is an [`Implementation`] by
//! that.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::serve::panic_text;
use super::{Capability, Hello, Implementation, Lack, UnsupportedCall};
use crate::error::Class;
use crate::ops::{Form, Op, Param, ParamKind};
use crate::program::{
    Arg, Input, Outcome, Program, Rejected, Reply, ShapeArg, Step, StepOutcome, TensorValue, VALUE_LIMIT, Value,
    ValueRef,
};
use crate::tensor::{DType, Element, IndexItem, Scalar, ScalarType, Shape};

/// A library under test, as its adapter describes it.
pub trait Library: Sized + 'static {
    /// A tensor. A clone is the same tensor: what is written to one is read from the other.
    type Tensor: Clone;

    /// The operation table, as far as the library has it.
    const OPERATIONS: &'static [Operation<Self>];

    /// Returns its declaration, with what it lacks besides operations and forms, which follow from the table.
    fn describe(&self) -> Hello;

    /// Returns the reason why an operation of the table has no such form.
    fn lacks(&self, form: Form) -> &'static str;

    /// Makes an input.
    fn make(&mut self, input: &Input) -> Result<Self::Tensor, CallError>;

    /// A tensor as the protocol has it.
    fn read(&mut self, tensor: &Self::Tensor) -> Result<TensorValue, CallError>;

    /// The class of a rejection, where its message shows it.
    fn classify(&self, op: Op, message: &str) -> Option<Class>;

    /// Forgets what the last program left.
    fn begin(&mut self) {}

    /// Returns the recorder, if this process was asked to write its calls.
    fn recorder(&mut self) -> Option<&mut dyn Recorder> {
        None
    }
}

/// The environment variable with the name of the file to write the program to, in the library's own calls.
pub const RENDER: &str = "BROADCHECK_RENDER";

/// Observes the calls of a program to write it in the library's own language.
pub trait Recorder {
    /// A program begins.
    fn begin(&mut self, program: &Program);

    /// A step matched this arm of its row, which has not run yet. It is reported again if the arm calls another row.
    fn call(&mut self, step: &Step, arm: Arm);

    /// A step has ended. `panicked` is true if the library rejected it by a panic.
    fn end(&mut self, outcome: &Outcome, panicked: bool);

    /// All steps have ended.
    fn finish(&mut self);
}

/// The source of one arm of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The pattern of the arguments.
    pub arguments: &'static str,
    /// The expression that makes the call.
    pub answer: &'static str,
}

/// Reports to the recorder, if there is one, which arm of its row a call takes.
pub fn record<L: Library>(library: &mut L, call: &Call<'_, L::Tensor>, arm: Arm) {
    if let Some(recorder) = library.recorder() {
        recorder.call(call.step, arm);
    }
}

/// An operation, and the function of the library that it is.
pub struct Operation<L: Library> {
    /// The operation.
    pub op: Op,
    /// The forms that the library has it in.
    pub forms: &'static [Form],
    /// Calls the function. A panic is a rejection by the library, so that an adapter's own mistakes have to be
    /// [`CallError::Failed`].
    pub call: Function<L>,
}

impl<L: Library> Operation<L> {
    /// One that gives a new tensor.
    pub const fn functional(op: Op, call: Function<L>) -> Operation<L> {
        Operation { op, forms: &[Form::Functional], call }
    }
}

/// A row of [`Library::OPERATIONS`]: the operation, its forms unless it only gives a new tensor, then arms of a match over
/// its arguments. An arm after `@InPlace` is for that form alone. Between bars are names for the library and the call, if
/// an arm needs them. `Tensor` at the place of the call is the library's type.
#[macro_export]
macro_rules! operation {
    ($op:ident [$($form:ident)+] |$library:ident, $call:ident|,
        $($(@$only:ident)? $arguments:pat $(if $guard:expr)? => $answer:expr),+ $(,)?) => {{
        use $crate::adapter::{Call, Operation, library};
        Operation {
            op: $crate::ops::Op::$op,
            forms: &[$($crate::ops::Form::$form),+],
            call: |$library, $call: &Call<'_, Tensor>| match $call.args[..] {
                $($arguments if $call.has_form(&[$($crate::ops::Form::$only)?]) $(&& $guard)? => {
                    let arm = library::Arm { arguments: stringify!($arguments), answer: stringify!($answer) };
                    library::record($library, $call, arm);
                    $answer
                })+
                _ => $call.malformed(),
            },
        }
    }};
    ($op:ident |$library:ident, $call:ident|, $($arms:tt)+) => {
        $crate::operation!($op [Functional] |$library, $call|, $($arms)+)
    };
    ($op:ident [$($form:ident)+], $($arms:tt)+) => {
        $crate::operation!($op [$($form)+] |library, call|, $($arms)+)
    };
    ($op:ident, $($arms:tt)+) => { $crate::operation!($op [Functional] |library, call|, $($arms)+) };
}

/// The signature by which a function of a library is called.
pub type Function<L> = fn(&mut L, &Call<'_, <L as Library>::Tensor>) -> Answer<<L as Library>::Tensor>;

/// The outcome of a call.
pub type Answer<T> = Result<Returned<T>, CallError>;

/// A step, with the values that it names.
#[derive(Clone, Debug)]
pub struct Call<'a, T> {
    /// The step of the program: the operation, and the form, which is where the result goes.
    pub step: &'a Step,
    /// One argument for each parameter.
    pub args: Vec<Argument<'a, T>>,
    /// The tensor that `out=` names.
    pub out: Option<&'a T>,
}

impl<T> Call<'_, T> {
    /// Returns whether the result goes where one of these forms puts it, or if there is none, anywhere.
    pub fn has_form(&self, forms: &[Form]) -> bool {
        forms.is_empty() || forms.contains(&self.step.form)
    }

    /// The answer to arguments of kinds that the operation does not take.
    pub fn malformed(&self) -> Answer<T> {
        Err(self.malformation())
    }

    /// The error of arguments of kinds that the operation does not take. Scalars alone are unsupported: PyTorch makes
    /// tensors of them, and a library has functions of its tensors.
    pub fn malformation(&self) -> CallError {
        let is_operand = |(param, _): &(&Param, &Argument<'_, T>)| param.kind == ParamKind::Operand;
        let mut operands = self.step.op.info().arguments.iter().zip(&self.args).filter(is_operand).peekable();
        if operands.peek().is_some() && operands.all(|(_, arg)| matches!(arg, Argument::Number(_))) {
            return CallError::Unsupported(SCALARS_ALONE.to_owned());
        }
        CallError::Failed(format!("{} with arguments of other kinds", self.step.op))
    }
}

/// The answer to a call of an operation on scalars alone.
const SCALARS_ALONE: &str = "the library's function takes a tensor";

/// An argument.
#[derive(Clone, Debug)]
pub enum Argument<'a, T> {
    /// Python's `None`.
    Nothing,
    /// A tensor.
    Tensor(&'a T),
    /// Several tensors.
    Tensors(Vec<&'a T>),
    /// Several tensors, some of them missing.
    Indices(Vec<Option<&'a T>>),
    /// A scalar.
    Number(Scalar),
    /// A dimension.
    Int(i64),
    /// Sizes or dimensions.
    Ints(&'a [i64]),
    /// Shapes.
    Shapes(&'a [ShapeArg]),
    /// A switch.
    Flag(bool),
    /// A dtype, in which the operation computes.
    Dtype(DType),
    /// A dtype that the operation is about.
    ScalarType(ScalarType),
    /// Text.
    Text(&'a str),
    /// The index between the brackets.
    Index(&'a [IndexItem]),
}

/// The result of a call.
#[derive(Clone, Debug)]
pub enum Returned<T> {
    /// A tensor.
    Tensor(T),
    /// Several tensors.
    Tensors(Vec<T>),
    /// A scalar, which has no dtype.
    Number(Scalar),
    /// A shape.
    Sizes(Vec<i64>),
    /// A dtype.
    Dtype(ScalarType),
    /// Nothing.
    Nothing,
}

/// The reason why a call has no result. Any error becomes the library's own rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The library rejects the call, with this message.
    Rejected(String),
    /// The library has no such call, in one of the texts that `hello` lists.
    Unsupported(String),
    /// The adapter went wrong.
    Failed(String),
}

impl<E: std::error::Error> From<E> for CallError {
    fn from(error: E) -> CallError {
        CallError::Rejected(error.to_string())
    }
}

/// The class of the first row that names the operation, or none, and has a part of the message.
pub fn class(rows: &[(&[Op], &str, Class)], op: Op, message: &str) -> Option<Class> {
    let fits = |(ops, part, _): &&(&[Op], &str, Class)| (ops.is_empty() || ops.contains(&op)) && message.contains(part);
    rows.iter().find(fits).map(|(_, _, class)| *class)
}

/// The version of a package in the text of a `Cargo.lock`, for a library that does not report its own.
pub fn locked(lock: &str, package: &str) -> String {
    let entry = lock.split("[[package]]").find(|entry| entry.contains(&format!("name = \"{package}\"\n")));
    let version = entry.and_then(|entry| entry.split("version = \"").nth(1)?.split('"').next());
    version.unwrap_or_else(|| panic!("Cargo.lock has no {package}")).to_owned()
}

/// The elements whose little-endian bytes these are.
pub fn elements<E: Element>(bytes: &[u8]) -> Vec<E> {
    bytes.chunks_exact(E::DTYPE.size()).map(E::read).collect()
}

/// A tensor as the protocol has it, with its elements in row-major order, which are not asked for if they are too many.
pub fn shown<E: Element>(sizes: &[usize], elements: impl FnOnce() -> Vec<E>) -> Result<TensorValue, CallError> {
    let shape = Shape::new(sizes.iter().map(|&size| size as i64).collect())
        .map_err(|error| CallError::Failed(format!("a result of shape {sizes:?}: {error}")))?;
    let mut data = Vec::new();
    if shape.numel().saturating_mul(E::DTYPE.size()) <= VALUE_LIMIT {
        elements().into_iter().for_each(|element| element.write(&mut data));
    }
    Ok(TensorValue { dtype: E::DTYPE, shape, data, strides: None, storage: None })
}

impl<L: Library> Implementation for L {
    fn hello(&mut self) -> Hello {
        let mut hello = self.describe();
        let asked = |form: Form| match form {
            Form::Functional => true,
            Form::InPlace => hello.capabilities.contains(&Capability::InPlace),
            Form::Out => hello.capabilities.contains(&Capability::Out),
        };
        for row in L::OPERATIONS {
            let missing = row.op.info().forms.iter().filter(|form| asked(**form) && !row.forms.contains(form));
            hello.lacks.extend(missing.map(|&form| Lack::form(row.op, form, self.lacks(form))));
        }
        hello.ops = L::OPERATIONS.iter().map(|row| row.op).collect();
        // Each of them may be called with scalars in place of its tensors.
        let of_scalars = |op: &Op| {
            let kinds = op.info().arguments.iter().map(|param| param.kind);
            kinds.clone().any(|kind| kind == ParamKind::Operand) && kinds.clone().all(|kind| kind != ParamKind::Tensor)
        };
        let ops: Vec<Op> = L::OPERATIONS.iter().map(|row| row.op).filter(of_scalars).collect();
        if !ops.is_empty() {
            hello.unsupported.push(UnsupportedCall::of(SCALARS_ALONE, &ops));
        }
        hello
    }

    fn run(&mut self, program: &Program) -> Reply {
        self.begin();
        if let Some(recorder) = self.recorder() {
            recorder.begin(program);
        }
        let made = program.inputs.iter().map(|input| self.make(input).map(Returned::Tensor)).collect();
        let mut run = match made {
            Ok(values) => Run { values: Vec::into_iter(values).map(Some).collect(), library: self },
            Err(error) => {
                let outcome = match error {
                    CallError::Unsupported(what) => Outcome::Unsupported(what),
                    other => Outcome::Failed(format!("an input cannot be made: {other:?}")),
                };
                let none = StepOutcome::of(outcome);
                // Nothing was written: a program that writes ends with its inputs as they are given.
                let given = program.inputs.iter().filter(|_| program.mutates()).map(TensorValue::from);
                return Reply { steps: vec![none; program.steps.len()], inputs: given.collect() };
            }
        };
        let steps = program.steps.iter().map(|step| StepOutcome::of(run.step(step))).collect();
        if let Some(recorder) = run.library.recorder() {
            recorder.finish();
        }
        let inputs = if program.mutates() { run.inputs(program.inputs.len()) } else { Vec::new() };
        Reply { steps, inputs }
    }
}

/// The values of one program.
struct Run<'l, L: Library> {
    library: &'l mut L,
    values: Vec<Option<Returned<L::Tensor>>>,
}

impl<L: Library> Run<'_, L> {
    fn step(&mut self, step: &Step) -> Outcome {
        let mut panicked = false;
        let (outcome, value) = match self.attempt(step, &mut panicked) {
            Ok((value, returned)) => (Outcome::Value(value), Some(returned)),
            Err(outcome) => (outcome, None),
        };
        if let Some(recorder) = self.library.recorder() {
            recorder.end(&outcome, panicked);
        }
        self.values.push(value);
        outcome
    }

    fn attempt(&mut self, step: &Step, panicked: &mut bool) -> Result<(Value, Returned<L::Tensor>), Outcome> {
        let Run { library, values } = self;
        let args = step.args.iter().map(|arg| argument(values, arg)).collect::<Result<_, _>>()?;
        let out = step.out.map(|out| tensor(values, out)).transpose()?;
        let call = Call { step, args, out };
        let result = match L::OPERATIONS.iter().find(|row| row.op == step.op) {
            Some(row) => caught(|| (row.call)(library, &call)).unwrap_or_else(|text| {
                *panicked = true;
                Err(CallError::Rejected(text))
            }),
            None => Err(CallError::Failed(format!("{} is not in hello", step.op))),
        };
        let shown = result.and_then(|returned| Ok((value(*library, &returned)?, returned)));
        shown.map_err(|error| match error {
            CallError::Rejected(message) => {
                let message =
                    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
                Outcome::Rejected(Rejected {
                    class: library.classify(step.op, &message),
                    message,
                    origin: None,
                    raises: None,
                })
            }
            CallError::Unsupported(what) => Outcome::Unsupported(what),
            CallError::Failed(why) => Outcome::Failed(why),
        })
    }

    fn inputs(&mut self, count: usize) -> Vec<TensorValue> {
        let Run { library, values } = self;
        let read = |value: &Option<Returned<L::Tensor>>| match value {
            Some(Returned::Tensor(tensor)) => library.read(tensor).ok(),
            _ => None,
        };
        values[..count].iter().filter_map(read).collect()
    }
}

fn argument<'a, T>(values: &'a [Option<Returned<T>>], arg: &'a Arg) -> Result<Argument<'a, T>, Outcome> {
    let each = |value: &ValueRef| tensor(values, *value);
    Ok(match arg {
        Arg::Nothing => Argument::Nothing,
        Arg::Tensor(value) => Argument::Tensor(each(value)?),
        Arg::Tensors(values) => Argument::Tensors(values.iter().map(each).collect::<Result<_, _>>()?),
        Arg::Indices(values) => Argument::Indices(
            values.iter().map(|value| value.as_ref().map(each).transpose()).collect::<Result<_, _>>()?,
        ),
        Arg::Number(number) => Argument::Number(*number),
        Arg::Int(int) => Argument::Int(*int),
        Arg::Ints(ints) => Argument::Ints(ints),
        Arg::Shapes(shapes) => Argument::Shapes(shapes),
        Arg::Flag(flag) => Argument::Flag(*flag),
        Arg::Dtype(dtype) => Argument::Dtype(*dtype),
        Arg::ScalarType(dtype) => Argument::ScalarType(*dtype),
        Arg::Text(text) => Argument::Text(text),
        Arg::Index(items) => Argument::Index(items),
    })
}

/// The tensor that a step uses. Anything else in its place blocks the step like a missing value.
fn tensor<T>(values: &[Option<Returned<T>>], wanted: ValueRef) -> Result<&T, Outcome> {
    let found = match (values.get(wanted.value).and_then(Option::as_ref), wanted.part) {
        (Some(Returned::Tensor(tensor)), None) => Some(tensor),
        (Some(Returned::Tensors(tensors)), Some(part)) => tensors.get(part),
        _ => None,
    };
    found.ok_or(Outcome::Blocked(wanted.value))
}

fn value<L: Library>(library: &mut L, returned: &Returned<L::Tensor>) -> Result<Value, CallError> {
    Ok(match returned {
        Returned::Tensor(tensor) => Value::Tensor(library.read(tensor)?),
        Returned::Tensors(tensors) => {
            Value::Tensors(tensors.iter().map(|tensor| library.read(tensor)).collect::<Result<_, _>>()?)
        }
        Returned::Number(number) => Value::Number(*number),
        Returned::Sizes(sizes) => Value::Sizes(sizes.clone()),
        Returned::Dtype(dtype) => Value::Dtype(*dtype),
        Returned::Nothing => Value::Nothing,
    })
}

thread_local! {
    /// True during a call, in which a panic is no accident.
    static CALLING: Cell<bool> = const { Cell::new(false) };
}

/// Returns what a call of a library returns, or the text of its panic. Nothing is printed of such a panic.
fn caught<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |info| {
            if !CALLING.get() {
                loud(info);
            }
        }));
    });
    CALLING.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    CALLING.set(false);
    result.map_err(|panic| panic_text(&*panic).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors of bytes. What comes of `unsqueeze` is by the dimension: two tensors, an error, a panic, a mistake.
    struct Toy;

    impl Library for Toy {
        type Tensor = Vec<u8>;

        const OPERATIONS: &'static [Operation<Toy>] =
            &[Operation::functional(Op::Unsqueeze, |_, call: &Call<'_, Vec<u8>>| match call.args.as_slice() {
                [Argument::Tensor(of), Argument::Int(0)] => Ok(Returned::Tensors(vec![(*of).clone(), Vec::new()])),
                [_, Argument::Int(1)] => Ok(Returned::Number("x".parse::<i64>().map(Scalar::Int)?)),
                [Argument::Tensor(of), Argument::Int(2)] => Ok(Returned::Tensor(vec![of[of.len()]])),
                _ => call.malformed(),
            })];

        fn describe(&self) -> Hello {
            super::super::support::everything()
        }

        fn lacks(&self, _form: Form) -> &'static str {
            "immutable"
        }

        fn make(&mut self, input: &Input) -> Result<Vec<u8>, CallError> {
            Ok(elements(&input.data))
        }

        fn read(&mut self, tensor: &Vec<u8>) -> Result<TensorValue, CallError> {
            shown(&[tensor.len()], || tensor.clone())
        }

        fn classify(&self, op: Op, message: &str) -> Option<Class> {
            class(&[(&[Op::Add], "", Class::Dtype), (&[], "out of bounds", Class::Argument)], op, message)
        }
    }

    fn outcomes(of: &[(usize, Option<usize>, i64)]) -> Vec<Outcome> {
        let input = Input {
            name: "x".to_owned(),
            dtype: DType::Uint8,
            shape: Shape::new(vec![2]).unwrap(),
            data: vec![3, 4],
            requires_grad: false,
        };
        let step = |&(value, part, dim)| Step {
            name: "r".to_owned(),
            op: Op::Unsqueeze,
            form: Form::Functional,
            args: vec![Arg::Tensor(ValueRef { value, part }), Arg::Int(dim)],
            out: None,
        };
        let reply = Toy.run(&Program { inputs: vec![input], steps: of.iter().map(step).collect() });
        reply.steps.into_iter().map(|step| step.outcome).collect()
    }

    #[test]
    fn steps_have_values_or_are_blocked() {
        let seen = outcomes(&[(0, None, 0), (1, Some(0), 0), (1, None, 0), (3, None, 0)]);
        assert_eq!(seen[0].tensors().iter().map(|part| part.data.clone()).collect::<Vec<_>>(), [vec![3, 4], vec![]]);
        assert_eq!(seen[1].tensors()[0].data, [3, 4]);
        assert_eq!(seen[2..], [Outcome::Blocked(1), Outcome::Blocked(3)]);
    }

    #[test]
    fn errors_and_panics_of_the_library_are_rejections() {
        let seen = outcomes(&[(0, None, 1), (0, None, 2), (0, None, 3), (0, None, 0)]);
        assert!(
            matches!(&seen[0], Outcome::Rejected(it) if it.message.contains("invalid digit") && it.class.is_none())
        );
        assert!(matches!(&seen[1], Outcome::Rejected(it) if it.class == Some(Class::Argument)), "{:?}", seen[1]);
        assert_eq!(seen[2], Outcome::Failed("unsqueeze with arguments of other kinds".to_owned()));
        assert!(matches!(seen[3], Outcome::Value(_)));
    }

    #[test]
    fn scalars_alone_are_unsupported() {
        let answer = |op, args| {
            let step = Step { name: "r".to_owned(), op, form: Form::Functional, args: Vec::new(), out: None };
            Call::<()> { step: &step, args, out: None }.malformed().unwrap_err()
        };
        let one = || Argument::Number(Scalar::Int(1));
        let alone = CallError::Unsupported(SCALARS_ALONE.to_owned());
        assert_eq!(answer(Op::Add, vec![one(), one(), one()]), alone);
        let failed = |name: &str| CallError::Failed(format!("{name} with arguments of other kinds"));
        assert_eq!(answer(Op::Add, vec![Argument::Tensor(&()), one(), one()]), failed("add"));
        assert_eq!(answer(Op::Unsqueeze, vec![Argument::Tensor(&()), one()]), failed("unsqueeze"));
    }

    #[test]
    fn the_table_says_which_operations_and_forms_there_are() {
        let hello = Toy.hello();
        assert_eq!(hello.ops, [Op::Unsqueeze]);
        assert_eq!(hello.lacks, [Lack::form(Op::Unsqueeze, Form::InPlace, "immutable")]);
    }

    #[test]
    fn versions_are_those_of_the_lock() {
        let lock =
            "[[package]]\nname = \"a-b\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n";
        assert_eq!(locked(lock, "a"), "1.2.3");
    }
}
