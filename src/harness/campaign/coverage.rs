//! The coverage of generated programs: how often each function was a step, in which form, of which dtypes, under which
//! statement on broadcasting, and with which rejections.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::AddAssign;
use std::thread;

use serde::Serialize;

use crate::error::Class;
use crate::generate::{LeftOut, Options};
use crate::ops::{Family, Form, Op, ParamKind};
use crate::program::{Arg, Outcome, Program, Reply, Step, Value, ValueRef};
use crate::tensor::{DType, Shape};

use crate::campaign::cases;
use crate::campaign::groups::normal;

/// The tensors of a program, as they are before a step.
type Known = HashMap<ValueRef, (Shape, DType)>;

/// Operations that refuse nothing that a program can give them.
const TAKES_ALL: &[Op] = &[
    Op::Detach,
    Op::Clone,
    Op::Contiguous,
    Op::Equal,
    Op::Grad,
    Op::BroadcastWarning,
    Op::LogicalNot,
    Op::Isnan,
    Op::Isinf,
    Op::Isfinite,
    Op::AreExpandable,
    Op::IsExpandableTo,
    Op::CanCast,
    Op::ResultType,
];

/// The number of generated steps of each kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// Programs.
    pub programs: u64,
    /// Steps that were accepted or refused.
    pub steps: Seen,
    /// The same by function and form.
    pub functions: BTreeMap<Op, BTreeMap<Form, Row>>,
    /// Steps that were proposed and are in no program, by the reason.
    pub left_out: BTreeMap<String, u64>,
}

/// The number of generated steps of one function and form.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// All of them.
    pub steps: Seen,
    /// By the dtypes of their tensors. A step with several counts for each.
    pub dtypes: BTreeMap<DType, Seen>,
    /// By what the documents say of their shapes. A step can be an example of several statements.
    pub clauses: BTreeMap<Clause, Seen>,
    /// Those that were refused, by the kind of refusal.
    pub rejections: BTreeMap<Class, u64>,
}

/// Accepted and refused steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// Accepted calls.
    pub accepted: u64,
    /// Rejected calls.
    pub rejected: u64,
}

impl Seen {
    /// Both together.
    pub fn all(self) -> u64 {
        self.accepted + self.rejected
    }
}

impl AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.accepted += other.accepted;
        self.rejected += other.rejected;
    }
}

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Coverage) {
        self.programs += other.programs;
        self.steps += other.steps;
        for (op, forms) in other.functions {
            let own = self.functions.entry(op).or_default();
            forms.into_iter().for_each(|(form, row)| *own.entry(form).or_default() += row);
        }
        other.left_out.into_iter().for_each(|(reason, count)| *self.left_out.entry(reason).or_default() += count);
    }
}

impl AddAssign for Row {
    fn add_assign(&mut self, other: Row) {
        self.steps += other.steps;
        other.dtypes.into_iter().for_each(|(dtype, seen)| *self.dtypes.entry(dtype).or_default() += seen);
        other.clauses.into_iter().for_each(|(clause, seen)| *self.clauses.entry(clause).or_default() += seen);
        other.rejections.into_iter().for_each(|(class, count)| *self.rejections.entry(class).or_default() += count);
    }
}

macro_rules! clauses {
    ($($(#[$doc:meta])* $variant:ident $id:literal,)+) => {
        /// A statement of the documents on the shapes of operands that broadcast, of which a step is an example.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Clause {
            $($(#[$doc])* #[serde(rename = $id)] $variant),+
        }

        impl Clause {
            /// Every one.
            pub const ALL: &[Clause] = &[$(Clause::$variant),+];

            /// Its name in `spec/clauses/`.
            pub fn id(self) -> &'static str {
                match self { $(Clause::$variant => $id),+ }
            }
        }
    };
}

clauses! {
    /// All operands have one shape.
    SameShapes "same-shapes-broadcast",
    /// A size 1 meets another size.
    SizeOne "size-one-broadcasts",
    /// Operands of different rank.
    MissingDimension "missing-dimension-broadcasts",
    /// An operand without dimensions, beside one that has some.
    NoDimension "broadcastable-needs-a-dimension",
    /// A size 0 meets a size 1, or a dimension that is not there.
    SizeZero "result-size-is-the-maximum",
    /// Sizes that differ, neither of which is 1.
    Mismatch "other-sizes-do-not-broadcast",
    /// A target that all operands broadcast to, one of them being smaller.
    TargetKept "in-place-broadcasts-the-other-operand",
    /// A target that would have to grow.
    TargetWouldGrow "in-place-keeps-shape",
}

/// A combination that should be generated, and was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// The operation.
    pub op: Op,
    /// The form.
    pub form: Form,
    /// The missing part.
    pub what: Missing,
}

/// A part of the coverage of a function in a form that was not generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// It is accepted.
    Accepted,
    /// It is rejected.
    Rejected,
    /// With a tensor of this dtype.
    Dtype(DType),
    /// A clause of the specification.
    Clause(Clause),
    /// A class of rejections.
    Rejection(Class),
}

