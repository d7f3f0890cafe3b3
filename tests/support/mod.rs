//! Helpers of the tests of generated programs: the fuzzers' generator as a proptest strategy.

use std::fmt;

use broadcheck::case::render;
use broadcheck::generate::{self, Options};
use broadcheck::program::Program;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

/// The most bytes that a program is made of. Few programs use more.
const BYTES: usize = 768;

/// Programs of the distribution that the fuzz targets start from: random bytes through the same generator. Shrinking
/// shrinks the bytes.
pub fn programs(options: Options) -> impl Strategy<Value = Generated> {
    vec(any::<u8>(), 0..BYTES).prop_map(move |bytes| Generated(generate::program(&bytes, &options)))
}

/// A program that failures print as the YAML of a case.
#[derive(Clone)]
pub struct Generated(pub Program);

impl fmt::Debug for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program:\n{}", render::program(&self.0))
    }
}
