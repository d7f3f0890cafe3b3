//! Conditions under which a known divergence may be met again: predicates over the wrong step and its input values.
//!
//! The vocabulary is closed and small. What it cannot say is left out, and then more findings are new than need be; a
//! finding that is called known by mistake would never be seen by anyone.

use serde::Deserialize;

use crate::Difference;
use crate::model::finding::{Finding, Oracle, Signature, UNTOLD};
use crate::ops::{Form, Op, Param, ParamKind};
use crate::program::{Arg, Program, Reply, Step, TensorValue, ValueRef};
use crate::reference;
use crate::tensor::element::Element;
use crate::tensor::{Buffer, DType, IndexItem, Layout, Scalar};

/// The conditions under which a divergence may be met again.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applies {
    /// The operations; all of them if none is named.
    #[serde(default)]
    pub ops: Vec<OpName>,
    /// The forms; all of them if none is named.
    #[serde(default)]
    pub forms: Vec<Form>,
    /// Further conditions on the step; all of them must hold.
    #[serde(default, rename = "where")]
    pub conditions: Conditions,
}

/// An operation, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct OpName(pub Op);

impl TryFrom<String> for OpName {
    type Error = String;

    fn try_from(name: String) -> Result<OpName, String> {
        let known = Op::named(&name).map(OpName);
        known.ok_or_else(|| format!("no operation is called {name:?}; `broadcheck ops` lists them"))
    }
}

/// Conditions on a step. Those that are left out hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Conditions {
    /// An operand, or `out=`, has one of these dtypes.
    #[serde(default)]
    pub dtype: Vec<DType>,
    /// Among the elements and numbers that it is given there is each of these.
    #[serde(default)]
    pub has: Vec<Special>,
    /// An operand, or the result, has at least so many elements.
    pub elements: Option<usize>,
    /// An operand has at least so many dimensions.
    pub rank: Option<usize>,
    /// An operand has no elements, or none has.
    pub empty: Option<bool>,
    /// An input of the program keeps gradients, or none does.
    pub requires_grad: Option<bool>,
    /// An argument that is not its default is a number, or none is.
    pub number: Option<bool>,
    /// The step uses a tensor, or none.
    pub tensor: Option<bool>,
    /// `out=`, or the target of an in-place step, shares its storage with another operand.
    pub out_shares: Option<bool>,
    /// `out=` has another dtype than the first operand.
    pub out_converts: Option<bool>,
    /// An argument that is a list is empty.
    pub empty_list: Option<bool>,
    /// An argument that is a list has an entry below zero.
    pub negative_size: Option<bool>,
    /// A factor among the arguments, such as `alpha`, is not its default.
    pub factor: Option<bool>,
    /// The program has one of these operations too, for gradients, which are wrong because of what they go through.
    #[serde(default)]
    pub beside: Vec<OpName>,
    /// The list of one of those is empty.
    pub beside_empty_list: Option<bool>,
    /// An operand of one of those has one of these dtypes.
    #[serde(default)]
    pub beside_dtype: Vec<DType>,
    /// The tensors that one of those uses have several dtypes.
    pub beside_mixed_dtypes: Option<bool>,
    /// A step after one of those writes to an operand of it.
    pub beside_overwritten: Option<bool>,
    /// The program has one of those several times.
    pub beside_again: Option<bool>,
    /// Of one of those there is a tensor operand of another shape than the others.
    pub beside_broadcasts: Option<bool>,
    /// An operand of one of those has an element below zero.
    pub beside_below_zero: Option<bool>,
    /// An argument of one of those is a bool in place of a number.
    pub beside_bool: Option<bool>,
    /// An argument of one of those is one of these texts, where `*` stands for anything.
    #[serde(default)]
    pub beside_text: Vec<String>,
    /// An operand has a dimension of size 1.
    pub size_one: Option<bool>,
    /// An operand has exactly one dimension.
    pub vector: Option<bool>,
    /// An operand is a tensor without dimensions.
    pub no_dimensions: Option<bool>,
    /// The tensors that the step uses have several numbers of dimensions, or one.
    pub mixed_ranks: Option<bool>,
    /// The tensors that the step uses have several shapes, or one.
    pub mixed_shapes: Option<bool>,
    /// An operand but the first has exactly one element.
    pub one_element: Option<bool>,
    /// An index has a step that is beyond 64 bits once it is multiplied by a stride, or added to a size.
    pub long_step: Option<bool>,
    /// One of these oracles found it.
    #[serde(default)]
    pub oracle: Vec<Oracle>,
    /// Of what was expected and what was observed one has a NaN where the other has none.
    pub nan_on_one_side: Option<bool>,
    /// The expected outcome is one of these texts, where `*` stands for anything.
    #[serde(default)]
    pub expected: Vec<String>,
    /// The observed outcome is one of these texts.
    #[serde(default)]
    pub observed: Vec<String>,
    /// Among the elements of the program's inputs there is each of these, for gradients, which are given none of them.
    #[serde(default)]
    pub input_has: Vec<Special>,
    /// The tensors that the step uses have several dtypes, or one.
    pub mixed_dtypes: Option<bool>,
    /// `dtype=` is one of these.
    #[serde(default)]
    pub to_dtype: Vec<DType>,
    /// A number among the arguments is one of these.
    #[serde(default)]
    pub number_is: Vec<f64>,
    /// A number among the arguments is above zero once it is rounded to the dtype of an operand, or none is.
    pub number_above_zero: Option<bool>,
    /// An argument is one of these texts, where `*` stands for anything.
    #[serde(default)]
    pub text: Vec<String>,
}

