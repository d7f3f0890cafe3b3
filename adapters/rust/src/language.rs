//! What the programs of one library have of their own.

use std::collections::BTreeSet;

use broadcheck_protocol::program::{Input, Step, TensorValue};
use broadcheck_protocol::tensor::DType;

use crate::literal;
use crate::scope::{Bound, Tensor};

/// How programs in the calls of a library look.
pub trait Language {
    /// The text of the adapter's `Cargo.toml`: a program needs its dependencies, without broadcheck's.
    const MANIFEST: &'static str;
    /// The imports: a path, and the text, without spaces, with which a program needs it.
    const USES: &'static [(&'static str, &'static str)];
    /// What `main` returns, if a call can fail.
    const RETURNS: &'static str;
    /// Pairs of a name that the adapter has for an item, and the library's.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// True if the functions that give a tensor return a `Result`.
    const RESULTS: bool;
    /// True if functions take their tensors by value.
    const BY_VALUE: bool = false;

    /// Returns the expression that makes an input.
    fn input(&self, input: &Input) -> String;

    /// Returns the type of an input, where the compiler cannot infer it.
    fn annotation(&self, _input: &Input) -> Option<String> {
        None
    }

    /// Returns the expressions of the sizes and of the elements, in row-major order, of the tensor that a variable has.
    fn parts(&self, name: &str, value: &TensorValue) -> (String, String);

    /// Returns the library's expression for a call of a function of the adapter's own, if this is one. `dtype` is that of the
    /// operand.
    fn helper(&self, name: &str, arguments: &[Bound], dtype: Option<DType>) -> Option<String>;

    /// Returns the types that a macro of the adapter gives names to, in their order.
    fn types(&self, tensor: &Tensor) -> Vec<String> {
        vec![literal::name(tensor.value.dtype).to_owned()]
    }

    /// Returns the call of a step that cannot be derived from its row.
    fn call(&self, _step: &Step, _arguments: &[Bound]) -> Option<Written> {
        None
    }
}

/// A call, as statements and an expression.
#[derive(Default)]
pub struct Written {
    /// The statements before it.
    pub before: Vec<String>,
    /// The expression of the result, unless the call writes to `alias`.
    pub value: Option<String>,
    /// The variable that the call writes to.
    pub alias: Option<String>,
    /// True if the expression is a `Result`.
    pub is_result: bool,
    /// True if the expression is an `Option`, and without one the result is nothing.
    pub is_option: bool,
    /// A variable that an earlier step may have bound, such as `gradients`, and without which the result is nothing.
    pub needs: Option<&'static str>,
    /// The type of the expression, where the compiler cannot infer it.
    pub annotation: Option<String>,
    /// The variables that are written to.
    pub mutable: BTreeSet<String>,
}

impl Written {
    /// An expression that is the result.
    pub fn of(value: String) -> Written {
        Written { value: Some(value), ..Written::default() }
    }

    /// An expression that is the `Result` of the result.
    pub fn result_of(value: String) -> Written {
        Written { is_result: true, ..Written::of(value) }
    }

    /// A statement without a result.
    pub fn statement(line: String) -> Written {
        Written { before: vec![line], ..Written::default() }
    }
}
