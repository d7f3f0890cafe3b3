//! The comparison of the outcomes of a program and its follow-up.

use std::cell::LazyCell;

use crate::error::Class;
use crate::ops::{Compare, Family, Form, Op};
use crate::program::{Outcome, Program, Rejected, Reply, StepOutcome, TensorValue, Value};
use crate::tensor::{DType, Scalar, Shape};

use crate::closeness::{Extent, first_other, same_values};
use crate::difference::class_of;
use crate::metamorphic::step_context::{Rewrite, StepContext};
use crate::metamorphic::{FollowUp, Relation};
use crate::modes::{Mode, Modes};
use crate::relaxations::Elements;
use crate::{Aspect, Difference, format};

/// The relation that a follow-up asserts.
#[derive(Clone, Debug)]
pub(super) enum OutputRelation {
    /// The result of step `at` of the follow-up is that of the step.
    Same { at: usize, compared: Compared },
    /// The step writes to a target of this dtype and shape the result of `computed`; `copied` has it in a copy of the
    /// target.
    Written { computed: usize, copied: usize, dtype: DType, shape: Shape },
    /// Two steps of the follow-up, right before and after a rejected one, have the same result.
    Unchanged { before: usize, after: usize },
    /// Step `at` of the follow-up is accepted if the step is, and then has a result of the same dtype, and of the same shape
    /// if that is compared; or it is rejected in the same class.
    Alike { at: usize, shape: bool },
    /// The dtype that the step returns is that of the result of step `at` of the follow-up, or that result is a dtype, or true. The
    /// bool that it returns says whether step `at` is accepted.
    Agrees { at: usize },
}

/// The properties of two tensors that are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// Dtype, sizes and elements.
    Elements,
    /// The same, and the strides.
    Layout,
    /// Sizes and elements, if the dtype is the same.
    ElementsOfOneDtype,
}

/// A program whose last step gives the same.
pub(super) fn same(rewrite: Rewrite, compared: Compared) -> (Program, OutputRelation) {
    let at = rewrite.last();
    (rewrite.program, OutputRelation::Same { at, compared })
}

pub(super) fn judge(follow_up: &FollowUp, program: &Program, reply: &Reply, other: &Reply) -> Vec<Difference> {
    let Some(context) = StepContext::new(program, reply, follow_up.step) else { return Vec::new() };
    let modes = LazyCell::new(|| Modes::of_given(program, reply));
    let mut judge = Judge { rule: follow_up.rule, context, modes: &|| &*modes, differences: Vec::new() };
    let came = |at: usize| other.steps.get(at).map(|step| &step.outcome);
    // What the root is not made of has no gradient, and adds none to that of the leaf.
    let none = |at: usize| matches!(came(at), Some(Outcome::Value(Value::Nothing)));
    let refused = matches!(judge.context.outcome, Outcome::Rejected(_));
    if let (Relation::Gradient, OutputRelation::Same { at, .. }, false) = (follow_up.rule, &follow_up.relation, refused)
    {
        let (leaf, place) = (follow_up.step, follow_up.step + 1);
        let together = *at > place + 1;
        if none(place) || (together && none(leaf)) {
            return Vec::new();
        }
    }
    let own = judge.context.outcome;
    match &follow_up.relation {
        OutputRelation::Same { at, compared } => match came(*at) {
            Some(Outcome::Blocked(_)) => judge.prepared(own, &follow_up.program, other),
            // A leaf has no gradient if a step on the way was rejected, which is a difference of that step.
            Some(Outcome::Value(Value::Nothing))
                if other.steps[..*at].iter().any(|step| matches!(step.outcome, Outcome::Blocked(_))) => {}
            Some(wanted) => judge.same(wanted, own, *compared),
            None => judge.differ(Aspect::Outcome, "an outcome".to_owned(), "none".to_owned()),
        },
        OutputRelation::Written { computed, copied, dtype, shape } => {
            if let (Some(computed), Some(copied)) = (came(*computed), came(*copied)) {
                judge.written(computed, copied, own, (*dtype, shape));
            }
        }
        OutputRelation::Alike { at, shape } => {
            if let Some(wanted) = came(*at) {
                judge.alike(wanted, own, *shape);
                judge.warnings(&other.steps[*at], &reply.steps[follow_up.step]);
            }
        }
        OutputRelation::Agrees { at } => {
            if let Some(other) = came(*at) {
                judge.agrees(other, own, follow_up.program.steps[*at].op);
            }
        }
        OutputRelation::Unchanged { before, after } => {
            // Autograd may refuse to write to a view until something looks at it, and learns how it was made.
            let refused = matches!(came(after - 1), Some(Outcome::Rejected(_)));
            if let (Some(Outcome::Value(before)), Some(Outcome::Value(after)), true) =
                (came(*before), came(*after), refused)
            {
                judge.unchanged(before, after);
            }
        }
    }
    // What is read of memory that nothing was written to can be other in each run, and so can all that is made of it.
    if !judge.differences.is_empty() && came_otherwise(follow_up, program, reply, other) {
        return Vec::new();
    }
    let of_values = judge.differences.iter().all(|difference| difference.aspect != Aspect::Outcome);
    if !judge.differences.is_empty() && (refused || !of_values) && modes.step(follow_up.step).outcome {
        return Vec::new();
    }
    judge.differences
}

