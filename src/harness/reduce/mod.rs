//! Simpler programs of which the same is true.
//!
//! Every candidate weighs less than what it was made of, and weights are numbers that cannot fall for ever, so shrinking
//! ends and never goes in circles. It depends on nothing but the program and the answers. What is tried is in `passes`
//! and in `elements`.

mod elements;
mod passes;

use std::collections::HashSet;

use crate::ops::Form;
use crate::program::{Arg, Program, ShapeArg, Step};
use crate::tensor::{Buffer, DType, IndexItem, Scalar};

/// The most programs that are asked about.
const MOST: usize = 4000;

/// The number of programs that are asked about at a time: an adapter works on some while others are on their way.
const BATCH: usize = 16;

/// The simplest program that can be reached from this one by steps that keep `same` true. `same` is asked a few thousand
/// times at most, and a few hundred times as a rule.
///
/// ```
/// use std::path::Path;
///
/// use broadcheck_harness::{case::load_program, reduce::shrink};
/// use broadcheck_protocol::ops::Op;
///
/// let text = "x: {shape: [4, 5]}\na: {add: [x, x]}\nm: {mul: [a, x]}\ns: {sub: [m, a]}";
/// let program = load_program(Path::new("p.yaml"), text).unwrap();
/// let simplest = shrink(program, |program| program.steps.iter().any(|step| step.op == Op::Mul));
/// assert_eq!(simplest.steps.len(), 1);
/// ```
pub fn shrink(program: Program, mut same: impl FnMut(&Program) -> bool) -> Program {
    shrink_in_batches(program, |candidates| candidates.iter().position(&mut same))
}

/// The same for implementations that run several programs faster together than one by one: `first` returns which of the
/// candidates is the first of which the same is true.
pub fn shrink_in_batches(program: Program, mut first: impl FnMut(&[Program]) -> Option<usize>) -> Program {
    let mut simplest = program;
    let mut asked: HashSet<String> = HashSet::new();
    loop {
        let before = Weight::of(&simplest);
        for pass in passes::ALL {
            // What was tried before the last success is tried again in the next round only: most of it fails again.
            let mut from = 0;
            'pass: loop {
                let weight = Weight::of(&simplest);
                let candidates = pass(&simplest).into_iter().enumerate().skip(from);
                let mut lighter: Vec<(usize, Program)> =
                    candidates.filter(|(_, candidate)| Weight::of(candidate) < weight).collect();
                lighter.retain(|(_, candidate)| !asked.contains(&key(candidate)));
                let mut rest = lighter.into_iter();
                loop {
                    let (places, batch): (Vec<usize>, Vec<Program>) = rest.by_ref().take(BATCH).unzip();
                    if batch.is_empty() {
                        break 'pass;
                    }
                    if asked.len() + batch.len() > MOST {
                        return simplest;
                    }
                    let found = first(&batch);
                    let asked_so_far = found.map_or(batch.len(), |found| found + 1);
                    asked.extend(batch[..asked_so_far].iter().map(key));
                    if let Some(found) = found {
                        simplest = batch.into_iter().nth(found).expect("one of the candidates");
                        from = places[found];
                        continue 'pass;
                    }
                }
            }
        }
        if Weight::of(&simplest) == before {
            return simplest;
        }
    }
}

fn key(program: &Program) -> String {
    serde_json::to_string(program).expect("a program is plain data")
}

/// The complexity of a program, what matters most first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    steps: usize,
    inputs: usize,
    /// Steps that write to what is there.
    writes: usize,
    gradients: usize,
    /// Dimensions of inputs, and entries of lists among the arguments.
    ranks: usize,
    sizes: u64,
    dtypes: u64,
    /// Numbers, switches and texts among the arguments.
    arguments: u64,
    /// The depth in the program of the values that are used: inputs are simpler than results.
    uses: usize,
    elements: u64,
}

