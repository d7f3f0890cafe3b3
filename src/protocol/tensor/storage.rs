//! The memory behind tensors: one typed, contiguous buffer a storage.

use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

use super::dtype::DType;
use super::element::{Element, Scalar};
use super::layout::Layout;

macro_rules! buffer {
    ($($variant:ident $type:ty),+ $(,)?) => {
        /// The elements of one storage.
        ///
        /// ```
        /// use broadcheck_protocol::tensor::{Buffer, Layout, Shape};
        ///
        /// let row = Buffer::Int16(vec![1, 2, 3]);
        /// let layout = Layout::contiguous(Shape::new(vec![3]).unwrap());
        /// assert_eq!(row.to_bytes(&layout), [1, 0, 2, 0, 3, 0]);
        /// let twice = layout.expand(&Shape::new(vec![2, 3]).unwrap()).unwrap();
        /// assert_eq!(row.gather::<i16>(&twice), [1, 2, 3, 1, 2, 3]);
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        pub enum Buffer {
            $(#[doc = concat!("Elements of type `", stringify!($type), "`.")] $variant(Vec<$type>)),+
        }

        impl Buffer {
            /// The dtype of every element.
            pub fn dtype(&self) -> DType {
                match self { $(Buffer::$variant(_) => DType::$variant),+ }
            }
        }

        $(impl Stored for $type {
            fn wrap(elements: Vec<Self>) -> Buffer {
                Buffer::$variant(elements)
            }
            fn slice(buffer: &Buffer) -> Option<&[Self]> {
                match buffer { Buffer::$variant(elements) => Some(elements), _ => None }
            }
            fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]> {
                match buffer { Buffer::$variant(elements) => Some(elements), _ => None }
            }
        })+
    };
}

/// An element type and the buffer variant that stores it.
pub trait Stored: Element {
    /// A buffer of these elements.
    fn wrap(elements: Vec<Self>) -> Buffer;
    /// The elements, if the buffer is of this type.
    fn slice(buffer: &Buffer) -> Option<&[Self]>;
    /// The elements to be written, if the buffer is of this type.
    fn slice_mut(buffer: &mut Buffer) -> Option<&mut [Self]>;
}

buffer! {
    Bool bool, Uint8 u8, Int8 i8, Int16 i16, Int32 i32, Int64 i64, Float16 f16, Bfloat16 bf16, Float32 f32,
    Float64 f64, Complex64 Complex32, Complex128 Complex64,
}

impl Buffer {
    /// `count` zeros.
    pub fn zeros(dtype: DType, count: usize) -> Buffer {
        crate::with_element_type!(dtype, T => T::wrap(vec![T::default(); count]))
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        crate::with_element_type!(self.dtype(), T => T::slice(self).map_or(0, <[T]>::len))
    }

    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The buffer whose little-endian bytes these are. `None` unless they are whole elements.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Buffer> {
        if !bytes.len().is_multiple_of(dtype.size()) {
            return None;
        }
        Some(crate::with_element_type!(dtype, T => T::wrap(bytes.chunks_exact(dtype.size()).map(T::read).collect())))
    }

    /// A buffer of these numbers, converted to `dtype`.
    pub fn from_scalars(dtype: DType, mut scalars: impl Iterator<Item = Scalar>) -> Buffer {
        Buffer::converted(dtype, &mut scalars)
    }

    /// The same for any iterator: a loop for each dtype, and not for each dtype and caller.
    fn converted(dtype: DType, scalars: &mut dyn Iterator<Item = Scalar>) -> Buffer {
        crate::with_element_type!(dtype, T => T::wrap(scalars.map(T::from_scalar).collect()))
    }

    /// The same of elements of another type.
    pub fn of<T: Element>(dtype: DType, elements: impl IntoIterator<Item = T>) -> Buffer {
        Buffer::from_scalars(dtype, elements.into_iter().map(T::to_scalar))
    }

    /// The elements that `layout` names, row-major, as little-endian bytes.
    pub fn to_bytes(&self, layout: &Layout) -> Vec<u8> {
        crate::with_element_type!(self.dtype(), T => {
            let elements = T::slice(self).expect("the element type of the buffer's own dtype");
            let mut bytes = Vec::with_capacity(layout.shape.numel() * self.dtype().size());
            match layout.stretch() {
                Some(stretch) => elements[stretch].iter().for_each(|element| element.write(&mut bytes)),
                None => layout.positions().for_each(|position| elements[position].write(&mut bytes)),
            }
            bytes
        })
    }

    /// The elements that `layout` names, row-major, converted to `T`.
    pub fn gather<T: Stored>(&self, layout: &Layout) -> Vec<T> {
        if let Some(elements) = T::slice(self) {
            return match layout.stretch() {
                Some(stretch) => elements[stretch].to_vec(),
                None => layout.positions().map(|position| elements[position]).collect(),
            };
        }
        let mut gathered = Vec::with_capacity(layout.shape.numel());
        self.visit(layout, &mut |element| gathered.push(T::from_scalar(element)));
        gathered
    }

    /// Passes on the elements that `layout` names, row-major: a loop for each dtype, and not for each two.
    fn visit(&self, layout: &Layout, take: &mut dyn FnMut(Scalar)) {
        crate::with_element_type!(self.dtype(), S => {
            let elements = S::slice(self).expect("the element type of the buffer's own dtype");
            layout.positions().for_each(|position| take(elements[position].to_scalar()));
        })
    }

    /// Writes `values`, row-major and converted to this buffer's dtype, to the positions that `layout` names.
    pub fn scatter<T: Stored>(&mut self, layout: &Layout, values: &[T]) {
        match (T::slice_mut(self), layout.stretch()) {
            (Some(elements), Some(stretch)) if stretch.len() == values.len() => {
                elements[stretch].copy_from_slice(values);
            }
            (Some(elements), _) => {
                layout.positions().zip(values).for_each(|(position, value)| elements[position] = *value);
            }
            (None, _) => self.replace(layout, &mut values.iter().map(|value| value.to_scalar())),
        }
    }

    /// Writes what comes, as [`Buffer::scatter`] does: a loop for each dtype.
    fn replace(&mut self, layout: &Layout, values: &mut dyn Iterator<Item = Scalar>) {
        crate::with_element_type!(self.dtype(), S => {
            let elements = S::slice_mut(self).expect("the element type of the buffer's own dtype");
            layout.positions().zip(values).for_each(|(position, value)| elements[position] = S::from_scalar(value));
        })
    }

    /// Every element, as a scalar.
    pub fn scalars(&self) -> Vec<Scalar> {
        crate::with_element_type!(self.dtype(), T => {
            T::slice(self).expect("the element type of the buffer's own dtype").iter().map(|e| e.to_scalar()).collect()
        })
    }
}
