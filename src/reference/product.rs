//! Matrix products: `matmul` and the choices that libtorch makes inside of it (ATen/native/LinearAlgebra.cpp).

use num_complex::Complex64;

use crate::error::{Product, Rejection};
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, Category, DType, Layout, Shape};

use super::backward;
use super::machine::{Call, Machine, Result, Slot, Tensor};
use super::number::Number as Sum;

/// `matmul`: vectors, matrices, and batches of matrices whose leading dimensions broadcast.
pub(super) fn matmul(machine: &mut Machine, call: &Call) -> Result<Slot> {
    let ids = [call.tensor(0)?, call.tensor(1)?];
    let [a, b] = ids.map(|id| machine.tensor(id).clone());
    let (rank_a, rank_b) = (a.shape().rank(), b.shape().rank());
    if rank_a == 0 || rank_b == 0 {
        return Err(Rejection::MatmulScalar { a: rank_a, b: rank_b }.into());
    }
    let result = match (rank_a, rank_b) {
        (1, 1) => vector_by_vector(&a, &b)?,
        (2, 1) => matrix_by_vector(&a, &b)?,
        (1 | 2, 2) => matrix_by_matrix(&a, &b)?,
        _ if folds(&a, &b) => folded(&a, &b)?,
        _ => batch_by_batch(&a, &b)?,
    };
    let values = multiply(machine, &a, &b, &result);
    let result = machine.allocate(Layout::contiguous(result.shape), values);
    let result = machine.add(result);
    backward::record_unknown(machine, call.op, result, &ids);
    Ok(Slot::Tensor(result))
}

/// A product that was found to fit: operands as batches of matrices, the batch as in the result.
struct Fitted {
    shape: Shape,
    batch: Shape,
    rows: i64,
    inner: i64,
    columns: i64,
}

fn vector_by_vector(a: &Tensor, b: &Tensor) -> Result<Fitted> {
    check_dtypes(a, b, Product::Dot)?;
    let (size_a, size_b) = (a.shape().sizes()[0], b.shape().sizes()[0]);
    if size_a != size_b {
        return Err(Rejection::DotSizes { a: vec![size_a], b: vec![size_b] }.into());
    }
    Ok(Fitted { shape: Shape::scalar(), batch: Shape::scalar(), rows: 1, inner: size_a, columns: 1 })
}

fn matrix_by_vector(a: &Tensor, b: &Tensor) -> Result<Fitted> {
    let (matrix, vector) = (a.shape().sizes(), b.shape().sizes()[0]);
    if matrix[1] != vector {
        return Err(Rejection::MatvecShapes { matrix: matrix.to_vec(), vector }.into());
    }
    check_dtypes(a, b, Product::MatrixVector)?;
    let shape = Shape::new(vec![matrix[0]]).expect("a size of an operand");
    Ok(Fitted { shape, batch: Shape::scalar(), rows: matrix[0], inner: vector, columns: 1 })
}

fn matrix_by_matrix(a: &Tensor, b: &Tensor) -> Result<Fitted> {
    let (left, right) = (a.shape().sizes(), b.shape().sizes());
    let (rows, inner) = if left.len() == 1 { (1, left[0]) } else { (left[0], left[1]) };
    if inner != right[0] {
        return Err(Rejection::MatmulShapes { a: vec![rows, inner], b: right.to_vec() }.into());
    }
    check_dtypes(a, b, Product::Matrix)?;
    let sizes = if left.len() == 1 { vec![right[1]] } else { vec![rows, right[1]] };
    Ok(Fitted { shape: product_shape(sizes)?, batch: Shape::scalar(), rows, inner, columns: right[1] })
}

/// Whether libtorch multiplies a batch by a matrix or a vector as one large matrix (`should_fold`). The outcome is the
/// same; the text of a refusal is not.
fn folds(a: &Tensor, b: &Tensor) -> bool {
    let (larger, smaller, a_is_larger) =
        if a.shape().rank() >= b.shape().rank() { (a, b, true) } else { (b, a, false) };
    let rank = larger.shape().rank();
    if rank < 3 || smaller.shape().rank() > 2 {
        return false;
    }
    if smaller.node.is_some() {
        return true;
    }
    if a.shape().rank() == 2 {
        return false;
    }
    let (mut sizes, mut strides) = (larger.shape().sizes().to_vec(), larger.layout.strides.clone());
    if !a_is_larger {
        sizes.swap(rank - 1, rank - 2);
        strides.swap(rank - 1, rank - 2);
    }
    larger.shape().numel() == 0 || (0..rank - 2).all(|dim| strides[dim] == strides[dim + 1] * sizes[dim + 1])
}

fn folded(a: &Tensor, b: &Tensor) -> Result<Fitted> {
    let swap = a.shape().rank() < b.shape().rank();
    let (larger, smaller) = if swap { (b, a) } else { (a, b) };
    let mut large = larger.shape().sizes().to_vec();
    let small = smaller.shape().sizes();
    let rank = large.len();
    if swap {
        large.swap(rank - 1, rank - 2);
    }
    let inner = large[rank - 1];
    let rows: i64 = large[..rank - 1].iter().product();
    // The smaller side as the right factor: a matrix is transposed when it stood on the left.
    let right = match (small.len(), swap) {
        (1, _) => vec![small[0]],
        (_, false) => small.to_vec(),
        (_, true) => vec![small[1], small[0]],
    };
    if inner != right[0] {
        return Err(match right.len() {
            1 => Rejection::MatvecShapes { matrix: vec![rows, inner], vector: right[0] },
            _ => Rejection::MatmulShapes { a: vec![rows, inner], b: right },
        }
        .into());
    }
    check_dtypes(a, b, if right.len() == 1 { Product::MatrixVector } else { Product::Matrix })?;
    fitted(a, b)
}