impl Weight {
    fn of(program: &Program) -> Weight {
        let args = || program.steps.iter().flat_map(|step| &step.args);
        Weight {
            steps: program.steps.len(),
            inputs: program.inputs.len(),
            writes: program.steps.iter().filter(|step| step.form != Form::Functional).count(),
            gradients: program.inputs.iter().filter(|input| input.requires_grad).count(),
            ranks: program.inputs.iter().map(|input| input.shape.rank()).sum::<usize>()
                + args().map(entries).sum::<usize>(),
            sizes: program.inputs.iter().flat_map(|input| input.shape.sizes()).map(|size| size_weight(*size)).sum(),
            dtypes: program.inputs.iter().map(|input| dtype_weight(input.dtype)).sum(),
            arguments: program.steps.iter().map(arguments_weight).fold(0, u64::saturating_add),
            uses: program.steps.iter().flat_map(Step::uses).map(|used| used.value).sum(),
            elements: program.inputs.iter().enumerate().map(|(at, input)| elements::weight(input, at)).sum(),
        }
    }
}

fn entries(arg: &Arg) -> usize {
    match arg {
        Arg::Tensors(values) => values.len(),
        Arg::Indices(values) => values.len(),
        Arg::Ints(values) => values.len(),
        Arg::Index(items) => items.len(),
        Arg::Shapes(shapes) => shapes.iter().map(|shape| 1 + sizes_of(shape).len()).sum(),
        _ => 0,
    }
}

fn sizes_of(shape: &ShapeArg) -> &[i64] {
    shape.sizes().unwrap_or_default()
}

/// One element is the simplest; none at all is a case of its own.
fn size_weight(size: i64) -> u64 {
    match size {
        0 => 3,
        1 | 2 => size as u64,
        larger => larger as u64 + 1,
    }
}

/// The dtype that cases have by default is the plainest.
fn dtype_weight(dtype: DType) -> u64 {
    const PLAIN: [DType; 4] = [DType::Float32, DType::Int64, DType::Float64, DType::Bool];
    PLAIN.iter().position(|plain| *plain == dtype).map_or_else(|| 4 + dtype as u64, |at| at as u64)
}

fn arguments_weight(step: &Step) -> u64 {
    let params = step.op.info().arguments;
    let weights = params.iter().zip(&step.args).map(|(param, arg)| match param.default {
        Some(default) if Arg::from(default) == *arg => 0,
        Some(_) => argument_weight(arg).saturating_add(1),
        None => argument_weight(arg),
    });
    weights.fold(0, u64::saturating_add)
}

fn argument_weight(arg: &Arg) -> u64 {
    let sum = |weights: &mut dyn Iterator<Item = u64>| weights.fold(0, u64::saturating_add);
    match arg {
        Arg::Nothing | Arg::Tensor(_) | Arg::Tensors(_) => 0,
        Arg::Indices(values) => values.iter().flatten().count() as u64,
        Arg::Number(number) => number_weight(*number),
        Arg::Int(int) => int_weight(*int),
        Arg::Ints(ints) => sum(&mut ints.iter().map(|int| int_weight(*int))),
        Arg::Shapes(shapes) => sum(&mut shapes.iter().flat_map(sizes_of).map(|size| int_weight(*size))),
        Arg::Flag(flag) => u64::from(*flag),
        Arg::Dtype(dtype) => 1 + dtype_weight(*dtype),
        Arg::ScalarType(dtype) => 1 + dtype.dtype().map_or(dtype.code() as u64, dtype_weight),
        Arg::Text(text) => text.len() as u64,
        Arg::Index(items) => sum(&mut items.iter().map(|item| match item {
            IndexItem::None | IndexItem::Ellipsis => 1,
            IndexItem::At(at) => 2 + int_weight(*at),
            IndexItem::Slice { start, stop, step } => {
                let bound = |bound: &Option<i64>| bound.map_or(0, |bound| 1 + int_weight(bound));
                2 + bound(start) + bound(stop) + int_weight(step - 1)
            }
        })),
    }
}

/// Small integers are simple, negative ones a little less so.
fn int_weight(int: i64) -> u64 {
    (int.unsigned_abs().min(1 << 20) << 1) + u64::from(int < 0)
}

/// Integers before fractions, fractions before what is hardly a number.
fn number_weight(number: Scalar) -> u64 {
    match number {
        Scalar::Int(int) => int_weight(int),
        Scalar::Bool(value) => (1 << 22) + u64::from(value),
        Scalar::Float(value) if value.fract() == 0.0 && value.abs() < 1e6 => {
            (1 << 23) + int_weight(value as i64) + 8 * u64::from(value == 0.0 && value.is_sign_negative())
        }
        Scalar::Float(value) if value.is_finite() => 1 << 24,
        Scalar::Float(_) => 1 << 25,
        Scalar::Complex(value) if value.im == 0.0 => 1 << 26,
        Scalar::Complex(_) => 1 << 27,
    }
}

