//! A finding as a case of the specification: the program, and what the oracle expects of it.

use std::collections::BTreeMap;

use crate::case::{
    Case, Expectation, Expected as Properties, ExpectedRejection, Location, Source, Specification, render as yaml,
};
use crate::class_of;
use crate::escape::one_line;
use crate::ops::{Compare, Form};
use crate::program::{Arg, Outcome, Program, Reply, Step, TensorValue, Value, ValueRef};
use crate::reference;
use crate::tensor::{Category, Scalar};

use super::super::{Aspect, Difference};
use super::{Dossier, Expected};

/// The most elements that a case spells out.
const MOST: usize = 64;

/// The decimals to which a case gives numbers that every implementation rounds in its own way.
const DECIMALS: i32 = 3;

/// The text of the file `spec/regressions/NAME.yaml`.
pub(super) fn render(dossier: &Dossier, specification: &Specification, name: &str) -> String {
    let finding = dossier.finding;
    let asked = || reference::ask(&finding.program).ok();
    let reply = match dossier.expected {
        Expected::Outcomes(side) => Some(side.reply.clone()),
        // Both programs are the implementation's own, so the reference gives the expected outcome of either.
        Expected::SameAs { .. } => asked(),
    };
    let mut text = format!(
        "# {}\n# Found in {} {}. It becomes a regression case as spec/regressions/{name}.yaml.\n",
        one_line(&finding.signature.to_string()),
        one_line(&dossier.implementation.name),
        one_line(&dossier.implementation.version)
    );
    let expect = reply.map(|reply| expectations(&finding.program, &finding.differences, &reply)).unwrap_or_default();
    let rejects = expect.iter().any(|(_, expectation)| matches!(expectation, Expectation::Rejected(_)));
    let control = rejects.then(|| control(&finding.program)).flatten();
    let accepted = control.as_ref().map(|(program, reply)| expectations(program, &[], reply));
    let expected = [Some(&expect), accepted.as_ref()].into_iter().flatten().map(|expect| aspects(expect)).collect();
    let (clauses, source) = clause(&finding.program, rejects, expected, specification);
    let case = |id: &str, note: &str, program: Program, expect, control| Case {
        id: format!("{name}/{id}"),
        clauses: clauses.clone(),
        witnesses: BTreeMap::new(),
        source: source.clone(),
        note: Some(note.to_owned()),
        program,
        expect,
        otherwise: Vec::new(),
        documented: Vec::new(),
        why: None,
        control,
        location: Location::default(),
    };
    if let Some(((program, _), expect)) = control.as_ref().zip(accepted) {
        text.push_str(&yaml::case(&case("control", "The accepting twin.", program.clone(), expect, None)));
        text.push('\n');
    }
    let control = control.map(|_| format!("{name}/control"));
    let note = "Found by the fuzzer. The clause is that of most cases of the operation: see whether it is the one.";
    text.push_str(&yaml::case(&case("found", note, finding.program.clone(), expect, control)));
    text
}

/// The clauses of the case that is most like the program, and their source: one of the same operation in the same form,
/// which is accepted or rejected as this one is. The clause is about something that each of the new cases expects.
fn clause(
    program: &Program,
    rejects: bool,
    expected: Vec<Vec<Aspect>>,
    specification: &Specification,
) -> (Vec<String>, Source) {
    let can_be_contradicted = |id: &str| {
        let clause = specification.clauses.iter().find(|clause| clause.id == id);
        clause.is_some_and(|clause| expected.iter().all(|aspects| aspects.iter().any(|one| clause.about.contains(one))))
    };
    let last = program.steps.last();
    let mut votes: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
    for (at, case) in specification.cases.iter().enumerate() {
        let alike = |step: &Step| match last {
            Some(last) if step.op == last.op => 2 + usize::from(step.form == last.form),
            Some(last) => usize::from(step.op.info().family() == last.op.info().family()),
            None => 0,
        };
        let alike = case.program.steps.iter().map(alike).max().unwrap_or(0);
        let weight = [0, 1, 100, 200][alike] * if case.rejects() == rejects { 3 } else { 1 };
        for clause in case.clauses.iter().filter(|_| case.documented.is_empty()) {
            let vote = votes.entry(clause).or_insert((0, at));
            vote.0 += weight;
        }
    }
    let able = votes.into_iter().filter(|(id, _)| can_be_contradicted(id));
    let best = able.max_by_key(|(_, (weight, first))| (*weight, usize::MAX - first));
    let clause = best.and_then(|(id, _)| specification.clauses.iter().find(|clause| clause.id == *id));
    match clause {
        Some(clause) => (vec![clause.id.clone()], Source { at: None, ..clause.sources[0].clone() }),
        None => (Vec::new(), Source { doc: String::new(), section: String::new(), example: None, at: None }),
    }
}

/// Returns the aspects that a case expects of its values.
fn aspects(expect: &[(ValueRef, Expectation)]) -> Vec<Aspect> {
    expect.iter().flat_map(|(_, expectation)| expectation.aspects()).collect()
}

