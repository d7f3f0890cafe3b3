//! Simpler programs of which the same is true.

use crate::ops::Form;
use crate::program::{Arg, Input, Program, Step, ValueRef};
use crate::tensor::{DType, Shape};

/// The simplest program that can be reached from this one by steps that keep `same` true. `same` is asked a few hundred
/// times at most.
pub fn shrink(program: Program, mut same: impl FnMut(&Program) -> bool) -> Program {
    let mut simplest = program;
    let mut asked = 0;
    'simpler: loop {
        for candidate in candidates(&simplest) {
            if asked == 500 {
                return simplest;
            }
            asked += 1;
            if same(&candidate) {
                simplest = candidate;
                continue 'simpler;
            }
        }
        return simplest;
    }
}

/// Programs that are simpler in one respect each, those that lose most first.
fn candidates(program: &Program) -> Vec<Program> {
    let values = program.inputs.len() + program.steps.len();
    let mut candidates: Vec<Program> = (0..values).rev().filter_map(|value| without(program, value)).collect();
    for at in 0..program.inputs.len() {
        for input in simpler_inputs(&program.inputs[at], at) {
            let mut candidate = program.clone();
            candidate.inputs[at] = input;
            candidates.push(candidate);
        }
    }
    // Operands of one shape fit together only if they change together.
    for size in sizes(program) {
        let mut candidate = program.clone();
        for (at, input) in candidate.inputs.iter_mut().enumerate() {
            let sizes = input.shape.sizes().iter().map(|&old| if old == size { smaller(size) } else { old }).collect();
            *input = filled(input, sizes, input.dtype, at);
        }
        candidates.push(candidate);
    }
    for (at, step) in program.steps.iter().enumerate() {
        for simpler in simpler_steps(program, step) {
            let mut candidate = program.clone();
            candidate.steps[at] = simpler;
            candidates.push(candidate);
        }
    }
    candidates.retain(|candidate| candidate != program);
    candidates
}

/// The program without a value that nothing uses.
fn without(program: &Program, value: usize) -> Option<Program> {
    let used = program.steps.iter().flat_map(Step::uses).any(|used| used.value == value);
    if used || program.steps.len() + usize::from(value < program.inputs.len()) < 2 {
        return None;
    }
    let mut program = program.clone();
    match value.checked_sub(program.inputs.len()) {
        None => drop(program.inputs.remove(value)),
        Some(step) => drop(program.steps.remove(step)),
    }
    let moved = |at: &mut ValueRef| at.value -= usize::from(at.value > value);
    program.steps.iter_mut().for_each(|step| references(step).into_iter().for_each(moved));
    Some(program)
}

fn references(step: &mut Step) -> Vec<&mut ValueRef> {
    let mut references: Vec<&mut ValueRef> = step.out.iter_mut().collect();
    for arg in &mut step.args {
        match arg {
            Arg::Tensor(value) => references.push(value),
            Arg::Tensors(values) => references.extend(values),
            Arg::Indices(values) => references.extend(values.iter_mut().flatten()),
            _ => {}
        }
    }
    references
}

fn simpler_inputs(input: &Input, at: usize) -> Vec<Input> {
    let sizes = input.shape.sizes();
    let mut inputs = vec![Input { requires_grad: false, ..input.clone() }];
    inputs.extend((0..sizes.len()).map(|dim| {
        let mut sizes = sizes.to_vec();
        sizes.remove(dim);
        filled(input, sizes, input.dtype, at)
    }));
    inputs.extend((0..sizes.len()).flat_map(|dim| {
        [1, smaller(sizes[dim])].map(|size| {
            let mut sizes = sizes.to_vec();
            sizes[dim] = size;
            filled(input, sizes, input.dtype, at)
        })
    }));
    inputs.push(filled(input, sizes.to_vec(), DType::Float32, at));
    inputs.push(filled(input, sizes.to_vec(), input.dtype, at));
    // Less is simpler, and so is what cases leave out; never back.
    let weight = |input: &Input| (input.requires_grad, input.shape.sizes().iter().map(|size| size + 1).sum::<i64>());
    inputs.retain(|simpler| weight(simpler) <= weight(input));
    inputs
}

/// The input with other sizes and the elements that cases give an input by default.
fn filled(input: &Input, sizes: Vec<i64>, dtype: DType, at: usize) -> Input {
    let shape = Shape::new(sizes).expect("sizes that only became smaller");
    let data = super::value::counting(dtype, &shape, at);
    Input { dtype, shape, data, ..input.clone() }
}

fn smaller(size: i64) -> i64 {
    if size > 2 { 2 } else { size }
}

fn sizes(program: &Program) -> Vec<i64> {
    let mut sizes: Vec<i64> =
        program.inputs.iter().flat_map(|input| input.shape.sizes()).copied().filter(|&size| size > 2).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn simpler_steps(program: &Program, step: &Step) -> Vec<Step> {
    let mut steps = Vec::new();
    if step.form != Form::Functional {
        steps.push(Step { form: Form::Functional, out: None, ..step.clone() });
    }
    for (at, param) in step.op.info().signature.params().iter().enumerate() {
        let mut simpler: Vec<Arg> = param.default.map(Arg::from).into_iter().collect();
        match &step.args[at] {
            // The operand of a view for the view, which may then be left out.
            Arg::Tensor(value) => {
                let made_of = value.value.checked_sub(program.inputs.len()).map(|step| &program.steps[step]);
                let operand = made_of.and_then(|step| step.uses().next());
                simpler.extend(operand.map(Arg::Tensor));
            }
            Arg::Tensors(values) if values.len() > 1 && step.op.info().signature.params().len() == 1 => {
                simpler.extend((0..values.len()).map(|without| {
                    let mut values = values.clone();
                    values.remove(without);
                    Arg::Tensors(values)
                }));
            }
            Arg::Indices(values) => {
                for at in 0..values.len() {
                    let (mut fewer, mut missing) = (values.clone(), values.clone());
                    fewer.remove(at);
                    missing[at] = None;
                    simpler.extend([fewer, missing].map(Arg::Indices));
                }
            }
            Arg::Index(items) if items.len() > 1 => {
                simpler.extend((0..items.len()).map(|without| {
                    let mut items = items.clone();
                    items.remove(without);
                    Arg::Index(items)
                }));
            }
            _ => {}
        }
        steps.extend(simpler.into_iter().filter(|arg| *arg != step.args[at]).map(|arg| {
            let mut simpler = step.clone();
            simpler.args[at] = arg;
            simpler
        }));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Options, program};
    use crate::ops::Op;

    #[test]
    fn what_does_not_matter_goes() {
        // Any program with a product in it, and the product is all that matters.
        let bytes = (0..=u8::MAX).map(|start| (0..255).map(|at: u8| at.wrapping_mul(start).rotate_left(3)).collect());
        let has_product = |program: &Program| program.steps.iter().any(|step| step.op == Op::Mul);
        let mut programs = bytes.map(|bytes: Vec<u8>| program(&bytes, &Options::default()));
        let found = programs.find(|program| has_product(program) && program.steps.len() > 1).expect("there is one");
        let simplest = shrink(found, has_product);
        assert_eq!(simplest.steps.iter().filter(|step| step.op == Op::Mul).count(), 1);
        assert!(simplest.inputs.iter().all(|input| !input.requires_grad && input.shape.rank() == 0), "{simplest:?}");
    }
}
