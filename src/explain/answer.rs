//! The answer: accepted or rejected, why, the drawing, and what to write instead.

use std::collections::BTreeMap;

use broadcheck_protocol::error::Class;
use broadcheck_protocol::ops::{Family, Form, Op};
use broadcheck_protocol::program::Program;
use broadcheck_protocol::tensor::{DType, Shape};
use serde::{Deserialize, Serialize};

use crate::bench::{Bench, Stop};
use crate::caution::{bytes, cautions, human};
use crate::drawing::{Drawing, shape_text};
use crate::evaluate::{Call, Evaluation};
use crate::fix::{self, Fix, Proposed, Tried};
use crate::names::Function;
use crate::question::{AskError, Given, Question};
use crate::reported::Meaning;
use crate::sketch::sketch;
use crate::symbols::Symbols;
use crate::value::Value;

/// The answer to a question.
///
/// ```
/// use broadcheck_explain::{Options, explain};
///
/// let asked = ["x / x.sum(1)".to_owned(), "x=4,3".to_owned()];
/// let answer = explain(&asked, &Options::default()).unwrap();
/// assert!(answer.is_rejected());
/// assert_eq!(answer.fixes[0].code, "x / x.sum(1, keepdim=True)");
/// assert_eq!(answer.fixes[0].result, "[4, 3]");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Accepted, rejected, or neither.
    pub verdict: Verdict,
    /// The Python that was explained; empty where a message alone was given.
    pub source: String,
    /// The tensors that were given, with their shapes.
    pub tensors: Vec<Tensor>,
    /// The call that decides: the one that is rejected, or the last that broadcasts.
    pub call: String,
    /// PyTorch's own message, of a rejection.
    pub message: Option<String>,
    /// The reason in one sentence.
    pub reason: Option<String>,
    /// The result, where it is a tensor.
    pub result: Option<Tensor>,
    /// The bytes of the result, as people say it, where they are many.
    pub memory: Option<String>,
    /// The drawing of the call.
    pub drawing: Option<Drawing>,
    /// What must hold for sizes that have names.
    pub conditions: Vec<String>,
    /// Changes that work, the most likely first.
    pub fixes: Vec<Fix>,
    /// Things to look at, though the call is accepted.
    pub cautions: Vec<String>,
    /// For each operand that is expanded, over which dimensions its gradient is summed.
    pub gradients: Vec<String>,
    /// The warnings that PyTorch gives.
    pub warnings: Vec<String>,
    /// The meaning of a message that was pasted.
    pub reported: Option<Meaning>,
}

/// Accepted, rejected, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// PyTorch accepts it.
    Accepted,
    /// PyTorch rejects it.
    Rejected,
    /// It depends on what the named sizes are.
    Conditional,
    /// The elements decide.
    Unknown,
    /// A message was explained, and there is nothing to run.
    Reported,
}

/// A tensor as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Its shape, `[B, 3]`.
    pub shape: String,
    /// Its dtype; empty for sizes that are no tensor.
    pub dtype: String,
}

impl Answer {
    /// The answer to a message whose shapes are not known.
    pub(crate) fn of_report(meaning: Meaning) -> Answer {
        Answer {
            verdict: Verdict::Reported,
            source: String::new(),
            tensors: Vec::new(),
            call: String::new(),
            message: Some(meaning.message.clone()),
            reason: Some(meaning.says.clone()),
            result: None,
            memory: None,
            drawing: None,
            conditions: Vec::new(),
            fixes: Vec::new(),
            cautions: Vec::new(),
            gradients: Vec::new(),
            warnings: Vec::new(),
            reported: Some(meaning),
        }
    }

