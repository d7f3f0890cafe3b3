//! The closeness that each value of a program is compared with: as the table of operations says, and as relaxations allow.

use crate::ops::{Compare, Family, Kernel, Op};
use crate::program::{Program, Reply, TensorValue};
use crate::relaxations::conditions::decides_by_elements;
use crate::relaxations::{Elements, Freedom, freedoms, freedoms_of_given};
use crate::tensor::{Category, DType};

/// The closeness of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    /// As the table says, and no closer than the values that it is computed from.
    pub compare: Compare,
    /// The elements that are right next to those.
    pub open: Elements,
}

impl Mode {
    /// Bit for bit.
    pub const BITS: Mode = Mode { compare: Compare::Bits, open: Elements::Determined };

    fn or(self, other: Mode) -> Mode {
        Mode { compare: self.compare.max(other.compare), open: self.open.max(other.open) }
    }

    /// The closeness of one of several results: the first has elements, the others may have their indices.
    pub fn of_part(self, part: usize) -> Mode {
        match (self.open, part) {
            (Elements::Places, 0) => Mode { open: Elements::EitherZero, ..self },
            (Elements::Places, _) => Mode { open: Elements::Any, ..self },
            _ => self,
        }
    }

    /// Returns whether the bound on lost precision is asked for.
    pub fn asks_extent(self) -> bool {
        self.compare == Compare::Tolerance || self.open >= Elements::Bounded
    }
}

/// The closeness of each value of a program, and what each step leaves open.
#[derive(Debug)]
pub(super) struct Modes {
    /// Of inputs as they are after the program, and of results as they were when they were made.
    values: Vec<Mode>,
    steps: Vec<Freedom>,
    inputs: usize,
}

impl Modes {
    /// Everything bit for bit, but for what any element is right for.
    pub fn bits(program: &Program, reply: &Reply) -> Modes {
        let mut modes = Modes::of(program, reply);
        for mode in &mut modes.values {
            let open = if mode.open == Elements::Any { Elements::Any } else { Elements::Determined };
            *mode = Mode { open, ..Mode::BITS };
        }
        modes.steps.fill(Freedom::NONE);
        modes
    }

    /// Those of a program, by one reply to it. A value that is computed from an inexact one, by more than inspection, is
    /// within a tolerance; so are gradients, which are computed from everything. Integers and bools are the same in any
    /// order, or different. A value that is computed from one that is open is open itself.
    pub fn of(program: &Program, reply: &Reply) -> Modes {
        Modes::with(program, reply, freedoms(program, reply), false)
    }

    /// The same for who judges each step by the operands that it was given, whatever they are.
    pub fn of_given(program: &Program, reply: &Reply) -> Modes {
        Modes::with(program, reply, freedoms_of_given(program, reply), false)
    }

    /// The same where both sides were given the same: what was within a tolerance passes none on, but to gradients.
    pub fn of_adopted(program: &Program, reply: &Reply) -> Modes {
        Modes::with(program, reply, freedoms_of_given(program, reply), true)
    }

    /// The same with nothing left open but what the table does.
    pub fn by_table(program: &Program, reply: &Reply) -> Modes {
        Modes::with(program, reply, Vec::new(), false)
    }

