//! The state of a running program: storages, tensors that view them, and the graph that gradients flow back through.

use std::rc::Rc;

use crate::error::Rejection;
use crate::ops::{Form, Op};
use crate::program::{Arg, VALUE_LIMIT};
use crate::tensor::element::Element;
use crate::tensor::storage::Stored;
use crate::tensor::{Buffer, DType, IndexItem, Layout, Scalar, ScalarType, Shape};

use super::budget::charge;
use super::graph::{Graph, Kept};
use super::value::Input;

pub(super) use super::value::{Result, Stop, StorageId, Tensor, TensorId};

/// The value of a step.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Tensor(TensorId),
    Tensors(Vec<TensorId>),
    Sizes(Vec<i64>),
    Number(Scalar),
    Dtype(ScalarType),
    Nothing,
}

/// Storages, tensors and graph. A clone shares the elements of storages until one of both writes to them.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The functions that run operations; none for one that its row says element by element.
    pub kernels: fn(Op) -> Option<Kernel>,
    storages: Vec<Storage>,
    tensors: Vec<Tensor>,
    pub graph: Graph<Backward>,
    /// The warnings of the current step.
    pub warnings: Vec<String>,
    /// The switch `torch.utils.backcompat.broadcast_warning.enabled`, which nothing reads but the program.
    pub broadcast_warning: bool,
    /// The number of tensor objects before the operation that makes others on its way, if one does.
    lasting: Option<usize>,
    /// False if programs are run without elements, for their shapes alone.
    elements: bool,
}

/// A function that runs an operation.
pub(super) type Kernel = fn(&mut Machine, &Call) -> Result<Slot>;

/// A gradient for each operand, from the upstream gradient and what was kept; operands that need none may have none.
pub(super) type Backward = fn(&mut Machine, &Tensor, &Kept) -> Result<Vec<Option<Tensor>>>;

#[derive(Clone, Debug)]
struct Storage {
    /// The elements. Where they are absent it has none, and the dtype all the same.
    buffer: Rc<Buffer>,
    /// The number of elements, where they are absent.
    length: i64,
    /// Counts the writes, as libtorch's version counter does.
    version: u64,
}

impl Machine {
    /// An empty one that runs operations by these functions, perhaps without elements.
    pub fn new(kernels: fn(Op) -> Option<Kernel>, elements: bool) -> Machine {
        Machine {
            kernels,
            storages: Vec::new(),
            tensors: Vec::new(),
            graph: Graph::new(),
            warnings: Vec::new(),
            broadcast_warning: false,
            lasting: None,
            elements,
        }
    }

    /// Returns whether tensors have elements. Without them every storage is absent, apart from inputs whose data was given,
    /// and kernels infer, prepare and write, but do not eval.
    pub fn has_elements(&self) -> bool {
        cfg!(feature = "elements") && self.elements
    }

    /// The gate of every eval phase: the elements that `work` computes, which have this dtype. None where there are no
    /// elements.
    pub fn eval(&self, dtype: DType, work: impl FnOnce() -> Buffer) -> Buffer {
        if self.has_elements() { work() } else { Buffer::zeros(dtype, 0) }
    }

    /// The same of work that elements may stop.
    pub fn try_eval<E>(
        &self,
        dtype: DType,
        work: impl FnOnce() -> std::result::Result<Buffer, E>,
    ) -> std::result::Result<Buffer, E> {
        if self.has_elements() { work() } else { Ok(Buffer::zeros(dtype, 0)) }
    }

    /// Zeros for a new tensor.
    pub fn zeros(&self, dtype: DType, count: usize) -> Buffer {
        if !self.has_elements() {
            return Buffer::zeros(dtype, 0);
        }
        charge(count);
        Buffer::zeros(dtype, count)
    }

    /// A new tensor of zeros, in a dense layout.
    pub fn blank(&mut self, dtype: DType, layout: Layout) -> Tensor {
        let zeros = self.zeros(dtype, layout.shape.numel());
        self.allocate(layout, zeros)
    }

