//! The reference implementation: what a program means, written to be read.
//!
//! It does no I/O and knows no adapter. `evaluate` runs a program step by step on a `machine`; the other modules
//! hold the meaning of the operations, one module a family. What an operation *is* stands in [`crate::ops`].

mod arithmetic;
mod autograd;
mod composition;
mod dispatch;
mod distance;
mod einsum;
mod elementwise;
mod engine;
mod evaluate;
mod extreme;
mod front_end;
mod functions;
mod gather;
mod graph;
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
mod value;
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