/// An element that is hard on arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Special {
    /// Not a number.
    Nan,
    /// Negative zero.
    NegativeZero,
    /// An infinity.
    Infinity,
    /// A subnormal number.
    Subnormal,
    /// The least number of a signed integer dtype of at least 32 bits.
    LeastInteger,
    /// Zero.
    Zero,
    /// Minus one.
    MinusOne,
    /// A number that is no integer.
    Fraction,
    /// A number that float32 rounds.
    #[serde(rename = "beyond-float32")]
    BeyondFloat32,
}

/// A signature that a known divergence has: that of findings, but that `*` in `call` and `text` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The oracle that found it.
    pub oracle: Oracle,
    /// The call.
    pub call: String,
    /// The kind of difference.
    pub kind: String,
    /// The text.
    #[serde(default)]
    pub text: String,
}

impl Pattern {
    /// Returns whether a signature matches.
    pub fn matches(&self, signature: &Signature) -> bool {
        let exact = self.oracle == signature.oracle && self.kind == signature.kind;
        exact && glob(&self.call, &signature.call) && glob(&self.text, &signature.text)
    }
}

fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            let Some(rest) = text.strip_prefix(before) else { return false };
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| glob(after, &rest[at..]))
        }
    }
}

impl Applies {
    /// Returns whether the wrong step of a finding matches. What needs no values is asked first: a library has hundreds of
    /// findings a second.
    pub fn matches(&self, finding: &Finding) -> bool {
        let program = &finding.program;
        let is_meant = |at: &usize| {
            let step = &program.steps[*at];
            (self.ops.is_empty() || self.ops.contains(&OpName(step.op)))
                && (self.forms.is_empty() || self.forms.contains(&step.form))
        };
        let steps: Vec<usize> = wrong_steps(finding).into_iter().filter(is_meant).collect();
        if steps.is_empty() || !self.conditions.seen(finding) {
            return false;
        }
        let reply = reference::ask(program).unwrap_or_default();
        steps.into_iter().any(|at| self.conditions.hold(program, &reply, at))
    }
}

/// The steps that a finding may be about: the one that its first difference names. An input that has become something
/// else is about the steps that write, and the end of a process about any step of the operation that it is put down to.
fn wrong_steps(finding: &Finding) -> Vec<usize> {
    let (steps, call) = (finding.program.steps.iter().enumerate(), finding.signature.call.as_str());
    let named = |name: &str| finding.program.steps.iter().position(|step| step.name == name);
    match finding.differences.first() {
        Some(difference) => {
            let name = difference.value.split(['.', ' ']).next().unwrap_or_default();
            match named(name) {
                Some(at) => vec![at],
                None => steps.filter(|(_, step)| step.form != Form::Functional).map(|(at, _)| at).collect(),
            }
        }
        None => steps.filter(|(_, step)| [step.op.name(), UNTOLD].contains(&call)).map(|(at, _)| at).collect(),
    }
}