    /// The elements that an infer phase reads, row-major: `None` where they are absent, or stand for more than can be looked
    /// at.
    pub fn known<T: Stored>(&self, tensor: &Tensor) -> Option<Vec<T>> {
        if self.has_elements() {
            return Some(self.elements(tensor));
        }
        let there = !self.buffer(tensor.storage).is_empty() || tensor.shape().numel() == 0;
        let few = tensor.shape().count() <= MOST_KNOWN;
        (there && few).then(|| self.buffer(tensor.storage).gather(&tensor.layout))
    }

    /// Returns whether the elements of a tensor can be counted, and the bytes of its storage; always where there are
    /// elements.
    pub fn is_countable(&self, tensor: &Tensor) -> bool {
        let bytes = || self.length(tensor.storage).checked_mul(tensor.dtype.size() as i64);
        self.has_elements() || (tensor.shape().is_countable() && bytes().is_some())
    }

    /// Returns whether a tensor of this shape is too large to be looked at; without elements, to be counted.
    pub fn is_large(&self, shape: &Shape, dtype: DType) -> bool {
        match self.has_elements() {
            true => is_large(shape, dtype),
            false => !shape.is_countable() || shape.count().checked_mul(dtype.size() as i64).is_none(),
        }
    }

    /// Returns whether a tensor is too large to be looked at once it is resized to a shape, or would need too large a storage
    /// for that: it stays where it begins, however far into the storage that is.
    pub fn is_large_resized(&self, id: TensorId, shape: &Shape) -> bool {
        let tensor = self.tensor(id);
        let end = if shape.count() == 0 { 0 } else { tensor.layout.offset.saturating_add(shape.count()) };
        self.is_large(shape, tensor.dtype) || self.is_large(&Shape::of_sizes(vec![end]), tensor.dtype)
    }

