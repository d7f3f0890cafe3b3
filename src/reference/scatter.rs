//! Elements that are combined at indices along one dimension. Neither the indices nor the source broadcast.
//!
//! What is refused, and in which order, is what `scatter` refuses (`scatter_meta_impl`).

use crate::error::Rejection;
use crate::tensor::element::Element;
use crate::tensor::{Category, DType, Scalar, Shape};
use crate::with_element_type;

use super::gather::{along, begin_scatter, corner, indices_of, infer_scatter, positions, record_scatter, size};
use super::iterator::Input;
use super::machine::{Call, Machine, Result, Slot, Stop, Tensor, TensorId};
use super::number::{Computed, Number, RealNumber, with_real_type};
use super::selection::{check_history, overwrite};
use super::{autograd, elementwise};

/// `scatter_add`: elements of the source are added where the indices say.
pub(super) fn scatter_add(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let Scatter { target, operand, index, source, dim } = begin(machine, call)?;
    let tensor = machine.tensor(target).clone();
    let (numbers, bad) = along(machine, &indices_of(machine, &index), index.shape(), tensor.shape(), dim);
    let values = values(machine, &source, index.shape());
    overwrite(machine, &tensor, &numbers, |machine, turn, position| {
        sum(tensor.dtype, machine.get(tensor.storage, position), values[turn])
    });
    bad.map_or(Ok(()), |index| Err(out_of_range(index, dim, tensor.shape())))?;
    record_scatter(machine, call, target, &operand, (&index, &Input::Tensor(source)), &numbers, true)
}

/// `scatter_reduce`: the sum, the product, the mean, the greatest or the least of the elements of the source that the
/// indices bring to one place, and of the one that is there, unless that is left out.
pub(super) fn scatter_reduce(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let (name, included) = (call.text(4)?, call.flag(5)?);
    let Scatter { target, operand, index, source, dim } = begin(machine, call)?;
    // `out=` is resized by now.
    let reduction = Reduction::named(name).ok_or_else(|| Rejection::ScatterReduction { name: name.to_owned() })?;
    let tensor = machine.tensor(target).clone();
    let (numbers, bad) = along(machine, &indices_of(machine, &index), index.shape(), tensor.shape(), dim);
    let bad = bad.map(|index| out_of_range(index, dim, tensor.shape()));
    check_reduction((reduction, included), tensor.dtype, &index, bad)?;
    combine(machine, (reduction, included), &tensor, &numbers, &values(machine, &source, index.shape()));
    if operand.node.is_some() || source.node.is_some() {
        check_reduced(machine, call, target)?;
    }
    if reduction == Reduction::Sum && included {
        return record_scatter(machine, call, target, &operand, (&index, &Input::Tensor(source)), &numbers, true);
    }
    autograd::record_unknown(machine, call.op, target, &[call.tensor(0)?, call.tensor(3)?]);
    Ok(Slot::Tensor(target))
}

/// The order of faults: an index, if what is there is left out, since that is written over first; the dtype; an index.
fn check_reduction(
    (reduction, included): (Reduction, bool),
    dtype: DType,
    index: &Tensor,
    bad: Option<Stop>,
) -> Result<()> {
    let bad = bad.map_or(Ok(()), Err);
    if index.shape().numel() > 0 {
        if !included {
            bad.clone()?;
        }
        reduction.check_kernel(dtype)?;
    } else if reduction == Reduction::Mean && dtype == DType::Bool {
        return Err(Rejection::NoKernel { kernel: "div_floor_cpu", dtype }.into());
    }
    bad
}

/// Refuses gradients, once everything is written: of complex numbers, and through a new tensor of integers.
fn check_reduced(machine: &Machine, call: &Call, target: TensorId) -> Result<()> {
    if machine.tensor(target).dtype.category() == Category::Complex {
        return Err(Rejection::ComplexAutograd { name: call.op.name() }.into());
    }
    check_history(machine, call, target, true)
}

/// What a call is about, once it is not refused.
struct Scatter {
    target: TensorId,
    operand: Tensor,
    index: Tensor,
    source: Tensor,
    dim: usize,
}

fn begin(machine: &mut Machine, call: &Call) -> Result<Scatter> {
    let [operand, index, source] =
        [call.tensor(0)?, call.tensor(2)?, call.tensor(3)?].map(|id| machine.tensor(id).clone());
    let dim = infer_scatter(machine, call, &operand, &index, &elementwise::input(machine, call, 3)?)?;
    let target = begin_scatter(machine, call, &operand)?;
    Ok(Scatter { target, operand, index, source, dim })
}

