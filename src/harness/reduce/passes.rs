//! Passes of the reduction: programs that are simpler in one respect each, those that lose most first. Other code checks
//! whether one of them weighs less than what it was made of, and whether it still shows the same.

use crate::generate::counting;
use crate::ops::{Form, Op, ParamKind};
use crate::program::{Arg, Input, Outcome, Program, ShapeArg, Step, TensorValue, Value, ValueRef};
use crate::reduce::elements::MOST_ELEMENTS;
use crate::reduce::{elements, scalars};
use crate::reference;
use crate::tensor::{Category, DType, IndexItem, Scalar, Shape};

/// Candidates from one program.
type Pass = fn(&Program) -> Vec<Program>;

/// In this order: whatever leaves less for the next one to do.
pub(super) const ALL: &[Pass] = &[
    removed,
    replaced_by_inputs,
    rewired,
    unwritten,
    ungraded,
    equations,
    resized,
    fewer_entries,
    retyped,
    arguments,
    values,
];

/// Without a value and all that is made of it.
fn removed(program: &Program) -> Vec<Program> {
    let values = program.inputs.len() + program.steps.len();
    (0..values).rev().filter_map(|value| without(program, value)).collect()
}

fn without(program: &Program, value: usize) -> Option<Program> {
    let mut gone = vec![value];
    for (at, step) in program.steps.iter().enumerate() {
        if step.uses().any(|used| gone.contains(&used.value)) {
            gone.push(program.inputs.len() + at);
        }
    }
    let mut number = 0;
    let inputs = program.inputs.len();
    let mut keep = |_: &mut dyn std::any::Any| {
        number += 1;
        !gone.contains(&(number - 1))
    };
    let mut fewer = program.clone();
    fewer.inputs.retain_mut(|input| keep(input));
    fewer.steps.retain_mut(|step| keep(step));
    if fewer.steps.is_empty() || inputs + program.steps.len() == fewer.inputs.len() + fewer.steps.len() {
        return None;
    }
    let moved = |at: &mut ValueRef| at.value -= gone.iter().filter(|gone| **gone < at.value).count();
    fewer.steps.iter_mut().flat_map(Step::uses_mut).for_each(moved);
    Some(fewer)
}

/// Returns the result of the reference for each step, if it survives the program and the step has one tensor.
fn made(program: &Program) -> Vec<Option<TensorValue>> {
    let one = |outcome: Outcome| match outcome {
        Outcome::Value(Value::Tensor(tensor)) => Some(tensor),
        _ => None,
    };
    match reference::ask(program) {
        Ok(reply) => reply.steps.into_iter().map(|step| one(step.outcome)).collect(),
        Err(_) => vec![None; program.steps.len()],
    }
}

/// With the result of a step as an input of its own, so that the step and those before it may go.
fn replaced_by_inputs(program: &Program) -> Vec<Program> {
    let made = made(program);
    let mut candidates = Vec::new();
    for (at, tensor) in made.iter().enumerate().rev() {
        let value = program.inputs.len() + at;
        let used = program.steps[at + 1..].iter().flat_map(Step::uses).any(|used| used.value == value);
        let Some(tensor) = tensor.as_ref().filter(|tensor| {
            let count = tensor.shape.numel();
            used && count <= MOST_ELEMENTS && tensor.data.len() == count * tensor.dtype.size()
        }) else {
            continue;
        };
        let TensorValue { dtype, shape, data, .. } = tensor.clone();
        let name = program.steps[at].name.clone();
        let mut candidate = program.clone();
        candidate.inputs.push(Input { name, dtype, shape, data, requires_grad: false });
        candidate.steps.remove(at);
        // The new input stands where the first step stood, and all steps before `at` are one further.
        let moved = |used: &mut ValueRef| match used.value {
            own if own == value => used.value = program.inputs.len(),
            step if step >= program.inputs.len() && step < value => used.value += 1,
            _ => {}
        };
        candidate.steps.iter_mut().flat_map(Step::uses_mut).for_each(moved);
        // At once without what was needed for it only, as one step for one input is no gain in itself.
        candidates.extend(unused_removed(candidate.clone()));
        candidates.push(candidate);
    }
    candidates
}

/// Without inputs and functional steps that nothing uses, apart from the last step.
fn unused_removed(mut program: Program) -> Option<Program> {
    let mut changed = false;
    loop {
        let inputs = program.inputs.len();
        let last = inputs + program.steps.len() - 1;
        let unused = (0..last).rev().find(|value| {
            let used = program.steps.iter().flat_map(Step::uses).any(|used| used.value == *value);
            let writes = value.checked_sub(inputs).is_some_and(|step| program.steps[step].form != Form::Functional);
            !used && !writes
        });
        match unused.and_then(|value| without(&program, value)) {
            Some(fewer) => program = fewer,
            None => return changed.then_some(program),
        }
        changed = true;
    }
}