impl Conditions {
    /// Returns whether the conditions on the difference itself hold.
    fn seen(&self, finding: &Finding) -> bool {
        // Where each element has a NaN; mathematics names one element, and a long tensor its first other one last.
        let nans = |text: &str| -> Vec<bool> {
            let named = text.split_once(" at [").filter(|(element, _)| !element.ends_with(';'));
            let elements = named.map_or_else(|| text.split(',').collect(), |(element, _)| vec![element]);
            elements.into_iter().map(|element| element.contains("nan")).collect()
        };
        let first = finding.differences.first();
        let one_side = first.is_some_and(|difference| nans(&difference.expected) != nans(&difference.observed));
        let is_any = |patterns: &[String], text: fn(&Difference) -> &str| {
            patterns.is_empty() || first.is_some_and(|first| patterns.iter().any(|pattern| glob(pattern, text(first))))
        };
        self.nan_on_one_side.is_none_or(|wanted| wanted == one_side)
            && (self.oracle.is_empty() || self.oracle.contains(&finding.signature.oracle))
            && is_any(&self.expected, |difference| &difference.expected)
            && is_any(&self.observed, |difference| &difference.observed)
    }

    fn hold(&self, program: &Program, reply: &Reply, at: usize) -> bool {
        let step = &program.steps[at];
        let target = step.target();
        let used: Vec<(ValueRef, TensorValue)> =
            step.uses().filter_map(|used| Some((used, value(program, reply, used)?))).collect();
        let used = as_they_were(program, at, used);
        let tensors = || used.iter().map(|(_, tensor)| tensor);
        let is = |wanted: Option<bool>, holds: &dyn Fn() -> bool| wanted.is_none_or(|wanted| wanted == holds());
        let made = || reply.steps.get(at).map_or(&[][..], |step| step.outcome.tensors()).iter();
        let numbers: Vec<Scalar> = step.args.iter().filter_map(number).collect();
        let is_given = |(param, arg): &(&Param, &Arg)| param.default.is_none_or(|default| Arg::from(default) != **arg);
        let given = || step.op.info().arguments.iter().zip(&step.args).filter(is_given);
        let has = |special: &Special| {
            tensors().any(|tensor| tensor.scalars().into_iter().any(|scalar| special.is(scalar, tensor.dtype)))
                || numbers.iter().any(|number| special.is(*number, number.dtype()))
        };
        let input_has = |special: &Special| {
            let is = |tensor: TensorValue| tensor.scalars().into_iter().any(|scalar| special.is(scalar, tensor.dtype));
            (0..program.inputs.len())
                .filter_map(|value| self::value(program, reply, ValueRef { value, part: None }))
                .any(is)
        };
        let beside = || program.steps.iter().filter(|step| self.beside.contains(&OpName(step.op)));
        let empty = |arg: &Arg| matches!(arg, Arg::Ints(ints) if ints.is_empty());
        let operands =
            |step: &Step| -> Vec<TensorValue> { step.uses().filter_map(|used| value(program, reply, used)).collect() };
        (self.dtype.is_empty() || tensors().any(|tensor| self.dtype.contains(&tensor.dtype)))
            && is(self.mixed_dtypes, &|| are_several(tensors().map(|tensor| tensor.dtype)))
            && self.has.iter().all(has)
            && self.input_has.iter().all(input_has)
            && self.elements.is_none_or(|least| tensors().chain(made()).any(|tensor| tensor.shape.numel() >= least))
            && self.rank.is_none_or(|least| tensors().any(|tensor| tensor.shape.rank() >= least))
            && is(self.empty, &|| tensors().any(|tensor| tensor.shape.numel() == 0))
            && is(self.requires_grad, &|| program.inputs.iter().any(|input| input.requires_grad))
            && is(self.number, &|| given().any(|(_, arg)| number(arg).is_some()))
            && is(self.tensor, &|| !used.is_empty())
            && is(self.out_shares, &|| shares(&used, step, target))
            && is(self.out_converts, &|| {
                let out = step.out.and_then(|out| used.iter().find(|(own, _)| *own == out));
                out.zip(used.first()).is_some_and(|((_, out), (_, first))| out.dtype != first.dtype)
            })
            && is(self.empty_list, &|| step.args.iter().any(empty))
            && is(self.negative_size, &|| {
                step.args.iter().any(|arg| matches!(arg, Arg::Ints(ints) if ints.iter().any(|int| *int < 0)))
            })
            && (self.to_dtype.is_empty()
                || step.args.iter().any(|arg| matches!(arg, Arg::Dtype(dtype) if self.to_dtype.contains(dtype))))
            && is(self.factor, &|| given().any(|(param, _)| param.kind == ParamKind::Number && param.default.is_some()))
            && (self.beside.is_empty() || beside().next().is_some())
            && is(self.beside_again, &|| beside().nth(1).is_some())
            && is(self.beside_empty_list, &|| beside().any(|step| step.args.iter().any(empty)))
            && (self.beside_dtype.is_empty()
                || beside().flat_map(operands).any(|tensor| self.beside_dtype.contains(&tensor.dtype)))
            && is(self.beside_mixed_dtypes, &|| {
                beside().any(|step| are_several(operands(step).into_iter().map(|tensor| tensor.dtype)))
            })
            && is(self.beside_overwritten, &|| {
                program.steps.iter().enumerate().any(|(at, step)| {
                    let mut written = program.steps[at + 1..].iter().filter_map(Step::target);
                    self.beside.contains(&OpName(step.op))
                        && written.any(|target| step.uses().any(|used| used == target))
                })
            })
            && is(self.beside_broadcasts, &|| {
                beside().any(|step| are_several(operands(step).into_iter().map(|tensor| tensor.shape)))
            })
            && is(self.beside_below_zero, &|| {
                let below = |tensor: TensorValue| tensor.elements().any(|element| f64::from_scalar(element) < 0.0);
                beside().flat_map(operands).any(below)
            })
            && is(self.beside_bool, &|| {
                beside().flat_map(|step| &step.args).any(|arg| matches!(arg, Arg::Number(Scalar::Bool(_))))
            })
            && (self.beside_text.is_empty()
                || beside().flat_map(|step| &step.args).any(|arg| text_of(arg, &self.beside_text)))
            && is(self.size_one, &|| tensors().any(|tensor| tensor.shape.sizes().contains(&1)))
            && is(self.vector, &|| tensors().any(|tensor| tensor.shape.rank() == 1))
            && is(self.no_dimensions, &|| tensors().any(|tensor| tensor.shape.rank() == 0))
            && is(self.mixed_ranks, &|| are_several(tensors().map(|tensor| tensor.shape.rank())))
            && is(self.mixed_shapes, &|| are_several(tensors().map(|tensor| &tensor.shape)))
            && is(self.one_element, &|| tensors().skip(1).any(|tensor| tensor.shape.numel() == 1))
            && is(self.long_step, &|| {
                let items = step.args.iter().flat_map(|arg| if let Arg::Index(items) = arg { &items[..] } else { &[] });
                items.into_iter().any(|item| tensors().any(|tensor| is_long(item, tensor)))
            })
            && (self.number_is.is_empty()
                || numbers.iter().any(|number| self.number_is.contains(&f64::from_scalar(*number))))
            && is(self.number_above_zero, &|| {
                let above = |number: &Scalar, dtype| {
                    let rounded = Buffer::from_scalars(dtype, std::iter::once(*number)).scalars()[0];
                    f64::from_scalar(rounded) > 0.0
                };
                numbers.iter().any(|number| tensors().any(|tensor| above(number, tensor.dtype)))
            })
            && (self.text.is_empty() || step.args.iter().any(|arg| text_of(arg, &self.text)))
    }
}

