//! Programs written out as bytes, so that the cases of the specification can be the seeds of a fuzzer.
//!
//! What [`program`](super::program) draws from bytes cannot be turned around. This can: [`write`] and [`read`] are the
//! same walk over a program. Any bytes mean a program here too; a byte that changes changes one thing in it.

use arbitrary::Unstructured;
use num_complex::Complex64;

use crate::ops::{Form, Op, Param, ParamKind, REDUCTIONS};
use crate::program::{Arg, Input, Program, ShapeArg, Step, ValueRef};
use crate::tensor::{Buffer, Category, DType, IndexItem, Scalar, ScalarType, Shape};

use super::{MAX_INPUT_ELEMENTS, MAX_INPUTS, MAX_RANK, MAX_STEPS, shape, text, value};

/// The most items of a list: of sizes, of operands, of letters in an equation.
const MAX_ITEMS: usize = 32;

/// The most results of a step that can be told apart.
const MAX_PARTS: usize = 6;

/// The bytes that mean the program, but for the names in it; `None` if it is larger than generated programs may be.
pub(super) fn write(program: &Program) -> Option<Vec<u8>> {
    let program = named(program.clone());
    let mut bytes = Vec::new();
    Tape::Writes(&mut bytes).program(Op::ALL, Some(&program));
    // As text, because a NaN is not equal to itself.
    (format!("{:?}", read(&mut Unstructured::new(&bytes), Op::ALL)) == format!("{program:?}")).then_some(bytes)
}

/// The program that the bytes mean, where `ops` are the operations to choose from. It may use what is not there.
pub(super) fn read(u: &mut Unstructured, ops: &[Op]) -> Program {
    Tape::Reads(u).program(ops, None)
}

/// The program with the names that generated programs have.
fn named(mut program: Program) -> Program {
    program.inputs.iter_mut().enumerate().for_each(|(at, input)| input.name = format!("x{at}"));
    program.steps.iter_mut().enumerate().for_each(|(at, step)| step.name = format!("r{at}"));
    program
}

/// The elements with the one NaN that cases can have. C's own functions take signalling ones for something else.
fn quiet(dtype: DType, shape: &Shape, data: Vec<u8>) -> Vec<u8> {
    if dtype.category() < Category::Floating {
        return data;
    }
    let elements = Buffer::from_bytes(dtype, &data).expect("whole elements").scalars();
    let elements = elements.into_iter().map(|element| match element {
        Scalar::Float(value) => Scalar::Float(quieted(value)),
        Scalar::Complex(value) => Scalar::Complex(Complex64::new(quieted(value.re), quieted(value.im))),
        other => other,
    });
    value::bytes(dtype, shape, elements)
}