    /// A new tensor object on a storage that exists.
    pub fn add(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() - 1)
    }

    /// A new tensor in a storage of its own, which it fills from the start.
    pub fn allocate(&mut self, layout: Layout, buffer: Buffer) -> Tensor {
        let dtype = buffer.dtype();
        charge(buffer.len());
        let length = if self.has_elements() { 0 } else { layout.shape.count() };
        self.storages.push(Storage { buffer: Rc::new(buffer), length, version: 0 });
        Tensor { storage: StorageId(self.storages.len() - 1), layout, dtype, node: None, base: None }
    }

    /// Returns the result of `work`, which an operation does on its way; the tensor objects that it makes are gone
    /// afterwards.
    pub fn aside<R>(&mut self, work: impl FnOnce(&mut Machine) -> R) -> R {
        let mark = self.tensors.len();
        let outer = self.lasting;
        self.lasting = outer.or(Some(mark));
        let result = work(self);
        self.lasting = outer;
        self.tensors.truncate(mark);
        result
    }

    /// The tensor that `work` makes of others; the tensor objects that it makes on the way are gone afterwards.
    pub fn compose(&mut self, work: impl FnOnce(&mut Machine) -> Result<TensorId>) -> Result<TensorId> {
        let mark = self.tensors.len();
        let made = self.aside(|machine| work(machine).map(|id| (id, machine.tensor(id).clone())));
        made.map(|(id, tensor)| match id.0 < mark {
            true => id,
            false => self.add(Tensor { base: tensor.base.filter(|base| base.0 < mark), ..tensor }),
        })
    }

    /// Returns whether a tensor object will be there after the step: those that operations make on their way are not.
    pub fn outlives(&self, id: TensorId) -> bool {
        self.lasting.is_none_or(|lasting| id.0 < lasting)
    }

    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// Returns whether a tensor has another shape than its node in the graph: `out=` has resized it since.
    pub fn is_resized(&self, node: super::value::NodeId) -> bool {
        let shape = &self.graph[node].shape;
        self.tensors.iter().any(|tensor| tensor.node == Some(node) && tensor.shape() != shape)
    }

    pub fn tensor_mut(&mut self, id: TensorId) -> &mut Tensor {
        &mut self.tensors[id.0]
    }

    pub fn buffer(&self, storage: StorageId) -> &Buffer {
        &self.storages[storage.0].buffer
    }

    /// The number of elements of a storage.
    pub fn length(&self, storage: StorageId) -> i64 {
        let storage = &self.storages[storage.0];
        if self.has_elements() { storage.buffer.len() as i64 } else { storage.length }
    }

    pub fn version(&self, storage: StorageId) -> u64 {
        self.storages[storage.0].version
    }

    /// Counts writes as libtorch does where the reference makes more of them, or fewer.
    pub fn set_version(&mut self, storage: StorageId, version: u64) {
        self.storages[storage.0].version = version;
    }

    /// The tensors that are views of `base`.
    pub fn views_of(&self, base: TensorId) -> Vec<TensorId> {
        (0..self.tensors.len()).filter(|&at| self.tensors[at].base == Some(base)).map(TensorId).collect()
    }

    /// Gives a tensor another layout on the elements that it has; it counts as a write.
    pub fn relayout(&mut self, id: TensorId, layout: Layout) {
        let tensor = &mut self.tensors[id.0];
        tensor.layout = layout;
        self.storages[tensor.storage.0].version += 1;
    }

    /// The elements of a tensor, row-major, converted to `T`.
    pub fn elements<T: Stored>(&self, tensor: &Tensor) -> Vec<T> {
        if !self.has_elements() {
            return Vec::new();
        }
        charge(tensor.shape().numel());
        self.buffer(tensor.storage).gather(&tensor.layout)
    }

    /// The same elements in another dtype, contiguous.
    pub fn converted(&mut self, tensor: &Tensor, dtype: DType) -> Tensor {
        let values = self.eval(dtype, || Buffer::from_scalars(dtype, self.elements_as_scalars(tensor).into_iter()));
        self.allocate(Layout::contiguous(tensor.shape().clone()), values)
    }

    /// The elements of a tensor expanded to a shape, row-major, converted to `T`.
    pub fn expanded<T: Stored>(&self, tensor: &Tensor, shape: &Shape) -> Result<Vec<T>> {
        let layout = tensor.layout.expand(shape);
        let layout = layout.ok_or_else(|| Stop::Malformed("an operand of another shape".to_owned()))?;
        if !self.has_elements() {
            return Ok(Vec::new());
        }
        charge(shape.numel());
        Ok(self.buffer(tensor.storage).gather(&layout))
    }

    /// The same of operands.
    pub fn columns<T: Stored>(&self, inputs: &[Input], shape: &Shape) -> Result<Vec<Vec<T>>> {
        let mut columns = Vec::with_capacity(inputs.len());
        for input in inputs {
            columns.push(match input {
                Input::Number(number) => {
                    charge(shape.numel());
                    vec![T::from_scalar(*number); shape.numel()]
                }
                Input::Tensor(tensor) => self.expanded(tensor, shape)?,
            });
        }
        Ok(columns)
    }

    /// The elements of a tensor, row-major, as numbers.
    pub fn elements_as_scalars(&self, tensor: &Tensor) -> Vec<Scalar> {
        crate::with_element_type!(tensor.dtype, T => {
            self.elements::<T>(tensor).into_iter().map(crate::tensor::element::Element::to_scalar).collect()
        })
    }

    /// Overwrites the elements of `target` with those of `values`, row-major, converted to its dtype.
    pub fn write(&mut self, target: &Tensor, values: &Buffer) {
        if !self.has_elements() {
            return self.overwrite_absent(target.storage);
        }
        charge(target.shape().numel());
        let storage = &mut self.storages[target.storage.0];
        storage.version += 1;
        crate::with_element_type!(values.dtype(), T => {
            Rc::make_mut(&mut storage.buffer).scatter(&target.layout, T::slice(values).expect("the element type of the buffer's own dtype"));
        });
    }

    /// Counts a write without elements. Those that were given are not known any more.
    fn overwrite_absent(&mut self, storage: StorageId) {
        let storage = &mut self.storages[storage.0];
        storage.version += 1;
        storage.buffer = Rc::new(Buffer::zeros(storage.buffer.dtype(), 0));
    }

    /// One element of a storage.
    pub fn get(&self, storage: StorageId, position: usize) -> Scalar {
        crate::with_element_type!(self.buffer(storage).dtype(), T => {
            T::slice(self.buffer(storage)).expect("the element type of the buffer's own dtype")[position].to_scalar()
        })
    }

    /// Overwrites single elements of a storage, in this order.
    pub fn put(&mut self, storage: StorageId, elements: impl IntoIterator<Item = (usize, Scalar)>) {
        if !self.has_elements() {
            return self.overwrite_absent(storage);
        }
        let storage = &mut self.storages[storage.0];
        storage.version += 1;
        crate::with_element_type!(storage.buffer.dtype(), T => {
            let buffer = T::slice_mut(Rc::make_mut(&mut storage.buffer)).expect("the element type of the buffer's own dtype");
            for (position, value) in elements {
                charge(1);
                buffer[position] = T::from_scalar(value);
            }
        });
    }

    /// Gives a tensor another layout, as resizing does: from the same element of its storage on. The storage never
    /// shrinks, so that other views of it stay; where it grows, the new elements are zero, in libtorch anything.
    pub fn replace(&mut self, id: TensorId, layout: Layout) {
        let tensor = &mut self.tensors[id.0];
        if let Some(node) = tensor.node {
            self.graph.resize_leaf(node, &layout.shape);
        }
        let offset = tensor.layout.offset;
        // Nothing needs no memory, wherever it lies (`maybe_resize_storage_cpu`).
        let elements = layout.shape.count();
        let needed = if elements == 0 { 0 } else { offset + elements };
        tensor.layout = Layout { offset, ..layout };
        let storage = &mut self.storages[tensor.storage.0];
        if !(cfg!(feature = "elements") && self.elements) {
            if storage.length < needed {
                *storage = Storage { buffer: Rc::new(Buffer::zeros(tensor.dtype, 0)), length: needed, ..*storage };
            }
            return;
        }
        let needed = needed as usize;
        crate::with_element_type!(tensor.dtype, T => {
            if let Some(elements) = T::slice(&storage.buffer).filter(|elements| elements.len() < needed) {
                let mut elements = elements.to_vec();
                elements.resize(needed, T::default());
                storage.buffer = Rc::new(T::wrap(elements));
            }
        });
    }
}

