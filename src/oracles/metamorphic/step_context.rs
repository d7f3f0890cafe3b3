//! One step of a program that was run, and what can be known of the tensors before it.

use crate::ops::{Compare, Family, Form, Kernel, Op, ParamKind, ResultType};
use crate::program::{Arg, Input, Outcome, Program, Reply, Step, StorageRef, TensorValue, ValueRef};
use crate::tensor::{DType, Layout, Scalar, Shape};

/// A step and its outcome.
pub(super) struct StepContext<'a> {
    pub program: &'a Program,
    pub reply: &'a Reply,
    pub at: usize,
    pub step: &'a Step,
    pub outcome: &'a Outcome,
}

/// A tensor as it is before the step, but for its elements, which may have been written to under another name.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub dtype: DType,
    pub layout: Layout,
    pub storage: StorageRef,
}

impl Facts {
    pub fn shape(&self) -> &Shape {
        &self.layout.shape
    }

    pub fn sizes(&self) -> &[i64] {
        self.layout.shape.sizes()
    }

    fn of_input(input: &Input, number: usize) -> Facts {
        let layout = Layout::contiguous(input.shape.clone());
        Facts { dtype: input.dtype, layout, storage: StorageRef { id: number, offset: 0 } }
    }

    fn of(tensor: &TensorValue) -> Option<Facts> {
        let (strides, storage) = (tensor.strides.clone()?, tensor.storage?);
        let layout = Layout { shape: tensor.shape.clone(), strides, offset: storage.offset };
        Some(Facts { dtype: tensor.dtype, layout, storage })
    }
}

impl<'a> StepContext<'a> {
    /// A step that was answered, one way or the other.
    pub fn new(program: &'a Program, reply: &'a Reply, at: usize) -> Option<StepContext<'a>> {
        let (step, outcome) = (program.steps.get(at)?, &reply.steps.get(at)?.outcome);
        matches!(outcome, Outcome::Value(_) | Outcome::Rejected(_)).then_some(StepContext {
            program,
            reply,
            at,
            step,
            outcome,
        })
    }

    pub fn accepted(&self) -> bool {
        matches!(self.outcome, Outcome::Value(_))
    }

    /// The tensor that a value is. `None` if it is no tensor, or if it may have been resized in a step that was refused.
    pub fn known(&self, value: ValueRef) -> Option<Facts> {
        let own = self.first_name(value);
        let inputs = self.program.inputs.len();
        let mut targets = self.program.steps.iter().take(self.at).filter_map(Step::target);
        if self.twin(own).is_some_and(|twin| targets.any(|target| self.first_name(target) == twin)) {
            return None;
        }
        let mut known = match self.program.inputs.get(own.value) {
            Some(input) => Some(Facts::of_input(input, own.value)),
            None => {
                let made = self.reply.steps.get(own.value - inputs)?.outcome.tensors();
                made.get(own.part.unwrap_or(0)).and_then(Facts::of)
            }
        };
        for (step, answer) in self.program.steps.iter().zip(&self.reply.steps).take(self.at) {
            if step.target().is_none_or(|target| self.first_name(target) != own) {
                continue;
            }
            match &answer.outcome {
                Outcome::Value(_) => known = answer.outcome.tensors().first().and_then(Facts::of),
                _ if step.form == Form::Out || step.op.info().family() == Family::Products => known = None,
                _ => {}
            }
        }
        known
    }

    /// Returns the first name of a value: the result of a step that writes to a tensor is that tensor.
    fn first_name(&self, value: ValueRef) -> ValueRef {
        let step = value.value.checked_sub(self.program.inputs.len()).map(|step| &self.program.steps[step]);
        match step.and_then(Step::target) {
            Some(target) => self.first_name(target),
            None => value,
        }
    }

    /// The other name of a tensor, if that may be the same one, which a step may reshape by either name: PyTorch's
    /// `cartesian_prod` of a single vector returns that vector.
    fn twin(&self, own: ValueRef) -> Option<ValueRef> {
        let inputs = self.program.inputs.len();
        self.program.steps.iter().enumerate().take(self.at).find_map(|(number, step)| {
            let (Op::CartesianProd, [Arg::Tensors(vectors)]) = (step.op, &step.args[..]) else { return None };
            let [vector] = vectors[..] else { return None };
            let names = [self.first_name(vector), ValueRef { value: inputs + number, part: None }];
            names.contains(&own).then(|| if names[0] == own { names[1] } else { names[0] })
        })
    }

    /// The tensors among the arguments that are only read, by the numbers of the arguments.
    pub fn read(&self) -> Option<Vec<(usize, Facts)>> {
        let own = usize::from(self.step.form == Form::InPlace);
        let tensors = self.step.args.iter().enumerate().skip(own).filter_map(|(number, arg)| match arg {
            Arg::Tensor(value) => Some((number, *value)),
            _ => None,
        });
        tensors.map(|(number, value)| Some((number, self.known(value)?))).collect()
    }

    /// The tensor that the step writes to.
    pub fn target(&self) -> Option<Facts> {
        self.known(self.step.target()?)
    }

    /// Returns whether the step writes to no memory that it reads from under another name, and to none twice.
    pub fn is_apart(&self) -> bool {
        if self.step.form == Form::Functional {
            return true;
        }
        let Some(target) = self.target() else { return false };
        let own = usize::from(self.step.form == Form::InPlace);
        let args = Step { args: self.step.args[own..].to_vec(), out: None, ..self.step.clone() };
        let mut others = args.uses().map(|used| self.known(used));
        let apart = others.all(|other| other.is_some_and(|other| other.storage.id != target.storage.id));
        apart && !overlaps(&target.layout)
    }

    /// Returns whether the tensor that the step writes to is one of those that it reads, and lies in the memory of no other.
    pub fn is_its_own_operand(&self) -> bool {
        let Some(target) = self.step.target() else { return false };
        let own = self.first_name(target);
        let used =
            || self.step.args.iter().filter_map(|arg| if let Arg::Tensor(value) = arg { Some(*value) } else { None });
        let Some(known) = self.known(target).filter(|known| !overlaps(&known.layout)) else { return false };
        let other = |value: ValueRef| self.known(value).is_some_and(|other| other.storage.id != known.storage.id);
        used().any(|value| self.first_name(value) == own)
            && used().all(|value| self.first_name(value) == own || other(value))
    }

    /// Returns whether gradients are kept for anything.
    pub fn has_gradients(&self) -> bool {
        self.program.inputs.iter().any(|input| input.requires_grad)
    }

    /// Returns the mode in which the result of the step compares with another of the same implementation, whose operands are
    /// the same to the bit: as the table says, and within a tolerance if elements are added up.
    pub fn mode(&self) -> Compare {
        let info = self.step.op.info();
        let sums = info.result == ResultType::Sum || self.step.op == Op::Dist;
        if sums { Compare::Tolerance } else { self.step.compare() }
    }

    /// Returns whether every element and scalar that the step can see is small, so that the order of a sum does not decide
    /// which part is lost.
    pub fn is_tame(&self) -> bool {
        let number = |arg: &Arg| if let Arg::Number(number) = arg { within(SMALL, &[*number]) } else { true };
        let mut made = self.reply.steps.iter().take(self.at).flat_map(|step| step.outcome.tensors());
        self.step.args.iter().all(number)
            && self.program.inputs.iter().all(|input| within(SMALL, &elements(input)))
            && made.all(|tensor| small(SMALL, tensor))
    }

    /// Returns whether the operation combines operands element by element. The numbers of a sampler have a dtype, and perhaps a
    /// shape, that are not those of all its operands.
    pub fn is_elementwise(&self) -> bool {
        let info = self.step.op.info();
        info.family() == crate::ops::Family::Pointwise
            && info.kernel != Kernel::Sampler
            && !matches!(self.step.op, Op::Fill | Op::Prelu)
    }

    /// Returns the kind of an argument.
    pub fn kind(&self, number: usize) -> ParamKind {
        self.step.op.info().arguments[number].kind
    }
}