impl Coverage {
    /// Counts the coverage of the first programs of a seed, as the reference accepts and rejects them, on all processors.
    /// `made` hears how many more there are.
    pub fn of(seed: u64, cases: u64, options: &Options, made: impl Fn(u64) + Sync) -> Coverage {
        let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
        let part = |first: u64| {
            let mut coverage = Coverage::default();
            for case in (first..cases).step_by(workers as usize) {
                let (case, left_out) = cases::make_with_reasons(seed, case, options);
                case.expected.iter().for_each(|reply| coverage.add(&case.program, reply));
                for reason in left_out {
                    *coverage.left_out.entry(without_numbers(reason)).or_default() += 1;
                }
                made(1);
            }
            coverage
        };
        thread::scope(|scope| {
            let parts: Vec<_> = (0..workers).map(|first| scope.spawn(move || part(first))).collect();
            parts.into_iter().fold(Coverage::default(), |mut all, part| {
                all += part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all
            })
        })
    }

    /// Counts the steps of a program.
    pub fn add(&mut self, program: &Program, reply: &Reply) {
        self.programs += 1;
        let mut known: Known = HashMap::new();
        for (at, input) in program.inputs.iter().enumerate() {
            let at = ValueRef { value: at, part: None };
            known.insert(at, (input.shape.clone(), input.dtype));
        }
        for (at, (step, came)) in program.steps.iter().zip(&reply.steps).enumerate() {
            let (seen, class) = match &came.outcome {
                Outcome::Value(_) => (Seen { accepted: 1, rejected: 0 }, None),
                Outcome::Rejected(rejected) => (Seen { accepted: 0, rejected: 1 }, rejected.class),
                _ => continue,
            };
            self.steps += seen;
            let row = self.functions.entry(step.op).or_default().entry(step.form).or_default();
            row.steps += seen;
            let used: BTreeSet<DType> = step.uses().filter_map(|used| Some(known.get(&used)?.1)).collect();
            used.into_iter().for_each(|dtype| *row.dtypes.entry(dtype).or_default() += seen);
            for clause in clauses(step, &known) {
                *row.clauses.entry(clause).or_default() += seen;
            }
            class.into_iter().for_each(|class| *row.rejections.entry(class).or_default() += 1);

            let value = program.inputs.len() + at;
            let several = matches!(came.outcome, Outcome::Value(Value::Tensors(_)));
            for (part, tensor) in came.outcome.tensors().iter().enumerate() {
                let at = ValueRef { value, part: several.then_some(part) };
                // What was written to may have another shape now.
                for at in step.target().into_iter().chain([at]) {
                    known.insert(at, (tensor.shape.clone(), tensor.dtype));
                }
            }
        }
    }

    /// Returns what should have been generated and was not, for these operations: each form accepted and rejected, each
    /// dtype of a tensor, each statement that its operands can be examples of, and a rejection for each of its
    /// reasons.
    pub fn gaps(&self, ops: &[Op]) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for &op in ops {
            let info = op.info();
            let none = Row::default();
            for &form in info.forms {
                let row = self.functions.get(&op).and_then(|forms| forms.get(&form)).unwrap_or(&none);
                let mut missing = |what, count: Option<u64>| {
                    if count.unwrap_or(0) == 0 {
                        gaps.push(Gap { op, form, what });
                    }
                };
                missing(Missing::Accepted, Some(row.steps.accepted));
                if !TAKES_ALL.contains(&op) {
                    missing(Missing::Rejected, Some(row.steps.rejected));
                }
                if takes_tensors(op) {
                    for &dtype in DType::ALL {
                        missing(Missing::Dtype(dtype), row.dtypes.get(&dtype).map(|seen| seen.all()));
                    }
                }
                for clause in applicable(op, form) {
                    let seen = row.clauses.get(&clause);
                    missing(Missing::Clause(clause), seen.map(|seen| seen.all()));
                }
                for class in refusals(op, form) {
                    missing(Missing::Rejection(class), row.rejections.get(&class).copied());
                }
            }
        }
        gaps
    }

    /// Returns how often steps of a family were rejected for a reason.
    pub fn rejections(&self, family: Family, class: Class) -> u64 {
        let of_family = self.functions.iter().filter(|(op, _)| op.info().family() == family);
        of_family.flat_map(|(_, forms)| forms.values()).filter_map(|row| row.rejections.get(&class)).sum()
    }
}

