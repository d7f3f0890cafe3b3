//! Implementations under test: one trait, and the protocol that carries it over a pipe.
//!
//! An adapter sees programs and answers with outcomes. It never sees an expectation.

pub mod library;
pub mod protocol;
pub mod serve;
pub mod support;
pub mod wire;

use serde::de::{Deserializer, IntoDeserializer};
use serde::{Deserialize, Serialize};

use crate::ops::{Form, Op};
use crate::program::{Arg, Program, Reply, Step};
use crate::tensor::DType;

pub use library::{Answer, Argument, Call, CallError, Library, Operation, Returned};
pub use serve::serve;
#[cfg(unix)]
pub use serve::{private_stdout, serve_process};
pub use support::unsupported_by;

/// The declaration of an implementation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// The library: `libtorch`, `numpy`, …
    pub name: String,
    /// Its exact version, asked of the library at run time.
    pub version: String,
    /// A description of its build, where that can change results.
    #[serde(default)]
    pub build: String,
    /// The operations that it has. Names unknown to this broadcheck are kept out of programs.
    #[serde(deserialize_with = "known")]
    pub ops: Vec<Op>,
    /// The dtypes that it has.
    #[serde(deserialize_with = "known")]
    pub dtypes: Vec<DType>,
    /// Its other capabilities.
    #[serde(default, deserialize_with = "known")]
    pub capabilities: Vec<Capability>,
    /// The parts of all that which it lacks, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Lack>,
    /// The texts with which it answers `unsupported`, and the steps to which they apply, where only the call shows
    /// what it lacks, as an overload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsupported: Vec<UnsupportedCall>,
}

/// A text with which steps are answered as unsupported, and the steps that may be. A list that is left out says "any", but a
/// text is bound to some operation or to some dtype: one that fits everything would excuse everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnsupportedCall {
    /// The text of the answer.
    pub what: String,
    /// The operations, by their names in the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<String>,
    /// The forms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<Form>,
    /// The dtypes of which an input or an argument is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dtypes: Vec<String>,
}

impl UnsupportedCall {
    /// A text for some operations.
    pub fn of(what: &str, ops: &[Op]) -> UnsupportedCall {
        let ops = ops.iter().map(|op| op.info().name.to_owned()).collect();
        UnsupportedCall { what: what.to_owned(), ops, ..UnsupportedCall::default() }
    }

    /// Returns whether it is bound to something.
    pub fn is_bound(&self) -> bool {
        !self.ops.is_empty() || !self.dtypes.is_empty()
    }

    /// Returns whether a step of a program may be answered so.
    pub fn covers(&self, program: &Program, step: &Step) -> bool {
        let named = |dtype: &str| self.dtypes.iter().any(|name| name == dtype);
        let dtypes = || {
            let arguments = step.args.iter().filter_map(|arg| match arg {
                Arg::Dtype(dtype) => Some(dtype.name()),
                Arg::ScalarType(dtype) => Some(dtype.name()),
                _ => None,
            });
            program.inputs.iter().map(|input| input.dtype.name()).chain(arguments).any(named)
        };
        self.is_bound()
            && (self.ops.is_empty() || self.ops.iter().any(|name| *name == step.op.info().name))
            && (self.forms.is_empty() || self.forms.contains(&step.form))
            && (self.dtypes.is_empty() || dtypes())
    }
}

impl Hello {
    /// Returns the release of PyTorch that it is, if it is one: what holds may depend on that.
    pub fn release(&self) -> Option<&str> {
        let front_end = self.name.split('-').next() == Some("pytorch");
        (front_end || self.name == "libtorch").then_some(self.version.as_str())
    }
}

/// A part of the operation table that an implementation does not have, although its lists may say so: what each field
/// names, together. A field that is left out says "any".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lack {
    /// The operation, by its name in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// The form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
    /// A parameter with another value than its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// A dtype, by its name in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// The reason.
    pub why: String,
}

impl Lack {
    /// An operation in one form.
    pub fn form(op: Op, form: Form, why: &str) -> Lack {
        Lack { form: Some(form), ..Lack::operation(op, why) }
    }

    /// A parameter of an operation.
    pub fn argument(op: Op, name: &str, why: &str) -> Lack {
        Lack { argument: Some(name.to_owned()), ..Lack::operation(op, why) }
    }

    /// An operation.
    pub fn operation(op: Op, why: &str) -> Lack {
        Lack { op: Some(op.info().name.to_owned()), why: why.to_owned(), ..Lack::default() }
    }

    /// A dtype of inputs.
    pub fn dtype(dtype: DType, why: &str) -> Lack {
        Lack { dtype: Some(dtype.name().to_owned()), why: why.to_owned(), ..Lack::default() }
    }
}

/// A capability that an implementation may have, or not, besides operations and dtypes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// In-place operations.
    InPlace,
    /// `out=` arguments.
    Out,
    /// Strides and storages are visible.
    Strides,
    /// Gradients.
    Autograd,
    /// Warnings are captured.
    Warnings,
    /// Messages are meant to be PyTorch's own.
    Messages,
    /// No ability: tensors come without elements, as on PyTorch's meta device. All but values is judged.
    NoValues,
}

/// Something that runs programs.
///
/// ```
/// use broadcheck_protocol::adapter::{Hello, Implementation, serve};
/// use broadcheck_protocol::ops::Op;
/// use broadcheck_protocol::program::{Outcome, Program, Reply, StepOutcome};
/// use broadcheck_protocol::tensor::DType;
///
/// /// An adapter that fails every step.
/// struct Empty;
///
/// impl Implementation for Empty {
///     fn hello(&mut self) -> Hello {
///         Hello {
///             name: "empty".to_owned(),
///             version: "1.0".to_owned(),
///             build: String::new(),
///             ops: vec![Op::Add],
///             dtypes: vec![DType::Float32],
///             capabilities: Vec::new(),
///             lacks: Vec::new(),
///             unsupported: Vec::new(),
///         }
///     }
///
///     fn run(&mut self, program: &Program) -> Reply {
///         let failed = StepOutcome::of(Outcome::Failed("not written yet".to_owned()));
///         Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() }
///     }
/// }
///
/// let mut answers = Vec::new();
/// serve(&mut Empty, &b"{\"hello\":{\"protocol\":1}}\n"[..], &mut answers).unwrap();
/// assert!(answers.starts_with(b"{\"hello\":{\"protocol\":1,"));
/// ```
pub trait Implementation {
    /// Returns its declaration.
    fn hello(&mut self) -> Hello;

    /// Runs a program on fresh tensors and reports the outcome of each step.
    fn run(&mut self, program: &Program) -> Reply;
}

/// A list of names without those that this broadcheck does not know: an adapter may be newer than it.
fn known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let parse = |name: String| T::deserialize(IntoDeserializer::<D::Error>::into_deserializer(name)).ok();
    Ok(Vec::<String>::deserialize(deserializer)?.into_iter().filter_map(parse).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_newer_protocol_are_dropped() {
        let hello: Hello = serde_json::from_value(serde_json::json!({
            "name": "new", "version": "9", "ops": ["add", "quantum_add", "einsum"],
            "dtypes": ["float4", "bool"], "capabilities": ["telepathy", "in_place"],
        }))
        .unwrap();
        assert_eq!(hello.ops, [Op::Add, Op::Einsum]);
        assert_eq!(hello.dtypes, [DType::Bool]);
        assert_eq!(hello.capabilities, [Capability::InPlace]);
    }
}
