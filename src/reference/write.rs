//! The write phase of every kernel: elements go to a new tensor, to the operand that is written in place, or to the tensor
//! that `out=` names.
//!
//! It must not know which operation the elements come from, nor compute any. What is observable of a rejected call is
//! written here, too: `out=` is resized before the kernel refuses, and a loop stops at the element that it refuses.

use crate::tensor::{Buffer, Category, DType, Layout, Shape};

use super::iterator;
use super::machine::{Machine, Result, Tensor, TensorId};

/// Refuses a target that shares memory with an operand (`assert_no_overlap`).
pub(super) fn check_apart(
    machine: &Machine,
    target: TensorId,
    operands: impl IntoIterator<Item = TensorId>,
) -> Result<()> {
    let check = |id| iterator::check_no_overlap(machine.tensor(target), machine.tensor(id), id == target);
    operands.into_iter().try_for_each(check)
}

/// Warns of imaginary parts that are dropped, if there are any (`copy_impl`): the truth of a complex number is made of both.
pub(super) fn warn_of_cast(machine: &mut Machine, from: DType, to: DType, elements: usize) {
    let real = matches!(to.category(), Category::Integral | Category::Floating);
    if from.category() == Category::Complex && real && elements > 0 {
        machine.warnings.push("Casting complex values to real discards the imaginary part".to_owned());
    }
}

/// Gives an `out=` tensor the shape of the result, row-major, with a warning (`resize_output`).
pub(super) fn prepare(machine: &mut Machine, out: Option<TensorId>, shape: &Shape) -> Result<()> {
    out.map_or(Ok(()), |out| resize_output(machine, out, Layout::contiguous(shape.clone()), 1))
}

/// Gives an `out=` tensor another layout unless it has the shape already, with as many warnings as libtorch gives, if there
/// is not more of it than a value can have.
pub(super) fn resize_output(machine: &mut Machine, target: TensorId, layout: Layout, warnings: usize) -> Result<()> {
    warn_of_resize(machine, target, &layout.shape, warnings)?;
    if *machine.tensor(target).shape() != layout.shape {
        machine.replace(target, layout);
    }
    Ok(())
}

/// Gives the warnings of a resized `out=` tensor, if it has not the shape already and there is not more of it than a value
/// can have.
pub(super) fn warn_of_resize(machine: &mut Machine, target: TensorId, shape: &Shape, warnings: usize) -> Result<()> {
    let tensor = machine.tensor(target);
    if tensor.shape() == shape {
        return Ok(());
    }
    if machine.is_large_resized(target, shape) {
        return Err(iterator::too_large(usize::MAX));
    }
    if tensor.shape().numel() != 0 {
        let warning = format!(
            "An output with one or more elements was resized since it had shape {}, which does not match the required \
             output shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized \
             unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero \
             elements with t.resize_(0).",
            tensor.shape(),
            shape
        );
        machine.warnings.extend(std::iter::repeat_n(warning, warnings));
    }
    Ok(())
}

/// Writes the elements of a result, row-major, to its target, or to a new tensor of this layout.
pub(super) fn deliver_in(machine: &mut Machine, target: Option<TensorId>, layout: Layout, values: Buffer) -> TensorId {
    let Some(target) = target else {
        let result = create(machine, layout, values);
        return machine.add(result);
    };
    let tensor = machine.tensor(target).clone();
    machine.write(&tensor, &values);
    target
}

/// The same of a result whose new tensor is row-major.
pub(super) fn deliver(machine: &mut Machine, target: Option<TensorId>, shape: &Shape, values: Buffer) -> TensorId {
    deliver_in(machine, target, Layout::contiguous(shape.clone()), values)
}

/// A new tensor of these elements, which are row-major, in a dense layout.
pub(super) fn create(machine: &mut Machine, layout: Layout, values: Buffer) -> Tensor {
    if !machine.has_elements() || layout == Layout::contiguous(layout.shape.clone()) {
        return machine.allocate(layout, values);
    }
    let mut buffer = Buffer::zeros(values.dtype(), values.len());
    crate::with_element_type!(values.dtype(), T => {
        use crate::tensor::storage::Stored;
        buffer.scatter(&layout, T::slice(&values).expect("the element type of the buffer's own dtype"));
    });
    machine.allocate(layout, buffer)
}

/// A tensor with the shape, the dtype and, if it is dense, the strides of another (`empty_like`).
pub(super) fn empty_like(machine: &mut Machine, like: TensorId) -> TensorId {
    let tensor = machine.tensor(like);
    let blank = machine.blank(tensor.dtype, iterator::dense(&tensor.layout));
    machine.add(blank)
}

/// The same elements in another layout, in a new storage.
pub(super) fn restride(machine: &mut Machine, tensor: &Tensor, layout: Layout) -> Tensor {
    let values = elements(machine, tensor, tensor.dtype);
    create(machine, layout, values)
}

/// The elements of a tensor, row-major, in a dtype.
pub(super) fn elements(machine: &Machine, tensor: &Tensor, dtype: DType) -> Buffer {
    machine.eval(dtype, || {
        crate::with_element_type!(dtype, T => {
            use crate::tensor::storage::Stored;
            T::wrap(machine.elements(tensor))
        })
    })
}

/// Overwrites a tensor of the same shape with the elements of another, converted.
pub(super) fn copy(machine: &mut Machine, target: TensorId, from: &Tensor) {
    let (values, target) = (elements(machine, from, from.dtype), machine.tensor(target).clone());
    machine.write(&target, &values);
}

/// Writes what a loop has computed before it stopped. `order` says when the loop reaches each element, row-major, and `done`
/// which have a result.
pub(super) fn in_part(machine: &mut Machine, target: &Tensor, order: &[usize], results: &Buffer, done: &[bool]) {
    if !machine.has_elements() {
        return;
    }
    let stop = order.iter().zip(done).filter(|(_, done)| !**done).map(|(&at, _)| at).min().unwrap_or(usize::MAX);
    let (kept, results) = (machine.elements_as_scalars(target), results.scalars());
    let mixed =
        order.iter().zip(results.into_iter().zip(kept)).map(|(&at, (new, old))| if at < stop { new } else { old });
    let mixed = Buffer::from_scalars(target.dtype, mixed);
    machine.write(target, &mixed);
}
