//! Cases in which libtorch contradicts itself and the reference follows it, since the reference says what PyTorch does.
//!
//! A campaign finds these in libtorch, and they are findings. The tests of the reference itself, and of faults that are
//! planted in it, leave them out.

use crate::ops::Op;
use crate::program::Program;

use crate::Difference;
use crate::metamorphic::{FollowUp, Relation};

/// A contradiction that the reference follows.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    /// The rule that it breaks.
    pub rule: Relation,
    /// The operations in which it shows; for a gradient, through which it flows.
    pub ops: &'static [Op],
    /// A part of the text of the outcome, or of the follow-up's.
    pub says: &'static str,
    /// The contradiction.
    pub why: &'static str,
}

/// All of them.
pub const FOLLOWED: &[Followed] = &[
    Followed {
        rule: Relation::Layout,
        ops: &[Op::Kron, Op::TakeAlongDim],
        says: "view size is not compatible",
        why: "they view their operand where they should reshape it, and refuse one that does not lie row by row",
    },
    Followed {
        rule: Relation::Layout,
        ops: &[Op::Inner, Op::Tensordot, Op::Matmul, Op::Einsum],
        says: "not implemented for",
        why: "bool vectors are refused where they lie row by row, and multiplied where they do not, as another kernel \
              takes them",
    },
    Followed {
        rule: Relation::Layout,
        ops: &[Op::Linear],
        says: "mat2",
        why: "with a bias that is a vector, an input that lies row by row takes part in one step, addmm; another one in a \
              product and a sum in place, which check shapes and dtypes otherwise",
    },
    Followed {
        rule: Relation::Layout,
        ops: &[Op::Linear],
        says: "expand",
        why: "addmm rejects a bias that does not fit when it expands it, and the sum as an operand",
    },
    Followed {
        rule: Relation::InPlace,
        ops: &[Op::Mul],
        says: "float16",
        why: "in place a number is the first operand, and is rounded to 16 bits before the product; in the functional form it \
              is the second, and is not",
    },
    Followed {
        rule: Relation::Layout,
        ops: &[Op::Matmul],
        says: "must match the size of tensor b",
        why: "an out= of the right shape that is no view of a matrix is refused, and one that lies row by row is not",
    },
    Followed {
        rule: Relation::Layout,
        ops: &[Op::Baddbmm],
        says: "without overflow",
        why: "of a factor beyond the dtype and dtypes that differ, the strides of a large batch decide which is reported",
    },
    Followed {
        rule: Relation::InPlace,
        ops: &[Op::MaskedFill, Op::IndexFill, Op::Addbmm],
        says: "Autograd not support dtype",
        why: "the functional form refuses a value that requires grad where the tensor has integers or bools, and the \
              in-place form does not",
    },
    Followed {
        rule: Relation::Number,
        ops: &[Op::Pow, Op::FloatPower],
        says: "nan",
        why: "complex 0 to the power of the number 0, and the number 1 to an infinite power, are 1, and NaN where the number \
              is a tensor",
    },
    Followed {
        rule: Relation::Out,
        ops: &[Op::Pow, Op::FloatPower],
        says: "nan",
        why: "the number 1 to a power fills the target with ones, and is NaN for an infinite power without a target",
    },
    Followed {
        rule: Relation::Number,
        ops: &[Op::Pow],
        says: "can't be cast",
        why: "the number 1 to a power fills the target with ones, whatever its dtype; as a tensor it is refused",
    },
    Followed {
        rule: Relation::Repeated,
        ops: &[Op::Mul, Op::Div, Op::FloorDivide],
        says: "float16",
        why: "a second operand of one element is not rounded to 16 bits; of two it is",
    },
    Followed {
        rule: Relation::Expanded,
        ops: &[Op::HingeEmbeddingLoss],
        says: "without overflow",
        why: "a single element of 16 bits is filled with a margin beyond them, and several are not",
    },
    Followed {
        rule: Relation::Promoted,
        ops: &[Op::MishBackward],
        says: "",
        why: "the result has the dtype of the operand that it is the gradient of, whatever the upstream gradient has",
    },
    Followed {
        rule: Relation::Gradient,
        ops: &[Op::MseLoss, Op::SmoothL1Loss, Op::HuberLoss, Op::SoftMarginLoss, Op::BinaryCrossEntropyWithLogits],
        says: "",
        why: "the gradient of a mean is divided by the number of elements of the operand, not of the mean, so that it is too \
              large for an operand that was broadcast",
    },
    Followed {
        rule: Relation::Out,
        ops: &[Op::MseLoss, Op::SmoothL1Loss, Op::SoftMarginLoss],
        says: "",
        why: "the target loses its dimensions, or is written to, before it is read as the operand that it is, too",
    },
    Followed {
        rule: Relation::Sibling,
        ops: &[Op::MseLoss, Op::L1Loss],
        says: "",
        why: "l1_loss is composed of a difference, a magnitude and a mean, and accepts integers and complex numbers where \
              these do; mse_loss is one kernel for floats, and the other order of its checks shows in the class",
    },
    Followed {
        rule: Relation::Sibling,
        ops: &[Op::Logaddexp, Op::Logaddexp2],
        says: "not implemented for",
        why: "logaddexp has a kernel for complex numbers, and logaddexp2 has none",
    },
    Followed {
        rule: Relation::Refused,
        ops: &[Op::Div, Op::FloorDivide, Op::Remainder, Op::Fmod],
        says: "",
        why: "a division of integers in place stops at the first zero, and has written the quotients before it",
    },
    Followed {
        rule: Relation::Refused,
        ops: &[
            Op::IndexPut,
            Op::Scatter,
            Op::MaskedScatter,
            Op::Gather,
            Op::TakeAlongDim,
            Op::IndexFill,
            Op::IndexCopy,
            Op::IndexAdd,
            Op::ScatterAdd,
            Op::ScatterReduce,
            Op::Put,
        ],
        says: "",
        why: "an index that is out of range, or a source that is too short, stops a loop that has written those before it",
    },
    Followed {
        rule: Relation::Refused,
        ops: &[Op::SoftMarginLossBackward],
        says: "",
        why: "it is a sequence of steps in place, the later of which reject what the first has not",
    },
    Followed {
        rule: Relation::Aliased,
        ops: &[Op::LinalgVecdot, Op::Matmul],
        says: "",
        why: "an out= that is a factor is resized before the product that does the work, dot, mv or mm, reads it",
    },
    Followed {
        rule: Relation::Aliased,
        ops: &[Op::MaskedScatter],
        says: "",
        why: "a source that is the target is read while it is written to",
    },
    Followed {
        rule: Relation::Sibling,
        ops: &[Op::MseLoss, Op::L1Loss, Op::SmoothL1Loss, Op::HuberLoss],
        says: "An output with one or more elements was resized",
        why: "huber_loss warns of the tensor that it computes into, which has the shape of the input until it is resized to \
              that of the result; the other losses do not",
    },
    Followed {
        rule: Relation::Sibling,
        ops: &[Op::Mm],
        says: "expected m1 and m2 to have the same dtype",
        why: "bmm does not look at the dtypes of matrices that have nothing to be multiplied",
    },
    Followed {
        rule: Relation::Resized,
        ops: &[Op::Mm, Op::Mv, Op::Bmm, Op::Addmm, Op::AddmmActivation, Op::Addmv, Op::Baddbmm],
        says: "not implemented for",
        why: "bools are rejected by the kernel, which is not asked where there is nothing to multiply",
    },
    Followed {
        rule: Relation::Resized,
        ops: &[Op::Bmm, Op::Baddbmm],
        says: "expected ",
        why: "the dtypes of two batches are compared by the kernel, which is not asked where there is nothing to multiply",
    },
    Followed {
        rule: Relation::Refused,
        ops: &[Op::Addmm, Op::AddmmActivation, Op::Addmv, Op::Addbmm, Op::Baddbmm, Op::LinalgSolve],
        says: "",
        why: "the summand is copied into out= before the kernel rejects the dtype or a factor, and the quotients by zero before a \
              matrix is found to be singular",
    },
    Followed {
        rule: Relation::Refused,
        ops: &[Op::SoftMarginLoss],
        says: "",
        why: "out= has the negated operand before the product with the target is found not to fit",
    },
    Followed {
        rule: Relation::Expanded,
        ops: &[Op::Einsum],
        says: "",
        why: "what has size 1 under a letter that is longer elsewhere is multiplied element by element, with type \
              promotion, and an expanded operand by a product of matrices, without; sums of small integers are int64 only \
              where they are sums",
    },
];