    /// The program that a text of Python runs with the tensors of this answer, for a real implementation: its functions
    /// beside the operation table are left out, and what they return is given. `None` where sizes have names, or a call is
    /// rejected.
    pub fn program(&self, source: &str) -> Option<Program> {
        let given = |tensor: &Tensor| {
            let read = crate::read::shape(&tensor.shape).ok()?;
            Some(Given { name: tensor.name.clone(), sizes: read.sizes, dtype: DType::parse(&tensor.dtype) })
        };
        let question = Question::of(source.to_owned(), self.tensors.iter().map(given).collect::<Option<_>>()?);
        let mut symbols = Symbols::default();
        let sizes = question.numbers(&mut symbols).ok()?;
        let trial = run(&question, source, &sizes, &BTreeMap::new()).ok()?;
        (symbols.is_empty() && trial.outcome.is_ok()).then(|| trial.bench.program())
    }

    /// Returns whether PyTorch rejects the call.
    pub fn is_rejected(&self) -> bool {
        self.verdict == Verdict::Rejected
    }
}

/// One evaluation of a text with certain sizes and dtypes.
struct Trial {
    calls: Vec<Call>,
    outcome: Result<Value, Stop>,
    bench: Bench,
}

/// Answers a question.
///
/// # Errors
/// When the text cannot be read, or has something in it that cannot be explained.
pub fn answer(question: &Question) -> Result<Answer, AskError> {
    let mut symbols = Symbols::default();
    let sizes = question.numbers(&mut symbols)?;
    let mut dtypes: BTreeMap<String, DType> = BTreeMap::new();
    let trial = fitting(question, &sizes, &mut dtypes)?;
    // `n=8` is a tensor of 8 elements, or the number 8, as the text needs it.
    if matches!(trial.outcome, Err(Stop::Unsupported(_)))
        && let Some(other) = question.with_numbers()
    {
        return answer(&other);
    }
    let conditional = matches!(trial.outcome, Err(Stop::Rejected(..))) && !symbols.is_empty();
    let made = if conditional { conditions(question, &symbols, &dtypes)? } else { None };
    let plain = finish(question, trial, &symbols, &sizes, &dtypes, Vec::new())?;
    Ok(match made {
        // What works whatever the sizes are is worth more than an equality.
        Some(made) => Answer { fixes: plain.fixes, reason: plain.reason, ..made },
        None => plain,
    })
}

/// The sizes of each given tensor.
pub(crate) type Sizes = BTreeMap<String, Vec<i64>>;

fn run(question: &Question, source: &str, sizes: &Sizes, dtypes: &BTreeMap<String, DType>) -> Result<Trial, AskError> {
    let statements = crate::read::python(source)?;
    let mut bench = Bench::default();
    let mut names = BTreeMap::new();
    for given in &question.tensors {
        let own = sizes.get(&given.name).cloned().unwrap_or_default();
        let shape = Shape::new(own).map_err(|error| AskError::Unknown(format!("{}: {error}", given.name)))?;
        let dtype = given.dtype.or(dtypes.get(&given.name).copied()).unwrap_or(DType::Float32);
        // Unless the text says which tensors gradients are kept for, it is all of them.
        let gradients = source.contains(".backward(") || source.contains("autograd.grad(");
        let tensor = match gradients && !source.contains("requires_grad") {
            true => bench.declare_leaf(&given.name, shape, dtype),
            false => bench.declare(&given.name, shape, dtype, None),
        };
        names.insert(given.name.clone(), Value::Tensor(tensor));
    }
    for (name, size) in question.plain_sizes() {
        names.entry(name).or_insert(Value::Int(size));
    }
    let mut evaluation = Evaluation::new(source, bench, names);
    let outcome = evaluation.run(&statements);
    let bench = evaluation.bench().clone();
    Ok(Trial { calls: evaluation.calls, outcome, bench })
}

