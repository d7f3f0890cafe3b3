//! The arithmetic of products, on operands that are known to fit.

use num_complex::Complex64;

use crate::tensor::{Buffer, Category, Layout, Scalar, Shape};

use super::super::autograd;
use super::super::budget::charge_product;
use super::super::elementwise::arithmetic;
use super::super::graph::Kept;
use super::super::iterator::Input;
use super::super::machine::{Backward, Machine, Result, Tensor, TensorId};
use super::super::number::Number;
use super::factor;
use crate::ops::Op;

/// `alpha a b + beta c` for matrices, or for batches of matrices of one length: row-major, in the dtype of `a`. Floats
/// are summed in double precision and rounded once; libtorch sums them in another order and precision, which is why
/// products are compared within a tolerance.
pub(super) fn multiply(
    machine: &Machine,
    a: &Tensor,
    b: &Tensor,
    alpha: Scalar,
    added: Option<(&Tensor, Scalar)>,
) -> Buffer {
    machine.eval(a.dtype, || match a.dtype.category() {
        Category::Complex => multiplied::<Complex64>(machine, a, b, alpha, added),
        Category::Floating => multiplied::<f64>(machine, a, b, alpha, added),
        _ => multiplied::<i64>(machine, a, b, alpha, added),
    })
}

fn multiplied<T: Number>(
    machine: &Machine,
    a: &Tensor,
    b: &Tensor,
    alpha: Scalar,
    added: Option<(&Tensor, Scalar)>,
) -> Buffer {
    // A factor that underflows to zero in the dtype of the kernel counts as zero.
    let added = added.filter(|(_, beta)| !factor::is_zero(*beta));
    let (sizes_a, sizes_b) = (a.shape().sizes(), b.shape().sizes());
    let rank = sizes_a.len();
    let batches = sizes_a[..rank - 2].iter().fold(1usize, |count, &size| count.saturating_mul(size as usize));
    let [rows, inner, columns] = [sizes_a[rank - 2], sizes_a[rank - 1], sizes_b[rank - 1]].map(|size| size as usize);
    if [batches, rows, columns].contains(&0) {
        return Buffer::zeros(a.dtype, 0);
    }
    charge_product(&[batches, rows, columns, inner.max(1)]);
    let [left, right] = [a, b].map(|factor| machine.elements::<T>(factor));
    let added = added.map(|(c, beta)| (machine.elements::<T>(c), T::from_scalar(beta)));
    let product = product_of(&left, &right, [batches, rows, inner, columns], T::from_scalar(alpha), added);
    Buffer::of(a.dtype, product)
}

/// The elements of that, from those of batches of matrices.
fn product_of<T: Number>(
    left: &[T],
    right: &[T],
    [batches, rows, inner, columns]: [usize; 4],
    alpha: T,
    added: Option<(Vec<T>, T)>,
) -> Vec<T> {
    let element = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        let term = |at: usize| left[row * inner + at].times(right[(row / rows * inner + at) * columns + column]);
        let product = alpha.times((0..inner).map(term).fold(T::default(), T::plus));
        added.as_ref().map_or(product, |(c, beta)| product.plus(beta.times(c[at])))
    };
    (0..batches * rows * columns).map(element).collect()
}

/// The product as a new tensor.
pub(super) fn product(machine: &mut Machine, a: &Tensor, b: &Tensor, alpha: Scalar) -> Tensor {
    let values = multiply(machine, a, b, alpha, None);
    let rank = a.shape().rank();
    let mut sizes = a.shape().sizes().to_vec();
    sizes[rank - 1] = b.shape().sizes()[rank - 1];
    let shape = Shape::new(sizes).expect("the product has been made");
    machine.allocate(Layout::contiguous(shape), values)
}

/// Notes the product of the last two operands; a summand may precede them. Each factor is kept if the other one needs a
/// gradient. `numbers` are beta and alpha.
pub(super) fn record_product(
    machine: &mut Machine,
    op: Op,
    result: TensorId,
    operands: &[&Tensor],
    numbers: &[Scalar],
    function: Backward,
) {
    let last = operands.len() - 2;
    let factor = |at: usize| Some(operands[last + at].clone()).filter(|_| operands[last + 1 - at].node.is_some());
    let kept = Kept { tensors: vec![factor(0), factor(1)], numbers: numbers.to_vec(), ..Kept::of(op) };
    let operands: Vec<Option<&Tensor>> = operands.iter().map(|operand| Some(*operand)).collect();
    autograd::record_formula(machine, result, &operands, kept, function);
}

/// The gradients of the summand, if there is one, and of the two factors. `first` gets the second factor and returns the
/// first one's gradient; `second` the reverse. Both get the conjugate of alpha.
pub(super) fn received(
    machine: &mut Machine,
    gradient: &Tensor,
    kept: &Kept,
    first: impl FnOnce(&mut Machine, &Tensor, Scalar) -> Tensor,
    second: impl FnOnce(&mut Machine, &Tensor, Scalar) -> Tensor,
) -> Result<Vec<Option<Tensor>>> {
    let (mut received, mut alpha) = (Vec::new(), Scalar::Int(1));
    if let [beta, product] = kept.numbers[..] {
        received.push(Some(scaled(machine, gradient, factor::conjugate(beta))?));
        alpha = factor::conjugate(product);
    }
    received.push(kept.tensors[1].as_ref().map(|other| first(machine, other, alpha)));
    received.push(kept.tensors[0].as_ref().map(|other| second(machine, other, alpha)));
    Ok(received)
}

/// The gradients of a product of matrices, or of batches of them.
pub(super) fn product_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    received(
        machine,
        gradient,
        kept,
        |machine, b, alpha| {
            let b = adjoint(machine, b);
            product(machine, gradient, &b, alpha)
        },
        |machine, a, alpha| {
            let a = adjoint(machine, a);
            product(machine, &a, gradient, alpha)
        },
    )
}

/// The matrices with rows and columns exchanged, and conjugated.
pub(super) fn adjoint(machine: &mut Machine, tensor: &Tensor) -> Tensor {
    let transposed = transposed(tensor);
    autograd::conjugate(machine, &transposed)
}

/// The same matrices with rows and columns exchanged.
pub(super) fn transposed(tensor: &Tensor) -> Tensor {
    let rank = tensor.shape().rank();
    let (mut sizes, mut strides) = (tensor.shape().sizes().to_vec(), tensor.layout.strides.clone());
    sizes.swap(rank - 1, rank - 2);
    strides.swap(rank - 1, rank - 2);
    with_layout(tensor, sizes, strides)
}

/// A vector as a matrix of one column.
pub(super) fn column(vector: &Tensor) -> Tensor {
    with_layout(vector, vec![vector.shape().sizes()[0], 1], vec![vector.layout.strides[0], 1])
}

/// A vector as a matrix of one row.
pub(super) fn row(vector: &Tensor) -> Tensor {
    transposed(&column(vector))
}

/// The same elements in another shape of as many dimensions of length 1 or more; the strides tell where they are.
pub(super) fn with_layout(tensor: &Tensor, sizes: Vec<i64>, strides: Vec<i64>) -> Tensor {
    let shape = Shape::of_sizes(sizes);
    Tensor { layout: Layout { shape, strides, offset: tensor.layout.offset }, node: None, ..tensor.clone() }
}

/// A tensor times a number.
pub(super) fn scaled(machine: &mut Machine, tensor: &Tensor, number: Scalar) -> Result<Tensor> {
    arithmetic(machine, Op::Mul, Input::Tensor(tensor.clone()), Input::Number(number))
}