/// The elements of an input as numbers.
fn scalars(input: &crate::program::Input) -> Vec<Scalar> {
    Buffer::from_bytes(input.dtype, &input.data).map(|buffer| buffer.scalars()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Implementation;
    use crate::generate::{Options, program};
    use crate::ops::Op;
    use crate::program::{Input, Outcome, ValueRef};
    use crate::reference::Reference;
    use crate::tensor::{Layout, Shape};

    fn programs() -> impl Iterator<Item = Program> {
        let bytes = (0..=u8::MAX).map(|start| (0..255).map(|at: u8| at.wrapping_mul(start).rotate_left(3)).collect());
        bytes.map(|bytes: Vec<u8>| program(&bytes, &Options::default()))
    }

    fn input(name: &str, dtype: DType, sizes: &[i64], elements: impl Iterator<Item = Scalar>) -> Input {
        let shape = Shape::new(sizes.to_vec()).unwrap();
        let data = Buffer::from_scalars(dtype, elements).to_bytes(&Layout::contiguous(shape.clone()));
        Input { name: name.to_owned(), dtype, shape, data, requires_grad: false }
    }

    fn step(name: &str, op: Op, args: Vec<Arg>) -> Step {
        let rest = op.info().arguments[args.len()..].iter();
        let args = args.into_iter().chain(rest.map(|param| Arg::from(param.default.unwrap()))).collect();
        Step { name: name.to_owned(), op, form: Form::Functional, args, out: None }
    }

    fn tensor(value: usize) -> Arg {
        Arg::Tensor(ValueRef { value, part: None })
    }

    fn has_nan(outcome: &Outcome) -> bool {
        let nan = |number: &Scalar| matches!(number, Scalar::Float(value) if value.is_nan());
        outcome.tensors().iter().any(|tensor| tensor.scalars().iter().any(nan))
    }

    #[test]
    fn what_does_not_matter_goes() {
        // Any program with a product in it, and the product is all that matters.
        let has_product = |program: &Program| program.steps.iter().any(|step| step.op == Op::Mul);
        let found = programs().find(|program| has_product(program) && program.steps.len() > 1).expect("there is one");
        let simplest = shrink(found, has_product);
        assert_eq!(simplest.steps.len(), 1, "{simplest:?}");
        assert!(simplest.inputs.len() <= 1 && simplest.steps[0].form == Form::Functional, "{simplest:?}");
        assert!(simplest.inputs.iter().all(|input| !input.requires_grad && input.shape.rank() == 0), "{simplest:?}");
    }

    /// A maximum that loses a NaN, in a tensor of 6 × 7 of which one element is NaN, behind a view.
    #[test]
    fn one_element_that_matters_is_what_is_left() {
        let wild = |at: i64| if at == 31 { f64::NAN } else { (at * at) as f64 + 0.37 };
        let x = input("x", DType::Float64, &[6, 7], (0..42).map(|at| Scalar::Float(wild(at))));
        let y = input("y", DType::Float64, &[7, 1], (0..7).map(|at| Scalar::Float(f64::from(at) - 3.5)));
        let steps = vec![
            step("t", Op::Transpose, vec![tensor(0), Arg::Int(0), Arg::Int(1)]),
            step("m", Op::Maximum, vec![tensor(2), tensor(1)]),
            step("s", Op::Sum, vec![tensor(3)]),
        ];
        let wrong = |program: &Program| {
            let reply = Reference.run(program);
            let outcomes = program.steps.iter().zip(&reply.steps);
            outcomes.into_iter().any(|(step, outcome)| step.op == Op::Maximum && has_nan(&outcome.outcome))
        };
        let mut asked = 0;
        let simplest = shrink(Program { inputs: vec![x, y], steps }, |candidate| {
            asked += 1;
            wrong(candidate)
        });
        assert_eq!(simplest.steps.len(), 1, "{simplest:?}");
        assert!(simplest.inputs.iter().all(|input| input.shape.numel() <= 2), "{simplest:?}");
        assert!(simplest.inputs.iter().all(|input| input.dtype == DType::Float32), "{simplest:?}");
        assert!(asked < 200, "{asked} questions");
    }

    /// Wrong only where a tensor of at least 33 elements has a negative zero: the others become what cases have anyway.
    #[test]
    fn elements_that_do_not_matter_are_the_usual_ones() {
        let strange = |at: i64| if at == 20 { -0.0 } else { at as f64 * 0.1 - 2.0 };
        let x = input("x", DType::Float32, &[80], (0..80).map(|at| Scalar::Float(strange(at))));
        let negative_zero =
            |number: Scalar| matches!(number, Scalar::Float(0.0)) && number.to_string().starts_with('-');
        let wrong = |program: &Program| {
            let mut inputs = program.inputs.iter();
            inputs.any(|input| input.shape.numel() >= 33 && scalars(input).into_iter().any(negative_zero))
        };
        let simplest = shrink(Program { inputs: vec![x], steps: vec![step("r", Op::Clone, vec![tensor(0)])] }, wrong);
        let unusual = elements::unusual(&simplest.inputs[0], 0);
        assert_eq!((simplest.inputs[0].shape.sizes(), unusual.len()), (&[33][..], 1), "{simplest:?}");
    }

    #[test]
    fn numbers_of_arguments_and_equations_become_simple() {
        let ones = |sizes: &[i64]| {
            let count = sizes.iter().product::<i64>();
            input("x", DType::Float32, sizes, (0..count).map(|_| Scalar::Int(1)))
        };
        let alpha = Program {
            inputs: vec![ones(&[2, 3]), ones(&[3])],
            steps: vec![step("r", Op::Add, vec![tensor(0), tensor(1), Arg::Number(Scalar::Float(-17.25))])],
        };
        let simplest = shrink(alpha, |program| {
            let negative = |arg: &Arg| {
                matches!(arg, Arg::Number(Scalar::Int(..0)))
                    || matches!(arg, Arg::Number(Scalar::Float(value)) if *value < 0.0)
            };
            program.steps.iter().any(|step| step.args.iter().any(negative))
        });
        assert_eq!(simplest.steps[0].args[2], Arg::Number(Scalar::Int(-1)), "{simplest:?}");

        let equation = Arg::Text("bij, bjk -> bik".to_owned());
        let operands = Arg::Tensors([0, 1].map(|value| ValueRef { value, part: None }).to_vec());
        let product = Program {
            inputs: vec![ones(&[2, 3, 4]), ones(&[2, 4, 5])],
            steps: vec![step("r", Op::Einsum, vec![equation, operands])],
        };
        let simplest = shrink(product, |program| {
            let accepted = |step: &crate::program::StepOutcome| matches!(step.outcome, Outcome::Value(_));
            program.steps.iter().any(|step| step.op == Op::Einsum) && Reference.run(program).steps.iter().all(accepted)
        });
        let Arg::Text(equation) = &simplest.steps[0].args[0] else { panic!("{simplest:?}") };
        assert!(equation.len() <= 3 && simplest.inputs.len() == 1, "{simplest:?}");
    }

    /// Whatever the answers are, every program that is reached weighs less than the one before, and there is an end.
    #[test]
    fn shrinking_ends_whatever_the_answers() {
        for (number, program) in programs().enumerate().step_by(16) {
            let mut state = number as u64;
            let mut last = Weight::of(&program);
            let mut questions = 0;
            let mut fickle = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                state >> 62 == 0
            };
            shrink_in_batches(program, |candidates| {
                questions += candidates.len();
                assert!(candidates.iter().all(|candidate| Weight::of(candidate) < last));
                let found = candidates.iter().position(|_| fickle());
                if let Some(found) = found {
                    last = Weight::of(&candidates[found]);
                }
                found
            });
            assert!(questions <= MOST + BATCH);
        }
    }

    #[test]
    fn the_same_answers_make_the_same_program() {
        let found = programs().find(|program| program.steps.len() > 3).expect("there is one");
        let rejected = |program: &Program| {
            let reply = Reference.run(program);
            reply.steps.iter().any(|step| matches!(step.outcome, Outcome::Rejected(_)))
        };
        assert_eq!(shrink(found.clone(), rejected), shrink(found, rejected));
    }
}
