//! Builds a program step by step: proposes a step, asks the reference, keeps it if it is wanted.

use std::borrow::Cow;

use arbitrary::{Result, Unstructured};

use crate::generate::shape::{self, Palette};
use crate::generate::value;
use crate::generate::{LeftOut, MAX_ELEMENTS, MAX_INPUTS, MAX_LARGE_TERMS, MAX_STEPS, Options, chance, seed};
use crate::ops::{Family, Form, Op, Param, ParamKind, Rounding};
use crate::program::{Arg, Input, Outcome, Program, Reply, Step, StepOutcome, ValueRef};
use crate::reference::Session;
use crate::relaxations::{Scene, Tracker, Undetermined, sums};
use crate::tensor::{Category, DType, Shape};

/// More elements than there can be memory for.
const BEYOND_MEMORY: usize = 1 << 47;

/// The most elements that are rotated in one round to decompose matrices: some ten rounds are within the reference's budget.
const MAX_ROTATIONS: i64 = 1 << 22;

/// The number of attempts to propose a step again that did not come out as wanted.
pub(super) const TRIES: usize = 8;

/// A program under construction, and the state of its values.
#[derive(Debug)]
pub(super) struct ProgramBuilder<'a> {
    pub options: Cow<'a, Options>,
    pub program: Program,
    /// The reference after the steps that there are; `None` before the first is tried.
    session: Option<Session>,
    /// The reference after the step that was tried last, too.
    tried: Option<Session>,
    /// The outcomes of the steps.
    outcomes: Vec<StepOutcome>,
    /// The tensors that a step can use.
    pub tracker: Tracker,
    /// The values of steps that were refused.
    pub missing: Vec<ValueRef>,
    /// The most elements that a step may make.
    pub elements: usize,
    /// The operation that the inputs are made for, if they are for one.
    pub theme: Option<Op>,
    /// Why proposed steps are not in the program, apart from those whose outcome was not the wanted one.
    pub left_out: Vec<LeftOut>,
}

/// The operations of every program of a swarm: those that write to a tensor and carry a gradient.
pub(super) const BESIDE: [Op; 5] = [Op::Sum, Op::Mul, Op::Copy, Op::Backward, Op::Grad];

/// The outcome of a proposal.
pub(super) enum Trial {
    /// The step is in the program, and its outcome known.
    Kept(StepOutcome),
    /// There is nothing to be compared: the step is out of the program again.
    Dropped,
    /// The reference went wrong over it: the step stays, as the last one, for whoever runs the program.
    Broken,
}

