//! Small worlds: every program of a kind up to a bound, in place of programs out of bytes.
//!
//! A case of a world is two or three operands, and its program has every operation that takes so many tensors, element by
//! element, for a loss or a distance, as factors, for a mask, or as a view that broadcasts or reshapes, in every form but
//! `out=`. Each call has operands that no
//! other call writes to, so that what goes wrong in one of them says nothing of the others.
//!
#![doc = include_str!("bounded_exhaustive/why.md")]

mod operand;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ops::{DtypeSet, Family, Form, Kernel, Op, ParamKind, ResultType};
use crate::program::{Arg, Input, Program, Step, ValueRef};
use crate::tensor::{Buffer, DType, IndexItem, Layout, Scalar, Shape};

use operand::{Operand, layouts, shapes};

/// The reason why a small scope is enough, in Markdown.
pub const WHY: &str = include_str!("bounded_exhaustive/why.md");

/// The bounds of a small world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The most dimensions of two operands.
    pub rank: usize,
    /// The most dimensions of three operands.
    pub triples: usize,
    /// The sizes that a dimension can have.
    pub sizes: Vec<i64>,
    /// True if operands lie in memory in other ways than row by row, too.
    pub layouts: bool,
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bounds { rank, triples, sizes, layouts } = self;
        let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
        let layouts = if *layouts { ", in several layouts" } else { "" };
        write!(f, "all pairs up to rank {rank} and triples up to rank {triples} of sizes {}{layouts}", sizes.join(", "))
    }
}

/// Every case up to some bounds.
#[derive(Clone, Debug)]
pub struct World {
    /// Two operands.
    pairs: Group,
    /// Three operands.
    triples: Group,
}

/// So many operands, in every combination.
#[derive(Clone, Debug)]
struct Group {
    arity: u32,
    operands: Vec<Operand>,
    calls: Vec<Call>,
}

/// An operation in one form, and where the operands of a case go.
#[derive(Clone, Debug)]
struct Call {
    op: Op,
    form: Form,
    args: Vec<Place>,
}

/// An argument.
#[derive(Clone, Debug)]
enum Place {
    /// An operand of the case.
    Operand(usize),
    /// The sizes of one.
    Sizes(usize),
    /// All of them.
    All,
    /// The same in every case.
    Fixed(Arg),
}

impl World {
    /// The world of some operations, within these bounds.
    pub fn new(bounds: &Bounds, ops: &[Op]) -> World {
        let group = |arity: u32, rank: usize| {
            let shapes = shapes(rank, &bounds.sizes).into_iter();
            let operands = shapes.flat_map(|shape| if bounds.layouts { layouts(shape) } else { vec![shape.into()] });
            let calls = ops.iter().flat_map(|op| calls(*op, arity as usize)).collect();
            Group { arity, operands: operands.collect(), calls }
        };
        World { pairs: group(2, bounds.rank), triples: group(3, bounds.triples) }
    }

    /// Returns whether it has calls of an operation.
    pub fn takes(op: Op) -> bool {
        [2, 3].iter().any(|arity| !calls(op, *arity).is_empty())
    }

    /// Leaves out the calls whose programs are not wanted, and the operands of which none is.
    pub fn retain(&mut self, wanted: impl Fn(&Program) -> bool) {
        for Group { arity, operands, calls } in [&mut self.pairs, &mut self.triples] {
            let of = |operand: &Operand, call: &Call| program(&vec![operand; *arity as usize], &[call]);
            calls.retain(|call| operands.iter().any(|operand| wanted(&of(operand, call))));
            operands.retain(|operand| calls.iter().any(|call| wanted(&of(operand, call))));
        }
    }

    /// Returns the number of cases, of two operands and of three.
    pub fn sizes(&self) -> [u64; 2] {
        [self.pairs.len(), self.triples.len()]
    }

    /// Returns the number of cases.
    pub fn len(&self) -> u64 {
        self.sizes().iter().sum()
    }

    /// Returns whether there are no cases.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All calls of a case. Its last steps are the calls, one step each; those before make the operands.
    pub fn program(&self, case: u64) -> Program {
        let (group, operands) = self.case(case);
        program(&operands, &group.calls_of(&operands))
    }

    /// Returns the number of calls of a case.
    pub fn calls(&self, case: u64) -> usize {
        let (group, operands) = self.case(case);
        group.calls_of(&operands).len()
    }

