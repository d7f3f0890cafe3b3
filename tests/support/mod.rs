//! Helpers of the tests of generated programs: the fuzzers' generator as a proptest strategy.

use std::fmt;

use broadcheck::case::render;
use broadcheck::generate::{self, Options};
use broadcheck::ops::{Form, Op};
use broadcheck::program::{Arg, Program, Step};
use broadcheck::tensor::ScalarType;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

/// The most bytes that a program is made of. Few programs use more.
const BYTES: usize = 768;

/// Programs of the distribution that the fuzz targets start from: random bytes through the same generator. Shrinking
/// shrinks the bytes.
pub fn programs(options: Options) -> impl Strategy<Value = Generated> {
    vec(any::<u8>(), 0..BYTES).prop_map(move |bytes| Generated(generate::program(&bytes, &options)))
}

/// The functions of dtypes on every pair of those that libtorch has, each pair in a program of its own.
pub fn pairs_of_dtypes() -> Vec<Program> {
    // Later releases have it.
    let all = || ScalarType::ALL.iter().filter(|dtype| **dtype != ScalarType::Bcomplex32);
    let step = |op: Op, a: &ScalarType, b: &ScalarType| Step {
        name: op.name().to_owned(),
        op,
        form: Form::Functional,
        args: vec![Arg::ScalarType(*a), Arg::ScalarType(*b)],
        out: None,
    };
    let pairs = all().flat_map(|a| all().map(move |b| (a, b)));
    let asked = |(a, b)| [Op::PromoteTypes, Op::CanCast].map(|op| step(op, a, b)).to_vec();
    pairs.map(|pair| Program { inputs: Vec::new(), steps: asked(pair) }).collect()
}

/// A program that failures print as the YAML of a case.
#[derive(Clone)]
pub struct Generated(pub Program);

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program:\n{}", render::program(&self.0))
    }
}