impl<'a> ProgramBuilder<'a> {
    pub fn new(options: &'a Options) -> ProgramBuilder<'a> {
        ProgramBuilder {
            options: Cow::Borrowed(options),
            program: Program::default(),
            session: None,
            tried: None,
            outcomes: Vec::new(),
            tracker: Tracker { generates: true, ..Tracker::default() },
            missing: Vec::new(),
            elements: MAX_ELEMENTS,
            theme: None,
            left_out: Vec::new(),
        }
    }

    /// Makes inputs and steps until the bytes or the limits end it.
    pub fn fill(&mut self, u: &mut Unstructured) -> Result<()> {
        if self.options.swarm {
            self.draw_operations(u)?;
        }
        let palette = Palette::new(u, self.options.large)?;
        self.elements = palette.elements;
        let gradients = chance(u, self.options.gradients, 4)?;
        let together = self.together(u, &palette)?;
        self.inputs(u, &palette, gradients, &together)?;
        // What follows a program with gradients takes up to four steps more.
        let limit = if gradients { MAX_STEPS - 4 } else { MAX_STEPS };
        for _ in 0..u.int_in_range(1..=limit)? {
            if !self.step(u, &palette)? {
                return Ok(());
            }
        }
        if gradients {
            self.backward(u, &palette)?;
        }
        Ok(())
    }

    /// Leaves one to three operations to choose from, next to [`BESIDE`]. What takes an operation twice, or next to a certain
    /// other one, is rare among hundreds (Groce et al., Swarm Testing, ISSTA 2012).
    fn draw_operations(&mut self, u: &mut Unstructured) -> Result<()> {
        let mut drawn = Vec::new();
        for _ in 0..u.int_in_range(1..=3)? {
            drawn.push(*u.choose(&self.options.ops)?);
        }
        self.options.to_mut().ops.retain(|op| drawn.contains(op) || BESIDE.contains(op));
        Ok(())
    }

    /// The program, and the reference's reply to it unless that went wrong over the last step.
    pub fn finish(self) -> (Program, Option<Reply>) {
        if self.outcomes.len() < self.program.steps.len() {
            return (self.program, None);
        }
        let mutated = self.session.filter(|_| self.program.mutates());
        let inputs = mutated.map(|mut session| session.inputs()).unwrap_or_default();
        (self.program, Some(Reply { steps: self.outcomes, inputs }))
    }

    /// In half of the programs an operation that the inputs are made for, and the shapes of those that it wants to go
    /// together: such shapes are rare otherwise.
    fn together(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<Vec<Vec<i64>>> {
        if !chance(u, 1, 2)? {
            return Ok(Vec::new());
        }
        let takes_some = |op: &&Op| shape::takes_some(**op);
        let particular: Vec<Op> = self.options.ops.iter().filter(takes_some).copied().collect();
        let choices = if !particular.is_empty() && chance(u, 1, 2)? { &particular } else { &self.options.ops };
        if choices.is_empty() {
            return Ok(Vec::new());
        }
        let op = *u.choose(choices)?;
        self.theme = Some(op);
        shape::operands(u, palette, op)
    }

    /// The dtype that the operation of the inputs wants of one of them, whatever the others have.
    fn particular_dtype(&self, at: usize) -> Option<DType> {
        let op = self.theme?;
        match op.info().arguments.get(at).map(|param| param.name) {
            Some("mask" | "attn_mask" | "condition") => Some(DType::Bool),
            Some("index" | "indices") => Some(DType::Int64),
            Some("pivots") => Some(DType::Int32),
            // Weights of float32 go with an input of 16 bits, and with no other.
            Some("weight" | "bias") if op == Op::LayerNorm && self.is_narrow(0) => Some(DType::Float32),
            // What real numbers make complex ones of has no operand that its `out=` could be.
            None if matches!(op, Op::Complex | Op::Polar) => Some(DType::Complex64),
            _ => None,
        }
    }

    /// Returns whether an input is of 16 bits.
    fn is_narrow(&self, at: usize) -> bool {
        self.program.inputs.get(at).is_some_and(|input| matches!(input.dtype, DType::Float16 | DType::Bfloat16))
    }

    fn inputs(
        &mut self,
        u: &mut Unstructured,
        palette: &Palette,
        gradients: bool,
        together: &[Vec<i64>],
    ) -> Result<()> {
        // Operands of one dtype in half of the programs: most rejections for dtypes would hide what comes after them.
        let mut common = *u.choose(&self.options.dtypes)?;
        // Gradients flow through floats alone.
        let mut floats = self.options.dtypes.clone();
        floats.retain(|dtype| dtype.category() >= Category::Floating);
        if gradients && !floats.is_empty() && chance(u, 7, 8)? {
            common = *u.choose(&floats)?;
        }
        let mut mixed = u.arbitrary::<bool>()? || self.options.mixed;
        // Products, losses and functions want one dtype, and most of them floats.
        let fractions = self
            .theme
            .map(|op| op.info())
            .is_some_and(|info| info.family() == Family::Products || info.kernel.rounding() == Rounding::Steps);
        if (!together.is_empty() || fractions) && chance(u, 7, 8)? {
            mixed = false;
            let real = [DType::Float32, DType::Float64].into_iter().filter(|dtype| self.options.dtypes.contains(dtype));
            let real: Vec<DType> = real.collect();
            if !real.is_empty() && chance(u, 3, 4)? {
                common = *u.choose(&real)?;
            }
        }
        // The elements of gradients of extremes are left open.
        let tame = gradients && chance(u, 1, 2)?;
        // Masks and indices are rare among tensors that are made for anything else.
        let indices = self.indices_are_wanted(u)?;
        for at in 0..u.int_in_range(together.len().max(1)..=MAX_INPUTS)? {
            let wanted = self.particular_dtype(at).filter(|dtype| self.options.dtypes.contains(dtype));
            // A mask of attention is added as often as it hides.
            let often = if matches!(self.theme, Some(Op::ScaledDotProductAttention | Op::LayerNorm)) { 4 } else { 7 };
            let wanted = if wanted.is_some() && chance(u, often, 8)? { wanted } else { None };
            let index = wanted.is_some() || (indices && chance(u, 1, 2)?);
            let dtype = match mixed {
                _ if wanted.is_some() => wanted.unwrap_or(common),
                _ if index => *u.choose(&[DType::Int64, DType::Bool, DType::Int32])?,
                true => *u.choose(&self.options.dtypes)?,
                false => common,
            };
            let shape = palette.operand(u, together.get(at))?;
            let equations = self.theme.is_some_and(|op| op.matrix_of_equations() == Some(at));
            let probable = match self.theme {
                Some(Op::BinaryCrossEntropy | Op::BinaryCrossEntropyBackward) => true,
                Some(Op::Normal | Op::Binomial | Op::Bernoulli | Op::Quantile | Op::Nanquantile) => at == 1,
                _ => false,
            };
            let decomposes = self.theme.is_some_and(Op::decomposes) && !chance(u, 1, 4)?;
            let pivots = self.theme == Some(Op::LinalgLuSolve) && at == 1;
            let data = match (index, equations) {
                _ if pivots => value::pivots(u, dtype, &shape)?,
                (true, _) => value::small(u, dtype, &shape)?,
                (_, true) => value::dominant(u, dtype, &shape)?,
                _ if probable && chance(u, 7, 8)? => value::probabilities(u, dtype, &shape)?,
                _ if decomposes && at == 0 => value::dominant_in_part(u, dtype, &shape)?,
                _ if decomposes => value::tolerances(u, dtype, &shape)?,
                _ if tame => value::tame(u, dtype, &shape, at)?,
                _ => value::elements(u, dtype, &shape, at)?,
            };
            let requires_grad = gradients && dtype.category() >= Category::Floating && !chance(u, 1, 4)?;
            self.begin_with(Input { name: format!("x{at}"), dtype, shape, data, requires_grad });
        }
        Ok(())
    }

    fn begin_with(&mut self, input: Input) {
        self.tracker.begin_with(self.program.inputs.len(), &input);
        self.program.inputs.push(input);
    }

    /// Takes over the program that is written in the bytes, as far as the options leave it, and goes on from there while
    /// there are bytes.
    pub fn adopt(&mut self, u: &mut Unstructured) -> Result<()> {
        self.remake(&seed::read(u, &self.options.ops));
        let palette = Palette::new(u, 0)?;
        while !u.is_empty() && self.program.steps.len() < MAX_STEPS && self.step(u, &palette)? {}
        Ok(())
    }

    /// Makes this program, as far as the options leave it; true if it is this very program that was made. What uses a
    /// tensor that is not there is given another one.
    pub fn remake(&mut self, program: &Program) -> bool {
        program.inputs.iter().for_each(|input| self.begin_with(input.clone()));
        let mut moved: Vec<Option<usize>> = (0..program.inputs.len()).map(Some).collect();
        let mut whole = true;
        for step in &program.steps {
            let next = self.program.inputs.len() + self.program.steps.len();
            let placed = self.placed(step, &moved);
            whole &= placed.as_ref().is_some_and(|placed| placed.uses().eq(step.uses()));
            moved.push(match placed.map(|placed| self.attempt(placed)) {
                Some(Trial::Kept(outcome)) => {
                    self.learn(outcome);
                    Some(next)
                }
                Some(Trial::Broken) => break,
                Some(Trial::Dropped) | None => {
                    whole = false;
                    None
                }
            });
        }
        whole
    }

    /// The step at the end of the program, on the tensors that are there now; `None` without any.
    fn placed(&self, step: &Step, moved: &[Option<usize>]) -> Option<Step> {
        let args = step.args.iter().map(|arg| self.moved(arg, moved)).collect::<Option<_>>()?;
        let out = match step.out {
            Some(out) => Some(self.there(out, moved)?),
            None => None,
        };
        Some(self.named(step.op, step.form, args, out))
    }

    /// The argument with the tensors that are there now.
    fn moved(&self, arg: &Arg, moved: &[Option<usize>]) -> Option<Arg> {
        Some(match arg {
            Arg::Tensor(value) => Arg::Tensor(self.there(*value, moved)?),
            Arg::Tensors(values) => {
                Arg::Tensors(values.iter().map(|value| self.there(*value, moved)).collect::<Option<_>>()?)
            }
            Arg::Indices(values) => {
                let there = |value: &Option<ValueRef>| match value {
                    Some(value) => self.there(*value, moved).map(Some),
                    None => Some(None),
                };
                Arg::Indices(values.iter().map(there).collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// Returns the reference to a value now that steps before it may have been left out; to another one if it is not there.
    fn there(&self, value: ValueRef, moved: &[Option<usize>]) -> Option<ValueRef> {
        let number = moved.get(value.value).copied().flatten();
        let there = number.map(|number| ValueRef { value: number, ..value });
        let usable = |there: &ValueRef| self.tracker.find(*there).is_some() || self.missing.contains(there);
        let other = || self.tracker.known.get(value.value % self.tracker.known.len().max(1)).map(|known| known.at);
        there.filter(usable).or_else(other)
    }

    /// Decides whether some inputs should be masks or indices: the more operations take such, the more often.
    fn indices_are_wanted(&self, u: &mut Unstructured) -> Result<bool> {
        let named =
            |param: &Param| ["mask", "index", "indices"].contains(&param.name) && param.kind != ParamKind::Index;
        let takes = |op: &&Op| op.info().arguments.iter().any(named);
        match (self.options.ops.iter().filter(takes).count(), self.options.ops.len()) {
            (0, _) => Ok(false),
            (some, all) if some * 4 < all => chance(u, 1, 4),
            _ => chance(u, 3, 4),
        }
    }

    /// Adds a step, accepted or refused as the bytes want it, if one of the proposals is so; else the last one that can
    /// be compared at all. False if the program must end here.
    fn step(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<bool> {
        let accepted = u.int_in_range(0..=99u8)? < self.options.accepted;
        let mut second_best = None;
        for _ in 0..TRIES {
            let step = self.propose(u, palette)?;
            match self.attempt(step) {
                Trial::Broken => return Ok(false),
                Trial::Dropped => {}
                Trial::Kept(outcome) if matches!(outcome.outcome, Outcome::Value(_)) == accepted => {
                    self.learn(outcome);
                    return Ok(true);
                }
                Trial::Kept(_) => second_best = self.program.steps.pop(),
            }
            if u.is_empty() {
                break;
            }
        }
        if let Some(step) = second_best
            && let Trial::Kept(outcome) = self.attempt(step)
        {
            self.learn(outcome);
        }
        Ok(true)
    }

    fn propose(&mut self, u: &mut Unstructured, palette: &Palette) -> Result<Step> {
        let op = match self.theme {
            Some(op) if chance(u, 1, 2)? => op,
            _ => *u.choose(&self.options.ops)?,
        };
        let form = *u.choose(op.info().forms)?;
        let args = self.arguments(u, palette, op, form)?;
        let out = if form == Form::Out { Some(self.tensor(u)?) } else { None };
        Ok(self.named(op, form, args, out))
    }

    pub fn named(&self, op: Op, form: Form, args: Vec<Arg>, out: Option<ValueRef>) -> Step {
        Step { name: format!("r{}", self.program.steps.len()), op, form, args, out }
    }

    /// Puts a step at the end of the program and asks the reference what comes of it.
    pub fn attempt(&mut self, step: Step) -> Trial {
        // Only views can be larger than anything that there is memory for; whatever else would be is refused.
        let bound = self.bound(&step);
        let many = self.elements > MAX_ELEMENTS && self.terms(&step).is_some();
        let most = if many { MAX_LARGE_TERMS } else { self.elements };
        let picked = (MAX_LARGE_TERMS..BEYOND_MEMORY).contains(&self.picked(&step));
        let large = bound > most && (sums(&step) || bound < BEYOND_MEMORY);
        if large || picked || self.pairs(&step) > MAX_LARGE_TERMS || self.rotations(&step) > MAX_ROTATIONS {
            return self.drop_step(LeftOut::Large);
        }
        self.tracker.propose(&step);
        self.program.steps.push(step);
        let avoided = |draft: &ProgramBuilder, outcome| {
            let mut exclusions = draft.options.exclusions.iter().copied();
            exclusions.find(|it| it.applies(draft.scene(), outcome)).map(LeftOut::Excluded)
        };
        if let Some(reason) = avoided(self, None) {
            self.program.steps.pop();
            return self.drop_step(reason);
        }
        let Some(step) = self.program.steps.last() else { return Trial::Broken };
        if self.session.is_none() {
            self.session = Session::new(&self.program.inputs).ok();
        }
        let Some(mut session) = self.session.clone() else { return Trial::Broken };
        let Some(outcome) = session.step(step) else { return Trial::Broken };
        self.tracker.reshaped = step.target().is_some_and(|target| {
            let after = session.input_shape(target.value);
            after.is_none() || after != self.tracker.find(target).map(|known| &known.tensor.shape)
        });
        self.tried = Some(session);
        let reason = match &outcome.outcome {
            Outcome::Unsupported(what) => Some(LeftOut::Unsupported { op: step.op, what: what.clone() }),
            other => avoided(self, Some(other)),
        };
        if let Some(reason) = reason {
            self.program.steps.pop();
            return self.drop_step(reason);
        }
        Trial::Kept(outcome)
    }

    fn drop_step(&mut self, reason: LeftOut) -> Trial {
        self.left_out.push(reason);
        Trial::Dropped
    }

    /// The program as a rule sees it.
    fn scene(&self) -> Scene<'_> {
        Scene { inputs: &self.program.inputs, steps: &self.program.steps, tracker: &self.tracker }
    }

    /// The most elements that a step can make, or the most terms that it sums.
    fn bound(&self, step: &Step) -> usize {
        let shapes: Vec<&[i64]> =
            step.uses().filter_map(|used| Some(self.tracker.find(used)?.tensor.shape.sizes())).collect();
        let numels = || shapes.iter().map(|sizes| numel(sizes));
        let indexed = step.args.iter().any(|arg| matches!(arg, Arg::Indices(_)));
        let together = if let Some(terms) = self.terms(step) {
            terms
        } else if indexed || matches!(step.op, Op::CartesianProd) || step.op.info().family() == Family::Products {
            numels().fold(1, i64::saturating_mul)
        } else {
            let rank = shapes.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
            let largest = |back: usize| shapes.iter().filter_map(|sizes| sizes.iter().nth_back(back)).max();
            (0..rank).filter_map(largest).fold(1i64, |product, &size| product.saturating_mul(size.max(1)))
        };
        let given = step.args.iter().filter_map(|arg| match arg {
            Arg::Ints(sizes) => Some(sizes),
            _ => None,
        });
        let sizes = given.map(|sizes| {
            // -1 can stand for all that there is.
            let copies = matches!(step.op, Op::Repeat | Op::Tile);
            let start = if copies || sizes.contains(&-1) { numels().max().unwrap_or(1) } else { 1 };
            sizes.iter().fold(start, |product, size| product.saturating_mul(size.saturating_abs().max(1)))
        });
        sizes.fold(together, i64::max) as usize
    }

    /// The elements, at most, that tensors pick of a tensor whose other dimensions stay: a bad index is met among them.
    fn picked(&self, step: &Step) -> usize {
        let shape = |value: ValueRef| self.tracker.find(value).map(|known| &known.tensor.shape);
        let (Some(Arg::Tensor(of)), Some(Arg::Indices(indices))) = (step.args.first(), step.args.get(1)) else {
            return 0;
        };
        let Some(of) = shape(*of) else { return 0 };
        let picked = indices.iter().flatten().filter_map(|value| shape(*value));
        let rank = picked.clone().map(Shape::rank).max().unwrap_or(0);
        let largest = |back: usize| picked.clone().filter_map(|shape| shape.sizes().iter().nth_back(back)).max();
        let kept = of.sizes().iter().skip(indices.len());
        let sizes = (0..rank).filter_map(largest).chain(kept);
        sizes.fold(1i64, |product, &size| product.saturating_mul(size.max(1))) as usize
    }

    /// The pairs of elements, at most, of which `cdist` makes distances, and which `isin` compares: rows and elements do not
    /// broadcast, they meet all others.
    fn pairs(&self, step: &Step) -> usize {
        if !matches!(step.op, Op::Cdist | Op::Isin) {
            return 0;
        }
        let numels = step.uses().filter_map(|used| Some(numel(self.tracker.find(used)?.tensor.shape.sizes())));
        numels.fold(1, i64::saturating_mul) as usize
    }

    /// The rotated elements of a round in which matrices are decomposed.
    fn rotations(&self, step: &Step) -> i64 {
        let Some(Arg::Tensor(matrices)) = step.args.first().filter(|_| step.op.decomposes()) else { return 0 };
        let Some(known) = self.tracker.find(*matrices) else { return 0 };
        let [batch @ .., rows, columns] = known.tensor.shape.sizes() else { return 0 };
        let size = rows.saturating_add(*columns);
        batch.iter().chain(&[size; 3]).fold(1, |all, size| all.saturating_mul(*size))
    }

    /// The terms that the elements of a product of matrices have together, or its summand's elements if they are more.
    fn terms(&self, step: &Step) -> Option<i64> {
        let summands = match step.op {
            Op::Dot | Op::Mv | Op::Mm | Op::Bmm | Op::Matmul | Op::Linear | Op::Bilinear => 0,
            Op::Addmm | Op::AddmmActivation | Op::Addmv | Op::Baddbmm | Op::Addbmm => 1,
            _ => return None,
        };
        let shapes: Option<Vec<&Shape>> =
            step.uses().map(|used| self.tracker.find(used).map(|known| &known.tensor.shape)).collect();
        let shapes = shapes?;
        let (summands, factors) = shapes.split_at_checked(summands)?;
        // A product of no terms has elements all the same.
        let numel = |shape: &&Shape| numel(shape.sizes());
        let (first, second) = (factors.first()?, factors.get(1)?);
        let inner = first.sizes().last().copied().unwrap_or(1).max(1);
        let terms = numel(first).saturating_mul(numel(second)) / inner;
        if let (Op::Bilinear, [_, second, weight, bias @ ..]) = (step.op, factors) {
            // Each row of both inputs meets the whole weight.
            let rows = numel(second) / second.sizes().last().copied().unwrap_or(1).max(1);
            let products = rows.saturating_mul(numel(weight));
            return Some(bias.iter().map(numel).fold(products, i64::saturating_mul));
        }
        Some(summands.iter().map(numel).fold(terms, i64::max))
    }

    /// Notes what came of the last step, which stays.
    pub fn learn(&mut self, outcome: StepOutcome) {
        self.session = self.tried.take();
        let value = self.program.inputs.len() + self.program.steps.len() - 1;
        if let Some(step) = self.program.steps.last() {
            // Only where numbers stand for tensors is it certain that a tensor would have come of it.
            let operand = || step.op.info().arguments.iter().any(|param| param.kind == ParamKind::Operand);
            if !matches!(outcome.outcome, Outcome::Value(_)) && operand() {
                self.missing.push(ValueRef { value, part: None });
            }
            let undetermined = Undetermined::of(self.scene(), &outcome.outcome);
            self.tracker.note(value, step, &outcome.outcome, undetermined);
        }
        self.outcomes.push(outcome);
    }
}

/// The elements of a shape, where a size 0 counts as a 1.
fn numel(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1i64, |product, &size| product.saturating_mul(size.max(1)))
}