/// The number; messages show the sign of a NaN that has one.
fn quieted(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

/// Bytes that are read or written. Each method takes what to write, which counts for nothing in reading, and returns
/// what stands there, so that one walk serves both.
enum Tape<'t, 'b> {
    Reads(&'t mut Unstructured<'b>),
    Writes(&'t mut Vec<u8>),
}

/// Evaluates to the content of the argument if it is of the kind, else to the default.
macro_rules! given {
    ($arg:expr, $variant:ident, $default:expr) => {
        match $arg {
            Some(Arg::$variant(given)) => given.clone(),
            _ => $default,
        }
    };
}

impl Tape<'_, '_> {
    fn program(&mut self, ops: &[Op], program: Option<&Program>) -> Program {
        let inputs = program.map_or(&[][..], |program| &program.inputs);
        let steps = program.map_or(&[][..], |program| &program.steps);
        let mut at = 0..;
        let inputs = self.list(inputs, MAX_INPUTS, |tape, input| tape.input(at.next().unwrap_or(0), input));
        let mut at = 0..;
        let steps = self.list(steps, MAX_STEPS, |tape, step| tape.step(ops, at.next().unwrap_or(0), step));
        Program { inputs, steps }
    }

    fn input(&mut self, at: usize, input: Option<&Input>) -> Input {
        let dtype = self.one_of(DType::ALL, input.map(|input| input.dtype));
        let sizes = input.map_or(&[][..], |input| input.shape.sizes());
        let sizes = self.list(sizes, MAX_RANK, |tape, size| i64::from(tape.byte(size.map_or(0, |size| *size as u8))));
        let shape = shape::fitting(sizes, MAX_INPUT_ELEMENTS);
        let requires_grad = self.flag(input.is_some_and(|input| input.requires_grad));
        let counting = value::counting(dtype, &shape, at);
        let given = input.map_or(&counting, |input| &input.data);
        let data = match self.flag(*given != counting) {
            false => counting,
            true => {
                let byte = |at: usize| {
                    let byte = self.byte(given.get(at).copied().unwrap_or(0));
                    if dtype == DType::Bool { byte % 2 } else { byte }
                };
                quiet(dtype, &shape, (0..shape.numel() * dtype.size()).map(byte).collect())
            }
        };
        let requires_grad = requires_grad && dtype.category() >= Category::Floating;
        Input { name: format!("x{at}"), dtype, shape, data, requires_grad }
    }

    fn step(&mut self, ops: &[Op], at: usize, step: Option<&Step>) -> Step {
        let number = self.number(Op::ALL.iter().position(|op| Some(*op) == step.map(|step| step.op)), Op::ALL.len());
        let mut op = Op::ALL[number];
        // Another one in its place keeps the rest of the program of use.
        if !ops.contains(&op) && !ops.is_empty() {
            op = ops[number % ops.len()];
        }
        let form = self.one_of(op.info().forms, step.map(|step| step.form));
        let params = op.info().arguments.iter().enumerate();
        // Nothing is written to a number.
        let target = |at| form == Form::InPlace && at == 0;
        let args = params.map(|(at, param)| self.arg(param, target(at), step.and_then(|step| step.args.get(at))));
        let args = args.collect();
        let out = (form == Form::Out).then(|| self.value(step.and_then(|step| step.out)));
        Step { name: format!("r{at}"), op, form, args, out }
    }

    fn arg(&mut self, param: &Param, target: bool, arg: Option<&Arg>) -> Arg {
        if let Some(default) = param.default.map(Arg::from)
            && !self.flag(arg.is_some_and(|arg| *arg != default))
        {
            return default;
        }
        match param.kind {
            ParamKind::Operand | ParamKind::Value if !target && self.flag(matches!(arg, Some(Arg::Number(_)))) => {
                Arg::Number(self.scalar(given!(arg, Number, Scalar::Int(0))))
            }
            ParamKind::Tensor | ParamKind::Operand | ParamKind::Value => Arg::Tensor(self.tensor(arg)),
            ParamKind::Tensors => {
                let values = given!(arg, Tensors, Vec::new());
                Arg::Tensors(self.list(&values, MAX_ITEMS, |tape, value| tape.value(value.copied())))
            }
            ParamKind::Indices => {
                let values = given!(arg, Indices, Vec::new());
                Arg::Indices(self.list(&values, MAX_ITEMS, |tape, value| {
                    let value = value.copied().flatten();
                    tape.flag(value.is_some()).then(|| tape.value(value))
                }))
            }
            ParamKind::Shapes => {
                let shapes = given!(arg, Shapes, Vec::new());
                Arg::Shapes(self.list(&shapes, MAX_ITEMS, |tape, shape| tape.shape(shape)))
            }
            ParamKind::Number => Arg::Number(self.scalar(given!(arg, Number, Scalar::Float(1.0)))),
            // As in a case, a whole number stands for the floating-point number; C++ has no other here.
            ParamKind::Real => Arg::Number(match self.scalar(given!(arg, Number, Scalar::Float(1.0))) {
                Scalar::Bool(truth) => Scalar::Float(truth.into()),
                Scalar::Int(number) => Scalar::Float(number as f64),
                Scalar::Complex(number) => Scalar::Float(number.re),
                number => number,
            }),
            ParamKind::Dims if self.flag(matches!(arg, Some(Arg::Int(_)))) => Arg::Int(self.int(given!(arg, Int, 0))),
            ParamKind::Int => Arg::Int(self.int(given!(arg, Int, 0))),
            ParamKind::Ints | ParamKind::Dims => Arg::Ints(self.ints(&given!(arg, Ints, Vec::new()))),
            ParamKind::Flag => Arg::Flag(self.flag(given!(arg, Flag, false))),
            ParamKind::Dtype => Arg::Dtype(self.one_of(DType::ALL, Some(given!(arg, Dtype, DType::Float32)))),
            ParamKind::ScalarType => {
                let given = given!(arg, ScalarType, ScalarType::Float32);
                Arg::ScalarType(self.one_of(ScalarType::ALL, Some(given)))
            }
            ParamKind::Reduction => Arg::Text(self.word(REDUCTIONS, arg)),
            // An equation has no default, a mode has one.
            ParamKind::Text if param.default.is_some() => Arg::Text(self.word(text::WORDS, arg)),
            ParamKind::Text => {
                let letters = given!(arg, Text, String::new()).into_bytes();
                let letters = self.list(&letters, MAX_ITEMS, |tape, letter| {
                    let printable = letter.map_or(0, |letter| letter.wrapping_sub(b' '));
                    b' ' + tape.byte(printable) % 95
                });
                Arg::Text(letters.into_iter().map(char::from).collect())
            }
            ParamKind::Index => {
                let items = given!(arg, Index, Vec::new());
                let items = self.list(&items, MAX_ITEMS, |tape, item| tape.item(item));
                // The front end has no word for an index without items.
                Arg::Index(if items.is_empty() { vec![IndexItem::Ellipsis] } else { items })
            }
        }
    }

    fn tensor(&mut self, arg: Option<&Arg>) -> ValueRef {
        self.value(if let Some(Arg::Tensor(value)) = arg { Some(*value) } else { None })
    }

    fn value(&mut self, value: Option<ValueRef>) -> ValueRef {
        let (number, part) = value.map_or((0, None), |value| (value.value, value.part));
        let number = self.number(Some(number), MAX_INPUTS + MAX_STEPS);
        let part = self.number(Some(part.map_or(0, |part| part + 1)), MAX_PARTS + 1);
        ValueRef { value: number, part: part.checked_sub(1) }
    }

    fn shape(&mut self, shape: Option<&ShapeArg>) -> ShapeArg {
        let kind = match shape {
            Some(ShapeArg::Size(_)) => 0,
            Some(ShapeArg::Float(_)) => 2,
            Some(ShapeArg::Text(_)) => 3,
            Some(ShapeArg::Sizes(_)) | None => 1,
        };
        let sizes = shape.and_then(ShapeArg::sizes).unwrap_or_default();
        match self.number(Some(kind), 4) {
            0 => ShapeArg::Size(self.size(sizes.first().copied().unwrap_or(0))),
            2 => {
                let whole = if let Some(ShapeArg::Float(value)) = shape { value.floor() as i64 } else { 0 };
                ShapeArg::Float(self.size(whole) as f64 + 0.5)
            }
            3 => {
                let digit = if let Some(ShapeArg::Text(text)) = shape { text.parse().unwrap_or(0) } else { 0 };
                ShapeArg::Text(self.number(Some(digit), 10).to_string())
            }
            _ => ShapeArg::Sizes(self.ints(sizes)),
        }
    }

    fn item(&mut self, item: Option<&IndexItem>) -> IndexItem {
        let (kind, ends, step) = match item {
            None | Some(IndexItem::None) => (0, [None; 2], 1),
            Some(IndexItem::Ellipsis) => (1, [None; 2], 1),
            Some(IndexItem::At(at)) => (2, [Some(*at), None], 1),
            Some(IndexItem::Slice { start, stop, step }) => (3, [*start, *stop], *step),
        };
        match self.number(Some(kind), 4) {
            0 => IndexItem::None,
            1 => IndexItem::Ellipsis,
            2 => IndexItem::At(self.int(ends[0].unwrap_or(0))),
            _ => {
                let [start, stop] = ends.map(|end| self.flag(end.is_some()).then(|| self.int(end.unwrap_or(0))));
                IndexItem::Slice { start, stop, step: self.int(step) }
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar) -> Scalar {
        let (kind, int, parts) = match scalar {
            Scalar::Bool(value) => (0, i64::from(value), [0.0; 2]),
            Scalar::Int(value) => (1, value, [0.0; 2]),
            Scalar::Float(value) => (2, 0, [value, 0.0]),
            Scalar::Complex(value) => (3, 0, [value.re, value.im]),
        };
        match self.number(Some(kind), 4) {
            0 => Scalar::Bool(self.flag(int != 0)),
            1 => Scalar::Int(self.int(int)),
            2 => Scalar::Float(self.float(parts[0])),
            _ => Scalar::Complex(Complex64::new(self.float(parts[0]), self.float(parts[1]))),
        }
    }

    fn word(&mut self, words: &[&str], arg: Option<&Arg>) -> String {
        let word = given!(arg, Text, String::new());
        words[self.number(words.iter().position(|known| *known == word), words.len())].to_owned()
    }

    fn ints(&mut self, ints: &[i64]) -> Vec<i64> {
        self.list(ints, MAX_ITEMS, |tape, int| tape.size(int.copied().unwrap_or(0)))
    }

    /// An integer of a list. The C++ front end refuses what its `SymInt` cannot hold before any operation sees it.
    fn size(&mut self, size: i64) -> i64 {
        const LEAST: i64 = -(1 << 62);
        self.int(size).max(LEAST)
    }

    /// A small integer in one byte, any other in nine.
    fn int(&mut self, int: i64) -> i64 {
        const LEAST: i64 = -64;
        match self.byte(u8::try_from(int.saturating_sub(LEAST)).unwrap_or(u8::MAX)) {
            u8::MAX => i64::from_le_bytes(int.to_le_bytes().map(|byte| self.byte(byte))),
            small => i64::from(small) + LEAST,
        }
    }

    fn float(&mut self, float: f64) -> f64 {
        quieted(f64::from_le_bytes(float.to_le_bytes().map(|byte| self.byte(byte))))
    }

    /// As many items as there are, within the limit.
    fn list<T>(&mut self, items: &[T], most: usize, mut each: impl FnMut(&mut Self, Option<&T>) -> T) -> Vec<T> {
        let count = self.number(Some(items.len()), most + 1);
        (0..count).map(|at| each(self, items.get(at))).collect()
    }

    fn one_of<T: Copy + PartialEq>(&mut self, all: &[T], one: Option<T>) -> T {
        all[self.number(all.iter().position(|other| Some(*other) == one), all.len())]
    }

    fn flag(&mut self, flag: bool) -> bool {
        self.byte(flag.into()) % 2 == 1
    }

    /// A number below `count`, which has to be 1 at least.
    fn number(&mut self, number: Option<usize>, count: usize) -> usize {
        let [low, high] = (number.unwrap_or(0) as u16).to_le_bytes();
        let low = self.byte(low);
        let high = if count > 1 << 8 { self.byte(high) } else { 0 };
        usize::from(u16::from_le_bytes([low, high])) % count
    }

    fn byte(&mut self, byte: u8) -> u8 {
        match self {
            // Spent bytes are zeros.
            Tape::Reads(u) => u.arbitrary().unwrap_or(0),
            Tape::Writes(bytes) => {
                bytes.push(byte);
                byte
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What fuzz targets found: libtorch differs in programs that mean nothing to it, or that no case can have.
    #[test]
    fn bytes_are_brought_to_what_programs_can_have() {
        let signalling =
            quiet(DType::Float32, &Shape::new(vec![2]).expect("small"), vec![1, 1, 128, 255, 0, 0, 128, 63]);
        assert_eq!(signalling, [f32::NAN.to_le_bytes(), 1f32.to_le_bytes()].concat());
        let delta = &Op::HuberLoss.info().arguments[3];
        // Not the default, a number, a truth, true; or an integer.
        for bytes in [[1, 0, 1, 0], [1, 1, 65, 0]] {
            let read = Tape::Reads(&mut Unstructured::new(&bytes)).arg(delta, false, None);
            assert_eq!(read, Arg::Number(Scalar::Float(1.0)), "{bytes:?}");
        }
        let least = [&[u8::MAX][..], &i64::MIN.to_le_bytes()].concat();
        assert_eq!(Tape::Reads(&mut Unstructured::new(&least)).size(0), -(1 << 62));
    }
}
