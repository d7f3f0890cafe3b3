//! libtorch as an implementation of `broadcheck`: programs run as calls of `tch`, and errors, warnings and storages
//! come back as libtorch's own.
//!
//! The binary of the same name serves the adapter protocol; fuzz targets use [`Libtorch`] in process.
//!
//! This crate knows nothing of what a result should be. It computes nothing itself: where Python's front end would do
//! something before it calls libtorch, that is either done by libtorch's C++ counterpart or declared unsupported.

mod bare;
mod call;
mod error;
mod memory;
mod shim;
mod value;

use std::collections::BTreeMap;
use std::sync::Once;

use broadcheck_protocol::adapter::{Capability, Hello, Implementation, UnsupportedCall};
use broadcheck_protocol::ops::{Form, Kernel, Op};
use broadcheck_protocol::program::{Arg, Outcome, Program, Reply, Step, StepOutcome, TensorValue, Value, ValueRef};
use broadcheck_protocol::tensor::{DType, Scalar, ScalarType};

pub use bare::bare;
#[cfg(feature = "tch")]
pub use bare::tch;
use call::Fault;
pub use call::aliases::missing as missing_aliases;
pub use call::dispatch_all;
pub use shim::set_threads;
use shim::{Argument, Returned, Tensor};
use value::Storages;

/// libtorch, in this process.
#[derive(Debug)]
pub struct Libtorch {
    /// `None` if operations are called by their own names.
    aliases: Option<AliasCalls>,
}

/// The number of calls of each alias in each form.
pub type AliasCalls = BTreeMap<(&'static str, Form), u64>;

impl Libtorch {
    /// Prepares libtorch, once a process: no backtraces for errors, which cost milliseconds each, and every warning
    /// repeats.
    pub fn new() -> Libtorch {
        Libtorch::prepared(None)
    }

    /// The same, but each operation is called by its alias where libtorch registers one for the form and the arguments.
    pub fn by_aliases() -> Libtorch {
        Libtorch::prepared(Some(AliasCalls::new()))
    }

    fn prepared(aliases: Option<AliasCalls>) -> Libtorch {
        static START: Once = Once::new();
        START.call_once(shim::start);
        Libtorch { aliases }
    }

    /// Returns the number of calls of each alias so far.
    pub fn alias_calls(&self) -> AliasCalls {
        self.aliases.clone().unwrap_or_default()
    }
}

impl Default for Libtorch {
    fn default() -> Self {
        Libtorch::new()
    }
}

impl Implementation for Libtorch {
    fn hello(&mut self) -> Hello {
        let (version, build) = describe(&shim::config(), &shim::header_version());
        Hello {
            name: "libtorch".to_owned(),
            version,
            build,
            ops: Op::ALL.iter().copied().filter(|&op| call::has(op)).collect(),
            dtypes: DType::ALL.to_vec(),
            capabilities: vec![
                Capability::InPlace,
                Capability::Out,
                Capability::Strides,
                Capability::Autograd,
                Capability::Warnings,
                Capability::Messages,
            ],
            lacks: Vec::new(),
            unsupported: Op::ALL
                .iter()
                .copied()
                .filter(|&op| call::has(op))
                .flat_map(call::lacks)
                .chain(lacking_dtypes())
                .collect(),
        }
    }

    fn run(&mut self, program: &Program) -> Reply {
        shim::collect_warnings();
        shim::seed();
        let inputs = program.inputs.iter().map(value::input).collect::<Result<Vec<_>, _>>();
        let mut run = match inputs.and_then(|inputs| Run::new(inputs, self.aliases.as_mut())) {
            Ok(run) => run,
            Err(fault) => {
                let failed = StepOutcome::of(Outcome::Failed(fault.text()));
                return Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() };
            }
        };
        let steps = program
            .steps
            .iter()
            .map(|step| {
                let outcome = run.step(step);
                StepOutcome { outcome, warnings: shim::take_warnings(), categories: Vec::new() }
            })
            .collect();
        let inputs = if program.mutates() { run.inputs(program.inputs.len()) } else { Vec::new() };
        Reply { steps, inputs }
    }
}