    /// Each call of a case as a program of its own, whose last step it is.
    pub fn programs(&self, case: u64) -> Vec<Program> {
        let (group, operands) = self.case(case);
        group.calls_of(&operands).into_iter().map(|call| program(&operands, &[call])).collect()
    }

    fn case(&self, case: u64) -> (&Group, Vec<&Operand>) {
        match case.checked_sub(self.pairs.len()) {
            None => (&self.pairs, self.pairs.case(case)),
            Some(case) => (&self.triples, self.triples.case(case)),
        }
    }
}

impl Group {
    fn len(&self) -> u64 {
        if self.calls.is_empty() { 0 } else { (self.operands.len() as u64).pow(self.arity) }
    }

    /// The operands of a case: the digits of its number.
    fn case(&self, case: u64) -> Vec<&Operand> {
        let base = self.operands.len() as u64;
        let digit = |place: u32| &self.operands[(case / base.pow(place) % base) as usize];
        (0..self.arity).rev().map(digit).collect()
    }

    /// The calls on these operands. Sizes alone have no layout.
    fn calls_of(&self, operands: &[&Operand]) -> Vec<&Call> {
        let plain = |place: &Place| !matches!(place, Place::Sizes(at) if !operands[*at].is_plain());
        self.calls.iter().filter(|call| call.args.iter().all(plain)).collect()
    }
}

/// The calls of an operation with so many operands.
fn calls(op: Op, arity: usize) -> Vec<Call> {
    let info = op.info();
    let params = info.arguments;
    let lists: Vec<Vec<Place>> = match (info.family(), info.kinds) {
        // Matrices of such elements are singular, pivots have a dtype of their own, and of bilinear the bias alone broadcasts, the
        // fourth operand.
        _ if matches!(op, Op::LinalgSolve | Op::LinalgLuSolve | Op::Bilinear) => Vec::new(),
        (family, _)
            if matches!(family, Family::Pointwise | Family::Losses | Family::Products)
                || [Kernel::Mask, Kernel::Assignment].contains(&info.kernel) =>
        {
            let takes = |at: &usize| match params[*at].kind {
                ParamKind::Tensor | ParamKind::Operand => true,
                ParamKind::Value => info.kernel == Kernel::Assignment,
                _ => false,
            };
            let tensors: Vec<usize> = (0..params.len()).filter(takes).collect();
            let reductions: &[&str] = match info.kinds.contains(&ParamKind::Reduction) {
                true => &["none", "mean"],
                false => &[""],
            };
            let of = |tensors: &Vec<usize>| {
                reductions.iter().filter_map(|reduction| arguments(op, tensors, reduction)).collect::<Vec<_>>()
            };
            chosen(&tensors, arity).iter().flat_map(of).collect()
        }
        (Family::Views, [ParamKind::Tensor, ParamKind::Ints]) if arity == 2 => {
            vec![vec![Place::Operand(0), Place::Sizes(1)]]
        }
        (Family::Views, [ParamKind::Tensor, ParamKind::Tensor]) if arity == 2 => {
            vec![vec![Place::Operand(0), Place::Operand(1)]]
        }
        (Family::Views, [ParamKind::Tensors]) => vec![vec![Place::All]],
        _ => Vec::new(),
    };
    let call = |args: &Vec<Place>, form: Form| Call { op, form, args: args.clone() };
    let forms = |args: &Vec<Place>| {
        let writable = matches!(args.first(), Some(Place::Operand(_)));
        let forms = info.forms.iter().filter(|form| match form {
            Form::Functional => true,
            Form::InPlace => writable,
            Form::Out => false,
        });
        forms.map(|form| call(args, *form)).collect::<Vec<_>>()
    };
    lists.iter().flat_map(forms).collect()
}

/// The arguments of an operation of which these are tensors. Of the others, one that may be left out is, one that may be a
/// number is, and a flag is not set.
fn arguments(op: Op, tensors: &[usize], reduction: &str) -> Option<Vec<Place>> {
    let params = op.info().arguments.iter().enumerate();
    params
        .map(|(at, param)| match (tensors.iter().position(|tensor| *tensor == at), param.default) {
            (Some(operand), _) => Some(Place::Operand(operand)),
            _ if param.kind == ParamKind::Reduction => Some(Place::Fixed(Arg::Text(reduction.to_owned()))),
            (None, Some(default)) => Some(Place::Fixed(default.into())),
            (None, None) => match param.kind {
                ParamKind::Operand | ParamKind::Value | ParamKind::Number | ParamKind::Real => {
                    Some(Place::Fixed(Arg::Number(Scalar::Float(0.5))))
                }
                ParamKind::Flag => Some(Place::Fixed(Arg::Flag(false))),
                ParamKind::Index => Some(Place::Fixed(Arg::Index(vec![IndexItem::Ellipsis]))),
                _ => None,
            },
        })
        .collect()
}

