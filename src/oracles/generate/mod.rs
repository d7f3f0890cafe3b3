//! Programs out of bytes: one generator for fuzz targets, property tests and campaigns.
//!
//! [`program`] reads choices from the bytes that a fuzzer mutates or a property test draws, and asks the operation
//! table what can be done: operations come from [`Op::ALL`], arguments from their [`ParamKind`](crate::ops::ParamKind),
//! so a new row of the table is generated from the day it is written. After each step the reference is asked what came
//! of it. That tells the shapes there are to go on with, and lets a chosen share of the steps be refused: a step that
//! came out otherwise is proposed again. No choice depends on anything but the bytes and the [`Options`].
//!
//! Nothing here judges an outcome. Fewer or smaller bytes make simpler programs, so that shrinking bytes shrinks
//! programs.

mod argument;
pub mod bounded_exhaustive;
mod builder;
mod exclusions;
mod focus;
mod gradient;
mod seed;
mod shape;
mod text;
mod value;

use std::fmt;

use arbitrary::Unstructured;

use crate::adapter::Hello;
use crate::ops::Op;
use crate::program::{Program, Reply};
use crate::tensor::DType;

use builder::ProgramBuilder;

pub use exclusions::Exclusion;
pub use focus::Focus;
pub use value::counting;

/// The most steps of a program.
pub const MAX_STEPS: usize = 6;

/// The most inputs of a program.
pub const MAX_INPUTS: usize = 4;

/// The most dimensions of an input. Steps can make more.
pub const MAX_RANK: usize = 6;

/// The most elements of an input.
pub const MAX_INPUT_ELEMENTS: usize = 256;

/// The most elements that a step may make, and the most terms that a product may have. Broadcasting goes wrong in small
/// tensors as it does in large ones, and thousands of small programs a second find it sooner.
pub const MAX_ELEMENTS: usize = 4096;

/// The same in a large program, of which there are few: more than libtorch leaves to one thread. Its inputs can be as
/// large.
pub const MAX_LARGE_ELEMENTS: usize = 34_000;

/// The most terms of a product in a large program.
pub const MAX_LARGE_TERMS: usize = 1 << 19;

/// The options of the generator.
#[derive(Clone, Debug)]
pub struct Options {
    /// The operations to choose from.
    pub ops: Vec<Op>,
    /// The dtypes of inputs.
    pub dtypes: Vec<DType>,
    /// The number of steps of a hundred that should be accepted; the others should be rejected.
    pub accepted: u8,
    /// The number of programs of four that gradients flow through.
    pub gradients: u8,
    /// The number of programs of 256 that have large tensors.
    pub large: u8,
    /// True if each program is made of a few operations, which are drawn for it.
    pub swarm: bool,
    /// True if the inputs are of any dtypes in all programs, not only in half of them.
    pub mixed: bool,
    /// The programs to leave out. A restriction is always a named one, so that what is not tested can be read.
    pub exclusions: Vec<Exclusion>,
}

impl Default for Options {
    /// Everything that the reference has. Gradients are always meant to be accepted, so the share of refusals is lower.
    fn default() -> Options {
        Options {
            ops: Op::ALL.to_vec(),
            dtypes: DType::ALL.to_vec(),
            accepted: 55,
            gradients: 1,
            large: 1,
            swarm: false,
            mixed: false,
            exclusions: Exclusion::GAPS.to_vec(),
        }
    }
}

impl Options {
    /// For comparing implementations with the reference: what they declare, without what has no one outcome.
    pub fn comparable(hello: &Hello) -> Options {
        Options {
            ops: hello.ops.clone(),
            dtypes: hello.dtypes.clone(),
            exclusions: Exclusion::ALL.to_vec(),
            ..Options::default()
        }
    }
}

/// The program that the bytes mean. Every text of bytes means one, with at least one step as long as `options` leave
/// one to be made.
pub fn program(bytes: &[u8], options: &Options) -> Program {
    program_with_reply(bytes, options).0
}

/// The same with what the reference makes of the program, since the generator knows it; `None` if the reference panics
/// over its last step.
pub fn program_with_reply(bytes: &[u8], options: &Options) -> (Program, Option<Reply>) {
    let (program, reply, _) = program_with_reasons(bytes, options);
    (program, reply)
}

