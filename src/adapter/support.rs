//! Whether an implementation has declared what a program needs. A program that needs more is not sent to it.

use super::{Capability, Hello};
use crate::ops::{Form, Op};
use crate::program::{Arg, Input, Program, Step};
use crate::tensor::Scalar;

/// The first thing that a program needs and an implementation does not declare, for example `operation einsum`.
///
/// It names one reason for the whole program. [`Capability::Strides`], [`Capability::Warnings`] and
/// [`Capability::Messages`] are never such a reason: an implementation without them leaves those parts out of its
/// replies, and the rest is judged.
pub fn unsupported_by(hello: &Hello, program: &Program) -> Option<String> {
    let input = program.inputs.iter().find_map(|input| of_input(hello, input));
    input.or_else(|| program.steps.iter().find_map(|step| of_step(hello, step)))
}

fn of_input(hello: &Hello, input: &Input) -> Option<String> {
    if !hello.dtypes.contains(&input.dtype) {
        return Some(format!("dtype {}", input.dtype));
    }
    (input.requires_grad).then(|| lacking(hello, Capability::Autograd, "gradients"))?
}

fn of_step(hello: &Hello, step: &Step) -> Option<String> {
    if !hello.ops.contains(&step.op) {
        return Some(format!("operation {}", step.op));
    }
    let form = match step.form {
        Form::Functional => None,
        Form::InPlace => lacking(hello, Capability::InPlace, "in-place operations"),
        Form::Out => lacking(hello, Capability::Out, "out= arguments"),
    };
    let gradients = || {
        let needed = matches!(step.op, Op::Backward | Op::Grad);
        needed.then(|| lacking(hello, Capability::Autograd, "gradients"))?
    };
    form.or_else(gradients).or_else(|| step.args.iter().find_map(|arg| of_argument(hello, arg)))
}

/// A number has a category rather than a dtype; it needs an implementation that has some dtype of that category.
fn of_argument(hello: &Hello, arg: &Arg) -> Option<String> {
    let Arg::Number(number) = arg else { return None };
    let known = hello.dtypes.iter().any(|dtype| dtype.category() == number.category());
    let kind = match number {
        Scalar::Bool(_) => "boolean",
        Scalar::Int(_) => "integer",
        Scalar::Float(_) => "floating-point",
        Scalar::Complex(_) => "complex",
    };
    (!known).then(|| format!("{kind} numbers"))
}

fn lacking(hello: &Hello, capability: Capability, what: &str) -> Option<String> {
    (!hello.capabilities.contains(&capability)).then(|| what.to_owned())
}

/// Everything there is, for tests of what happens when something is taken away.
#[cfg(test)]
pub(super) fn everything() -> Hello {
    use Capability::{Autograd, InPlace, Messages, Out, Strides, Warnings};
    Hello {
        name: "test".to_owned(),
        version: "0".to_owned(),
        build: String::new(),
        ops: Op::ALL.to_vec(),
        dtypes: crate::tensor::DType::ALL.to_vec(),
        capabilities: vec![InPlace, Out, Strides, Autograd, Warnings, Messages],
        lacks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ValueRef;
    use crate::tensor::{DType, Shape};

    fn program(op: Op, form: Form, number: Scalar) -> Program {
        let input = Input {
            name: "x".to_owned(),
            dtype: DType::Float32,
            shape: Shape::scalar(),
            data: vec![0; 4],
            requires_grad: false,
        };
        let x = ValueRef { value: 0, part: None };
        let args = vec![Arg::Tensor(x), Arg::Number(number)];
        let step = Step { name: "r".to_owned(), op, form, args, out: (form == Form::Out).then_some(x) };
        Program { inputs: vec![input], steps: vec![step] }
    }

    fn without(take: impl Fn(&mut Hello), program: &Program) -> Option<String> {
        let mut hello = everything();
        assert_eq!(unsupported_by(&hello, program), None);
        take(&mut hello);
        unsupported_by(&hello, program)
    }

    #[test]
    fn what_is_missing_is_named() {
        let add = program(Op::Add, Form::Functional, Scalar::Int(1));
        assert_eq!(without(|hello| hello.ops.clear(), &add).as_deref(), Some("operation add"));
        assert_eq!(without(|hello| hello.dtypes.clear(), &add).as_deref(), Some("dtype float32"));
        let only_float = |hello: &mut Hello| hello.dtypes = vec![DType::Float32];
        assert_eq!(without(only_float, &add).as_deref(), Some("integer numbers"));
        assert_eq!(without(|hello| hello.capabilities.clear(), &add), None);
    }

    #[test]
    fn capabilities_matter_where_they_are_used() {
        let lost = |program: &Program| without(|hello| hello.capabilities.clear(), program);
        let float = Scalar::Float(1.0);
        assert_eq!(lost(&program(Op::Add, Form::InPlace, float)).as_deref(), Some("in-place operations"));
        assert_eq!(lost(&program(Op::Add, Form::Out, float)).as_deref(), Some("out= arguments"));
        assert_eq!(lost(&program(Op::Grad, Form::Functional, float)).as_deref(), Some("gradients"));
        let mut leaf = program(Op::Add, Form::Functional, float);
        leaf.inputs[0].requires_grad = true;
        assert_eq!(lost(&leaf).as_deref(), Some("gradients"));
    }
}