/// Runs the text with the dtypes that fit: those that were given, and for the others float32, unless the call is rejected
/// for a dtype that another one would mend (`where` takes a bool condition, `gather` an int64 index).
fn fitting(question: &Question, sizes: &Sizes, dtypes: &mut BTreeMap<String, DType>) -> Result<Trial, AskError> {
    let mut best = run(question, &question.source, sizes, dtypes)?;
    // Each round mends one call.
    for _ in 0..4 {
        if !is_dtype(&best) {
            break;
        }
        let Some(failed) = best.calls.last() else { break };
        let free = |name: &str| question.tensors.iter().any(|given| given.name == name && given.dtype.is_none());
        let used = |name: &str| {
            failed.operands.iter().any(|operand| operand.name == name)
                || mentions(question.source.get(failed.span.clone()).unwrap_or_default(), name)
        };
        let names: Vec<String> =
            question.tensors.iter().map(|given| given.name.clone()).filter(|name| free(name) && used(name)).collect();
        let mut tries: Vec<Vec<(String, DType)>> = Vec::new();
        for dtype in likely(failed, &names) {
            tries.extend(names.iter().map(|name| vec![(name.clone(), dtype)]));
            tries.push(names.iter().map(|name| (name.clone(), dtype)).collect());
        }
        let calls = best.calls.len();
        // One that is accepted, or else the first that comes further.
        let mut mended: Option<(Trial, BTreeMap<String, DType>)> = None;
        for change in tries {
            let mut other = dtypes.clone();
            other.extend(change);
            let trial = run(question, &question.source, sizes, &other)?;
            let accepted = trial.outcome.is_ok();
            let further = trial.calls.len() > calls || accepted || !is_dtype(&trial);
            if further && !matches!(trial.outcome, Err(Stop::Unsupported(_))) && (accepted || mended.is_none()) {
                mended = Some((trial, other));
            }
            if accepted {
                break;
            }
        }
        let Some((trial, other)) = mended else { break };
        (best, *dtypes) = (trial, other);
    }
    Ok(best)
}

/// The dtypes to try, the likeliest first: a mask is of bool, an index of int64, pivots are of int32.
fn likely(failed: &Call, names: &[String]) -> [DType; 4] {
    if matches!(failed.function, Function::Table(Op::LinalgLuSolve, _)) {
        return [DType::Int32, DType::Bool, DType::Complex64, DType::Float64];
    }
    let indexes = matches!(failed.function, Function::Table(op, _) if op.info().family() == Family::Indexing);
    let mask = names.iter().any(|name| name.contains("mask"));
    match indexes
        && !mask
        && !matches!(failed.function, Function::Table(Op::MaskedFill | Op::MaskedSelect | Op::MaskedScatter, _))
    {
        true => [DType::Int64, DType::Bool, DType::Complex64, DType::Float64],
        false => [DType::Bool, DType::Int64, DType::Complex64, DType::Float64],
    }
}

