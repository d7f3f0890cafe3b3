//! Checks that an implementation has declared what a program needs. A program that needs more is not sent to it.

use super::{Capability, Hello, Lack};
use crate::ops::{Form, Op};
use crate::program::{Arg, Input, Program, Step};
use crate::tensor::{DType, Scalar};

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
        let lack = hello.lacks.iter().find(|lack| lack.op.is_none() && lack.names_dtype(input.dtype));
        return Some(with_reason(format!("dtype {}", input.dtype), lack));
    }
    (input.requires_grad).then(|| lacking(hello, Capability::Autograd, "gradients"))?
}

fn of_step(hello: &Hello, step: &Step) -> Option<String> {
    if !hello.ops.contains(&step.op) {
        let whole =
            |lack: &&Lack| lack.is_of(step.op) && (&lack.form, &lack.argument, &lack.dtype) == (&None, &None, &None);
        return Some(with_reason(format!("operation {}", step.op), hello.lacks.iter().find(whole)));
    }
    if let Some(lack) = hello.lacks.iter().find(|lack| lack.covers(step)) {
        return Some(with_reason(lack.what(step), Some(lack)));
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
    form.or_else(gradients).or_else(|| given(step).find_map(|(_, arg)| of_argument(hello, arg)))
}

/// A scalar has a category rather than a dtype; it needs an implementation that has some dtype of that category, unless
/// it is the default: a library of floats has the factor 1, too.
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

fn with_reason(what: String, lack: Option<&Lack>) -> String {
    lack.map_or(what.clone(), |lack| format!("{what}: {}", lack.why))
}

impl Lack {
    fn is_of(&self, op: Op) -> bool {
        self.op.as_deref() == Some(op.info().name)
    }

    fn names_dtype(&self, dtype: DType) -> bool {
        self.dtype.as_deref() == Some(dtype.name())
    }

    /// Returns whether it says that a step cannot be run. One that names a dtype and nothing else is about inputs.
    fn covers(&self, step: &Step) -> bool {
        self.op.as_ref().is_none_or(|_| self.is_of(step.op))
            && self.form.is_none_or(|form| form == step.form)
            && self.argument.as_ref().is_none_or(|name| gives(step, name))
            && self.dtype.as_ref().is_none_or(|_| {
                step.args.iter().any(|arg| matches!(arg, Arg::Dtype(dtype) if self.names_dtype(*dtype)))
            })
            && (self.op.is_some() || self.form.is_some() || self.argument.is_some())
    }

    fn what(&self, step: &Step) -> String {
        let form = match (self.form, &self.argument) {
            (Some(Form::InPlace), _) => ", in place".to_owned(),
            (Some(Form::Out), _) => " with out=".to_owned(),
            (_, Some(argument)) => format!(" with {argument}"),
            _ => String::new(),
        };
        format!("operation {}{form}", step.op)
    }
}

/// The arguments of a step that are not their defaults, by name.
fn given(step: &Step) -> impl Iterator<Item = (&'static str, &Arg)> {
    let params = step.op.info().arguments.iter().zip(&step.args);
    let given = params.filter(|(param, arg)| param.default.is_none_or(|default| Arg::from(default) != **arg));
    given.map(|(param, arg)| (param.name, arg))
}

/// Returns whether a step gives this argument a value that is not its default.
fn gives(step: &Step, name: &str) -> bool {
    given(step).any(|(param, _)| param == name)
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
        unsupported: Vec::new(),
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
        let mut by_default = add.clone();
        by_default.steps[0].args.insert(1, add.steps[0].args[0].clone());
        assert_eq!(without(only_float, &by_default), None, "the factor 1 is the default");
        assert_eq!(without(|hello| hello.capabilities.clear(), &add), None);
    }

    #[test]
    fn what_is_lacking_comes_with_its_reason() {
        let reason = |text: &str| serde_json::from_str::<Lack>(text).unwrap();
        let alpha = reason(r#"{"op": "add", "argument": "alpha", "why": "no factors"}"#);
        let lacks = |number: i64, form: Form, lack: &Lack| {
            let mut step = program(Op::Add, form, Scalar::Int(number));
            let number = step.steps[0].args.pop().unwrap();
            let x = step.steps[0].args[0].clone();
            step.steps[0].args.extend([x, number]);
            without(|hello| hello.lacks = vec![lack.clone()], &step)
        };
        assert_eq!(lacks(2, Form::Functional, &alpha).as_deref(), Some("operation add with alpha: no factors"));
        assert_eq!(lacks(1, Form::Functional, &alpha), None);
        let out = reason(r#"{"form": "out", "why": "immutable"}"#);
        assert_eq!(lacks(1, Form::Out, &out).as_deref(), Some("operation add with out=: immutable"));
        assert_eq!(lacks(1, Form::InPlace, &out), None);
        let whole = reason(r#"{"op": "add", "why": "not there"}"#);
        let add = program(Op::Add, Form::Functional, Scalar::Int(1));
        let lost = without(|hello| (hello.ops, hello.lacks) = (Vec::new(), vec![whole.clone()]), &add);
        assert_eq!(lost.as_deref(), Some("operation add: not there"));
        let dtype = reason(r#"{"dtype": "float32", "why": "no such"}"#);
        let lost = without(|hello| (hello.dtypes, hello.lacks) = (Vec::new(), vec![dtype.clone()]), &add);
        assert_eq!(lost.as_deref(), Some("dtype float32: no such"));
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
