//! The same elements in another place.

use crate::ops::{Family, Form, Op};
use crate::program::{Arg, Program, ValueRef};

use crate::metamorphic::LARGEST;
use crate::metamorphic::judge::{Compared, OutputRelation, same};
use crate::metamorphic::step_context::{Facts, Rewrite, StepContext};

/// The memory layout of a tensor.
#[derive(Clone, Copy)]
enum Lies {
    /// Row by row, from the start of a storage of its own.
    Contiguous,
    /// Column by column.
    Transposed,
    /// Every second element.
    Stepped,
    /// Behind other elements.
    Offset,
}

pub(super) fn layout(context: &StepContext) -> Vec<(Program, OutputRelation)> {
    let info = context.step.op.info();
    let of_memory = [Op::AsStrided, Op::View, Op::ViewAs, Op::Unflatten].contains(&context.step.op);
    // In which order elements are put at one index is left open.
    let of_order = [Op::IndexPut, Op::Scatter, Op::IndexCopy, Op::Put].contains(&context.step.op);
    let computes = ![Family::Autograd, Family::Sizes, Family::FrontEnd].contains(&info.family());
    let apart = || context.is_apart() && (context.accepted() || !context.has_gradients());
    if of_memory || of_order || !computes || !apart() {
        return Vec::new();
    }
    let all = [Lies::Contiguous, Lies::Transposed, Lies::Stepped, Lies::Offset];
    all.into_iter().filter_map(|lies| laid_out(context, lies)).collect()
}

fn laid_out(context: &StepContext, lies: Lies) -> Option<(Program, OutputRelation)> {
    let mut rewrite = Rewrite::before(context);
    let mut last = context.step.clone();
    let mut moved = false;
    let own = usize::from(last.form == Form::InPlace);
    let args = last.args.iter_mut().skip(own);
    let operands = args.flat_map(|arg| match arg {
        Arg::Tensor(value) => vec![value],
        Arg::Tensors(values) => values.iter_mut().collect(),
        Arg::Indices(values) => values.iter_mut().flatten().collect(),
        _ => Vec::new(),
    });
    for operand in operands {
        let known = context.known(*operand)?;
        // Twice the elements are made on the way.
        if 2 * known.shape().numel() > LARGEST {
            return None;
        }
        if matches!(lies, Lies::Contiguous) && known.layout.is_contiguous() {
            continue;
        }
        *operand = lay(&mut rewrite, *operand, &known, lies);
        moved = true;
    }
    rewrite.push(last);
    moved.then(|| same(rewrite, Compared::Elements))
}

fn lay(rewrite: &mut Rewrite, tensor: ValueRef, known: &Facts, lies: Lies) -> ValueRef {
    let rank = known.shape().rank() as i64;
    match lies {
        Lies::Contiguous => rewrite.contiguous(tensor),
        Lies::Transposed if rank >= 2 => {
            let swapped = |tensor| vec![Arg::Tensor(tensor), Arg::Int(0), Arg::Int(rank - 1)];
            let there = rewrite.add("turned", Op::Transpose, swapped(tensor));
            let copied = rewrite.contiguous(there);
            rewrite.add("returned", Op::Transpose, swapped(copied))
        }
        Lies::Transposed | Lies::Stepped => among_others(rewrite, tensor, known, rank),
        Lies::Offset => among_others(rewrite, tensor, known, 0),
    }
}

/// The second of two copies that are stacked in a new dimension.
fn among_others(rewrite: &mut Rewrite, tensor: ValueRef, known: &Facts, dim: i64) -> ValueRef {
    let mut sizes = known.sizes().to_vec();
    sizes.insert(dim as usize, 2);
    let one = rewrite.add("one", Op::Unsqueeze, vec![Arg::Tensor(tensor), Arg::Int(dim)]);
    let two = rewrite.expanded(one, &sizes);
    rewrite.add("second", Op::Select, vec![Arg::Tensor(two), Arg::Int(dim), Arg::Int(1)])
}