/// Returns whether the tensors of an operation are broadcast together, element by element.
pub(crate) fn broadcasts(op: Op) -> bool {
    let info = op.info();
    let tensors = info.arguments.iter().filter(|param| is_operand(param.kind)).count();
    // What a tensor is filled with has one element.
    info.family() == Family::Pointwise && tensors > 1 && !matches!(op, Op::Fill | Op::Bernoulli)
}

fn is_operand(kind: ParamKind) -> bool {
    matches!(kind, ParamKind::Tensor | ParamKind::Operand)
}

fn takes_tensors(op: Op) -> bool {
    let params = op.info().arguments;
    params.iter().any(|param| is_operand(param.kind) || param.kind == ParamKind::Tensors)
}

/// The statements that operands of an operation can be examples of.
fn applicable(op: Op, form: Form) -> impl Iterator<Item = Clause> {
    let of_targets = [Clause::TargetKept, Clause::TargetWouldGrow];
    let applies = move |clause: &Clause| form == Form::InPlace || !of_targets.contains(clause);
    Clause::ALL.iter().copied().filter(move |_| broadcasts(op)).filter(applies)
}

/// The kinds of refusal that an operation has for certain; which others its family has stands with the family.
fn refusals(op: Op, form: Form) -> impl Iterator<Item = Class> {
    let class = match form {
        Form::Functional => Some(Class::SizeMismatch),
        Form::InPlace => Some(Class::OutputShape),
        // What is wrong with the tensor that is written to can hide it.
        Form::Out => None,
    };
    class.into_iter().filter(move |_| broadcasts(op))
}

/// The statements that the shapes of a step's operands are examples of.
fn clauses(step: &Step, known: &Known) -> Vec<Clause> {
    if !broadcasts(step.op) {
        return Vec::new();
    }
    let params = step.op.info().arguments.iter();
    let operands = params.zip(&step.args).filter(|(param, _)| is_operand(param.kind));
    let tensors = operands.filter_map(|(_, arg)| if let Arg::Tensor(value) = arg { known.get(value) } else { None });
    let shapes: Vec<&Shape> = tensors.map(|(shape, _)| shape).collect();
    let Some((first, others)) = shapes.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let rank = shapes.iter().map(|shape| shape.rank()).max().unwrap_or(0);
    // What the shapes say of each dimension, from the last one on; nothing where they do not reach.
    let sizes = |back: usize| shapes.iter().map(move |shape| shape.sizes().iter().nth_back(back).copied());
    let columns: Vec<Vec<Option<i64>>> = (0..rank).map(|back| sizes(back).collect()).collect();
    let any = |holds: &dyn Fn(&[Option<i64>]) -> bool| columns.iter().any(|sizes| holds(sizes));
    let mismatch = any(&|sizes| {
        let mut others = sizes.iter().flatten().filter(|&&size| size != 1);
        others.next().is_some_and(|first| others.any(|size| size != first))
    });
    let all = shapes.iter().try_fold(Shape::scalar(), |all, shape| all.broadcast(shape)).ok();
    let in_place = step.form == Form::InPlace;
    let examples = [
        (Clause::SameShapes, others.iter().all(|shape| shape == first)),
        (Clause::SizeOne, any(&|sizes| sizes.contains(&Some(1)) && sizes.iter().flatten().any(|&size| size != 1))),
        (Clause::MissingDimension, any(&|sizes| sizes.contains(&None))),
        (Clause::NoDimension, rank > 0 && shapes.iter().any(|shape| shape.rank() == 0)),
        (
            Clause::SizeZero,
            any(&|sizes| sizes.contains(&Some(0)) && sizes.iter().any(|size| matches!(size, None | Some(1)))),
        ),
        (Clause::Mismatch, mismatch),
        (Clause::TargetKept, in_place && all.as_ref() == Some(*first) && others.iter().any(|shape| shape != first)),
        (Clause::TargetWouldGrow, in_place && all.as_ref().is_some_and(|all| all != *first)),
    ];
    examples.into_iter().filter_map(|(clause, is)| is.then_some(clause)).collect()
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = self.op.name();
        match self.form {
            Form::Functional => write!(f, "{call}: ")?,
            Form::InPlace => write!(f, "{call}_: ")?,
            Form::Out => write!(f, "{call} out=: ")?,
        }
        match self.what {
            Missing::Accepted => f.write_str("never accepted"),
            Missing::Rejected => f.write_str("never refused"),
            Missing::Dtype(dtype) => write!(f, "never with {dtype}"),
            Missing::Clause(clause) => write!(f, "no example of {}", clause.id()),
            Missing::Rejection(class) => write!(f, "never refused for {class}"),
        }
    }
}