/// With a value used in place of one that was made later: what it was made of, or an input of the same kind.
fn rewired(program: &Program) -> Vec<Program> {
    let made = made(program);
    let inputs = program.inputs.len();
    let kind = |value: usize| match program.inputs.get(value) {
        Some(input) => Some((input.dtype, input.shape.clone())),
        None => made[value - inputs].as_ref().map(|tensor| (tensor.dtype, tensor.shape.clone())),
    };
    let mut candidates = Vec::new();
    for at in 0..program.steps.len() {
        for number in 0..program.steps[at].uses().count() {
            let mut step = program.steps[at].clone();
            let used = *step.uses_mut()[number];
            let operands =
                used.value.checked_sub(inputs).map(|made_by| program.steps[made_by].uses().collect::<Vec<_>>());
            let alike = (0..inputs.min(used.value))
                .filter(|value| kind(*value).is_some() && kind(*value) == kind(used.value))
                .map(|value| ValueRef { value, part: None });
            for other in operands.into_iter().flatten().chain(alike) {
                let mut candidate = program.clone();
                *candidate.steps[at].uses_mut()[number] = other;
                candidates.extend(unused_removed(candidate.clone()));
                candidates.push(candidate);
            }
        }
    }
    candidates
}

/// With a step that writes to nothing.
fn unwritten(program: &Program) -> Vec<Program> {
    each_step(program, |step| match step.form {
        Form::Functional => Vec::new(),
        _ => vec![Step { form: Form::Functional, out: None, ..step.clone() }],
    })
}

fn ungraded(program: &Program) -> Vec<Program> {
    let mut none = program.clone();
    none.inputs.iter_mut().for_each(|input| input.requires_grad = false);
    let each = each_input(program, |_, input| vec![Input { requires_grad: false, ..input.clone() }]);
    std::iter::once(none).chain(each).collect()
}

/// Equations with an operand less, or with a letter less, which takes a dimension of the operands with it.
fn equations(program: &Program) -> Vec<Program> {
    let mut candidates = Vec::new();
    for (at, step) in program.steps.iter().enumerate().filter(|(_, step)| step.op == Op::Einsum) {
        let [Arg::Text(equation), Arg::Tensors(operands)] = step.args.as_slice() else { continue };
        let (left, right) = match equation.split_once("->") {
            Some((left, right)) => (left, Some(right.trim())),
            None => (equation.as_str(), None),
        };
        let terms: Vec<&str> = left.split(',').map(str::trim).collect();
        let joined = |terms: Vec<String>, right: Option<String>| match right {
            Some(right) => format!("{}->{right}", terms.join(",")),
            None => terms.join(","),
        };
        let with = |program: &mut Program, equation: String, operands: Vec<ValueRef>| {
            program.steps[at].args = vec![Arg::Text(equation), Arg::Tensors(operands)];
        };
        for gone in (0..terms.len().min(operands.len())).filter(|_| terms.len() > 1) {
            let (mut fewer, mut values) = (terms.clone(), operands.clone());
            fewer.remove(gone);
            values.remove(gone);
            let known = |letter: &char| !letter.is_alphabetic() || fewer.concat().contains(*letter);
            let right = right.map(|right| right.chars().filter(known).collect());
            let mut candidate = program.clone();
            with(&mut candidate, joined(fewer.iter().map(|term| (*term).to_owned()).collect(), right), values);
            candidates.push(candidate);
        }
        let mut letters: Vec<char> = left.chars().filter(|letter| letter.is_alphabetic()).collect();
        letters.sort_unstable();
        letters.dedup();
        for letter in letters {
            let mut candidate = program.clone();
            for (term, operand) in terms.iter().zip(operands) {
                let Some(input) = candidate.inputs.get_mut(operand.value) else { continue };
                let places = term.chars().filter(|c| c.is_alphabetic()).enumerate().filter(|(_, c)| *c == letter);
                for (dim, _) in places.collect::<Vec<_>>().into_iter().rev() {
                    if dim < input.shape.rank() && !term.contains("...") {
                        *input = elements::without_dim(input, dim);
                    }
                }
            }
            let cut = |text: &str| text.replace(letter, "");
            let equation = joined(terms.iter().map(|term| cut(term)).collect(), right.map(cut));
            with(&mut candidate, equation, operands.clone());
            candidates.push(candidate);
        }
        let mut plain = program.clone();
        with(&mut plain, equation.replace(' ', ""), operands.clone());
        candidates.push(plain);
    }
    candidates
}