/// The same with the reasons for which proposed steps are not in the program, one for each proposal. A step that was accepted
/// where a rejection was wanted, or the other way around, has none.
pub fn program_with_reasons(bytes: &[u8], options: &Options) -> (Program, Option<Reply>, Vec<LeftOut>) {
    let mut u = Unstructured::new(bytes);
    let mut draft = ProgramBuilder::new(options);
    // `Unstructured` answers with its smallest choices once the bytes are spent; the one error left is a choice out of
    // nothing, which ends the program.
    let _ = draft.fill(&mut u);
    let left_out = std::mem::take(&mut draft.left_out);
    let (program, reply) = draft.finish();
    (program, reply, left_out)
}

/// Why a proposed step is not in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It makes more elements, or sums more terms, than a generated program may.
    Large,
    /// A named exclusion.
    Excluded(Exclusion),
    /// The reference does not model it.
    Unsupported {
        /// The operation.
        op: Op,
        /// The reference's reason.
        what: String,
    },
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeftOut::Large => f.write_str("more elements than a generated program may have"),
            LeftOut::Excluded(exclusion) => write!(f, "excluded: {exclusion:?}"),
            LeftOut::Unsupported { op, what } => write!(f, "{op}: the reference does not model {what}"),
        }
    }
}

/// The program that the bytes of a fuzzer mean: the first says whether [`program`] makes it of the others, or whether it
/// is written in them, as [`seed()`] does it, and what is left of them goes on from there. With the reply, as
/// [`program_with_reply`] has it.
pub fn fuzzed(bytes: &[u8], options: &Options) -> (Program, Option<Reply>) {
    match bytes.split_first() {
        Some((first, rest)) if first % 2 == WRITTEN => {
            let mut u = Unstructured::new(rest);
            let mut draft = ProgramBuilder::new(options);
            let _ = draft.adopt(&mut u);
            draft.finish()
        }
        Some((_, rest)) => program_with_reply(rest, options),
        None => program_with_reply(bytes, options),
    }
}

/// The bytes that mean this program to [`fuzzed`], but for the names in it and for what its options leave out; `None` if
/// it is larger than generated programs may be.
pub fn seed(program: &Program) -> Option<Vec<u8>> {
    Some([vec![WRITTEN], seed::write(program)?].concat())
}

/// Marks bytes in which a program is written.
const WRITTEN: u8 = 1;

/// Returns whether [`program`] could have made this program, as far as the options leave programs out. One that was made
/// simpler may have become one of those that have no one outcome.
pub fn allows(options: &Options, program: &Program) -> bool {
    let mut draft = ProgramBuilder::new(options);
    draft.elements = MAX_LARGE_ELEMENTS;
    draft.remake(program)
}

