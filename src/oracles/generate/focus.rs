//! Sides of broadcasting that programs can be about, one for each differential fuzz target.
//!
//! A focus is said in terms of the operation table, so that a new row belongs to its targets from the day it is written.

use crate::ops::{Family, Form, Kernel, OpInfo, ResultType};

use super::Options;

/// The subject of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// Sizes and strides: views, indexing, reductions to a shape.
    Shapes,
    /// Elementwise operations, losses included, on operands in every layout.
    Pointwise,
    /// Writing to what others read: in-place and `out=` forms, on views of one storage.
    InplaceAlias,
    /// Gradients, which are summed to the size of the operand that was expanded.
    Gradient,
    /// Products, whose batches broadcast.
    MatmulEinsum,
    /// Operands of several dtypes.
    Promotion,
}

impl Focus {
    /// Every one. Together they have the whole operation table.
    pub const ALL: &[Focus] =
        &[Focus::Shapes, Focus::Pointwise, Focus::InplaceAlias, Focus::Gradient, Focus::MatmulEinsum, Focus::Promotion];

    /// The name of the fuzz target.
    pub fn name(self) -> &'static str {
        match self {
            Focus::Shapes => "shapes",
            Focus::Pointwise => "pointwise",
            Focus::InplaceAlias => "inplace_alias",
            Focus::Gradient => "gradient",
            Focus::MatmulEinsum => "matmul_einsum",
            Focus::Promotion => "promotion",
        }
    }

    /// Returns whether programs with this focus use the operation.
    pub fn includes(self, info: &OpInfo) -> bool {
        use Family::*;
        // Views are everywhere, because they make the layouts.
        let view = info.kernel == Kernel::View;
        match self {
            Focus::Shapes => matches!(info.family(), Views | Indexing | Reductions | Sizes | FrontEnd),
            Focus::Pointwise => view || matches!(info.family(), Pointwise | Losses),
            Focus::InplaceAlias => view || info.forms.iter().any(|form| *form != Form::Functional),
            Focus::Gradient => view || info.differentiable || info.family() == Autograd,
            Focus::MatmulEinsum => view || info.family() == Products,
            Focus::Promotion => {
                info.family() == Dtypes
                    || matches!(info.family(), Pointwise | Reductions) && info.result != ResultType::Same
            }
        }
    }
}

impl Options {
    /// These options for programs about `focus`.
    pub fn about(mut self, focus: Focus) -> Options {
        self.ops.retain(|op| focus.includes(op.info()));
        if focus == Focus::Gradient {
            self.gradients = 3;
        }
        self.mixed |= focus == Focus::Promotion;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Op;

    #[test]
    fn every_operation_has_a_focus_and_none_has_them_all() {
        let missing: Vec<&str> = Op::ALL
            .iter()
            .filter(|op| !Focus::ALL.iter().any(|focus| focus.includes(op.info())))
            .map(|op| op.name())
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
        for focus in Focus::ALL {
            let count = Options::default().about(*focus).ops.len();
            assert!(count > 10 && count < Op::ALL.len(), "{}: {count} operations", focus.name());
        }
    }

    #[test]
    fn programs_are_about_their_focus() {
        for focus in Focus::ALL {
            let options = Options::default().about(*focus);
            let (mut steps, mut gradients, mut mixed) = (0, 0, 0);
            let mut bytes = [0u8; 256];
            for seed in 0..100u32 {
                // Any bytes that differ will do.
                bytes.iter_mut().zip(1u32..).for_each(|(byte, at)| *byte = (at.wrapping_mul(seed * 2 + 1) >> 3) as u8);
                let program = super::super::program(&bytes, &options);
                for step in &program.steps {
                    assert!(focus.includes(step.op.info()), "{}: {}", focus.name(), step.op);
                    steps += 1;
                }
                gradients += usize::from(program.inputs.iter().any(|input| input.requires_grad));
                mixed += usize::from(program.inputs.iter().any(|input| input.dtype != program.inputs[0].dtype));
            }
            assert!(steps > 100, "{}: {steps} steps", focus.name());
            let wanted = match focus {
                Focus::Gradient => gradients,
                Focus::Promotion => mixed,
                _ => 25,
            };
            assert!(wanted >= 25, "{}: {gradients} with gradients, {mixed} of several dtypes", focus.name());
        }
    }
}