/// Every choice of so many, in order.
fn chosen(from: &[usize], count: usize) -> Vec<Vec<usize>> {
    match (count, from.split_first()) {
        (0, _) => vec![Vec::new()],
        (_, None) => Vec::new(),
        (_, Some((first, rest))) => {
            let with = chosen(rest, count - 1).into_iter().map(|others| [vec![*first], others].concat());
            with.chain(chosen(rest, count)).collect()
        }
    }
}

/// The elements of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Elements {
    dtype: DType,
    /// True if there is a zero among them. Nothing that is computed of the others leaves its domain.
    zero: bool,
}

impl Elements {
    /// Those of a parameter: float32, unless the operation has a reason for another dtype.
    fn of(op: Op, param: &str) -> Elements {
        let info = op.info();
        let dtype = match (param, info.result, info.dtypes) {
            ("condition" | "mask", ..) => DType::Bool,
            // In place it is refused in any other.
            (_, ResultType::Double, _) => DType::Float64,
            (_, _, DtypeSet::Integral | DtypeSet::Integers) => DType::Int64,
            _ => DType::Float32,
        };
        Elements { dtype, zero: info.kernel == Kernel::Compare }
    }

    /// Small numbers, all different, of few binary digits, so that sums and products of them are exact. Operands have the
    /// same ones in another order, so that some pairs are equal, and of the others each is now and then the larger one.
    fn bytes(self, operand: usize, shape: &Shape) -> Vec<u8> {
        let number = |at: usize| {
            let at = at / 3 * 3 + [[0, 1, 2], [0, 2, 1], [1, 0, 2]][operand][at % 3];
            let counted = at as i64 + i64::from(!self.zero);
            match self.dtype {
                DType::Bool => Scalar::Bool(counted % 2 == 1),
                DType::Int64 => Scalar::Int(counted),
                _ if self.zero => Scalar::Float(counted as f64),
                _ => Scalar::Float(1.0 + counted as f64 / 32.0),
            }
        };
        let layout = Layout::contiguous(shape.clone());
        Buffer::from_scalars(self.dtype, (0..shape.numel()).map(number)).to_bytes(&layout)
    }
}

/// An operand with its elements, and the number of the call that writes to it, if one does.
type Key = (usize, Elements, Option<usize>);

/// The program of some calls on these operands.
fn program(operands: &[&Operand], calls: &[&Call]) -> Program {
    let keys = |number: usize, call: &Call| -> Vec<Vec<Key>> {
        let params = call.op.info().arguments;
        let key = |operand: usize, param: &str, at: usize| {
            let written = (call.form == Form::InPlace && at == 0).then_some(number);
            (operand, Elements::of(call.op, param), written)
        };
        let of_arg = |(at, place): (usize, &Place)| match place {
            Place::Operand(operand) => vec![key(*operand, params[at].name, at)],
            Place::All => (0..operands.len()).map(|operand| key(operand, "", at)).collect(),
            Place::Sizes(_) | Place::Fixed(_) => Vec::new(),
        };
        call.args.iter().enumerate().map(of_arg).collect()
    };
    let mut program = Program::default();
    let mut values: BTreeMap<Key, usize> = BTreeMap::new();
    for (number, call) in calls.iter().enumerate() {
        for key @ (operand, elements, _) in keys(number, call).into_iter().flatten() {
            values.entry(key).or_insert_with(|| {
                let (name, shape) = (format!("x{}", program.inputs.len()), operands[operand].base.clone());
                let data = elements.bytes(operand, &shape);
                program.inputs.push(Input { name, dtype: elements.dtype, shape, data, requires_grad: false });
                program.inputs.len() - 1
            });
        }
    }
    let inputs = program.inputs.len();
    let mut add = |op: Op, form: Form, args: Vec<Arg>| {
        let name = format!("r{}", program.steps.len());
        program.steps.push(Step { name, op, form, args, out: None });
        inputs + program.steps.len() - 1
    };
    for ((operand, ..), value) in &mut values {
        for (op, args) in &operands[*operand].views {
            let args = [&[tensor(*value)], &args[..]].concat();
            *value = add(*op, Form::Functional, args);
        }
    }
    for (number, call) in calls.iter().enumerate() {
        let args = call.args.iter().zip(keys(number, call)).map(|(place, keys)| match place {
            Place::Operand(_) => tensor(values[&keys[0]]),
            Place::Sizes(operand) => Arg::Ints(operands[*operand].base.sizes().to_vec()),
            Place::All => Arg::Tensors(keys.iter().map(|key| ValueRef { value: values[key], part: None }).collect()),
            Place::Fixed(arg) => arg.clone(),
        });
        add(call.op, call.form, args.collect());
    }
    program
}

