//! `bilinear`: the products of two vectors with each of several matrices, and a bias (ATen/native/Linear.cpp).

use num_complex::Complex64;

use crate::error::Rejection;
use crate::ops::Op;
use crate::program::Arg;
use crate::tensor::{Buffer, Category, Layout, Scalar};

use super::super::autograd;
use super::super::budget::charge_product;
use super::super::dispatch::apply;
use super::super::graph::Kept;
use super::super::machine::{Call, Machine, Operand, Result, Slot, Tensor, TensorId};
use super::super::number::Number;
use super::super::write;
use super::matrix::{check_kernel, shape_of};
use super::parts;

/// `bilinear`.
pub(in super::super) fn bilinear(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?, call.tensor(2)?];
    let bias = call.optional_tensor(3)?;
    let [first, second, weight] = ids.map(|id| machine.tensor(id));
    let plan = infer([first, second, weight], bias.map(|id| machine.tensor(id)))?;
    machine.compose(|machine| composed(machine, call.op, ids, bias, plan)).map(Slot::Tensor)
}

/// The sizes of a call that fits.
struct Plan {
    /// The sizes before the last of each input.
    batch: Vec<i64>,
    /// The features of each input.
    inner: [i64; 2],
    /// The features of the result.
    columns: i64,
}

/// The order of faults: dtypes, ranks, batches, features, the bias, inputs without features, the rank of the weight. Nothing
/// broadcasts here; the bias does later, behind its first size.
fn infer([first, second, weight]: [&Tensor; 3], bias: Option<&Tensor>) -> Result<Plan> {
    check_dtypes([first, second, weight], bias)?;
    let [sizes, others] = [first, second].map(|input| input.shape().sizes());
    if sizes.len() != others.len() {
        return Err(Rejection::BilinearRanks { first: sizes.len(), second: others.len() }.into());
    }
    let batch = &sizes[..sizes.len().saturating_sub(1)];
    if let Some(dim) = (0..batch.len()).find(|&dim| sizes[dim] != others[dim]) {
        return Err(Rejection::BilinearBatches { dim, first: sizes[dim], second: others[dim] }.into());
    }
    for (name, input, dim) in [("input1", first, 1), ("input2", second, 2)] {
        let expected = parts::size(weight.shape(), dim)?;
        check_size(name, parts::size(input.shape(), -1)?, expected)?;
    }
    let columns = weight.shape().sizes()[0];
    if let Some(bias) = bias {
        check_size("bias", parts::size(bias.shape(), 0)?, columns)?;
    }
    let inner = [sizes, others].map(|sizes| sizes[sizes.len() - 1]);
    if inner.contains(&0) {
        return Err(Rejection::ViewAmbiguous { target: vec![-1, 0] }.into());
    }
    // libtorch looks at this last, and only where there is something to multiply.
    if weight.shape().rank() != 3 {
        return Err(Rejection::BilinearWeight.into());
    }
    if first.shape().numel() != 0 && weight.shape().numel() != 0 {
        // Large products are another kernel's.
        let multiplied = [batch, &inner].concat().iter().fold(1i64, |product, size| product.saturating_mul(*size));
        check_kernel(if multiplied < 400 { "bmm" } else { "addmm_impl_cpu_" }, first.dtype)?;
    }
    Ok(Plan { batch: batch.to_vec(), inner, columns })
}

fn check_dtypes([first, second, weight]: [&Tensor; 3], bias: Option<&Tensor>) -> Result<()> {
    let [input1, input2, weight] = [first.dtype, second.dtype, weight.dtype];
    let alike = input1 == input2 && input1 == weight;
    Err(match bias.map(|bias| bias.dtype) {
        None if alike => return Ok(()),
        Some(bias) if alike && bias == input1 => return Ok(()),
        None => Rejection::BilinearDtypes { input1, input2, weight }.into(),
        Some(bias) => Rejection::BilinearBiasDtypes { input1, input2, weight, bias }.into(),
    })
}

fn check_size(name: &'static str, got: i64, expected: i64) -> Result<()> {
    if got == expected { Ok(()) } else { Err(Rejection::BilinearSize { name, got, expected }.into()) }
}

/// The inputs as matrices, their products with the weight, the dimensions that they had, and the bias.
fn composed(machine: &mut Machine, op: Op, ids: [TensorId; 3], bias: Option<TensorId>, plan: Plan) -> Result<TensorId> {
    let rows = parts::multiplied(&plan.batch);
    let [first, second] = [0, 1].map(|at| parts::reshape(machine, ids[at], vec![rows, plan.inner[at]]));
    let products = trilinear(machine, op, [first?, second?, ids[2]])?;
    let result = parts::reshape(machine, products, [&plan.batch[..], &[plan.columns]].concat())?;
    let Some(bias) = bias else { return Ok(result) };
    let one = Arg::Number(Scalar::Int(1));
    apply(machine, Op::Add, &[Operand::Tensor(result), Operand::Tensor(bias), Operand::Other(&one)])
}