/// Decides whether something happens that does `times` times of `of`; never once the bytes are spent.
fn chance(u: &mut Unstructured, times: u8, of: u8) -> arbitrary::Result<bool> {
    Ok(u.int_in_range(1..=of)? > of - times)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::adapter::Implementation;
    use crate::ops::Form;
    use crate::program::{Arg, Input, Step, ValueRef};
    use crate::reference::Reference;
    use crate::tensor::{DType, Scalar, Shape};

    #[test]
    fn no_bytes_mean_a_simple_program() {
        let program = program(&[], &Options::default());
        assert_eq!((program.inputs.len(), program.steps.len()), (1, 1));
        let step = &program.steps[0];
        assert_eq!((step.op, step.form, step.uses().count()), (Op::ALL[0], Form::Functional, 2));
    }

    #[test]
    fn the_same_bytes_mean_the_same_program() {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        // As text, since a NaN among the arguments is not equal to itself.
        let text = || format!("{:?}", program(&bytes, &Options::default()));
        assert_eq!(text(), text());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let options = Options { exclusions: Vec::new(), ..Options::default() };
        let (mut read, mut whole) = (0, 0);
        let mut bytes = [0u8; 512];
        for factor in 0..200u32 {
            // Any bytes that differ will do.
            bytes.iter_mut().zip(1u32..).for_each(|(byte, at)| *byte = (at.wrapping_mul(factor * 2 + 1) >> 3) as u8);
            let program = program(&bytes, &options);
            // Whether it can be written is whether it is read as it was.
            let Some(seed) = seed(&program) else { continue };
            read += 1;
            // A tensor that was resized is not known any more, and another one is used in its place.
            let calls = |program: &Program| program.steps.iter().map(|step| (step.op, step.form)).collect::<Vec<_>>();
            whole += usize::from(calls(&fuzzed(&seed, &options).0) == calls(&program));
        }
        assert!(read > 180 && whole > 180, "{read} of 200 programs can be written, {whole} come out as they were");
    }

    /// One to three operations next to those of every program, and nearly all in some program.
    #[test]
    fn a_swarm_has_few_operations_in_each_program() {
        let options = Options { swarm: true, ..Options::comparable(&Reference.hello()) };
        let mut all = BTreeSet::new();
        for seed in 0..4000u64 {
            // Any bytes that differ will do.
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let bytes: Vec<u8> = std::iter::repeat_with(|| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .take(256)
            .collect();
            let mut ops: BTreeSet<Op> = program(&bytes, &options).steps.iter().map(|step| step.op).collect();
            all.extend(ops.iter().copied());
            ops.retain(|op| !builder::BESIDE.contains(op));
            assert!(ops.len() <= 3, "{ops:?}");
        }
        assert!(all.len() * 10 > options.ops.len() * 9, "{} of {} operations", all.len(), options.ops.len());
    }

    #[test]
    fn the_reply_is_that_of_the_whole_program() {
        for at in 0..64u8 {
            let bytes: Vec<u8> = (0..=255u8).map(|byte| byte.wrapping_mul(at).rotate_left(3) ^ at).collect();
            let (program, reply) = program_with_reply(&bytes, &Options::default());
            // As text: a number that is NaN equals nothing.
            assert_eq!(format!("{reply:?}"), format!("{:?}", Some(Reference.run(&program))), "{program:?}");
        }
    }

    /// Most programs that begin with gradients go back through their steps.
    #[test]
    fn gradients_flow_back() {
        let options = Options { gradients: 4, ..Options::comparable(&Reference.hello()) };
        let (mut begun, mut back) = (0, 0);
        let mut bytes = [0u8; 512];
        for factor in 0..300u32 {
            // Any bytes that differ will do.
            bytes.iter_mut().zip(1u32..).for_each(|(byte, at)| {
                *byte = (at.wrapping_mul(factor * 2 + 1).wrapping_mul(0x9e37_79b1) >> 11) as u8;
            });
            let (program, Some(reply)) = program_with_reply(&bytes, &options) else { continue };
            begun += usize::from(program.inputs.iter().any(|input| input.requires_grad));
            let accepted = |(step, answer): (&Step, &crate::program::StepOutcome)| {
                step.op == Op::Backward && matches!(answer.outcome, crate::program::Outcome::Value(_))
            };
            back += usize::from(program.steps.iter().zip(&reply.steps).any(accepted));
        }
        assert!(begun > 150 && back * 2 > begun, "{back} of {begun}");
    }

    /// The rows of one operand of `cdist` meet all of the other's, which broadcasting would not tell.
    #[test]
    fn no_more_distances_are_made_than_a_large_product_has_terms() {
        let of = |rows: i64| {
            let shape = Shape::new(vec![rows, 1]).unwrap();
            let input = |name: &str| Input {
                name: name.to_owned(),
                dtype: DType::Float32,
                shape: shape.clone(),
                data: vec![0; 4 * rows as usize],
                requires_grad: false,
            };
            let operand = |value| Arg::Tensor(ValueRef { value, part: None });
            let args = vec![operand(0), operand(1), Arg::Number(Scalar::Float(1.0)), Arg::Nothing];
            let step = Step { name: "r".to_owned(), op: Op::Cdist, form: Form::Functional, args, out: None };
            allows(&Options::default(), &Program { inputs: vec![input("x"), input("y")], steps: vec![step] })
        };
        assert_eq!((of(8), of(700), of(800)), (true, true, false));
        const { assert!(700 * 700 <= MAX_LARGE_TERMS && 800 * 800 > MAX_LARGE_TERMS) };
    }

    #[test]
    fn nothing_to_choose_from_is_no_panic() {
        let none = Options { ops: Vec::new(), dtypes: Vec::new(), ..Options::default() };
        assert_eq!(program(&[1; 64], &none), Program::default());
    }
}