/// Returns whether a text of Python has a name in it.
fn mentions(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

/// Returns whether the last call was rejected for a dtype.
fn is_dtype(trial: &Trial) -> bool {
    match &trial.outcome {
        Err(Stop::Rejected(_, Some(rejection))) => rejection.class() == Class::Dtype,
        _ => false,
    }
}

/// The fewest equalities of named sizes under which the text is accepted, and the answer that follows from the first.
fn conditions(
    question: &Question,
    symbols: &Symbols,
    dtypes: &BTreeMap<String, DType>,
) -> Result<Option<Answer>, AskError> {
    let mut tried: Vec<(Vec<String>, Symbols)> = vec![(Vec::new(), symbols.clone())];
    for _ in 0..3 {
        let mut next = Vec::new();
        let mut found: Vec<(Vec<String>, Symbols)> = Vec::new();
        for (said, symbols) in &tried {
            for (condition, equated) in equalities(question, symbols) {
                let mut said = said.clone();
                said.push(condition);
                let sizes = question.numbers(&mut equated.clone())?;
                if run(question, &question.source, &sizes, dtypes)?.outcome.is_ok() {
                    found.push((said, equated));
                } else {
                    next.push((said, equated));
                }
            }
        }
        if let Some((_, first)) = found.first() {
            let sizes = question.numbers(&mut first.clone())?;
            let trial = run(question, &question.source, &sizes, dtypes)?;
            let mut texts: Vec<String> = found.iter().map(|(said, _)| said.join(" and ")).collect();
            texts.dedup();
            texts.truncate(6);
            let mut answer = finish(question, trial, first, &sizes, dtypes, texts)?;
            answer.verdict = Verdict::Conditional;
            return Ok(Some(answer));
        }
        next.truncate(64);
        tried = next;
    }
    Ok(None)
}

/// The equalities that a named size can have: with another name, with a number of the question, with 1.
fn equalities(question: &Question, symbols: &Symbols) -> Vec<(String, Symbols)> {
    let all: Vec<(String, i64)> = symbols.all().map(|(name, number)| (name.to_owned(), number)).collect();
    let mut made = Vec::new();
    for (at, (name, number)) in all.iter().enumerate() {
        for (other, value) in &all[at + 1..] {
            if value != number {
                made.push((format!("{name} = {other}"), symbols.equate(other, *number)));
            }
        }
    }
    for (name, _) in &all {
        let mut plain = question.plain_numbers();
        plain.retain(|size| *size != 1);
        for size in plain.into_iter().chain([1]) {
            if symbols.label(size) == size.to_string() && !all.iter().any(|(own, value)| own == name && *value == size)
            {
                made.push((format!("{name} = {size}"), symbols.equate(name, size)));
            }
        }
    }
    made
}

/// Makes the answer of a trial.
fn finish(
    question: &Question,
    trial: Trial,
    symbols: &Symbols,
    sizes: &Sizes,
    dtypes: &BTreeMap<String, DType>,
    conditions: Vec<String>,
) -> Result<Answer, AskError> {
    let label = |size: i64| symbols.label(size);
    let Trial { calls, outcome, bench } = trial;
    let (verdict, message) = match &outcome {
        Ok(_) => (Verdict::Accepted, None),
        Err(Stop::Rejected(message, _)) => (Verdict::Rejected, Some(symbols.rename(&spelled(message)))),
        Err(Stop::Unknown(what)) => (Verdict::Unknown, Some(what.clone())),
        Err(Stop::Unsupported(what)) => return Err(AskError::Unknown(what.clone())),
    };
    let deciding = match verdict {
        Verdict::Accepted => deciding(&calls, &label),
        _ => calls.last(),
    };
    let drawing = deciding.and_then(|call| sketch(call, &label));
    let reason = match (&drawing, verdict) {
        (Some(drawing), Verdict::Rejected) => {
            drawing.rules.iter().find(|rule| !rule.holds).map(|rule| rule.text.clone())
        }
        _ => None,
    };
    let found = match (deciding, verdict) {
        (Some(call), Verdict::Accepted) => {
            let own = cautions(call, &calls, &label);
            let earlier =
                calls.iter().filter(|other| other.span != call.span).flat_map(|other| cautions(other, &calls, &label));
            own.into_iter().chain(earlier).collect()
        }
        _ => Vec::new(),
    };
    let propose = verdict == Verdict::Rejected || found.iter().any(|caution| caution.meant_otherwise);
    let mut fixes = Vec::new();
    if let (Some(call), true) = (deciding, propose) {
        fixes = proposed(question, call, &calls, sizes, dtypes, symbols, verdict);
    }
    let result = match &outcome {
        Ok(Value::Tensor(tensor)) => Some(Tensor {
            name: "result".to_owned(),
            shape: shape_text(bench.shape(*tensor).sizes(), &label),
            dtype: bench.dtype(*tensor).name().to_owned(),
        }),
        Ok(sizes @ Value::List(_)) if sizes.ints().is_some() => Some(Tensor {
            name: "sizes".to_owned(),
            shape: shape_text(&sizes.ints().unwrap_or_default(), &label),
            dtype: String::new(),
        }),
        Ok(Value::List(items)) => {
            let first = items.iter().find_map(Value::tensor);
            first.map(|tensor| Tensor {
                name: format!("{} results", items.len()),
                shape: shape_text(bench.shape(tensor).sizes(), &label),
                dtype: bench.dtype(tensor).name().to_owned(),
            })
        }
        _ => None,
    };
    let memory = match &outcome {
        Ok(Value::Tensor(tensor)) if symbols.is_empty() => {
            let size = bytes(bench.shape(*tensor), bench.dtype(*tensor).size());
            (size >= 1 << 30).then(|| human(size))
        }
        _ => None,
    };
    let tensors = question.tensors.iter().map(|given| Tensor {
        name: given.name.clone(),
        shape: given.shape(),
        dtype: given.dtype.or(dtypes.get(&given.name).copied()).unwrap_or(DType::Float32).name().to_owned(),
    });
    let mut warnings: Vec<String> =
        calls.iter().flat_map(|call| call.warnings.iter().map(|text| symbols.rename(text))).collect();
    warnings.dedup();
    Ok(Answer {
        verdict,
        source: question.source.clone(),
        tensors: tensors.collect(),
        call: deciding
            .and_then(|call| question.source.get(call.span.clone()))
            .unwrap_or(&question.source)
            .trim()
            .to_owned(),
        message,
        reason,
        result,
        memory,
        gradients: match (deciding, &outcome) {
            (Some(call), Ok(_)) => gradients(call, &label),
            _ => Vec::new(),
        },
        drawing,
        conditions,
        fixes,
        cautions: found.into_iter().map(|caution| caution.text).collect(),
        warnings,
        reported: None,
    })
}

/// A message as PyTorch's Python front end prints it: `torch.FloatTensor` for libtorch's `CPUFloatType`
/// (`torch/csrc/Exceptions.cpp`, `processErrorMsg`).
fn spelled(message: &str) -> String {
    let Some((before, rest)) = message.split_once("CPU") else { return message.to_owned() };
    match rest.split_once("Type") {
        Some((dtype, behind)) if !dtype.is_empty() && dtype.chars().all(char::is_alphanumeric) => {
            format!("{before}torch.{dtype}Tensor{}", spelled(behind))
        }
        _ => format!("{before}CPU{}", spelled(rest)),
    }
}

/// The changes that work.
fn proposed(
    question: &Question,
    call: &Call,
    calls: &[Call],
    sizes: &Sizes,
    dtypes: &BTreeMap<String, DType>,
    symbols: &Symbols,
    verdict: Verdict,
) -> Vec<Fix> {
    let search = Search { question, sizes, dtypes, symbols, verdict };
    let made = search.propose(&question.source, call, calls, MOST_PLACES);
    made.into_iter()
        .map(|proposed| Fix {
            code: symbols.rename(&proposed.fix.code),
            why: symbols.rename(&proposed.fix.why),
            ..proposed.fix
        })
        .collect()
}

/// The most places that one change may need: the same mistake is often made twice in a line.
const MOST_PLACES: usize = 2;

/// The search for changes that work.
struct Search<'a> {
    question: &'a Question,
    sizes: &'a Sizes,
    dtypes: &'a BTreeMap<String, DType>,
    symbols: &'a Symbols,
    verdict: Verdict,
}