/// A row of products for each row of two matrices (`_trilinear`).
fn trilinear(machine: &mut Machine, op: Op, ids: [TensorId; 3]) -> Result<TensorId> {
    let operands = ids.map(|id| machine.tensor(id).clone());
    let needed = operands.each_ref().map(|operand| operand.node.is_some());
    let [first, second, weight] = &operands;
    let sizes = weight.shape().sizes();
    let shape = shape_of(vec![first.shape().sizes()[0], sizes[0]])?;
    if first.dtype.category() == Category::Complex && needed.contains(&true) {
        return Err(Rejection::ComplexAutograd { name: "_trilinear" }.into());
    }
    let values = products(machine, &operands);
    let result = write::deliver(machine, None, &shape, values);
    // Each is kept if another one needs a gradient.
    let kept = [[1, 2], [0, 2], [0, 1]].map(|others| others.iter().any(|other| needed[*other]));
    let tensors = [first, second, weight].into_iter().zip(kept).map(|(it, kept)| kept.then(|| it.clone())).collect();
    let operands = [Some(first), Some(second), Some(weight)];
    autograd::record_formula(machine, result, &operands, Kept { tensors, ..Kept::of(op) }, trilinear_backward);
    Ok(result)
}

/// Floats are summed in double precision and rounded once.
fn products(machine: &Machine, operands: &[Tensor; 3]) -> Buffer {
    let (dtype, extent) = (operands[0].dtype, Extent::of(&operands[0], &operands[2]));
    machine.eval(dtype, || match dtype.category() {
        Category::Complex => Buffer::of(dtype, extent.products::<Complex64>(machine, operands)),
        Category::Floating => Buffer::of(dtype, extent.products::<f64>(machine, operands)),
        _ => Buffer::of(dtype, extent.products::<i64>(machine, operands)),
    })
}

/// How many rows, features of each input, and features of the result there are.
#[derive(Clone, Copy)]
struct Extent {
    rows: usize,
    inner: [usize; 2],
    columns: usize,
}

impl Extent {
    fn of(input: &Tensor, weight: &Tensor) -> Extent {
        let [columns, first, second] = [0, 1, 2].map(|dim| weight.shape().sizes()[dim] as usize);
        Extent { rows: input.shape().sizes()[0] as usize, inner: [first, second], columns }
    }

    fn charge(self) {
        charge_product(&[self.rows, self.columns, self.inner[0], self.inner[1]]);
    }

    /// The numbers of the elements that each product is made of: of the result, of both inputs, and of the weight.
    fn terms(self) -> impl Iterator<Item = [usize; 4]> {
        let Extent { rows, inner: [m, n], columns } = self;
        (0..rows * columns * m * n).map(move |at| {
            let (second, first, column, row) = (at % n, at / n % m, at / (m * n) % columns, at / (m * n * columns));
            [row * columns + column, row * m + first, row * n + second, (column * m + first) * n + second]
        })
    }

    /// The first input is multiplied with the weight, and what is rounded of that with the second.
    fn products<T: Number>(self, machine: &Machine, operands: &[Tensor; 3]) -> Vec<T> {
        self.charge();
        let (n, dtype) = (self.inner[1], operands[0].dtype);
        let [first, second, weight] = operands.each_ref().map(|operand| machine.elements::<T>(operand));
        let mut vectors = vec![T::default(); self.rows * self.columns * n];
        for [result, a, b, w] in self.terms() {
            let vector = &mut vectors[result * n + b % n];
            *vector = vector.plus(first[a].times(weight[w]));
        }
        let mut sums = vec![T::default(); self.rows * self.columns];
        for (at, rounded) in Buffer::of(dtype, vectors).scalars().into_iter().enumerate() {
            let (result, row) = (at / n, at / n / self.columns);
            sums[result] = sums[result].plus(T::from_scalar(rounded).times(second[row * n + at % n]));
        }
        sums
    }
}

/// The gradient of each operand: the products of what arrived with the other two.
fn trilinear_backward(machine: &mut Machine, gradient: &Tensor, kept: &Kept) -> Result<Vec<Option<Tensor>>> {
    let needed = [0, 1, 2].map(|at| kept.needed[at]);
    let [first, second, weight] = [0, 1, 2].map(|at| kept.tensors[at].as_ref());
    let [rows, columns] = [0, 1].map(|dim| gradient.shape().sizes()[dim]);
    // Two of the three are there, or all of them.
    let features = |input: Option<&Tensor>, dim: usize| {
        let of_weight = || weight.map_or(0, |weight| weight.shape().sizes()[dim]);
        input.map_or_else(of_weight, |input| input.shape().sizes()[1])
    };
    let (m, n) = (features(first, 1), features(second, 2));
    let extent = Extent { rows: rows as usize, inner: [m as usize, n as usize], columns: columns as usize };
    let shapes = [vec![rows, m], vec![rows, n], vec![columns, m, n]];
    let mut received = Vec::new();
    for (at, sizes) in shapes.into_iter().enumerate() {
        if !needed[at] {
            received.push(None);
            continue;
        }
        let shape = shape_of(sizes)?;
        let values = machine.eval(gradient.dtype, || {
            extent.charge();
            let [g, a, b, w]: [Vec<f64>; 4] = [Some(gradient), first, second, weight]
                .map(|tensor| tensor.map(|tensor| machine.elements(tensor)).unwrap_or_default());
            let mut sums = vec![0.0; shape.numel()];
            for [result, one, other, factor] in extent.terms() {
                match at {
                    0 => sums[one] += g[result] * w[factor] * b[other],
                    1 => sums[other] += g[result] * w[factor] * a[one],
                    _ => sums[factor] += g[result] * a[one] * b[other],
                }
            }
            Buffer::of(gradient.dtype, sums)
        });
        received.push(Some(machine.allocate(Layout::contiguous(shape), values)));
    }
    Ok(received)
}