    fn with(program: &Program, reply: &Reply, mut steps: Vec<Freedom>, adopted: bool) -> Modes {
        let inputs = program.inputs.len();
        steps.resize(program.steps.len(), Freedom::NONE);
        let (mut values, mut made) = (vec![Mode::BITS; inputs], Vec::new());
        // What each passes on.
        let mut passed = values.clone();
        // The first name of each tensor: the result of a step that writes to one is that tensor.
        let mut names: Vec<usize> = (0..inputs).collect();
        // The storages of each, which others may look at: an input has the one of its own number.
        let mut storages: Vec<Vec<usize>> = (0..inputs).map(|input| vec![input]).collect();
        for (at, step) in program.steps.iter().enumerate() {
            let tensors = reply.steps.get(at).map_or(&[][..], |answer| answer.outcome.tensors());
            let used = match step.op.info().family() {
                Family::Autograd => values.iter().copied().fold(Mode::BITS, Mode::or),
                _ => step.uses().filter_map(|used| passed.get(used.value).copied()).fold(Mode::BITS, Mode::or),
            };
            let open = passed_on(step.op, used.open, tensors);
            let freedom = &mut steps[at];
            freedom.outcome |= used.open >= Elements::Parts && decides_by_elements(step.op);
            freedom.elements = freedom.elements.max(open);
            let mode = Mode { compare: table_mode(program, at, used.compare, tensors), open: freedom.elements };
            let own = names.len();
            let name = step.target().and_then(|target| names.get(target.value).copied()).unwrap_or(own);
            let place = match step.target() {
                Some(target) => storages.get(target.value).cloned().unwrap_or_default(),
                None => Vec::new(),
            };
            // What a rejected step has written is not told.
            let onward = if adopted && !tensors.is_empty() { Mode::BITS } else { mode };
            let others = names.iter().zip(&storages).zip(values.iter_mut().zip(&mut passed));
            let seen = |storages: &[usize]| storages.iter().any(|storage| place.contains(storage));
            for (_, (written, passed)) in others.filter(|((other, own), _)| **other == name || seen(own)) {
                *written = mode.or(*written);
                *passed = onward.or(*passed);
            }
            names.push(name);
            storages.push(tensors.iter().filter_map(|tensor| tensor.storage.map(|storage| storage.id)).collect());
            values.push(mode);
            passed.push(onward);
            made.push(mode);
        }
        // The result of a step that writes to a value is that value, and what is written to it later is written to both.
        for (at, step) in program.steps.iter().enumerate().rev() {
            let mode = values[inputs + at];
            if let Some(written) = step.target().and_then(|target| values.get_mut(target.value)) {
                *written = mode.or(*written);
            }
        }
        values.splice(inputs.., made);
        Modes { values, steps, inputs }
    }

    /// The closeness of a value.
    pub fn value(&self, value: usize) -> Mode {
        self.values[value]
    }

    /// The closeness of the result of a step.
    pub fn result(&self, step: usize) -> Mode {
        self.values[self.inputs + step]
    }

    /// What a step leaves open.
    pub fn step(&self, step: usize) -> Freedom {
        self.steps[step]
    }
}

/// The closeness of the result of a step by the table, given that of the values that it uses.
fn table_mode(program: &Program, at: usize, used: Compare, tensors: &[TensorValue]) -> Compare {
    let step = &program.steps[at];
    let info = step.op.info();
    // In 16 bits every step of a formula shows. What equals an extreme has a share of its gradient, a fraction.
    let narrow = |tensor: &TensorValue| matches!(tensor.dtype, DType::Float16 | DType::Bfloat16);
    let rounds = || {
        let shares = program.steps[..at].iter().any(|step| step.op.info().kernel == Kernel::Extreme);
        tensors.iter().any(narrow) || shares
    };
    let used = if info.family() == Family::Autograd && rounds() { Compare::Tolerance } else { used };
    let passed = if info.family() == Family::Views || used == Compare::Bits { used } else { Compare::Tolerance };
    let exact = !tensors.is_empty() && tensors.iter().all(is_whole);
    if exact { Compare::Bits } else { step.compare().max(passed) }
}

/// Returns what is open of a result because it is of its operands.
fn passed_on(op: Op, used: Elements, tensors: &[TensorValue]) -> Elements {
    match used {
        Elements::Determined => used,
        // Which of the results it is made of is not known here.
        Elements::Places => Elements::Any,
        _ if op.info().family() == Family::Views => used,
        // Two zeros are equal, and count as the same number of times.
        Elements::EitherZero if !tensors.is_empty() && tensors.iter().all(is_whole) => Elements::Determined,
        Elements::EitherZero if matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Sum) => used,
        _ => Elements::Any,
    }
}

fn is_whole(tensor: &TensorValue) -> bool {
    tensor.dtype.category() < Category::Floating
}
