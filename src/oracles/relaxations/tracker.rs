//! The state of the tensors of a program after each of its steps, as a rule is shown it.

use std::cell::LazyCell;
use std::collections::HashMap;

use crate::ops::{Compare, Family, Op, ResultType, Rounding};
use crate::program::{Input, Outcome, Step, StorageRef, TensorValue, Value, ValueRef};
use crate::relaxations::Undetermined;
use crate::relaxations::tameness::{Tameness, is_exact};
use crate::tensor::{Buffer, Category, DType, Layout, Scalar};

/// The most elements of a tensor that are followed one by one.
pub(crate) const MOST_ELEMENTS: usize = 34_000;

/// A tensor that a step can use, as it is after the last step.
#[derive(Clone, Debug)]
pub(crate) struct TensorState {
    pub at: ValueRef,
    pub tensor: TensorValue,
    pub tameness: Tameness,
    /// True if two right implementations may differ in it: in elements, or in how they lie in memory.
    pub tolerated: bool,
    /// True if its elements are compared within units in the last place.
    pub inexact: bool,
    /// True if its elements are unspecified since a rejected step.
    pub abandoned: bool,
    /// True if it may lie in memory in several ways.
    pub layout_open: bool,
    /// True if gradients flow through it.
    pub grad: bool,
    /// True if a rejected step had it as `out=`, and may have resized it first: its shape is not known.
    pub shape_open: bool,
}

impl TensorState {
    /// Returns its place in memory. An input lies at the start of a storage of its own.
    pub fn place(&self) -> StorageRef {
        self.tensor.storage.unwrap_or(StorageRef { id: self.at.value, offset: 0 })
    }

    /// Returns its layout. An input is contiguous.
    pub fn layout(&self) -> Layout {
        let row_major = Layout::contiguous(self.tensor.shape.clone());
        let strides = self.tensor.strides.clone().unwrap_or(row_major.strides);
        Layout { shape: row_major.shape, strides, offset: self.place().offset }
    }

    /// Replaces the elements at some places of its storage.
    pub fn overwrite(&mut self, fresh: &HashMap<usize, Scalar>) {
        // An adapter of no values tells none.
        if self.tensor.shape.numel() > MOST_ELEMENTS || self.tensor.data.is_empty() {
            return;
        }
        let places = self.layout();
        let old = self.tensor.elements();
        let new = places.positions().zip(old).map(|(place, old)| fresh.get(&place).copied().unwrap_or(old));
        let buffer = Buffer::from_scalars(self.tensor.dtype, new);
        self.tensor.data = buffer.to_bytes(&Layout::contiguous(self.tensor.shape.clone()));
        self.tameness = Tameness::of(&self.tensor);
    }
}

/// A program up to one of its steps, and the tensors before that step, as a rule sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    /// The inputs of the program.
    pub inputs: &'a [Input],
    /// The steps up to the one that is asked about, which is the last one.
    pub steps: &'a [Step],
    /// The tensors before that step.
    pub tracker: &'a Tracker,
}

impl<'a> Scene<'a> {
    /// The step that is asked about.
    pub fn last(&self) -> Option<&'a Step> {
        self.steps.last()
    }

    /// Every tensor that the step can use.
    pub fn known(&self) -> &'a [TensorState] {
        &self.tracker.known
    }

    /// The tensors that the step uses.
    pub fn operands(&self) -> impl Iterator<Item = &'a TensorState> {
        let tracker = self.tracker;
        tracker.operands.iter().map(|&at| &tracker.known[at])
    }

    /// The state of a value.
    pub fn find(&self, at: ValueRef) -> Option<&'a TensorState> {
        self.tracker.find(at)
    }
}

/// What is known of a program while it is built, or told again: the tensors after each step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracker {
    /// Every tensor that a step can use.
    pub known: Vec<TensorState>,
    /// The indices in `known` of the tensors that the step uses that is tried.
    pub operands: Vec<usize>,
    /// True if the last step that was tried left the tensor that it writes to with another shape, or may have.
    pub reshaped: bool,
    /// True if a `backward` was rejected, on whose way some gradients may have arrived.
    pub halfway: bool,
    /// True while a program is generated, of what is known for certain: which programs a seed has does not depend on what a
    /// rejected step may have resized.
    pub generates: bool,
}

impl Tracker {
    /// The state of a value.
    pub fn find(&self, at: ValueRef) -> Option<&TensorState> {
        self.known.iter().find(|known| known.at == at)
    }