/// Returns whether not all are equal.
fn are_several<T: PartialEq>(mut all: impl Iterator<Item = T>) -> bool {
    all.next().is_some_and(|first| all.any(|other| other != first))
}

/// Returns whether another operand lies in the storage that a step writes to.
fn shares(used: &[(ValueRef, TensorValue)], step: &Step, target: Option<ValueRef>) -> bool {
    let Some((_, target)) = target.and_then(|target| used.iter().find(|(own, _)| *own == target)) else { return false };
    let id = target.storage.map(|storage| storage.id);
    // The target of an in-place step and `out=` are among the operands themselves.
    id.is_some()
        && used.iter().filter(|(_, tensor)| tensor.storage.map(|storage| storage.id) == id).count() > 1
        && step.form != Form::Functional
}

/// Returns whether the step of a slice is beyond 64 bits with the greatest stride, or with the greatest size.
fn is_long(item: &IndexItem, of: &TensorValue) -> bool {
    let most = |values: &[i64]| values.iter().copied().max().unwrap_or(0);
    let strides = most(of.strides.as_deref().unwrap_or_default());
    matches!(item, IndexItem::Slice { step, .. }
        if step.checked_mul(strides).is_none() || step.checked_add(most(of.shape.sizes())).is_none())
}

fn text_of(arg: &Arg, texts: &[String]) -> bool {
    matches!(arg, Arg::Text(text) if texts.iter().any(|pattern| glob(pattern, text)))
}