/// A reason as text, with `#` for the numbers that the reference gives.
fn without_numbers(reason: LeftOut) -> String {
    match reason {
        LeftOut::Unsupported { op, what } => LeftOut::Unsupported { op, what: normal(&what) },
        other => other,
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Implementation;
    use crate::case;
    use crate::program::Input;
    use crate::reference::Reference;

    #[test]
    fn every_clause_is_one_of_the_specification() {
        let specification =
            case::load(&crate::assets::specification().unwrap()).unwrap_or_else(|error| panic!("{error}"));
        for clause in Clause::ALL {
            assert!(specification.clauses.iter().any(|of| of.id == clause.id()), "{}", clause.id());
        }
    }

    #[test]
    fn nothing_is_all_gaps() {
        let gaps = Coverage::default().gaps(&[Op::Add]);
        let forms = gaps.iter().filter(|gap| gap.what == Missing::Accepted).count();
        assert_eq!((forms, gaps[0].to_string().as_str()), (3, "add: never accepted"));
    }

    #[test]
    fn steps_that_are_left_out_are_counted_by_reasons_without_numbers() {
        let of = |op, what: &str| without_numbers(LeftOut::Unsupported { op, what: what.to_owned() });
        let norm = of(Op::VectorNorm, "a norm of order 17");
        assert_eq!(norm, "linalg_vector_norm: the reference does not model a norm of order #");
        assert!(of(Op::SmoothL1Loss, "a loss").starts_with("smooth_l1_loss: "), "its name has a number");
        let options = Options::comparable(&Reference.hello());
        let coverage = Coverage::of(1, 400, &options, |_| {});
        assert!(coverage.left_out.len() > 3, "{:?}", coverage.left_out);
        let once: u64 = coverage.left_out.values().sum();
        let mut twice = coverage.clone();
        twice += coverage;
        assert_eq!(twice.left_out.values().sum::<u64>(), 2 * once);
    }

    /// The clauses of `add` with operands of these shapes, and how it came out.
    fn of(form: Form, a: &[i64], b: &[i64]) -> (Vec<Clause>, Seen) {
        let input = |name: &str, sizes: &[i64]| {
            let shape = Shape::new(sizes.to_vec()).unwrap();
            let data = vec![0; shape.numel()];
            Input { name: name.to_owned(), dtype: DType::Uint8, shape, data, requires_grad: false }
        };
        let tensor = |value| Arg::Tensor(ValueRef { value, part: None });
        let args = vec![tensor(0), tensor(1), Arg::Number(crate::tensor::Scalar::Int(1))];
        let step = Step { name: "r".to_owned(), op: Op::Add, form, args, out: None };
        let program = Program { inputs: vec![input("a", a), input("b", b)], steps: vec![step] };
        let mut coverage = Coverage::default();
        coverage.add(&program, &Reference.run(&program));
        let row = &coverage.functions[&Op::Add][&form];
        assert_eq!(row.dtypes[&DType::Uint8], row.steps);
        (row.clauses.keys().copied().collect(), row.steps)
    }

    #[test]
    fn shapes_are_examples() {
        use Clause::*;
        let (accepted, rejected) = (Seen { accepted: 1, rejected: 0 }, Seen { accepted: 0, rejected: 1 });
        let functional = |a: &[i64], b: &[i64]| of(Form::Functional, a, b);
        assert_eq!(functional(&[2, 3], &[2, 3]), (vec![SameShapes], accepted));
        assert_eq!(functional(&[2, 1], &[2, 3]), (vec![SizeOne], accepted));
        assert_eq!(functional(&[3], &[2, 3]), (vec![MissingDimension], accepted));
        assert_eq!(functional(&[], &[2]), (vec![MissingDimension, NoDimension], accepted));
        assert_eq!(functional(&[0], &[1]), (vec![SizeOne, SizeZero], accepted));
        assert_eq!(functional(&[0], &[2]), (vec![Mismatch], rejected));
        assert_eq!(of(Form::InPlace, &[2, 3], &[3]), (vec![MissingDimension, TargetKept], accepted));
        assert_eq!(of(Form::InPlace, &[3], &[2, 3]), (vec![MissingDimension, TargetWouldGrow], rejected));
    }
}
