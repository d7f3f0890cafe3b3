//! `broadcheck ops`: the operation table.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{Ending, Failure};
use crate::ops::{Compare, Form, Op, ParamKind};

/// List the operations that programs are made of.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck ops
  broadcheck ops --format json")]
pub struct Ops {
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    schema: &'static str,
    parameters: Vec<&'static str>,
    forms: &'static [Form],
    differentiable: bool,
    compare: &'static str,
    /// Only PyTorch's Python front end has it.
    front_end: bool,
}

impl Ops {
    pub fn run(&self) -> Result<Ending, Failure> {
        let rows: Vec<Row> = Op::ALL.iter().map(|op| row(*op)).collect();
        match self.format {
            Format::Json => anstream::println!("{}", serde_json::to_string_pretty(&rows)?),
            Format::Text => {
                let line = |call: &str, forms: &str, gradient: &str, compare: &str| {
                    anstream::println!("{call:<38} {forms:<28} {gradient:<8}  {compare}");
                };
                line("operation", "forms", "gradient", "values compared");
                for row in &rows {
                    let forms: Vec<&str> = row.forms.iter().map(|form| form_name(*form)).collect();
                    let gradient = if row.differentiable { "yes" } else { "no" };
                    let mut compare = match row.compare {
                        "bits" => "bit for bit".to_owned(),
                        other => format!("within a {other}"),
                    };
                    if row.front_end {
                        compare += "; in PyTorch's Python front end only";
                    }
                    line(&format!("{}({})", row.name, row.parameters.join(", ")), &forms.join(" "), gradient, &compare);
                }
                anstream::println!("{} operations", rows.len());
            }
        }
        Ok(Ending::Conforms)
    }
}

fn row(op: Op) -> Row {
    let info = op.info();
    Row {
        name: info.name,
        schema: info.schema,
        parameters: info.signature.params().iter().map(|param| param.name).collect(),
        forms: info.forms,
        differentiable: info.differentiable,
        compare: match info.compare {
            Compare::Bits => "bits",
            Compare::Tolerance => "tolerance",
        },
        front_end: op.is_front_end(),
    }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Functional => "functional",
        Form::InPlace => "in-place",
        Form::Out => "out=",
    }
}

/// Whether an operation can be explained on shapes alone: all its arguments are tensors or have defaults.
pub(super) fn takes_tensors_only(op: Op) -> bool {
    let tensor = |kind| matches!(kind, ParamKind::Tensor | ParamKind::Operand | ParamKind::Tensors);
    op.info().signature.params().iter().all(|param| tensor(param.kind) || param.default.is_some())
}