impl Search<'_> {
    fn propose(&self, source: &str, call: &Call, calls: &[Call], places: usize) -> Vec<Proposed> {
        fix::propose(source, call, calls, &mut |text| self.attempt(text, call, places))
    }

    /// Runs a changed text.
    fn attempt(&self, text: &str, call: &Call, places: usize) -> Option<Tried> {
        let label = |size: i64| self.symbols.label(size);
        let trial = run(self.question, text, self.sizes, self.dtypes).ok()?;
        let value = match trial.outcome {
            Ok(value) => value,
            // A later call is rejected now: its own change may help.
            Err(Stop::Rejected(..)) if places > 1 => {
                let here = |made: &Call| made.span.start == call.span.start && made.function == call.function;
                let failed = trial.calls.last().filter(|failed| !here(failed))?;
                trial.calls.iter().find(|made| here(made) && made.stop.is_none())?;
                let next = self.propose(text, failed, &trial.calls, places - 1).into_iter().next()?;
                let tried = self.attempt(&next.source, call, 1)?;
                return Some(Tried { further: true, ..tried });
            }
            Err(_) => return None,
        };
        let result = value.tensor().map(|tensor| trial.bench.shape(tensor));
        // The call in the place of the one that was edited: the last one that starts where it did.
        let edited = trial.calls.iter().rev().find(|made| made.span.start == call.span.start);
        let sizes = edited.and_then(|made| made.result.as_ref()).map(|(shape, _)| shape.sizes().to_vec());
        let sizes = sizes.or_else(|| result.map(|shape| shape.sizes().to_vec())).unwrap_or_default();
        // A change of what was accepted has to leave nothing to look at.
        if self.verdict == Verdict::Accepted {
            let before = call.result.as_ref().map(|(shape, _)| shape.sizes()).unwrap_or_default();
            let mut left = trial.calls.iter().flat_map(|made| cautions(made, &trial.calls, &label));
            let unchanged = sizes == before && call.operands.len() < 2 && call.out.is_none();
            if unchanged || left.any(|caution| caution.meant_otherwise) {
                return None;
            }
        }
        let shape = result.map(|shape| shape_text(shape.sizes(), &label)).unwrap_or_default();
        Some(Tried { source: text.to_owned(), text: shape, sizes, further: false })
    }
}

