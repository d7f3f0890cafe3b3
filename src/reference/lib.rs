//! The reference implementation: what a program means, written to be read.
//!
//! It does no I/O and knows no adapter. `evaluate` runs a program step by step on a `machine`; the other modules
//! hold the meaning of the operations, one module a family. What an operation *is* stands in [`crate::ops`].
//!
//! # The phases of a kernel
//!
//! Every kernel goes through the same phases, each a function of its own where it is more than a few lines:
//!
//! 1. **infer** (`infer_*`, `Plan::new`): from shapes, dtypes, strides and arguments to a plan, or to the rejection that
//!    libtorch reports first. It reads no element values, except of indices and masks, which decide the shape
//!    of the result. It may add warnings and changes nothing else.
//! 2. **prepare** (`write::prepare`, `begin_*`): `out=` is resized, a functional form makes its copy. It is a
//!    phase of its own because it is visible even if the call is then rejected: `out=` stays resized when a later check of the
//!    kernel (`check_*`) fails.
//! 3. **eval**: from elements to elements, or from indices to the numbers of elements. It must not know the machine,
//!    tensors, storages or the form of the call; so a formula that is generic over its element can be computed wider.
//!    All of it runs behind one gate, `Machine::eval`.
//! 4. **write** (`write`, `selection::overwrite`): elements reach a new tensor, an operand in place, or `out=`. It must not
//!    know the operation. A loop that refuses an element has written those before it.
//! 5. **gradient** (`record_*`, `*_backward`): what is kept for the backward pass, and the formula, which is pure as eval is.
//!
//! Loops charge for their work before they begin it, so that a program that asks for too much ends by its [`BUDGET`].
//!
//! # Without elements
//!
//! [`infer()`] runs the same kernels with the gate of eval closed, on tensors that have a dtype, a layout and a storage, and no
//! elements. What an infer phase reads of elements it asks `Machine::known` for, and where they are absent but decide
//! the shape, it stops (`Stop::Unknown`). Without the feature `elements` that is all that there is, and no arithmetic
//! is compiled.

mod arithmetic;
mod assignment;
mod autograd;
mod budget;
mod composition;
mod cross_entropy;
mod dispatch;
mod distance;
mod dtypes;
mod einsum;
mod elementwise;
mod engine;
mod evaluate;
mod extreme;
mod front_end;
mod functions;
mod gather;
mod graph;
mod grid;
mod held;
mod indexing;
mod infer;
mod integral;
mod iterator;
mod lookup;
mod loss;
mod loss_gradient;
mod machine;
mod mask;
mod math;
mod moment;
mod norm;
mod normalization;
mod number;
mod product;
mod quantile;
mod ranked;
mod reduction;
mod repetition;
mod reshape;
mod sampler;
mod scan;
mod scatter;
mod selection;
mod sizes;
mod slice;
mod slices;
mod triangle;
mod value;
mod view;
mod write;

use broadcheck_protocol::{adapter, error, for_each_op, ops, program, tensor, with_element_type};

use crate::adapter::{Capability, Hello, Implementation};
use crate::ops::Op;
use crate::program::{Outcome, Program, Reply, StepOutcome};
use crate::tensor::DType;

pub use budget::{BUDGET, OverBudget};
pub use evaluate::Session;
pub use infer::{Declared, Inference, Inferences, Inferred, TensorFacts, infer};

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
        evaluate::run(program).unwrap_or_else(|why| {
            let failed = StepOutcome::of(Outcome::Failed(why));
            Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() }
        })
    }
}