/// The elements of an input.
pub(super) fn elements(input: &Input) -> Vec<Scalar> {
    crate::tensor::Buffer::from_bytes(input.dtype, &input.data).map(|buffer| buffer.scalars()).unwrap_or_default()
}

/// Returns whether a tensor has few elements, none of which is NaN or larger in magnitude than this.
pub(super) fn small(most: f64, tensor: &TensorValue) -> bool {
    tensor.shape.numel() <= crate::metamorphic::LARGEST && within(most, &tensor.scalars())
}

/// Returns whether no element is NaN or larger in magnitude than this.
pub(super) fn within(most: f64, elements: &[Scalar]) -> bool {
    elements.iter().all(|element| match *element {
        Scalar::Bool(_) => true,
        Scalar::Int(value) => value.unsigned_abs() <= most as u64,
        Scalar::Float(value) => value.abs() <= most,
        Scalar::Complex(value) => value.re.abs() <= most && value.im.abs() <= most,
    })
}

/// The largest magnitude of which sums and products in any order lose the same, but for a tolerance.
const SMALL: f64 = 64.0;

/// Returns whether two indices may name the same element.
fn overlaps(layout: &Layout) -> bool {
    if layout.shape.numel() > crate::metamorphic::LARGEST {
        return true;
    }
    let mut places: Vec<usize> = layout.positions().collect();
    places.sort_unstable();
    places.windows(2).any(|pair| pair[0] == pair[1])
}

/// The beginning of a program, and what is put in place of the rest.
pub(super) struct Rewrite {
    pub program: Program,
}

impl Rewrite {
    /// The steps before `at`.
    pub fn before(context: &StepContext) -> Rewrite {
        let steps = context.program.steps[..context.at].to_vec();
        Rewrite { program: Program { inputs: context.program.inputs.clone(), steps } }
    }

    /// Adds a step of the rewrite's own.
    pub fn add(&mut self, name: &str, op: Op, args: Vec<Arg>) -> ValueRef {
        let name = format!("{name}{}", self.program.steps.len());
        self.push(Step { name, op, form: Form::Functional, args, out: None })
    }

    /// Adds a step.
    pub fn push(&mut self, step: Step) -> ValueRef {
        self.program.steps.push(step);
        ValueRef { value: self.program.inputs.len() + self.program.steps.len() - 1, part: None }
    }

    /// The number of the last step.
    pub fn last(&self) -> usize {
        self.program.steps.len() - 1
    }

    /// The tensor expanded and copied.
    pub fn expanded(&mut self, value: ValueRef, sizes: &[i64]) -> ValueRef {
        let expanded = self.add("expanded", Op::Expand, vec![Arg::Tensor(value), Arg::Ints(sizes.to_vec())]);
        self.contiguous(expanded)
    }

    /// The tensor copied, unless it lies as a copy would.
    pub fn contiguous(&mut self, value: ValueRef) -> ValueRef {
        self.add("copied", Op::Contiguous, vec![Arg::Tensor(value)])
    }
}