/// The call that is worth drawing: the last one whose operands meet.
fn deciding<'a>(calls: &'a [Call], label: crate::drawing::Label) -> Option<&'a Call> {
    let drawn = |call: &&Call| sketch(call, label).is_some();
    let meets = |call: &&Call| call.operands.len() > 1 || call.out.is_some() || !call.settings.sizes.is_empty();
    calls.iter().rev().filter(drawn).find(meets).or_else(|| calls.iter().rev().find(drawn)).or_else(|| calls.last())
}

/// Over which dimensions the gradient of each operand is summed: those in which it is expanded.
fn gradients(call: &Call, label: crate::drawing::Label) -> Vec<String> {
    let batches = match call.function {
        Function::Table(Op::Matmul, _) => true,
        Function::Table(Op::Expand | Op::BroadcastTo, Form::Functional) => false,
        _ if fix::is_elementwise(call) => false,
        _ => return Vec::new(),
    };
    let Some((result, _)) = &call.result else { return Vec::new() };
    if !matches!(call.function, Function::Table(op, _) if op.info().differentiable) {
        return Vec::new();
    }
    // A reduced loss has no dimensions; its operands meet before.
    let meeting = match call.settings.reduction.as_str() {
        "mean" | "sum" => {
            call.operands.iter().try_fold(Shape::scalar(), |shape, operand| shape.broadcast(&operand.shape)).ok()
        }
        _ => Some(result.clone()),
    };
    let Some(meeting) = meeting else { return Vec::new() };
    let cut = |shape: &Shape| {
        let keep = if batches { shape.rank().saturating_sub(2) } else { shape.rank() };
        Shape::new(shape.sizes()[..keep].to_vec()).unwrap_or_default()
    };
    let matrices = batches && call.operands.iter().all(|operand| operand.shape.rank() > 1);
    if batches && !matrices {
        return Vec::new();
    }
    let (meeting, mut said) = (cut(&meeting), Vec::new());
    for operand in &call.operands {
        let own = cut(&operand.shape);
        let rank = meeting.rank();
        let summed: Vec<String> = (0..rank)
            .filter(|&dim| match own.aligned(dim, rank) {
                None => true,
                Some(size) => size == 1 && meeting.sizes()[dim] != 1,
            })
            .map(|dim| dim.to_string())
            .collect();
        if !summed.is_empty() && operand.dtype.category() >= broadcheck_protocol::tensor::Category::Floating {
            let plural = if summed.len() == 1 { "dimension" } else { "dimensions" };
            said.push(format!(
                "the gradient of {} is summed over {plural} {}, to {}",
                operand.name,
                summed.join(", "),
                shape_text(operand.shape.sizes(), label)
            ));
        }
    }
    said
}

impl Question {
    /// The sizes of each tensor as numbers; those with names by the numbers that stand for them.
    fn numbers(&self, symbols: &mut Symbols) -> Result<Sizes, AskError> {
        self.tensors.iter().map(|given: &Given| Ok((given.name.clone(), self.sizes_of(given, symbols)?))).collect()
    }
}
