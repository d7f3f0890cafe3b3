//! The programs that are measured: those of a campaign, and pairs of operands of three sizes.

use crate::campaign::cases;
use crate::generate::Options;
use crate::ops::{Form, Op};
use crate::program::{Arg, Input, Program, Step, ValueRef};
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape};

/// The operations of the pairs: those that the loop with Hypothesis calls, too.
pub const TEN: [Op; 10] =
    [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Maximum, Op::Minimum, Op::Eq, Op::Lt, Op::Ge, Op::Atan2];

/// Shapes that pairs broadcast to, without sizes of 0 and 1: their name, how many programs there are for a thousand of a
/// campaign, and the shapes.
const SIZES: [(&str, u64, &[&[i64]]); 3] = [
    ("small", 1000, &[&[4], &[8, 8], &[2, 3, 4], &[5], &[2, 4, 8], &[3, 4, 5], &[16], &[2, 2, 2, 2], &[7, 9], &[64]]),
    ("medium", 50, &[&[100, 100], &[10, 10, 100], &[10_000], &[5, 20, 100]]),
    ("large", 1, &[&[1000, 1000], &[10, 100, 1000], &[1_000_000], &[100, 10_000]]),
];

/// Programs that are measured together.
#[derive(Clone, Debug)]
pub struct Set {
    /// The name of the set.
    pub name: String,
    /// The cases of a campaign that the programs are, if they are generated from its seed.
    pub cases: Option<Vec<u64>>,
    /// The programs.
    pub programs: Vec<Program>,
}

impl Set {
    /// So many programs of a campaign, and fewer and fewer pairs that are accepted and rejected, the larger they are.
    pub fn all(programs: u64, seed: u64, options: &Options) -> Vec<Set> {
        let cases: Vec<u64> = (0..programs).collect();
        let mixed = cases.iter().map(|case| cases::make(seed, *case, options).program).collect();
        let mut sets = vec![Set { name: "programs of a campaign".to_owned(), cases: Some(cases), programs: mixed }];
        for (size, share, shapes) in SIZES {
            for accepted in [true, false] {
                let count = (programs * share / 1000).max(10) as usize;
                let programs = (0..count).map(|at| pair(at, shapes, accepted)).collect();
                let name = format!("{size} pairs, {}", if accepted { "accepted" } else { "rejected" });
                sets.push(Set { name, cases: None, programs });
            }
        }
        // Rows, columns and scalars with 10⁶ elements.
        let others: [&[i64]; 4] = [&[1000], &[1000, 1], &[1], &[1000, 1000]];
        let additions = others.iter().map(|other| call(Op::Add, vec![1000, 1000], other.to_vec())).collect();
        sets.push(Set { name: "large additions".to_owned(), cases: None, programs: additions });
        sets
    }
}

/// One call on two operands of float32 which broadcast to one of the shapes, or do not because of one dimension.
fn pair(at: usize, shapes: &[&[i64]], accepted: bool) -> Program {
    let base = shapes[at / TEN.len() % shapes.len()];
    let ways = at / (TEN.len() * shapes.len());
    let rank = base.len();
    // Two bits for each dimension: neither operand has a 1 there, the first, the second.
    let mut digits = ways;
    let (mut x, mut y) = (base.to_vec(), base.to_vec());
    for dim in 0..rank {
        match digits % 3 {
            1 => x[dim] = 1,
            2 => y[dim] = 1,
            _ => {}
        }
        digits /= 3;
    }
    if accepted {
        // Leading dimensions that are 1 may as well be missing.
        let ones = if ways % 2 == 1 { y.iter().take_while(|&&size| size == 1).count() } else { 0 };
        y.drain(..ones);
    } else {
        let dim = ways % rank;
        (x[dim], y[dim]) = (base[dim], base[dim] + 1);
    }
    call(TEN[at % TEN.len()], x, y)
}

fn call(op: Op, x: Vec<i64>, y: Vec<i64>) -> Program {
    let tensor = |value: usize| Arg::Tensor(ValueRef { value, part: None });
    let params = op.info().arguments;
    let defaults = params.iter().skip(2).filter_map(|param| param.default.map(Arg::from));
    let args = [tensor(0), tensor(1)].into_iter().chain(defaults).collect();
    let step = Step { name: "r".to_owned(), op, form: Form::Functional, args, out: None };
    Program { inputs: vec![input("x", x, 1), input("y", y, 2)], steps: vec![step] }
}

/// Small whole numbers, which repeat.
fn input(name: &str, sizes: Vec<i64>, first: i64) -> Input {
    let shape = Shape::new(sizes).expect("sizes that are written here");
    let elements = (0..shape.numel()).map(|at| Scalar::Int(first + at as i64 % 59));
    let data = Buffer::from_scalars(DType::Float32, elements).to_bytes(&Layout::contiguous(shape.clone()));
    Input { name: name.to_owned(), dtype: DType::Float32, shape, data, requires_grad: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::Implementation;
    use crate::program::Outcome;
    use crate::reference::Reference;

    #[test]
    fn pairs_are_accepted_and_rejected_as_their_names_say() {
        for (_, _, shapes) in &SIZES[..2] {
            for at in 0..1000 {
                let outcome = |accepted| Reference.run(&pair(at, shapes, accepted)).steps.remove(0).outcome;
                assert!(matches!(outcome(true), Outcome::Value(_)), "{at}: {:?}", outcome(true));
                assert!(matches!(outcome(false), Outcome::Rejected(_)), "{at}: {:?}", outcome(false));
            }
        }
    }
}