/// With fewer dimensions and smaller ones: of all inputs together, since operands of one shape fit together only if they
/// change together, then of each.
fn resized(program: &Program) -> Vec<Program> {
    let mut candidates = Vec::new();
    let rank = program.inputs.iter().map(|input| input.shape.rank()).max().unwrap_or(0);
    // Dimensions are counted from the right, as broadcasting aligns them.
    for back in (0..rank).rev() {
        candidates.push(with_inputs(program, |_, input| match input.shape.rank() {
            rank if rank > back => elements::without_dim(input, rank - 1 - back),
            _ => input.clone(),
        }));
    }
    candidates.extend(each_input(program, |_, input| {
        (0..input.shape.rank()).map(|dim| elements::without_dim(input, dim)).collect()
    }));
    let mut sizes: Vec<i64> = program.inputs.iter().flat_map(|input| input.shape.sizes()).copied().collect();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes.into_iter().rev().filter(|&size| size > 1) {
        for (from, to) in ranges(size as usize) {
            let sliced = with_inputs(program, |_, input| {
                (0..input.shape.rank()).fold(input.clone(), |input, dim| match input.shape.sizes()[dim] {
                    this if this == size => elements::sliced(&input, dim, from, to),
                    _ => input,
                })
            });
            // Arguments may name the size.
            let mut named = sliced.clone();
            let new = (to - from) as i64;
            for arg in named.steps.iter_mut().flat_map(|step| &mut step.args) {
                match arg {
                    Arg::Int(int) if *int == size => *int = new,
                    Arg::Ints(ints) => ints.iter_mut().filter(|int| **int == size).for_each(|int| *int = new),
                    _ => {}
                }
            }
            if named != sliced {
                candidates.push(named);
            }
            candidates.push(sliced);
        }
    }
    candidates.extend(each_input(program, |_, input| {
        let dims = input.shape.sizes().iter().enumerate();
        dims.flat_map(|(dim, &size)| ranges(size as usize).into_iter().map(move |range| (dim, range)))
            .map(|(dim, (from, to))| elements::sliced(input, dim, from, to))
            .collect()
    }));
    // Nothing is a case of its own, and often not the one that matters.
    candidates.extend(each_input(program, |at, input| {
        let dims = input.shape.sizes().iter().enumerate().filter(|(_, size)| **size == 0);
        let shapes = dims.filter_map(|(dim, _)| {
            let mut sizes = input.shape.sizes().to_vec();
            sizes[dim] = 1;
            // The other dimensions may be of any size, as long as this one is empty.
            Shape::new(sizes).ok().filter(|shape| shape.numel() <= MOST_ELEMENTS)
        });
        shapes.map(|shape| elements::usual(input, shape, input.dtype, at)).collect()
    }));
    candidates
}

/// The parts of a dimension that are tried, small ones first; each end may hold what matters.
fn ranges(size: usize) -> Vec<(usize, usize)> {
    if size < 2 {
        return Vec::new();
    }
    let mut ranges = vec![(0, 1), (size - 1, size), (0, 2), (size - 2, size)];
    let mut part = size / 2;
    while part > 0 {
        ranges.extend([(0, size - part), (part, size)]);
        part /= 2;
    }
    ranges.dedup();
    ranges.retain(|(from, to)| to - from < size);
    ranges
}

/// With lists of arguments that have an entry less.
fn fewer_entries(program: &Program) -> Vec<Program> {
    fn shorter<T: Clone>(values: &[T]) -> impl Iterator<Item = Vec<T>> + '_ {
        (0..values.len()).map(|gone| {
            let mut values = values.to_vec();
            values.remove(gone);
            values
        })
    }
    each_argument(program, |step, arg| match arg {
        Arg::Tensors(values) if values.len() > 1 && step.op != Op::Einsum => {
            shorter(values).map(Arg::Tensors).collect()
        }
        Arg::Indices(values) => {
            let missing = (0..values.len()).map(|at| {
                let mut values = values.clone();
                values[at] = None;
                Arg::Indices(values)
            });
            shorter(values).map(Arg::Indices).chain(missing).collect()
        }
        Arg::Ints(ints) => shorter(ints).map(Arg::Ints).collect(),
        Arg::Index(items) if items.len() > 1 => shorter(items).map(Arg::Index).collect(),
        Arg::Shapes(shapes) => {
            let mut fewer: Vec<Vec<ShapeArg>> = shorter(shapes).collect();
            for (at, shape) in shapes.iter().enumerate() {
                if let ShapeArg::Sizes(sizes) = shape {
                    fewer.extend(shorter(sizes).map(|sizes| {
                        let mut shapes = shapes.clone();
                        shapes[at] = ShapeArg::Sizes(sizes);
                        shapes
                    }));
                }
            }
            fewer.into_iter().filter(|shapes| !shapes.is_empty()).map(Arg::Shapes).collect()
        }
        _ => Vec::new(),
    })
}