/// One operation with the arguments looked up.
pub(super) struct Call<'a> {
    pub op: Op,
    pub form: Form,
    pub args: &'a [Operand<'a>],
    pub out: Option<TensorId>,
}

/// An argument with its tensors looked up.
#[derive(Clone)]
pub(super) enum Operand<'a> {
    Tensor(TensorId),
    Tensors(Vec<TensorId>),
    Indices(Vec<Option<TensorId>>),
    Other(&'a Arg),
}

macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident -> $type:ty = $what:literal { $($pattern:pat => $value:expr),+ $(,)? })+) => {$(
        $(#[$doc])*
        pub fn $name(&self, at: usize) -> Result<$type> {
            match self.args.get(at) {
                $(Some($pattern) => Ok($value),)+
                _ => Err(Stop::Malformed(format!("argument {at} of {} is not {}", self.op, $what))),
            }
        }
    )+};
}

impl Call<'_> {
    /// The tensor that the call writes to, if it is one that was there before.
    pub fn target(&self) -> Result<Option<TensorId>> {
        match self.form {
            Form::Functional => Ok(None),
            Form::InPlace => self.tensor(0).map(Some),
            Form::Out => Ok(self.out),
        }
    }

    /// The arguments that are numbers, in order.
    pub fn numbers(&self) -> Vec<Scalar> {
        let number = |arg: &Operand| match arg {
            Operand::Other(Arg::Number(number)) => Some(*number),
            _ => None,
        };
        self.args.iter().filter_map(number).collect()
    }

    accessors! {
        /// The tensor that argument `at` is.
        tensor -> TensorId = "a tensor" { Operand::Tensor(id) => *id }
        /// The tensor that argument `at` is, if it is there.
        optional_tensor -> Option<TensorId> = "a tensor or nothing" {
            Operand::Tensor(id) => Some(*id), Operand::Other(Arg::Nothing) => None,
        }
        /// The tensors that argument `at` is.
        tensors -> &[TensorId] = "a list of tensors" { Operand::Tensors(ids) => ids.as_slice() }
        /// The tensors that argument `at` is, where they are there.
        indices -> &[Option<TensorId>] = "a list of tensors, or nothing" { Operand::Indices(ids) => ids.as_slice() }
        /// The number that argument `at` is.
        number -> Scalar = "a number" { Operand::Other(Arg::Number(number)) => *number }
        /// The integer that argument `at` is.
        int -> i64 = "an integer" { Operand::Other(Arg::Int(value)) => *value }
        /// The integer that argument `at` is, if it is there.
        optional_int -> Option<i64> = "an integer or nothing" {
            Operand::Other(Arg::Int(value)) => Some(*value), Operand::Other(Arg::Nothing) => None,
        }
        /// The list of integers that argument `at` is.
        ints -> &[i64] = "a list of integers" { Operand::Other(Arg::Ints(values)) => values.as_slice() }
        /// The dimensions that argument `at` names; `None` for all of them.
        dims -> Option<Vec<i64>> = "dimensions" {
            Operand::Other(Arg::Nothing) => None,
            Operand::Other(Arg::Ints(values)) => Some(values.clone()),
            Operand::Other(Arg::Int(value)) => Some(vec![*value]),
        }
        /// The switch that argument `at` is.
        flag -> bool = "a flag" { Operand::Other(Arg::Flag(flag)) => *flag }
        /// The number that argument `at` is, if it is there.
        optional_number -> Option<Scalar> = "a number or nothing" {
            Operand::Other(Arg::Number(number)) => Some(*number), Operand::Other(Arg::Nothing) => None,
        }
        /// The switch that argument `at` is, if it is there.
        optional_flag -> Option<bool> = "a flag or nothing" {
            Operand::Other(Arg::Flag(flag)) => Some(*flag), Operand::Other(Arg::Nothing) => None,
        }
        /// The dtype that argument `at` is, if it is there.
        optional_dtype -> Option<DType> = "a dtype or nothing" {
            Operand::Other(Arg::Dtype(dtype)) => Some(*dtype), Operand::Other(Arg::Nothing) => None,
        }
        /// The dtype that argument `at` is, which may be none of tensors of programs.
        scalar_type -> ScalarType = "a dtype" { Operand::Other(Arg::ScalarType(dtype)) => *dtype }
        /// The text that argument `at` is.
        text -> &str = "text" { Operand::Other(Arg::Text(text)) => text.as_str() }
        /// The index items that argument `at` is.
        index -> &[IndexItem] = "an index" { Operand::Other(Arg::Index(items)) => items.as_slice() }
        /// The shapes that argument `at` is.
        shapes -> &[crate::program::ShapeArg] = "a list of shapes" {
            Operand::Other(Arg::Shapes(shapes)) => shapes.as_slice(),
        }
    }
}