fn out_of_range(index: i64, dim: usize, of: &Shape) -> Stop {
    Rejection::IndexRange { index, dim, size: size(of, dim) }.into()
}

/// The elements of a source that indices of this shape take, in order; nothing without elements.
fn values(machine: &Machine, source: &Tensor, indices: &Shape) -> Vec<Scalar> {
    let places = positions(machine, &corner(&source.layout, indices));
    places.into_iter().map(|at| machine.get(source.storage, at)).collect()
}

/// `a + b` in a dtype.
pub(super) fn sum(dtype: DType, a: Scalar, b: Scalar) -> Scalar {
    with_element_type!(dtype, T => {
        T::narrow(T::from_scalar(a).widened().plus(T::from_scalar(b).widened())).to_scalar()
    })
}

/// A function of any number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    Sum,
    Product,
    Mean,
    Greatest,
    Least,
}

impl Reduction {
    fn named(name: &str) -> Option<Reduction> {
        Some(match name {
            "sum" => Reduction::Sum,
            "prod" => Reduction::Product,
            "mean" => Reduction::Mean,
            "amax" => Reduction::Greatest,
            "amin" => Reduction::Least,
            _ => return None,
        })
    }

    /// Refuses a dtype that there is no loop for.
    fn check_kernel(self, dtype: DType) -> Result<()> {
        let complex = dtype.category() == Category::Complex;
        let kernel = match self {
            Reduction::Greatest if complex => "scatter_gather_tensor_cpu_reduce_amax",
            Reduction::Least if complex => "scatter_gather_tensor_cpu_reduce_amin",
            Reduction::Mean if dtype == DType::Bool => "scatter_gather_tensor_cpu_reduce_mean",
            _ => return Ok(()),
        };
        Err(Rejection::NoKernel { kernel, dtype }.into())
    }

    /// All elements of a place, of which there is one at least.
    fn of_all(self, dtype: DType, elements: impl Iterator<Item = Scalar> + Clone) -> Scalar {
        let count = elements.clone().count();
        let all = elements.reduce(|before, next| self.of_two(dtype, before, next)).expect("a group has an element");
        if self == Reduction::Mean { divided(dtype, all, count) } else { all }
    }

    /// The next of the elements, and what those before it have come to.
    fn of_two(self, dtype: DType, before: Scalar, next: Scalar) -> Scalar {
        match self {
            Reduction::Sum | Reduction::Mean => sum(dtype, before, next),
            Reduction::Product => with_element_type!(dtype, T => {
                T::narrow(T::from_scalar(before).widened().times(T::from_scalar(next).widened())).to_scalar()
            }),
            Reduction::Greatest => chosen(dtype, before, next, true),
            Reduction::Least => chosen(dtype, before, next, false),
        }
    }
}

/// The greater or the lesser of two real numbers; NaN if either is.
fn chosen(dtype: DType, a: Scalar, b: Scalar, greater: bool) -> Scalar {
    with_real_type!(dtype, T => {
        let (a, b) = (T::from_scalar(a).widened(), T::from_scalar(b).widened());
        T::narrow(if greater { a.greater(b) } else { a.lesser(b) }).to_scalar()
    })
}

/// Writes what the elements of each place come to.
fn combine(
    machine: &mut Machine,
    (reduction, included): (Reduction, bool),
    tensor: &Tensor,
    numbers: &[usize],
    values: &[Scalar],
) {
    let mut groups: std::collections::BTreeMap<usize, Vec<Scalar>> = std::collections::BTreeMap::new();
    numbers.iter().zip(values).for_each(|(&number, &value)| groups.entry(number).or_default().push(value));
    let (places, groups): (Vec<usize>, Vec<Vec<Scalar>>) = groups.into_iter().unzip();
    overwrite(machine, tensor, &places, |machine, turn, position| {
        let own = included.then(|| machine.get(tensor.storage, position));
        reduction.of_all(tensor.dtype, own.into_iter().chain(groups[turn].iter().copied()))
    });
}

/// A sum divided by a count, which integers round down.
fn divided(dtype: DType, sum: Scalar, count: usize) -> Scalar {
    match sum {
        Scalar::Int(sum) => Scalar::Int(sum.div_euclid(count as i64)),
        Scalar::Float(sum) => {
            with_element_type!(dtype, T => T::from_scalar(Scalar::Float(sum / count as f64)).to_scalar())
        }
        Scalar::Complex(sum) => Scalar::Complex(sum / count as f64),
        Scalar::Bool(_) => sum,
    }
}