/// Returns whether a step before, which both programs have, made other elements in the follow-up.
fn came_otherwise(follow_up: &FollowUp, program: &Program, reply: &Reply, other: &Reply) -> bool {
    let inputs = program.inputs.len();
    if follow_up.program.inputs.get(..inputs) != Some(&program.inputs[..]) {
        return false;
    }
    let steps = follow_up.program.steps.iter().zip(&program.steps).take(follow_up.step);
    let shared = steps.take_while(|(own, other)| own == other).count();
    let mut outcomes = reply.steps.iter().zip(&other.steps).take(shared);
    outcomes.any(|(one, other)| {
        let (one, other) = (one.outcome.tensors(), other.outcome.tensors());
        one.iter().zip(other).any(|(one, other)| one.data != other.data)
    })
}

struct Judge<'a> {
    rule: Relation,
    context: StepContext<'a>,
    /// The closeness of the values. It is called only if something differs, which most do not.
    modes: &'a dyn Fn() -> &'a Modes,
    differences: Vec<Difference>,
}

impl Judge<'_> {
    fn same(&mut self, wanted: &Outcome, own: &Outcome, compared: Compared) {
        match (wanted, own) {
            (Outcome::Unsupported(_), _) | (_, Outcome::Unsupported(_)) => {}
            (Outcome::Value(wanted), Outcome::Value(own)) => self.values(wanted, own, compared),
            (Outcome::Rejected(wanted), Outcome::Rejected(own)) => self.rejections(wanted, own),
            (Outcome::Failed(_), _) => self.outcomes(wanted, own),
            (_, Outcome::Rejected(own)) if is_of_memory(own) => {}
            // An `out=` tensor can say which dtype to compute in, where the operands cannot.
            (Outcome::Rejected(wanted), _)
                if compared == Compared::ElementsOfOneDtype && class_of(wanted) == Some(Class::Dtype) => {}
            (wanted, own) => self.outcomes(wanted, own),
        }
    }

    /// The follow-up's own steps were refused, which by the definition they cannot be.
    fn prepared(&mut self, own: &Outcome, program: &Program, other: &Reply) {
        let refused =
            other.steps.iter().skip(self.context.at).position(|step| matches!(step.outcome, Outcome::Rejected(_)));
        let Some(at) = refused.map(|at| at + self.context.at).filter(|_| matches!(own, Outcome::Value(_))) else {
            return;
        };
        // What an integer is whose gradient is kept no document says.
        if matches!(&other.steps[at].outcome, Outcome::Rejected(rejected) if class_of(rejected) == Some(Class::Autograd))
        {
            return;
        }
        let step = &program.steps[at];
        let expected = format!("{} of the operand: {}", step.op, format::outcome(&other.steps[at].outcome));
        self.differ(Aspect::Outcome, expected, format::outcome(own));
    }

    fn written(&mut self, computed: &Outcome, copied: &Outcome, own: &Outcome, target: (DType, &Shape)) {
        let out = self.context.step.form == Form::Out;
        match (computed, own) {
            (Outcome::Value(_), Outcome::Value(own)) => match copied {
                Outcome::Value(copied) => self.values(copied, own, Compared::Elements),
                // A step that writes to no result of its own has nothing that was copied.
                Outcome::Blocked(_) | Outcome::Unsupported(_) => {}
                // What an integer is whose gradient is kept no document says.
                Outcome::Rejected(copied) if class_of(copied) == Some(Class::Autograd) => {}
                copied => self.outcomes(copied, &Outcome::Value(own.clone())),
            },
            (Outcome::Value(Value::Tensor(computed)), Outcome::Rejected(own)) => {
                // Which other dtypes a target may have is the operation's own.
                let fits = computed.dtype == target.0;
                let keeps = computed.shape == *target.1;
                let excused = [Class::Overlap, Class::Autograd].map(Some).contains(&class_of(own));
                if fits && keeps && !excused {
                    let wanted = Outcome::Value(Value::Tensor(computed.clone()));
                    self.outcomes(&wanted, &Outcome::Rejected(own.clone()));
                }
            }
            (Outcome::Rejected(computed), Outcome::Rejected(own)) => {
                // What is looked for in a target, and when, is the operation's own. Those that are no loops of one kind
                // look at their operands one after the other, and the target is the first of them.
                let excused = [Class::Overlap, Class::Autograd, Class::OutputShape, Class::Dtype].map(Some);
                let classes = [class_of(computed), class_of(own)];
                let one_loop = !out && self.context.is_elementwise();
                if one_loop && classes[0] != classes[1] && !classes.iter().any(|class| excused.contains(class)) {
                    self.outcomes(&Outcome::Rejected(computed.clone()), &Outcome::Rejected(own.clone()));
                }
            }
            (Outcome::Rejected(_), Outcome::Value(_)) => self.outcomes(computed, own),
            _ => {}
        }
    }

    /// Siblings warn as often; their names may be in the words. A call on other sizes may have other reasons to warn.
    fn warnings(&mut self, wanted: &StepOutcome, own: &StepOutcome) {
        let accepted = [wanted, own].iter().all(|step| matches!(step.outcome, Outcome::Value(_)));
        if self.rule == Relation::Sibling && accepted && wanted.warnings.len() != own.warnings.len() {
            self.differ(Aspect::Warnings, format::warnings(&wanted.warnings), format::warnings(&own.warnings));
        }
    }

    fn alike(&mut self, wanted: &Outcome, own: &Outcome, shape: bool) {
        match (wanted, own) {
            (Outcome::Unsupported(_) | Outcome::Blocked(_), _) | (_, Outcome::Unsupported(_)) => {}
            (Outcome::Rejected(wanted), Outcome::Rejected(own)) => self.rejections(wanted, own),
            // Without elements nothing is divided by zero.
            (Outcome::Rejected(rejected), _) | (_, Outcome::Rejected(rejected))
                if class_of(rejected) == Some(Class::ZeroDivision) => {}
            (Outcome::Value(_), Outcome::Value(_)) => {
                for (wanted, own) in wanted.tensors().iter().zip(own.tensors()) {
                    if wanted.dtype != own.dtype {
                        self.differ(Aspect::Dtype, wanted.dtype.to_string(), own.dtype.to_string());
                    }
                    if shape && wanted.shape != own.shape {
                        self.differ(Aspect::Shape, wanted.shape.to_string(), own.shape.to_string());
                    }
                }
            }
            (wanted, own) => self.outcomes(wanted, own),
        }
    }

    fn agrees(&mut self, other: &Outcome, own: &Outcome, op: Op) {
        let Outcome::Value(own) = own else { return };
        match (own, other) {
            (Value::Dtype(own), Outcome::Value(Value::Dtype(other))) if own != other => {
                self.differ(Aspect::Dtype, other.to_string(), own.to_string());
            }
            (Value::Dtype(own), Outcome::Value(Value::Tensor(other))) if *own != other.dtype.into() => {
                self.differ(Aspect::Dtype, other.dtype.to_string(), own.to_string());
            }
            (Value::Dtype(own), Outcome::Value(Value::Number(Scalar::Bool(false)))) => {
                self.differ(Aspect::Dtype, "a dtype that both may be cast to".to_owned(), own.to_string());
            }
            // Arithmetic may be rejected for other reasons.
            (Value::Dtype(_), Outcome::Rejected(_)) if op.info().family() == Family::Dtypes => {
                self.outcomes(other, &Outcome::Value(own.clone()));
            }
            (Value::Number(Scalar::Bool(false)), Outcome::Value(_)) => {
                self.differ(Aspect::Values, "true: the result is written".to_owned(), "false".to_owned());
            }
            (Value::Number(Scalar::Bool(true)), Outcome::Rejected(rejected))
                if class_of(rejected) == Some(Class::Dtype) =>
            {
                self.differ(Aspect::Values, format!("false: {}", rejected.message), "true".to_owned());
            }
            _ => {}
        }
    }

    fn unchanged(&mut self, before: &Value, after: &Value) {
        let (Value::Tensor(before), Value::Tensor(after)) = (before, after) else { return };
        if self.context.step.form == Form::Out && before.shape != after.shape {
            return;
        }
        let same = before.shape == after.shape && same_values(Mode::BITS, Extent::NONE, before, after);
        if !same {
            let was = format!("rejected, and its target left as it was: {}", format::tensor(before));
            self.differ(Aspect::Values, was, format::tensor(after));
        } else if before.strides != after.strides && !(self.modes)().step(self.context.at).strides {
            // A copy lies as its tensor does, if that has no gaps.
            let text = |tensor: &TensorValue| format!("{:?}", tensor.strides.as_deref().unwrap_or_default());
            self.differ(Aspect::Strides, text(before), text(after));
        }
    }

    fn values(&mut self, wanted: &Value, own: &Value, compared: Compared) {
        match (wanted, own) {
            (Value::Tensor(wanted), Value::Tensor(own)) => self.tensors(0, wanted, own, compared),
            (Value::Tensors(wanted), Value::Tensors(own)) if wanted.len() == own.len() => {
                let parts = wanted.iter().zip(own).enumerate();
                parts.for_each(|(part, (wanted, own))| self.tensors(part, wanted, own, compared));
            }
            (wanted, own) if format!("{wanted:?}") == format!("{own:?}") => {}
            (wanted, own) => self.differ(Aspect::Outcome, format::value(wanted), format::value(own)),
        }
    }

    fn tensors(&mut self, part: usize, wanted: &TensorValue, own: &TensorValue, compared: Compared) {
        if wanted.dtype != own.dtype {
            if compared == Compared::ElementsOfOneDtype {
                return;
            }
            self.differ(Aspect::Dtype, wanted.dtype.to_string(), own.dtype.to_string());
            return;
        }
        if wanted.shape != own.shape {
            self.differ(Aspect::Shape, wanted.shape.to_string(), own.shape.to_string());
            return;
        }
        if let Some(at) = self.first_other(part, wanted, own) {
            self.differ(Aspect::Values, format::tensor_at(wanted, at), format::tensor_at(own, at));
        }
        let strides = compared == Compared::Layout && wanted.strides != own.strides;
        if strides && !(self.modes)().step(self.context.at).strides {
            let text = |tensor: &TensorValue| format!("{:?}", tensor.strides.as_deref().unwrap_or_default());
            self.differ(Aspect::Strides, text(wanted), text(own));
        }
    }

    /// The row-major position of the first element that differs.
    fn first_other(&self, part: usize, wanted: &TensorValue, own: &TensorValue) -> Option<usize> {
        if wanted.data == own.data {
            return None;
        }
        let gradient = self.rule == Relation::Gradient || self.context.step.op == Op::Grad;
        let mode = if gradient { Compare::Tolerance } else { self.context.mode() };
        let whole = wanted.dtype.category() < crate::tensor::Category::Floating;
        if mode == Compare::Tolerance && !whole && !gradient && !self.context.is_tame() {
            return None;
        }
        // Both are as far from the exact result as the bound allows, on either side of it.
        let mode = if let Compare::Ulps(ulps) = mode { Compare::Ulps(2 * ulps) } else { mode };
        let extent = || Extent::of(self.context.program, self.context.reply, self.context.at);
        let mode = Mode { compare: mode, open: self.open() }.of_part(part);
        first_other(mode, if mode.asks_extent() { extent() } else { Extent::NONE }, wanted, own)
    }

    /// The elements of the step that are open, and of what it is computed from.
    fn open(&self) -> Elements {
        (self.modes)().result(self.context.at).open
    }

    /// Refusals are compared by class: which of several kernels tells of a fault, and in which words, may follow from the
    /// strides, and no document says.
    fn rejections(&mut self, wanted: &Rejected, own: &Rejected) {
        if is_of_memory(wanted) || is_of_memory(own) {
            return;
        }
        // Which of two faults is told first may follow from how the dimensions are given, and from what is looked at in a
        // target.
        let first = matches!(self.rule, Relation::Default | Relation::Aliased);
        if class_of(wanted) != class_of(own) && !first {
            self.differ(Aspect::Class, wanted.message.clone(), own.message.clone());
        }
    }

    fn outcomes(&mut self, wanted: &Outcome, own: &Outcome) {
        self.differ(Aspect::Outcome, format::outcome(wanted), format::outcome(own));
    }

    fn differ(&mut self, aspect: Aspect, expected: String, observed: String) {
        let by = format!("definition: {}", self.rule.name());
        let value = self.context.step.name.clone();
        self.differences.push(Difference { value, aspect, by, expected, observed });
    }
}

/// Returns whether a rejection is due to the memory layout of tensors, or to their autograd state, rather than to the
/// tensors themselves.
fn is_of_memory(rejected: &Rejected) -> bool {
    [Class::Overlap, Class::View, Class::Autograd].map(Some).contains(&class_of(rejected))
}