/// In plainer dtypes: all inputs, all of one dtype, each.
fn retyped(program: &Program) -> Vec<Program> {
    let mut candidates = Vec::new();
    let plainer = |dtype: DType| -> &[DType] {
        match dtype.category() {
            Category::Complex => &[DType::Float32, DType::Complex64],
            _ => &[DType::Float32, DType::Int64, DType::Float64],
        }
    };
    // The usual elements stay the usual ones.
    let retype = |at: usize, input: &Input, dtype: DType| match elements::unusual(input, at).as_slice() {
        [] => elements::usual(input, input.shape.clone(), dtype, at),
        _ => elements::converted(input, dtype),
    };
    candidates.push(with_inputs(program, |at, input| retype(at, input, DType::Float32)));
    for from in DType::ALL {
        for to in plainer(*from).iter().filter(|to| *to != from) {
            let mut candidate = with_inputs(program, |at, input| match input.dtype == *from {
                true => retype(at, input, *to),
                false => input.clone(),
            });
            for arg in candidate.steps.iter_mut().flat_map(|step| &mut step.args) {
                if *arg == Arg::Dtype(*from) {
                    *arg = Arg::Dtype(*to);
                }
            }
            candidates.push(candidate);
        }
    }
    candidates.extend(each_input(program, |at, input| {
        plainer(input.dtype).iter().map(|dtype| retype(at, input, *dtype)).collect()
    }));
    candidates
}

/// With the default of an argument, or a simpler one.
fn arguments(program: &Program) -> Vec<Program> {
    let integers =
        |int: i64| [0, 1, 2, -1, int / 2, int - int.signum(), -int].into_iter().filter(move |new| *new != int);
    let mut candidates = each_step(program, |step| {
        let params = step.op.info().arguments.iter().enumerate();
        params
            .filter_map(|(at, param)| {
                let mut step = step.clone();
                step.args[at] = param.default?.into();
                Some(step)
            })
            .collect()
    });
    candidates.extend(each_argument(program, |_, arg| match arg {
        Arg::Number(number) => simpler_numbers(*number).into_iter().map(Arg::Number).collect(),
        Arg::Int(int) => integers(*int).map(Arg::Int).collect(),
        Arg::Ints(ints) => one_each(ints, |int| integers(*int).collect()).into_iter().map(Arg::Ints).collect(),
        Arg::Shapes(shapes) => {
            let smaller = |shape: &ShapeArg| match shape {
                ShapeArg::Size(size) => integers(*size).map(ShapeArg::Size).collect(),
                ShapeArg::Sizes(sizes) => {
                    let sizes = one_each(sizes, |size| integers(*size).collect());
                    sizes.into_iter().map(ShapeArg::Sizes).collect()
                }
                ShapeArg::Float(_) | ShapeArg::Text(_) => Vec::new(),
            };
            one_each(shapes, smaller).into_iter().map(Arg::Shapes).collect()
        }
        Arg::Flag(true) => vec![Arg::Flag(false)],
        Arg::Dtype(_) => vec![Arg::Dtype(DType::Float32), Arg::Dtype(DType::Int64), Arg::Dtype(DType::Float64)],
        Arg::ScalarType(_) => {
            [DType::Float32, DType::Int64, DType::Float64].map(|dtype| Arg::ScalarType(dtype.into())).to_vec()
        }
        Arg::Index(items) => one_each(items, simpler_items).into_iter().map(Arg::Index).collect(),
        _ => Vec::new(),
    }));
    // A number for a tensor that stands for one, so that the tensor may go.
    for (at, step) in program.steps.iter().enumerate() {
        let params = step.op.info().arguments.iter().enumerate();
        for (number, _) in params.filter(|(at, param)| param.kind == ParamKind::Operand && *at > 0) {
            let Arg::Tensor(value) = &step.args[number] else { continue };
            let Some(input) = program.inputs.get(value.value) else { continue };
            if let [element] = scalars(input)[..] {
                let mut candidate = program.clone();
                candidate.steps[at].args[number] = Arg::Number(element);
                candidates.extend(unused_removed(candidate));
            }
        }
    }
    candidates
}