/// The contradiction that explains all the differences between a program and its follow-up.
pub fn followed(follow_up: &FollowUp, program: &Program, differences: &[Difference]) -> Option<&'static Followed> {
    let op = program.steps.get(follow_up.step)?.op;
    let flows = |known: &Followed| {
        known.rule == Relation::Gradient && program.steps.iter().any(|step| known.ops.contains(&step.op))
    };
    FOLLOWED.iter().find(|known| {
        let says = |difference: &Difference| {
            difference.expected.contains(known.says) || difference.observed.contains(known.says)
        };
        known.rule == follow_up.rule && (known.ops.contains(&op) || flows(known)) && differences.iter().all(says)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::adapter::Implementation;
    use crate::case::load_program;
    use crate::metamorphic::all;
    use crate::reference::Reference;

    /// What campaigns of a million programs meet a few times is not met by chance here.
    #[test]
    fn rare_contradictions_are_followed() {
        for (rule, program) in [
            (Relation::Layout, "{x: {values: [1.0, 2.0]}, r: {linear: [x, x], bias: x}}"),
            (
                Relation::Layout,
                "{x: {shape: [1], dtype: bool}, w: {shape: [3, 2]}, y: {shape: [3]}, r: {linear: [x, w], bias: y}}",
            ),
            (Relation::Layout, "{x: {values: [1.0, 2.0]}, w: {shape: [3, 2]}, r: {linear: [x, w], bias: x}}"),
            (Relation::Repeated, "{x: {values: [1.0e-4], dtype: float16}, y: {values: [16777217]}, r: {mul: [x, y]}}"),
            (Relation::Repeated, "{x: {values: [17.0], dtype: float16}, y: {values: [16777217]}, r: {div: [x, y]}}"),
            (
                Relation::Repeated,
                "{x: {values: [65504.0], dtype: float16}, y: {values: [65519]}, r: {floor_divide: [x, y]}}",
            ),
            (
                Relation::Expanded,
                "{x: {shape: [], dtype: float16}, y: {shape: [2], dtype: float16}, \
                  r: {hinge_embedding_loss: [x, y], margin: 65536.0, reduction: none}}",
            ),
        ] {
            let program = load_program(Path::new("test.yaml"), program).unwrap_or_else(|error| panic!("{error}"));
            let reply = Reference.run(&program);
            let follow_ups = all(&program, &reply).into_iter().filter(|follow_up| follow_up.rule == rule);
            let judged: Vec<_> = follow_ups
                .map(|follow_up| (follow_up.judge(&program, &reply, &Reference.run(&follow_up.program)), follow_up))
                .filter(|(differences, _)| !differences.is_empty())
                .collect();
            assert!(!judged.is_empty(), "{rule:?} holds: {program:?}");
            for (differences, follow_up) in judged {
                assert!(followed(&follow_up, &program, &differences).is_some(), "{differences:?}");
            }
        }
    }
}