fn batch_by_batch(a: &Tensor, b: &Tensor) -> Result<Fitted> {
    let fitted = fitted(a, b)?;
    let right = b.shape().sizes();
    let inner = if right.len() == 1 { right[0] } else { right[right.len() - 2] };
    if fitted.inner != inner {
        let batch = fitted.batch.numel() as i64;
        return Err(Rejection::BatchShapes { expected: [batch, fitted.inner], got: [batch, inner] }.into());
    }
    check_dtypes(a, b, Product::Batch)?;
    Ok(fitted)
}

/// The shape of the product of two batches, from the sizes of the left operand where inner sizes should agree.
fn fitted(a: &Tensor, b: &Tensor) -> Result<Fitted> {
    let (left, right) = (a.shape().sizes(), b.shape().sizes());
    let rows = (left.len() > 1).then(|| left[left.len() - 2]);
    let columns = (right.len() > 1).then(|| right[right.len() - 1]);
    let batch_of =
        |sizes: &[i64]| Shape::new(sizes[..sizes.len().saturating_sub(2)].to_vec()).expect("sizes of an operand");
    let batch = batch_of(left).broadcast(&batch_of(right))?;
    let sizes = batch.sizes().iter().copied().chain(rows).chain(columns).collect();
    Ok(Fitted {
        shape: product_shape(sizes)?,
        batch,
        rows: rows.unwrap_or(1),
        inner: left[left.len() - 1],
        columns: columns.unwrap_or(1),
    })
}

fn product_shape(sizes: Vec<i64>) -> Result<Shape> {
    Ok(Shape::new(sizes).map_err(|_| Rejection::Numel)?)
}

fn check_dtypes(a: &Tensor, b: &Tensor, product: Product) -> Result<()> {
    if a.dtype != b.dtype {
        return Err(Rejection::ProductDtypes { a: a.dtype, b: b.dtype, product }.into());
    }
    if a.dtype == DType::Bool {
        return Err(Rejection::ProductDtype { dtype: a.dtype, product }.into());
    }
    Ok(())
}

/// The elements of the product, row-major. Floats are summed in double precision and rounded once.
fn multiply(machine: &Machine, a: &Tensor, b: &Tensor, fitted: &Fitted) -> Buffer {
    let operand = |tensor: &Tensor, rows: i64, columns: i64| {
        let rank = tensor.shape().rank();
        let (mut sizes, mut strides) = (tensor.shape().sizes().to_vec(), tensor.layout.strides.clone());
        if rank == 1 {
            let at = if columns == 1 { 1 } else { 0 };
            sizes.insert(at, 1);
            strides.insert(at, 0);
        }
        let layout =
            Layout { shape: Shape::new(sizes).expect("sizes of an operand"), strides, offset: tensor.layout.offset };
        let batch = fitted.batch.sizes().iter().copied();
        let target = Shape::new(batch.chain([rows, columns]).collect()).expect("the product fits");
        layout.expand(&target).expect("batches broadcast to the batch of the product")
    };
    let left = if a.shape().rank() == 1 { row(a, fitted) } else { operand(a, fitted.rows, fitted.inner) };
    let right = operand(b, fitted.inner, fitted.columns);
    macro_rules! product {
        ($type:ty) => {{
            let (a, b) =
                (machine.buffer(a.storage).gather::<$type>(&left), machine.buffer(b.storage).gather::<$type>(&right));
            let [rows, inner, columns] = [fitted.rows, fitted.inner, fitted.columns].map(|size| size as usize);
            let mut product = Vec::with_capacity(fitted.shape.numel());
            for batch in 0..fitted.batch.numel() {
                for row in 0..rows {
                    for column in 0..columns {
                        let mut sum = <$type>::default();
                        for at in 0..inner {
                            let left = a[(batch * rows + row) * inner + at];
                            sum = Sum::plus(sum, Sum::times(left, b[(batch * inner + at) * columns + column]));
                        }
                        product.push(sum);
                    }
                }
            }
            <$type>::wrap(product)
        }};
    }
    let product = match a.dtype.category() {
        Category::Complex => product!(Complex64),
        Category::Floating => product!(f64),
        _ => product!(i64),
    };
    Buffer::from_scalars(a.dtype, product.scalars().into_iter())
}

/// A vector on the left is a row, whatever the number of columns on the right.
fn row(a: &Tensor, fitted: &Fitted) -> Layout {
    let sizes = vec![1, a.shape().sizes()[0]];
    let strides = vec![0, a.layout.strides[0]];
    let layout = Layout { shape: Shape::new(sizes).expect("sizes of an operand"), strides, offset: a.layout.offset };
    let batch = fitted.batch.sizes().iter().copied();
    let target = Shape::new(batch.chain([1, fitted.inner]).collect()).expect("the product fits");
    layout.expand(&target).expect("a row repeats for every batch")
}
