//! `broadcheck ops`: the operation table.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Ending, Failure, print};
use crate::ops::{Compare, Family, Form, Kernel, Op, Param, ParamDefault, ParamKind, Quirk, ResultType, Rounding};
use crate::tensor::DType;

/// List the operations that programs are made of.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck ops
  broadcheck ops --format json")]
pub struct Ops {
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

/// One operation, as programs read it.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    schema: &'static str,
    doc: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<Alias>,
    arguments: Vec<Argument>,
    forms: &'static [Form],
    /// Forms that libtorch has and the table lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    absent: Vec<Absent>,
    /// The dtypes that it computes in.
    dtypes: Vec<&'static str>,
    /// The kernel names in the messages with which libtorch rejects other dtypes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kernels: Vec<&'static str>,
    result: ResultType,
    family: Family,
    kernel: Kernel,
    rounding: Rounding,
    #[serde(skip_serializing_if = "<[Quirk]>::is_empty")]
    quirks: &'static [Quirk],
    differentiable: bool,
    compare: String,
    /// The reason why values are not compared bit for bit.
    #[serde(skip_serializing_if = "str::is_empty")]
    bound: &'static str,
    /// The classes of its family's rejections.
    rejections: &'static [&'static str],
    /// The methods of `tch`; where there is none, the call goes to libtorch's dispatcher by the schema name.
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    tch: &'static [&'static str],
}

#[derive(Serialize)]
struct Argument {
    name: &'static str,
    kind: ParamKind,
    /// The default of an argument that may be left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Value>,
}

#[derive(Serialize)]
struct Alias {
    name: &'static str,
    schema: &'static str,
}

#[derive(Serialize)]
struct Absent {
    form: Form,
    reason: &'static str,
}

impl Ops {
    pub fn run(&self) -> Result<Ending, Failure> {
        let rows: Vec<Row> = Op::ALL.iter().map(|op| row(*op)).collect();
        let mut text = String::new();
        match self.format {
            // One operation a line, so that a change of one is a change of one line.
            Format::Json => {
                let lines = rows.iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
                text = format!("[\n{}\n]\n", lines.join(",\n"));
            }
            Format::Text => {
                let mut line = |call: &str, forms: &str, dtypes: &str, gradient: &str, compare: &str| {
                    let _ = writeln!(text, "{call:<58} {forms:<24} {dtypes:<22} {gradient:<8}  {compare}");
                };
                line("operation", "forms", "dtypes", "gradient", "values compared");
                for (op, row) in Op::ALL.iter().zip(&rows) {
                    let forms: Vec<&str> = row.forms.iter().map(|form| form_name(*form)).collect();
                    let gradient = if row.differentiable { "yes" } else { "no" };
                    let mut compare = match row.compare.as_str() {
                        "bits" => "bit for bit".to_owned(),
                        "tolerance" => "within a tolerance".to_owned(),
                        other => format!("within {other}"),
                    };
                    if op.is_front_end() {
                        compare += "; in PyTorch's Python front end only";
                    }
                    if !row.aliases.is_empty() {
                        let names: Vec<&str> = row.aliases.iter().map(|alias| alias.name).collect();
                        compare += &format!("; also {}", names.join(", "));
                    }
                    let arguments: Vec<&str> = row.arguments.iter().map(|argument| argument.name).collect();
                    let call = format!("{}({})", row.name, arguments.join(", "));
                    line(&call, &forms.join(" "), op.info().dtypes.name(), gradient, &compare);
                }
                let aliases: usize = rows.iter().map(|row| row.aliases.len()).sum();
                let _ = writeln!(text, "{} operations, {aliases} aliases", rows.len());
            }
        }
        print(&text)?;
        Ok(Ending::Conforms)
    }
}

fn row(op: Op) -> Row {
    let info = op.info();
    let dtypes = DType::ALL.iter().filter(|dtype| info.dtypes.contains(**dtype));
    Row {
        name: info.name,
        schema: info.schema,
        doc: info.doc,
        aliases: info.aliases.iter().map(|&(name, schema)| Alias { name, schema }).collect(),
        arguments: info.arguments.iter().map(argument).collect(),
        forms: info.forms,
        absent: info.absent.iter().map(|&(form, reason)| Absent { form, reason }).collect(),
        dtypes: dtypes.map(|dtype| dtype.name()).collect(),
        kernels: info.kernel_names().filter(|name| !name.is_empty()).collect(),
        result: info.result,
        family: info.family(),
        kernel: info.kernel,
        rounding: info.kernel.rounding(),
        quirks: info.quirks,
        differentiable: info.differentiable,
        compare: match info.compare {
            Compare::Bits => "bits".to_owned(),
            Compare::Ulps(ulps) => format!("{ulps} ulp"),
            Compare::Tolerance => "tolerance".to_owned(),
        },
        bound: info.bound,
        rejections: info.family().rejections(),
        tch: info.tch,
    }
}

fn argument(param: &Param) -> Argument {
    let default = param.default.map(|default| match default {
        ParamDefault::Nothing => Value::Null,
        ParamDefault::Int(value) | ParamDefault::Number(value) => json!(value),
        ParamDefault::Real(value) => json!(value),
        ParamDefault::Flag(value) => json!(value),
        ParamDefault::Text(value) => json!(value),
    });
    Argument { name: param.name, kind: param.kind, default }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Functional => "functional",
        Form::InPlace => "in-place",
        Form::Out => "out=",
    }
}
