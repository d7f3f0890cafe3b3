//! What the programs of one library have of their own.

use std::collections::BTreeSet;

use broadcheck_protocol::program::{Input, Step, TensorValue};
use broadcheck_protocol::tensor::DType;

use crate::scope::{Bound, Tensor};

/// How programs in the calls of a library look.
pub trait Language {
    /// The text of the adapter's `Cargo.toml`: a program needs its dependencies, without broadcheck's.
    const MANIFEST: &'static str;
    /// The items that a program may use: the path of each, and a text that shows, without its spaces, that it is used.
    const USES: &'static [(&'static str, &'static str)];
    /// What `main` returns, if a call can fail.
    const RETURNS: &'static str;
    /// Names that the adapter has for items of the library, each with its own.
    const ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// True if the functions that give a tensor return a `Result`.
    const RESULTS: bool;
    /// True if functions take their tensors by value.
    const BY_VALUE: bool = false;

    /// Returns the expression that makes an input.
    fn input(&self, input: &Input) -> String;

    /// Returns the type of an input, where the compiler has to be told.
    fn annotation(&self, _input: &Input) -> Option<String> {
        None
    }

    /// Returns the expressions of the sizes and of the elements, in row-major order, of the tensor that a variable has.
    fn parts(&self, name: &str, value: &TensorValue) -> (String, String);

    /// Returns what a function of the adapter's own stands for in a program, if it has one of this name.
    fn helper(&self, name: &str, arguments: &[Bound], dtype: Option<DType>) -> Option<String>;

    /// Returns what the names are that a macro of the adapter gives to types, in their order.
    fn types(&self, tensor: &Tensor) -> Vec<String>;

    /// Returns the call of a step that its row does not show.
    fn call(&self, _step: &Step, _arguments: &[Bound]) -> Option<Written> {
        None
    }
}

/// A call, as statements and an expression.
#[derive(Default)]
pub struct Written {
    /// The statements before it.
    pub before: Vec<String>,
    /// The expression of the result, unless that is a tensor that was there.
    pub value: Option<String>,
    /// The tensor that the result is, if the call writes to one.
    pub alias: Option<String>,
    /// True if the expression is a `Result`.
    pub is_result: bool,
    /// True if the expression is an `Option`, and without one the result is nothing.
    pub is_option: bool,
    /// A variable that an earlier step may have made, and without which the result is nothing.
    pub needs: Option<&'static str>,
    /// The type of the expression, where the compiler has to be told.
    pub annotation: Option<String>,
    /// The variables that are written to.
    pub mutable: BTreeSet<String>,
}