fn tensor(value: usize) -> Arg {
    Arg::Tensor(ValueRef { value, part: None })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::adapter::Implementation;
    use crate::program::{Outcome, Reply};
    use crate::reference::Reference;

    fn world(rank: usize, triples: usize, layouts: bool) -> World {
        World::new(&Bounds { rank, triples, sizes: vec![0, 1, 2], layouts }, Op::ALL)
    }

    /// What came of the last step.
    fn last(reply: &Reply) -> &Outcome {
        &reply.steps.last().expect("a call").outcome
    }

    #[test]
    fn every_combination_is_there_once() {
        let bounds = Bounds { rank: 4, triples: 2, sizes: vec![0, 1, 2, 3], layouts: false };
        assert_eq!(World::new(&bounds, Op::ALL).sizes(), [116_281, 9_261]);
        let world = World::new(&Bounds { rank: 2, triples: 1, sizes: vec![0, 1, 2], layouts: false }, &[Op::Where]);
        let shapes = |case| {
            let program = world.program(case);
            program.steps[0].uses().map(|used| program.inputs[used.value].shape.clone()).collect::<Vec<_>>()
        };
        let all: BTreeSet<Vec<Shape>> = (0..world.len()).map(shapes).collect();
        assert_eq!((world.len(), all.len()), (169 + 64, 169 + 64));
    }

    #[test]
    fn every_operation_with_operands_that_broadcast_is_there() {
        let there = |op: &Op| World::takes(*op);
        let operand = |kind: &ParamKind| matches!(kind, ParamKind::Tensor | ParamKind::Operand | ParamKind::Value);
        let several = |op: &&Op| op.info().kinds.iter().filter(|kind| operand(kind)).count() > 1;
        assert!(Op::ALL.iter().filter(|op| op.info().family() == Family::Pointwise).filter(several).all(there));
        assert!([Op::Expand, Op::BroadcastTo, Op::ExpandAs, Op::BroadcastTensors, Op::MaskedFill].iter().all(there));
        assert!(
            [Op::MseLoss, Op::CosineSimilarity, Op::Matmul, Op::LinalgCross, Op::MseLossBackward].iter().all(there)
        );
        assert!(![Op::Sum, Op::Gather, Op::Backward, Op::Transpose].iter().any(there));
        let counted = |op: Op, arity| calls(op, arity).len();
        assert_eq!([counted(Op::Clamp, 2), counted(Op::Clamp, 3)], [4, 2], "with either bound, and with both");
        assert_eq!([counted(Op::Where, 2), counted(Op::Where, 3)], [2, 1], "with a number, and without");
        assert_eq!([counted(Op::Addcmul, 2), counted(Op::Addcmul, 3)], [0, 2]);
        assert_eq!([counted(Op::MseLoss, 2), counted(Op::MseLossBackward, 3)], [2, 2], "with and without a reduction");
    }

    /// What a call comes to beside all the others is what it comes to alone.
    #[test]
    fn calls_do_not_touch_each_other() {
        for (world, apart) in [(world(2, 1, false), 17), (world(1, 1, true), 41)] {
            for case in (0..world.len()).step_by(apart) {
                let program = world.program(case);
                let together = Reference.run(&program);
                let alone = world.programs(case);
                let views = program.steps.len() - world.calls(case);
                assert_eq!(alone.len(), world.calls(case));
                for (program, seen) in alone.iter().zip(&together.steps[views..]) {
                    match (&seen.outcome, last(&Reference.run(program))) {
                        (Outcome::Value(_), Outcome::Value(_)) => {}
                        (together, alone) => assert_eq!(together, alone, "{program:?}"),
                    }
                    let elements = |outcome: &Outcome| {
                        let of = |tensor: &crate::program::TensorValue| (tensor.shape.clone(), tensor.data.clone());
                        outcome.tensors().iter().map(of).collect::<Vec<_>>()
                    };
                    assert_eq!(elements(&seen.outcome), elements(last(&Reference.run(program))), "{program:?}");
                }
            }
        }
    }

    /// Each operation is accepted wherever its operands broadcast: nothing but shapes decides in a small world.
    #[test]
    fn only_shapes_are_refused() {
        let world = world(2, 1, false);
        for program in (0..world.sizes()[0]).flat_map(|case| world.programs(case)) {
            let call = &program.steps[0];
            // These have rules of their own beside broadcasting: samplers reject numbers that are no probabilities.
            let info = call.op.info();
            if info.family() != Family::Pointwise
                || info.kernel == Kernel::Sampler
                || matches!(call.op, Op::Fill | Op::Prelu)
            {
                continue;
            }
            let shapes: Vec<&Shape> = call.uses().map(|used| &program.inputs[used.value].shape).collect();
            let fits = match call.form {
                Form::InPlace => shapes[1].expands_to(shapes[0]),
                _ => shapes[0].broadcast(shapes[1]).is_ok(),
            };
            let accepted = matches!(last(&Reference.run(&program)), Outcome::Value(_));
            assert_eq!(accepted, fits, "{} {:?} of {shapes:?}", call.op, call.form);
        }
    }

    #[test]
    fn elements_are_different_and_compare_in_every_way() {
        let shape = Shape::new(vec![9, 9]).unwrap();
        let of = |operand| {
            let bytes = Elements { dtype: DType::Float32, zero: false }.bytes(operand, &shape);
            Buffer::from_bytes(DType::Float32, &bytes).unwrap().scalars()
        };
        let text = |scalars: &[Scalar]| scalars.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let [a, b, c] = [0, 1, 2].map(of);
        assert_eq!((text(&a).len(), text(&a)), (81, text(&b)));
        let ways: BTreeSet<_> = a.iter().zip(&b).map(|pair| format!("{:?}", order(pair.0, pair.1))).collect();
        assert_eq!(ways.len(), 3);
        assert_eq!(text(&a), text(&c));
    }

    fn order(a: &Scalar, b: &Scalar) -> Option<std::cmp::Ordering> {
        match (a, b) {
            (Scalar::Float(a), Scalar::Float(b)) => a.partial_cmp(b),
            _ => None,
        }
    }

    #[test]
    fn layouts_are_those_of_the_shape() {
        let world = World::new(&Bounds { rank: 2, triples: 0, sizes: vec![0, 1, 2, 3], layouts: true }, &[Op::Add]);
        let mut seen = BTreeSet::new();
        for case in 0..world.sizes()[0] {
            let program = world.program(case);
            let reply = Reference.run(&program);
            let made = |used: ValueRef| match used.value.checked_sub(program.inputs.len()) {
                Some(step) => reply.steps[step].outcome.tensors().first().cloned(),
                None => None,
            };
            for tensor in program.steps.last().unwrap().uses().filter_map(made) {
                seen.insert((tensor.shape.sizes().to_vec(), tensor.strides, tensor.storage.map(|it| it.offset)));
            }
        }
        let shapes: BTreeSet<_> = seen.iter().map(|(shape, ..)| shape.clone()).collect();
        assert_eq!(shapes.len(), 21, "every shape lies otherwise, too");
        let lies = |shape: &[i64], strides: &[i64], offset| {
            assert!(seen.contains(&(shape.to_vec(), Some(strides.to_vec()), Some(offset))), "{strides:?}");
        };
        lies(&[2, 3], &[1, 2], 0);
        lies(&[2, 3], &[0, 1], 0);
        lies(&[2, 3], &[1, 0], 0);
        lies(&[2, 3], &[0, 0], 0);
        lies(&[2, 3], &[6, 2], 0);
        lies(&[2, 3], &[6, 1], 0);
        lies(&[2, 3], &[3, 1], 3);
        lies(&[2, 3], &[4, 1], 1);
        lies(&[], &[], 1);
    }
}