/// The most elements that are looked at where programs are run without elements: what decides a shape is small.
pub(super) const MOST_KNOWN: i64 = 1 << 16;

/// Returns whether the elements of a tensor are too many to be looked at: only an expanded tensor can have so many.
pub(super) fn is_large(shape: &Shape, dtype: DType) -> bool {
    !shape.is_countable() || shape.numel().checked_mul(dtype.size()).is_none_or(|bytes| bytes > VALUE_LIMIT)
}

/// A dimension number as libtorch wraps it: negative ones count from the end; a tensor without dimensions takes 0 and
/// -1 (`maybe_wrap_dim`).
pub(super) fn wrap_dim(dim: i64, rank: usize) -> Result<usize> {
    let range = rank.max(1) as i64;
    if dim < -range || dim >= range {
        return Err(Rejection::DimensionRange { low: -range, high: range - 1, got: dim }.into());
    }
    Ok(dim.rem_euclid(range) as usize)
}

/// The dimensions that a list names, each once (`dim_list_to_bitset`).
pub(super) fn dimension_set(dims: &[i64], rank: usize) -> Result<Vec<usize>> {
    if rank > MOST_DIMS {
        return Err(Rejection::TooManyDimensions { most: MOST_DIMS }.into());
    }
    let mut set = Vec::with_capacity(dims.len());
    for &dim in dims {
        let dim = wrap_dim(dim, rank)?;
        if set.contains(&dim) {
            return Err(Rejection::DimensionRepeated { dim }.into());
        }
        set.push(dim);
    }
    Ok(set)
}

/// The bits of libtorch's mask of dimensions.
pub(super) const MOST_DIMS: usize = 64;