    /// Notes the next input of a program.
    pub fn begin_with(&mut self, number: usize, input: &Input) {
        let tensor = TensorValue::from(input);
        self.known.push(TensorState {
            at: ValueRef { value: number, part: None },
            tameness: Tameness::of(&tensor),
            tensor,
            tolerated: false,
            inexact: false,
            abandoned: false,
            layout_open: false,
            grad: input.requires_grad,
            shape_open: false,
        });
    }

    /// Notes the tensors that a step uses, before it is run.
    pub fn propose(&mut self, step: &Step) {
        self.operands.clear();
        self.operands.extend(step.uses().filter_map(|used| self.known.iter().position(|known| known.at == used)));
    }

    /// Records the tensors that step `value` returned, and the state of those that it wrote to.
    pub fn note(&mut self, value: usize, step: &Step, outcome: &Outcome, undetermined: Undetermined) {
        let target = step.target();
        if !matches!(outcome, Outcome::Value(_)) {
            self.halfway |= step.op == Op::Backward;
            let mut known = self.known.iter_mut();
            if !self.generates
                && let Some(known) = known.find(|known| step.out == Some(known.at))
            {
                known.shape_open = true;
            }
            // If it wrote a part of its result before it was rejected, that part is as open as the result.
            let written = target.filter(|_| undetermined.open).and_then(|at| self.find(at));
            if let Some(storage) = written.map(|known| known.place().id) {
                for known in self.known.iter_mut().filter(|known| known.place().id == storage) {
                    known.tolerated = true;
                    known.abandoned |= undetermined.unspecified;
                }
            }
            return;
        }
        let info = step.op.info();
        let sums = sums(step);
        // Roots, powers, logarithms and quotients of whole numbers are rounded, whatever they are.
        let rounded = step.op.matrix_of_equations().is_some()
            || step.op.decomposes()
            || (info.compare == Compare::Tolerance && info.kernel.rounding() == Rounding::Steps);
        // What is a whole number by rounding alone need not be one in another order. Of 16 bits products are rounded, too.
        let narrow = |known: &TensorState| matches!(known.tensor.dtype, DType::Float16 | DType::Bfloat16);
        let rounds = |known: &TensorState| {
            known.tameness < Tameness::Whole || (info.family() == Family::Products && narrow(known))
        };
        let fractions = step.uses().filter_map(|used| self.find(used)).any(rounds);
        let grad = info.differentiable && step.uses().filter_map(|used| self.find(used)).any(|known| known.grad);
        let several = !matches!(outcome, Outcome::Value(Value::Tensor(_)));
        for (part, tensor) in outcome.tensors().iter().enumerate() {
            let tameness = Tameness::of(tensor);
            let made = TensorState {
                at: ValueRef { value, part: several.then_some(part) },
                tameness,
                tensor: tensor.clone(),
                tolerated: undetermined.open
                    || !info.layout_is_specified()
                    || (sums && (rounded || fractions || !is_exact(tensor, tameness))),
                inexact: matches!(info.compare, Compare::Ulps(_)),
                abandoned: false,
                layout_open: undetermined.strides || !info.layout_is_specified(),
                grad: grad && tensor.dtype.category() >= Category::Floating,
                shape_open: false,
            };
            if let Some(target) = target {
                self.written(target, &made);
            }
            self.known.push(made);
        }
    }

    /// Notes that `made` was written to `target`, and so to every other view of its storage.
    fn written(&mut self, target: ValueRef, made: &TensorState) {
        let resized = self.find(target).is_some_and(|target| target.tensor.shape != made.tensor.shape);
        let storage = made.place().id;
        if resized {
            // What the others look like now is not known.
            self.known.retain(|known| known.place().id != storage);
            return;
        }
        let small = made.tensor.shape.numel() <= MOST_ELEMENTS;
        let elements = || made.layout().positions().zip(made.tensor.elements()).collect();
        let fresh: LazyCell<HashMap<usize, Scalar>, _> =
            LazyCell::new(|| if small { elements() } else { HashMap::new() });
        for known in self.known.iter_mut().filter(|known| known.place().id == storage) {
            if small && known.tensor.dtype == made.tensor.dtype && known.layout() == made.layout() {
                known.tensor.data.clone_from(&made.tensor.data);
                known.tameness = made.tameness;
            } else {
                known.overwrite(&fresh);
            }
            known.tolerated |= made.tolerated;
            known.inexact |= made.inexact;
            known.grad |= made.grad;
        }
    }
}

/// Returns whether elements are added up, whatever the table says of how the sums are compared.
pub(crate) fn sums(step: &Step) -> bool {
    step.compare() == Compare::Tolerance || step.op.info().result == ResultType::Sum
}
