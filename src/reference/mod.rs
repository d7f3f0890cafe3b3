//! The reference implementation: what a program means, written to be read.
//!
//! It does no I/O and knows no adapter. `evaluate` runs a program step by step on a `machine`; the other modules
//! hold the meaning of the operations, one module a family. What an operation *is* stands in [`crate::ops`].

mod arithmetic;
mod backward;
mod composition;
mod distance;
mod einsum;
mod elementwise;
mod evaluate;
mod extreme;
mod front_end;
mod functions;
mod gather;
mod indexing;
mod iterator;
mod loss;
mod loss_gradient;
mod machine;
mod mask;
mod math;
mod moment;
mod norm;
mod number;
mod product;
mod reduction;
mod reshape;
mod slice;
mod view;

use crate::adapter::{Capability, Hello, Implementation};
use crate::ops::Op;
use crate::program::{Program, Reply};
use crate::tensor::DType;

pub use evaluate::Session;

/// The reference as an [`Implementation`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

impl Implementation for Reference {
    fn hello(&mut self) -> Hello {
        use Capability::*;
        Hello {
            name: "reference".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: String::new(),
            ops: Op::ALL.to_vec(),
            dtypes: DType::ALL.to_vec(),
            capabilities: vec![InPlace, Out, Strides, Autograd, Warnings, Messages],
            lacks: Vec::new(),
            unsupported: Vec::new(),
        }
    }

    fn run(&mut self, program: &Program) -> Reply {
        evaluate::run(program)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::case::load_program;
    use crate::program::Outcome;

    /// What fuzz targets found libtorch to say, on programs that nobody would write into the specification.
    #[test]
    fn refusals_that_fuzz_targets_found() {
        for (program, message) in [
            (
                // No strides are taken for strides that are not given (`checkInBoundsForStorage`).
                "{x: {shape: [2]}, r: {as_strided: [x, [], []], storage_offset: 4611686018427387903}}",
                "Storage size calculation overflowed with sizes=[]",
            ),
            (
                // A mask without dimensions has a way back that is not known, and is refused as all others.
                "{x: {values: 5.0, requires_grad: true}, m: {shape: [], dtype: bool}, t: {shape: [1], dtype: int64}, \
                  r: {index_put: [t, [m], x]}}",
                "Autograd not support dtype: Long",
            ),
            (
                // The margin is a tensor of the input's dtype, which holds nothing below zero.
                "{x: {shape: [1], dtype: uint8}, r: {hinge_embedding_loss: [x, x], margin: -2.0e-265}}",
                "value cannot be converted to type uint8_t without overflow",
            ),
        ] {
            let program = load_program(Path::new("test.yaml"), program).unwrap_or_else(|error| panic!("{error}"));
            let reply = Reference.run(&program);
            let Outcome::Rejected(rejected) = &reply.steps[0].outcome else { panic!("{message}: {reply:?}") };
            assert_eq!(rejected.message, message);
        }
    }
}
