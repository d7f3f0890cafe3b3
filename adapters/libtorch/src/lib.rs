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
mod shim;
mod value;

use std::collections::BTreeMap;
use std::sync::Once;

use broadcheck_protocol::adapter::{Capability, Hello, Implementation, UnsupportedCall};
use broadcheck_protocol::ops::{Form, Kernel, Op};
use broadcheck_protocol::program::{
    Arg, Outcome, Program, Reply, Step, StepOutcome, TensorValue, VALUE_LIMIT, Value, ValueRef,
};
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
        within_limit(step.op, &args).map_err(Fault::outcome)?;
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

/// The bytes that a process on x86-64 can have at most.
const ADDRESS_SPACE: usize = 1 << 47;

/// Rejects a result that would take more memory than a value may have, before libtorch allocates it. Views take none,
/// whatever their size; everything else takes about as much as its result. Sizes that no process can allocate libtorch
/// rejects itself.
fn within_limit(op: Op, args: &[Argument<'_>]) -> Result<(), Fault> {
    let tensors = args.iter().flat_map(|arg| match arg {
        Argument::Tensor(tensor) => vec![*tensor],
        Argument::Tensors(tensors) => tensors.clone(),
        _ => Vec::new(),
    });
    let tensors: Vec<&Tensor> = tensors.collect();
    let most = || tensors.iter().map(|tensor| tensor.numel()).max().unwrap_or(0);
    let elements = match op.info().kernel {
        Kernel::View | Kernel::Dtypes => 0,
        Kernel::Copy | Kernel::Autograd => most(),
        // Each element with each, in as many columns.
        Kernel::Grid => tensors.iter().fold(tensors.len(), |count, tensor| count.saturating_mul(tensor.numel().max(1))),
        // The places of the first operand's elements, or of the second's.
        Kernel::Lookup => most(),
        // As many elements as the list says, or as many copies.
        Kernel::Repetition => {
            let lists = args.iter().filter_map(|arg| if let Argument::Ints(list) = arg { Some(*list) } else { None });
            let counts = lists.flatten().map(|&count| count.max(1) as usize);
            let listed = counts.fold(1, usize::saturating_mul);
            if op == Op::ExpandCopy { listed.max(most()) } else { listed.saturating_mul(most()) }
        }
        // What is put somewhere, or taken for an index, is not copied.
        Kernel::Assignment => most(),
        _ if op == Op::IndexPut => most(),
        Kernel::Product if op.matrix_of_equations().is_none() => product(op, &tensors),
        Kernel::Reduction | Kernel::Extreme | Kernel::Scan | Kernel::Ranked | Kernel::Moment | Kernel::Norm => {
            let large = most();
            if large > VALUE_LIMIT / DType::Complex128.size() {
                return Err(value::too_large(large.saturating_mul(DType::Complex128.size())));
            }
            0
        }
        // The result is empty too, and nothing is converted.
        _ if tensors.iter().any(|tensor| tensor.numel() == 0)
            && tensors.iter().all(|tensor| tensor.kind() == tensors[0].kind()) =>
        {
            0
        }
        // No dimension of the result is larger than the largest there.
        _ => {
            let mut largest: Vec<i64> = Vec::new();
            for tensor in &tensors {
                let mut sizes = tensor.size();
                sizes.reverse();
                largest.resize(largest.len().max(sizes.len()), 1);
                largest.iter_mut().zip(sizes).for_each(|(largest, size)| *largest = size.max(*largest));
            }
            largest.iter().fold(1, |product: usize, &size| product.saturating_mul(size as usize))
        }
    };
    // libtorch finds no memory for as many bytes as this, whatever the dtype.
    if elements >= ADDRESS_SPACE {
        return Ok(());
    }
    // The widest dtype, since the result's own is libtorch's to say.
    let bytes = elements.saturating_mul(DType::Complex128.size());
    if bytes > VALUE_LIMIT { Err(value::too_large(bytes)) } else { Ok(()) }
}

/// The most elements that a product of tensors can have: those of the outer product, but for the dimension that is
/// summed over in products of matrices. Where the sizes of that one differ, libtorch rejects them before it allocates.
fn product(op: Op, tensors: &[&Tensor]) -> usize {
    let (summands, summed) = match op {
        Op::Dot | Op::Mv | Op::Mm | Op::Bmm | Op::Matmul | Op::Linear => (0, true),
        Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Baddbmm | Op::Addbmm => (1, true),
        Op::Addr => (1, false),
        _ => (0, false),
    };
    if let (Op::ScaledDotProductAttention, [query, key, value, ..]) = (op, tensors) {
        return attention(query, key, value);
    }
    if let (Op::Bilinear, [first, second, weight, bias @ ..]) = (op, tensors) {
        return bilinear(first, second, weight, bias.first().copied());
    }
    let (summands, factors) = match op {
        // What is added comes last.
        Op::Linear => {
            let (factors, summand) = tensors.split_at(2.min(tensors.len()));
            (summand, factors)
        }
        _ => tensors.split_at(summands.min(tensors.len())),
    };
    let inner = factors.first().filter(|_| summed).and_then(|first| first.size().last().copied());
    let inner = inner.map_or(1, |size| size.max(1) as usize);
    let outer = factors.iter().fold(1, |product: usize, tensor| product.saturating_mul(tensor.numel().max(1)));
    // What no process can have is not made possible by a division.
    let result = if outer >= ADDRESS_SPACE { outer } else { outer / inner / inner };
    summands.iter().map(|summand| summand.numel()).fold(result.max(1), usize::max)
}

/// The same of attention, which sums over the inner dimension of the queries and over the keys.
fn attention(query: &Tensor, key: &Tensor, value: &Tensor) -> usize {
    let size = |tensor: &Tensor, from_end: usize| tensor.size().iter().rev().nth(from_end).map_or(1, |it| *it.max(&1));
    let numel = |tensor: &Tensor| tensor.numel().max(1);
    let outer = numel(query).saturating_mul(numel(key)).saturating_mul(numel(value));
    let (inner, keys) = (size(query, 0) as usize, size(key, 1) as usize);
    if outer >= ADDRESS_SPACE { outer } else { outer / inner / inner / keys }
}

/// The same of the products of vectors with matrices, to which a bias broadcasts. What does not fit libtorch rejects before
/// it allocates.
fn bilinear(input: &Tensor, other: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> usize {
    let (mut sizes, mut others, matrices) = (input.size(), other.size(), weight.size());
    let features = [sizes.pop(), others.pop()];
    if sizes != others || features != [1, 2].map(|dim| matrices.get(dim).copied()) {
        return 0;
    }
    sizes.extend(matrices.first());
    let mut bias = bias.map(Tensor::size).unwrap_or_default();
    let rank = sizes.len().max(bias.len());
    for sizes in [&mut sizes, &mut bias] {
        sizes.splice(0..0, vec![1; rank - sizes.len()]);
    }
    let largest = sizes.iter().zip(&bias).map(|(product, bias)| *product.max(bias).max(&1) as usize);
    largest.fold(1, usize::saturating_mul)
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