fn number(arg: &Arg) -> Option<Scalar> {
    match arg {
        Arg::Number(number) => Some(*number),
        _ => None,
    }
}

/// The elements that values had when a step came to them, where something may have been written to them since they were
/// made: those of copies that are made in place of the step.
fn as_they_were(program: &Program, at: usize, used: Vec<(ValueRef, TensorValue)>) -> Vec<(ValueRef, TensorValue)> {
    if !program.mutates() {
        return used;
    }
    let mut copies = Program { inputs: program.inputs.clone(), steps: program.steps[..at].to_vec() };
    copies.steps.extend(used.iter().enumerate().map(|(number, (value, _))| Step {
        name: format!("copy{number}"),
        op: Op::Clone,
        form: Form::Functional,
        args: vec![Arg::Tensor(*value)],
        out: None,
    }));
    let reply = reference::ask(&copies).unwrap_or_default();
    let mut copied = reply.steps.into_iter().skip(at).map(|step| step.outcome.tensors().first().cloned());
    used.into_iter()
        .map(|(value, made)| match copied.next().flatten() {
            Some(TensorValue { dtype, shape, data, .. }) => (value, TensorValue { dtype, shape, data, ..made }),
            None => (value, made),
        })
        .collect()
}

/// A value as it was made.
fn value(program: &Program, reply: &Reply, at: ValueRef) -> Option<TensorValue> {
    if let Some(input) = program.inputs.get(at.value) {
        return Some(TensorValue {
            dtype: input.dtype,
            shape: input.shape.clone(),
            data: input.data.clone(),
            strides: Some(Layout::contiguous(input.shape.clone()).strides),
            storage: Some(crate::program::StorageRef { id: at.value, offset: 0 }),
        });
    }
    let tensors = reply.steps.get(at.value - program.inputs.len())?.outcome.tensors();
    tensors.get(at.part.unwrap_or(0)).cloned()
}

impl Special {
    fn is(self, number: Scalar, dtype: DType) -> bool {
        let float = |value: f64| match self {
            Special::Nan => value.is_nan(),
            Special::NegativeZero => value == 0.0 && value.is_sign_negative(),
            Special::Infinity => value.is_infinite(),
            Special::Subnormal => value != 0.0 && value.abs() < smallest_normal(dtype),
            Special::Zero => value == 0.0,
            Special::MinusOne => value == -1.0,
            Special::Fraction => value.is_finite() && value.fract() != 0.0,
            Special::BeyondFloat32 => value.is_finite() && f64::from(value as f32) != value,
            Special::LeastInteger => false,
        };
        match number {
            Scalar::Bool(value) => self == Special::Zero && !value,
            Scalar::Int(value) => match self {
                Special::LeastInteger => value == i64::MIN || (dtype == DType::Int32 && value == i64::from(i32::MIN)),
                Special::Zero => value == 0,
                Special::MinusOne => value == -1,
                Special::BeyondFloat32 => i128::from(value) != (value as f32) as i128,
                _ => false,
            },
            Scalar::Float(value) => float(value),
            Scalar::Complex(value) => float(value.re) || float(value.im),
        }
    }
}

fn smallest_normal(dtype: DType) -> f64 {
    match dtype {
        DType::Float16 => 2f64.powi(-14),
        DType::Bfloat16 | DType::Float32 | DType::Complex64 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    }
}

#[cfg(test)]
mod tests;