fn simpler_numbers(number: Scalar) -> Vec<Scalar> {
    let mut numbers: Vec<Scalar> = [0, 1, 2, -1].map(Scalar::Int).to_vec();
    match number {
        Scalar::Int(int) => numbers.extend([int / 2, int - int.signum(), int.wrapping_neg()].map(Scalar::Int)),
        Scalar::Float(value) => {
            numbers.extend([value.trunc(), value.trunc() / 2.0].map(|value| Scalar::Int(value as i64)));
            numbers.extend([0.0, 1.0, 2.0, -1.0, 0.5, value.trunc(), (value / 2.0).trunc()].map(Scalar::Float));
        }
        Scalar::Complex(value) => {
            numbers.extend([value.re, value.im].map(Scalar::Float));
            numbers.push(Scalar::Complex(num_complex::Complex64::new(0.0, 1.0)));
        }
        Scalar::Bool(_) => {}
    }
    numbers
}

fn simpler_items(item: &IndexItem) -> Vec<IndexItem> {
    let whole = IndexItem::Slice { start: None, stop: None, step: 1 };
    match item {
        IndexItem::None | IndexItem::Ellipsis => Vec::new(),
        IndexItem::At(at) => [0, -1, at / 2].map(IndexItem::At).to_vec(),
        IndexItem::Slice { start, stop, step } => vec![
            whole,
            IndexItem::Slice { start: None, stop: *stop, step: *step },
            IndexItem::Slice { start: *start, stop: None, step: *step },
            IndexItem::Slice { start: *start, stop: *stop, step: 1 },
            IndexItem::Slice { start: *start, stop: *stop, step: 2 },
            IndexItem::Slice { start: start.map(|_| 1), stop: *stop, step: *step },
        ],
    }
}

/// With plainer elements: of all inputs, of each.
fn values(program: &Program) -> Vec<Program> {
    let usual =
        with_inputs(program, |at, input| Input { data: counting(input.dtype, &input.shape, at), ..input.clone() });
    std::iter::once(usual).chain(each_input(program, |at, input| elements::plainer(input, at))).collect()
}

/// The list with one element replaced, for each element and each of its replacements.
fn one_each<T: Clone>(values: &[T], simpler: impl Fn(&T) -> Vec<T>) -> Vec<Vec<T>> {
    let mut lists = Vec::new();
    for (at, value) in values.iter().enumerate() {
        lists.extend(simpler(value).into_iter().map(|value| {
            let mut values = values.to_vec();
            values[at] = value;
            values
        }));
    }
    lists
}

fn with_inputs(program: &Program, change: impl Fn(usize, &Input) -> Input) -> Program {
    let inputs = program.inputs.iter().enumerate().map(|(at, input)| change(at, input)).collect();
    Program { inputs, steps: program.steps.clone() }
}

fn each_input(program: &Program, simpler: impl Fn(usize, &Input) -> Vec<Input>) -> Vec<Program> {
    let mut candidates = Vec::new();
    for (at, input) in program.inputs.iter().enumerate() {
        candidates.extend(simpler(at, input).into_iter().map(|input| {
            let mut candidate = program.clone();
            candidate.inputs[at] = input;
            candidate
        }));
    }
    candidates
}

fn each_step(program: &Program, simpler: impl Fn(&Step) -> Vec<Step>) -> Vec<Program> {
    let mut candidates = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        candidates.extend(simpler(step).into_iter().map(|step| {
            let mut candidate = program.clone();
            candidate.steps[at] = step;
            candidate
        }));
    }
    candidates
}

fn each_argument(program: &Program, simpler: impl Fn(&Step, &Arg) -> Vec<Arg>) -> Vec<Program> {
    each_step(program, |step| {
        let args = step.args.iter().enumerate();
        args.flat_map(|(at, arg)| simpler(step, arg).into_iter().map(move |arg| (at, arg)))
            .map(|(at, arg)| {
                let mut step = step.clone();
                step.args[at] = arg;
                step
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_may_be_of_any_size() {
        let shape = Shape::new(vec![1 << 55, 1, 0, 1]).unwrap();
        let input = Input { name: "x".to_owned(), dtype: DType::Uint8, shape, data: Vec::new(), requires_grad: false };
        let program = Program { inputs: vec![input], steps: Vec::new() };
        let sizes = resized(&program).into_iter().flat_map(|program| program.inputs).map(|input| input.data.len());
        assert!(sizes.max() <= Some(MOST_ELEMENTS));
    }

    #[test]
    fn the_least_integer_has_simpler_numbers() {
        assert!(simpler_numbers(Scalar::Int(i64::MIN)).contains(&Scalar::Int(i64::MIN / 2)));
    }
}
