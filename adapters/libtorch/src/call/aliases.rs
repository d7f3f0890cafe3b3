//! The aliases of the operation table: libtorch's other names of an operation, which it registers as operators of their
//! own.

use super::{Argument, Fault, Operator, Returned, Tensor, dispatch_by, is_default, malformed, operator, parts};
use broadcheck_protocol::ops::{Form, Op};

/// Finds the alias that libtorch registers for this form and that takes these arguments: its name and its schema. Where
/// there are two, the last one of the row.
pub fn find(op: Op, form: Form, args: &[Argument<'_>]) -> Option<(&'static str, &'static str)> {
    let mut aliases = op.info().aliases.iter().rev().copied();
    aliases.find(|(_, schema)| takes(op, schema, args) && operator(schema, form, 0).is_some())
}

/// The aliases of the table that libtorch does not register.
pub fn missing() -> Vec<&'static str> {
    let aliases = Op::ALL.iter().flat_map(|op| op.info().aliases);
    let missing = aliases.filter(|(_, schema)| {
        let (name, overload) = parts(schema);
        Operator::find(name, overload).is_none()
    });
    missing.map(|(alias, _)| *alias).collect()
}

/// True if the schema of an alias takes the arguments of an operation. An overload of another name than the operation's
/// has no options: `true_divide.Tensor` has no rounding mode.
fn takes(op: Op, schema: &str, args: &[Argument<'_>]) -> bool {
    let options = args.iter().zip(op.info().arguments).filter(|(_, param)| param.default.is_some());
    parts(schema).1 == super::schema(op).1 || options.map(|(arg, _)| arg).all(is_default)
}

/// Runs an operation by the schema that [`find`] has found.
pub fn call(
    op: Op,
    schema: &'static str,
    form: Form,
    args: &[Argument<'_>],
    out: Option<&Tensor>,
) -> Result<Returned, Fault> {
    if form == Form::InPlace && !matches!(args.first(), Some(Argument::Tensor(_))) {
        return Err(malformed(op, args));
    }
    dispatch_by(op, schema, form, args, out)
}