/// The version and what else matters, from `at::show_config()`.
///
/// The version is the one that the library was built as; `header_version` is used if the library does not report its
/// own.
fn describe(config: &str, header_version: &str) -> (String, String) {
    let settings = config.lines().find_map(|line| line.trim().strip_prefix("- Build settings: ")).unwrap_or_default();
    let setting = |name: &str| settings.split(", ").find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='));
    let mut build: Vec<String> = config
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .filter(|line| !line.starts_with("Build settings"))
        .map(str::to_owned)
        .collect();
    for name in ["BLAS_INFO", "BUILD_TYPE", "COMMIT_SHA"] {
        build.extend(setting(name).map(|value| format!("{name}={value}")));
    }
    let version = setting("TORCH_VERSION").unwrap_or_else(|| {
        build.push("version of the headers, the library does not tell".to_owned());
        header_version
    });
    (version.to_owned(), build.join("; "))
}

/// The values of one program. All of them live until its end, so that storages keep their identity.
struct Run<'c> {
    values: Vec<Option<Returned>>,
    storages: Storages,
    aliases: Option<&'c mut AliasCalls>,
}

impl<'c> Run<'c> {
    fn new(inputs: Vec<Tensor>, aliases: Option<&'c mut AliasCalls>) -> Result<Run<'c>, Fault> {
        let mut storages = Storages::default();
        for input in &inputs {
            storages.number(shim::storage(input)?.0);
        }
        let values = inputs.into_iter().map(|input| Some(Returned::Tensor(input))).collect();
        Ok(Run { values, storages, aliases })
    }

    fn step(&mut self, step: &Step) -> Outcome {
        let (outcome, value) = match self.attempt(step) {
            Ok((value, returned)) => (Outcome::Value(value), Some(returned)),
            Err(outcome) => (outcome, None),
        };
        self.values.push(value);
        outcome
    }

    fn attempt(&mut self, step: &Step) -> Result<(Value, Returned), Outcome> {
        let args = step.args.iter().map(|arg| self.argument(arg)).collect::<Result<Vec<_>, _>>()?;
        let out = step.out.map(|out| self.tensor(out)).transpose()?;
        memory::within_limit(step.op, &args).map_err(Fault::outcome)?;
        let alias = self.aliases.as_ref().and_then(|_| call::aliases::find(step.op, step.form, &args));
        let returned = match alias {
            Some((_, schema)) => call::aliases::call(step.op, schema, step.form, &args, out),
            None => call::call(step.op, step.form, &args, out),
        };
        if let (Some((alias, _)), Some(calls)) = (alias, &mut self.aliases) {
            *calls.entry((alias, step.form)).or_default() += 1;
        }
        let returned = returned.map_err(Fault::outcome)?;
        let value = self.value(step.op, &returned).map_err(Fault::outcome)?;
        Ok((value, returned))
    }

    fn value(&mut self, op: Op, returned: &Returned) -> Result<Value, Fault> {
        Ok(match returned {
            // Operators return the number of a dtype.
            Returned::Number(Scalar::Int(code)) if op.info().kernel == Kernel::Dtypes => scalar_type(*code),
            Returned::Nothing => Value::Nothing,
            Returned::Number(number) => Value::Number(*number),
            Returned::Sizes(sizes) => Value::Sizes(sizes.clone()),
            Returned::Tensor(tensor) => Value::Tensor(value::snapshot(tensor, &mut self.storages)?),
            Returned::Tensors(tensors) => Value::Tensors(
                tensors.iter().map(|tensor| value::snapshot(tensor, &mut self.storages)).collect::<Result<_, _>>()?,
            ),
        })
    }

    fn argument<'a>(&'a self, arg: &'a Arg) -> Result<Argument<'a>, Outcome> {
        Ok(match arg {
            Arg::Nothing => Argument::Nothing,
            Arg::Tensor(value) => Argument::Tensor(self.tensor(*value)?),
            Arg::Tensors(values) => {
                Argument::Tensors(values.iter().map(|value| self.tensor(*value)).collect::<Result<_, _>>()?)
            }
            Arg::Indices(values) => {
                let tensor = |value: &Option<ValueRef>| value.map(|value| self.tensor(value)).transpose();
                Argument::Indices(values.iter().map(tensor).collect::<Result<_, _>>()?)
            }
            Arg::Number(number) => Argument::Number(*number),
            Arg::Int(int) => Argument::Number(Scalar::Int(*int)),
            Arg::Ints(ints) => Argument::Ints(ints),
            Arg::Dtype(dtype) => Argument::Number(Scalar::Int(ScalarType::from(*dtype).code())),
            Arg::ScalarType(dtype) if is_lacking(*dtype) => return Err(Outcome::Unsupported(NO_DTYPE.to_owned())),
            Arg::ScalarType(dtype) => Argument::Number(Scalar::Int(dtype.code())),
            Arg::Flag(flag) => Argument::Number(Scalar::Bool(*flag)),
            Arg::Text(text) => Argument::Text(text),
            Arg::Index(items) => Argument::Index(items),
            Arg::Shapes(_) => return Err(Outcome::Unsupported("libtorch has no functions of shapes".to_owned())),
        })
    }

    /// The tensor that a step uses. A number or nothing in its place blocks the step like a missing value.
    fn tensor(&self, wanted: ValueRef) -> Result<&Tensor, Outcome> {
        let found = match (self.values.get(wanted.value).and_then(Option::as_ref), wanted.part) {
            (Some(Returned::Tensor(tensor)), None) => Some(tensor),
            (Some(Returned::Tensors(tensors)), Some(part)) => tensors.get(part),
            _ => None,
        };
        found.ok_or(Outcome::Blocked(wanted.value))
    }

    fn inputs(&mut self, count: usize) -> Vec<TensorValue> {
        let Run { values, storages, .. } = self;
        values[..count]
            .iter()
            .filter_map(|value| match value {
                // Inputs have been read before, from bytes of this very size, so this cannot fail.
                Some(Returned::Tensor(tensor)) => value::snapshot(tensor, storages).ok(),
                _ => None,
            })
            .collect()
    }
}

/// The answer to a dtype that libtorch got in a later release.
const NO_DTYPE: &str = "this release of libtorch does not have the dtype";

/// The dtypes that it is the answer to, if there are any.
fn lacking_dtypes() -> Option<UnsupportedCall> {
    let lacking = ScalarType::ALL.iter().filter(|dtype| is_lacking(**dtype));
    let dtypes: Vec<String> = lacking.map(|dtype| dtype.name().to_owned()).collect();
    let what = NO_DTYPE.to_owned();
    (!dtypes.is_empty()).then(|| UnsupportedCall { what, dtypes, ..UnsupportedCall::default() })
}

/// Returns whether this libtorch does not have a dtype.
fn is_lacking(dtype: ScalarType) -> bool {
    dtype.code() >= shim::scalar_types()
}

/// The dtype with this number, or nothing for a number that is no dtype's: 2.1 reads it from beyond its table.
fn scalar_type(code: i64) -> Value {
    let found = ScalarType::ALL.iter().find(|dtype| dtype.code() == code && !is_lacking(**dtype));
    found.map_or(Value::Nothing, |dtype| Value::Dtype(*dtype))
}

impl Fault {
    fn outcome(self) -> Outcome {
        match self {
            Fault::Raised(what) => Outcome::Rejected(error::rejected(&what)),
            Fault::Unsupported(what) => Outcome::Unsupported(what),
            Fault::Failed(what) => Outcome::Failed(what),
        }
    }

    fn text(self) -> String {
        match self {
            Fault::Raised(what) => error::rejected(&what).message,
            Fault::Unsupported(what) | Fault::Failed(what) => what,
        }
    }
}