/// Returns the expectations of each value: layouts and warnings only where they differ, since most cases say nothing of
/// them.
fn expectations(program: &Program, differences: &[Difference], reply: &Reply) -> Vec<(ValueRef, Expectation)> {
    let differs = |name: &str, aspect: Aspect| {
        differences.iter().any(|difference| difference.value == name && difference.aspect == aspect)
    };
    let mut expect = Vec::new();
    for (at, (step, answer)) in program.steps.iter().zip(&reply.steps).enumerate() {
        let value = ValueRef { value: program.inputs.len() + at, part: None };
        let inexact = inexact(program, at);
        let mut expectation = match &answer.outcome {
            Outcome::Value(Value::Tensor(tensor)) => Expectation::Value(properties(tensor, inexact)),
            Outcome::Value(Value::Tensors(tensors)) => {
                expect.extend(tensors.iter().enumerate().map(|(part, tensor)| {
                    (ValueRef { part: Some(part), ..value }, Expectation::Value(properties(tensor, inexact)))
                }));
                continue;
            }
            Outcome::Value(Value::Number(number)) => {
                Expectation::Value(Properties { number: Some(*number), ..Properties::default() })
            }
            Outcome::Value(Value::Dtype(dtype)) => {
                Expectation::Value(Properties { dtype: Some(*dtype), ..Properties::default() })
            }
            Outcome::Value(Value::Sizes(sizes)) => match crate::tensor::Shape::new(sizes.clone()) {
                Ok(shape) => Expectation::Value(Properties { shape: Some(shape), ..Properties::default() }),
                Err(_) => continue,
            },
            Outcome::Value(Value::Nothing) if step.op.info().family() == crate::ops::Family::Autograd => {
                Expectation::Nothing
            }
            Outcome::Rejected(rejected) => match class_of(rejected) {
                Some(class) => Expectation::Rejected(ExpectedRejection {
                    class: Some(class),
                    message: Some(rejected.message.clone()),
                    raises: None,
                }),
                None => continue,
            },
            _ => continue,
        };
        if let (Expectation::Value(expected), [tensor]) = (&mut expectation, answer.outcome.tensors()) {
            layout(program, expected, tensor, &|aspect| differs(&step.name, aspect));
            if differs(&step.name, Aspect::Warnings) {
                expected.warnings = Some(answer.warnings.clone());
            }
        }
        expect.push((value, expectation));
    }
    for (at, (input, tensor)) in program.inputs.iter().zip(&reply.inputs).enumerate() {
        if differences.iter().any(|difference| difference.value == format!("{} after", input.name)) {
            let unchanged = (&tensor.shape, tensor.dtype, &tensor.data) == (&input.shape, input.dtype, &input.data);
            let expectation = match unchanged {
                true => Expectation::Unchanged,
                false => Expectation::Value(properties(tensor, true)),
            };
            expect.push((ValueRef { value: at, part: None }, expectation));
        }
    }
    expect
}

/// Returns whether implementations may round a step in ways of their own, or anything that it is made of.
fn inexact(program: &Program, at: usize) -> bool {
    program.steps[..=at].iter().any(|step| step.compare() != Compare::Bits)
}

fn properties(tensor: &TensorValue, inexact: bool) -> Properties {
    let mut expected =
        Properties { shape: Some(tensor.shape.clone()), dtype: Some(tensor.dtype.into()), ..Properties::default() };
    let known = tensor.shape.numel() <= MOST && tensor.data.len() == tensor.shape.numel() * tensor.dtype.size();
    let scalars = if known { tensor.scalars() } else { return expected };
    let rounded = inexact && tensor.dtype.category() >= Category::Floating;
    if !rounded {
        expected.values = Some(scalars);
        return expected;
    }
    // Large numbers have no decimals that are the same everywhere.
    let tame = |scalar: &Scalar| matches!(scalar, Scalar::Float(value) if !value.is_finite() || value.abs() < 1e4);
    if scalars.iter().all(tame) {
        let unit = 10f64.powi(DECIMALS);
        let round = |scalar: Scalar| match scalar {
            Scalar::Float(value) if value.is_finite() => Scalar::Float((value * unit).round() / unit),
            other => other,
        };
        expected.values = Some(scalars.into_iter().map(round).collect());
        expected.decimals = Some(DECIMALS as u32);
    }
    expected
}

fn layout(program: &Program, expected: &mut Properties, tensor: &TensorValue, differs: &dyn Fn(Aspect) -> bool) {
    if differs(Aspect::Strides) {
        expected.strides = tensor.strides.clone();
    }
    if differs(Aspect::Aliasing) {
        match tensor.storage.map(|storage| storage.id) {
            Some(id) if id < program.inputs.len() => expected.view_of = Some(ValueRef { value: id, part: None }),
            Some(_) => expected.fresh = true,
            None => {}
        }
    }
}

/// A program that is accepted and differs from this one, which is not, in one operand; or, if there is none, a copy of the
/// first operand.
fn control(program: &Program) -> Option<(Program, Reply)> {
    let accepted = |reply: &Reply| reply.steps.iter().all(|step| matches!(step.outcome, Outcome::Value(_)));
    let mut candidates = Vec::new();
    for (at, step) in program.steps.iter().enumerate() {
        for number in 0..step.args.len() {
            let Arg::Tensor(own) = step.args[number] else { continue };
            for other in (0..program.inputs.len()).filter(|other| *other != own.value) {
                let mut candidate = program.clone();
                candidate.steps[at].args[number] = Arg::Tensor(ValueRef { value: other, part: None });
                candidates.push(candidate);
            }
        }
    }
    let mut functional = program.clone();
    functional.steps.iter_mut().for_each(|step| (step.form, step.out) = (Form::Functional, None));
    candidates.push(functional);
    let mut ungraded = program.clone();
    ungraded.inputs.iter_mut().for_each(|input| input.requires_grad = false);
    candidates.push(ungraded);
    let clone = Step {
        name: "copied".to_owned(),
        op: crate::ops::Op::Clone,
        form: Form::Functional,
        args: vec![Arg::Tensor(ValueRef { value: 0, part: None })],
        out: None,
    };
    candidates.extend(program.inputs.first().map(|input| Program { inputs: vec![input.clone()], steps: vec![clone] }));
    candidates.into_iter().find_map(|program| {
        let reply = reference::ask(&program).ok().filter(accepted)?;
        Some((program, reply))
    })
}
