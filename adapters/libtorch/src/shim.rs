//! The parts of libtorch that `tch` lacks: the dispatcher, wrapped numbers, basic indexing, `backward` with a gradient,
//! warnings, storages. The other half is `shim.cpp`. Where the adapter is built without `tch`, `shim/tensor.rs` stands
//! in for the little that is wanted of its tensors.
//!
//! All of the crate's `unsafe` is here and there. Outside everything is a safe call on [`Tensor`]s.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

use broadcheck_protocol::tensor::{IndexItem, Scalar};
use num_complex::Complex64;
#[cfg(feature = "tch")]
pub use tch::{Kind, TchError as Error, Tensor};
#[cfg(feature = "tch")]
use torch_sys::C_tensor;

#[cfg(not(feature = "tch"))]
mod tensor;
#[cfg(not(feature = "tch"))]
use tensor::C_tensor;
#[cfg(not(feature = "tch"))]
pub use tensor::{Kind, Raised as Error, Tensor};

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Argument<'a> {
    /// Python's `None`.
    Nothing,
    /// A tensor.
    Tensor(&'a Tensor),
    /// Several tensors.
    Tensors(Vec<&'a Tensor>),
    /// Several tensors, some of them missing.
    Indices(Vec<Option<&'a Tensor>>),
    /// A number.
    Number(Scalar),
    /// Sizes or dimensions.
    Ints(&'a [i64]),
    /// Text.
    Text(&'a str),
    /// An item of an index expression `x[…]`.
    Index(&'a [IndexItem]),
}

/// The result of a call.
#[derive(Debug)]
pub enum Returned {
    /// Nothing, or an undefined tensor.
    Nothing,
    /// A tensor.
    Tensor(Tensor),
    /// Several tensors.
    Tensors(Vec<Tensor>),
    /// A number.
    Number(Scalar),
    /// Sizes.
    Sizes(Vec<i64>),
}

/// The text of an exception of libtorch: its `what()`.
#[derive(Clone, Debug)]
pub struct Raised(pub String);

/// An operator of libtorch: a schema name and an overload.
#[derive(Clone, Debug)]
pub struct Operator {
    name: CString,
    overload: CString,
}

impl Operator {
    /// `aten::name.overload`, or `name.overload` where the name has its library, if there is one (`c10::Dispatcher::findSchema`).
    pub fn find(name: &str, overload: &str) -> Option<Operator> {
        Operator::lookup(name, overload, false)
    }

    /// The same, if it has a kernel of its own for the CPU. What libtorch derives from another overload has none.
    pub fn find_with_kernel(name: &str, overload: &str) -> Option<Operator> {
        Operator::lookup(name, overload, true)
    }

    /// The overload of `aten::sibling` that takes the same arguments as this one: for `add_` the in-place form of
    /// `add`, for `add` itself the form with `out`.
    pub fn sibling(&self, sibling: &str) -> Option<Operator> {
        let to_out = self.name.as_bytes().strip_prefix(b"aten::") == Some(sibling.as_bytes());
        self.overload(sibling, to_out, 0)
    }

    /// The overload of `aten::name`, with or without `out`, that takes the same arguments as this one, but a number as
    /// each argument whose bit is set in `numbers`. What libtorch has generated for numbers from another overload does
    /// not count: that computes first and copies then, and PyTorch's front end has no way to it.
    pub fn overload(&self, name: &str, to_out: bool, numbers: u64) -> Option<Operator> {
        let name = CString::new(format!("aten::{name}")).ok()?;
        // SAFETY: all three are terminated strings that outlive the call; the result is null or a text that we own.
        let overload = unsafe {
            let to_out = c_int::from(to_out);
            text(bc_sibling_overload(self.name.as_ptr(), self.overload.as_ptr(), name.as_ptr(), to_out, numbers))
        }?;
        Some(Operator { name, overload: CString::new(overload).ok()? })
    }

    fn lookup(name: &str, overload: &str, with_kernel: bool) -> Option<Operator> {
        let name = if name.contains("::") { name.to_owned() } else { format!("aten::{name}") };
        let operator = Operator { name: CString::new(name).ok()?, overload: CString::new(overload).ok()? };
        // SAFETY: both are terminated strings that outlive the call.
        let found = unsafe {
            bc_has_operator(operator.name.as_ptr(), operator.overload.as_ptr(), c_int::from(with_kernel)) != 0
        };
        found.then_some(operator)
    }

    /// Calls the operator with these arguments, in the order of its schema, and the schema's defaults for the rest
    /// (`c10::OperatorHandle::callBoxed`).
    pub fn call(&self, args: &[Argument<'_>], out: Option<&Tensor>) -> Result<Returned, Raised> {
        // The lists of tensor pointers must live until the call is over.
        let lists: Vec<Vec<*const C_tensor>> = args
            .iter()
            .map(|arg| match arg {
                Argument::Tensors(tensors) => tensors.iter().map(|tensor| tensor.as_ptr()).collect(),
                Argument::Indices(tensors) => {
                    tensors.iter().map(|tensor| tensor.map_or(ptr::null(), Tensor::as_ptr)).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        let raw: Vec<RawValue> = args.iter().zip(&lists).map(|(arg, list)| raw(arg, list)).collect::<Result<_, _>>()?;
        let mut result = RawValue::default();
        // SAFETY: `raw` holds `raw.len()` values, whose pointers lead to tensors, lists and texts that `args` and
        // `lists` keep alive; the shim reads them during the call only and catches what libtorch throws.
        unsafe {
            check(bc_call(
                self.name.as_ptr(),
                self.overload.as_ptr(),
                raw.as_ptr(),
                raw.len() as i64,
                out.map_or(ptr::null(), Tensor::as_ptr),
                &mut result,
            ))?;
            Ok(take(result))
        }
    }
}

/// A number as a tensor without dimensions that yields in type promotion, as PyTorch's argument parser makes it
/// (`c10::scalar_to_tensor`, `set_wrapped_number`).
pub fn wrapped_number(number: Scalar) -> Result<Tensor, Raised> {
    let raw = raw_number(number);
    let mut result = ptr::null_mut();
    // SAFETY: `raw` and `result` live through the call; on success `result` is a new tensor, which we own.
    unsafe {
        check(bc_wrapped_number(&raw, &mut result))?;
        Ok(Tensor::from_ptr(result))
    }
}

/// Basic indexing (`at::Tensor::index`, that is `at::indexing::get_item`).
pub fn index(tensor: &Tensor, items: &[IndexItem]) -> Result<Tensor, Raised> {
    let items: Vec<RawIndexItem> = items.iter().map(raw_index).collect();
    let mut result = ptr::null_mut();
    // SAFETY: `items` holds `items.len()` items; on success `result` is a new tensor, which we own.
    unsafe {
        check(bc_index(tensor.as_ptr(), items.as_ptr(), items.len() as i64, &mut result))?;
        Ok(Tensor::from_ptr(result))
    }
}

/// `tensor[items] = value` (`at::Tensor::index_put_`, that is `at::indexing::set_item`). The value is a tensor or a number.
pub fn set_item(tensor: &Tensor, items: &[IndexItem], value: &Argument<'_>) -> Result<(), Raised> {
    let items: Vec<RawIndexItem> = items.iter().map(raw_index).collect();
    let value = raw(value, &[])?;
    // SAFETY: `items` holds `items.len()` items, and `value` leads to a tensor that the caller's argument keeps alive.
    unsafe { check(bc_set_item(tensor.as_ptr(), items.as_ptr(), items.len() as i64, &value)) }
}

/// `tensor.backward(gradient)`, the graph being freed (`torch::autograd::backward`).
pub fn backward(tensor: &Tensor, gradient: Option<&Tensor>) -> Result<(), Raised> {
    // SAFETY: both tensors live through the call, and a missing gradient is null.
    unsafe { check(bc_backward(tensor.as_ptr(), gradient.map_or(ptr::null(), Tensor::as_ptr))) }
}

/// The identity of the storage that a tensor lies in, and the elements before its first one. The identity is unique
/// among the tensors that are alive.
pub fn storage(tensor: &Tensor) -> Result<(usize, i64), Raised> {
    let (mut storage, mut offset) = (ptr::null(), 0);
    // SAFETY: both places live through the call. The pointer is never followed, only compared.
    unsafe { check(bc_storage(tensor.as_ptr(), &mut storage, &mut offset))? };
    Ok((storage as usize, offset))
}

/// The elements in row-major order. `count` is their size in bytes.
pub fn read(tensor: &Tensor, count: usize) -> Result<Vec<u8>, Raised> {
    let mut bytes = vec![0; count];
    // SAFETY: there is room for `count` bytes, and the shim raises if the tensor has another number of them.
    unsafe { check(bc_read(tensor.as_ptr(), bytes.as_mut_ptr().cast(), count as i64))? };
    Ok(bytes)
}

/// Replaces the stack-trace fetcher by one that fetches nothing, and makes every warning repeat.
pub fn start() {
    // SAFETY: libtorch asks that this happens once, before errors are raised on other threads; `lib.rs` sees to it.
    unsafe { bc_start() }
}

/// Sets the number of threads of libtorch; to be called before it computes anything.
pub fn set_threads(threads: i32) {
    // SAFETY: libtorch asks that this happens before work is handed to other threads, and raises afterwards.
    unsafe { bc_set_threads(threads) }
}

/// From now on warnings on this thread are kept for [`take_warnings`]; those that wait are dropped.
pub fn collect_warnings() {
    // SAFETY: the handler that this installs lives as long as the process.
    unsafe { bc_collect_warnings() }
}

/// Random numbers start anew, so that a program is answered with the same ones whenever it is run.
pub fn seed() {
    // SAFETY: it takes nothing, and catches what libtorch throws.
    unsafe { bc_seed() }
}

/// The warnings since the last call.
pub fn take_warnings() -> Vec<String> {
    // SAFETY: the result is null or a text that we own.
    std::iter::from_fn(|| unsafe { text(bc_next_warning()) }).collect()
}

/// The build of libtorch (`at::show_config`).
pub fn config() -> String {
    // SAFETY: the result is a text that we own.
    unsafe { text(bc_config()) }.unwrap_or_default()
}

/// The version of the headers that the shim was compiled with.
pub fn header_version() -> String {
    // SAFETY: the result is a text that we own.
    unsafe { text(bc_header_version()) }.unwrap_or_default()
}

/// The number of dtypes that libtorch has.
pub fn scalar_types() -> i64 {
    // SAFETY: it takes nothing, and returns a number.
    unsafe { bc_scalar_types() }
}

const NOTHING: i64 = 0;
const TENSOR: i64 = 1;
const TENSORS: i64 = 2;
const INT: i64 = 3;
const FLOAT: i64 = 4;
const BOOL: i64 = 5;
const COMPLEX: i64 = 6;
const INTS: i64 = 7;
const TEXT: i64 = 8;
const INDICES: i64 = 9;

/// `bc_value` of `shim.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct RawValue {
    tag: i64,
    count: i64,
    data: *const c_void,
    whole: i64,
    re: f64,
    im: f64,
}

impl Default for RawValue {
    fn default() -> Self {
        RawValue { tag: NOTHING, count: 0, data: ptr::null(), whole: 0, re: 0.0, im: 0.0 }
    }
}

/// `bc_index_item` of `shim.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct RawIndexItem {
    tag: i64,
    has_start: i64,
    start: i64,
    has_stop: i64,
    stop: i64,
    step: i64,
}

fn raw(arg: &Argument<'_>, list: &[*const C_tensor]) -> Result<RawValue, Raised> {
    let data =
        |tag, data: *const c_void, count: usize| RawValue { tag, data, count: count as i64, ..Default::default() };
    Ok(match arg {
        Argument::Nothing => RawValue::default(),
        Argument::Tensor(tensor) => data(TENSOR, tensor.as_ptr().cast(), 1),
        Argument::Tensors(_) => data(TENSORS, list.as_ptr().cast(), list.len()),
        Argument::Indices(_) => data(INDICES, list.as_ptr().cast(), list.len()),
        Argument::Number(number) => raw_number(*number),
        Argument::Ints(ints) => data(INTS, ints.as_ptr().cast(), ints.len()),
        Argument::Text(text) => data(TEXT, text.as_ptr().cast(), text.len()),
        Argument::Index(_) => return Err(Raised("shim: the dispatcher takes no index".to_owned())),
    })
}

fn raw_number(number: Scalar) -> RawValue {
    match number {
        Scalar::Bool(value) => RawValue { tag: BOOL, whole: i64::from(value), ..Default::default() },
        Scalar::Int(value) => RawValue { tag: INT, whole: value, ..Default::default() },
        Scalar::Float(value) => RawValue { tag: FLOAT, re: value, ..Default::default() },
        Scalar::Complex(value) => RawValue { tag: COMPLEX, re: value.re, im: value.im, ..Default::default() },
    }
}

fn raw_index(item: &IndexItem) -> RawIndexItem {
    match *item {
        IndexItem::None => RawIndexItem::default(),
        IndexItem::Ellipsis => RawIndexItem { tag: 1, ..Default::default() },
        IndexItem::At(at) => RawIndexItem { tag: 2, start: at, ..Default::default() },
        IndexItem::Slice { start, stop, step } => RawIndexItem {
            tag: 3,
            has_start: i64::from(start.is_some()),
            start: start.unwrap_or_default(),
            has_stop: i64::from(stop.is_some()),
            stop: stop.unwrap_or_default(),
            step,
        },
    }
}

/// Takes over a result.
///
/// # Safety
/// `value` must be a result of `bc_call` that was not taken before.
unsafe fn take(value: RawValue) -> Returned {
    // SAFETY: `bc_call` hands over each tensor, and for several the array that holds them, to us alone.
    let defined = |tensor: *mut C_tensor| Some(unsafe { Tensor::from_ptr(tensor) }).filter(Tensor::defined);
    match value.tag {
        TENSOR => defined(value.data.cast_mut().cast()).map_or(Returned::Nothing, Returned::Tensor),
        TENSORS => {
            let array: *const *mut C_tensor = value.data.cast();
            // SAFETY: the array has `count` tensors, and is not used after it is given back.
            let tensors =
                (0..value.count as usize).filter_map(|i| defined(unsafe { *array.add(i) })).collect::<Vec<_>>();
            unsafe { bc_free(value.data.cast_mut()) };
            Returned::Tensors(tensors)
        }
        INTS => {
            let array: *const i64 = value.data.cast();
            // SAFETY: the array has `count` integers, and is not used after it is given back.
            let sizes = unsafe { std::slice::from_raw_parts(array, value.count as usize) }.to_vec();
            unsafe { bc_free(value.data.cast_mut()) };
            Returned::Sizes(sizes)
        }
        INT => Returned::Number(Scalar::Int(value.whole)),
        FLOAT => Returned::Number(Scalar::Float(value.re)),
        BOOL => Returned::Number(Scalar::Bool(value.whole != 0)),
        COMPLEX => Returned::Number(Scalar::Complex(Complex64::new(value.re, value.im))),
        _ => Returned::Nothing,
    }
}

/// Turns the answer of a function of the shim into a result.
///
/// # Safety
/// `error` must be such an answer, not checked before.
unsafe fn check(error: *mut c_char) -> Result<(), Raised> {
    // SAFETY: as this function's own.
    unsafe { text(error) }.map_or(Ok(()), |what| Err(Raised(what)))
}

/// Takes over a text of the shim.
///
/// # Safety
/// `text` must be null or a terminated string that the shim handed over.
unsafe fn text(text: *mut c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: a terminated string, which is ours to give back once it is copied.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        bc_free(text.cast());
        Some(copy)
    }
}

unsafe extern "C" {
    fn bc_free(memory: *mut c_void);
    fn bc_start();
    fn bc_set_threads(threads: c_int);
    fn bc_config() -> *mut c_char;
    fn bc_header_version() -> *mut c_char;
    fn bc_scalar_types() -> i64;
    fn bc_collect_warnings();
    fn bc_seed();
    fn bc_next_warning() -> *mut c_char;
    fn bc_has_operator(name: *const c_char, overload: *const c_char, with_cpu_kernel: c_int) -> c_int;
    fn bc_sibling_overload(
        name: *const c_char,
        overload: *const c_char,
        sibling: *const c_char,
        to_out: c_int,
        numbers: u64,
    ) -> *mut c_char;
    fn bc_call(
        name: *const c_char,
        overload: *const c_char,
        args: *const RawValue,
        count: i64,
        out: *const C_tensor,
        result: *mut RawValue,
    ) -> *mut c_char;
    fn bc_wrapped_number(number: *const RawValue, result: *mut *mut C_tensor) -> *mut c_char;
    fn bc_index(
        tensor: *const C_tensor,
        items: *const RawIndexItem,
        count: i64,
        result: *mut *mut C_tensor,
    ) -> *mut c_char;
    fn bc_set_item(
        tensor: *const C_tensor,
        items: *const RawIndexItem,
        count: i64,
        value: *const RawValue,
    ) -> *mut c_char;
    fn bc_backward(tensor: *const C_tensor, gradient: *const C_tensor) -> *mut c_char;
    fn bc_storage(tensor: *const C_tensor, storage: *mut *const c_void, offset: *mut i64) -> *mut c_char;
    fn bc_read(tensor: *const C_tensor, bytes: *mut c_void, count: i64) -> *mut c_char;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: [i64; 2]) -> Tensor {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor::f_from_data_size(&bytes, &[2], Kind::Int64).expect("two integers")
    }

    #[test]
    fn the_dispatcher_takes_and_gives_every_kind_of_value() {
        let (x, y) = (numbers([1, 2]), numbers([3, 4]));
        let call = |name: &str, overload: &str, args: &[Argument<'_>]| {
            Operator::find(name, overload).expect(name).call(args, None).expect(name)
        };
        let dot = call("einsum", "", &[Argument::Text("i,i->"), Argument::Tensors(vec![&x, &y])]);
        let Returned::Tensor(dot) = dot else { panic!("{dot:?}") };
        let item = call("item", "", &[Argument::Tensor(&dot)]);
        assert!(matches!(item, Returned::Number(Scalar::Int(11))), "{item:?}");

        let parts = call("broadcast_tensors", "", &[Argument::Tensors(vec![&x, &dot])]);
        let Returned::Tensors(parts) = parts else { panic!("{parts:?}") };
        assert_eq!(parts.iter().map(Tensor::size).collect::<Vec<_>>(), [[2], [2]]);

        // Several results that are not a list.
        let both = call("aminmax", "", &[Argument::Tensor(&y)]);
        let Returned::Tensors(both) = both else { panic!("{both:?}") };
        assert_eq!(both.len(), 2);

        let number = Complex64::new(1.0, 2.0);
        let sum = call("add", "Scalar", &[Argument::Tensor(&x), Argument::Number(Scalar::Complex(number))]);
        let Returned::Tensor(sum) = sum else { panic!("{sum:?}") };
        assert_eq!(sum.kind(), Kind::ComplexFloat);
        let total = call("sum", "dim_IntList", &[Argument::Tensor(&sum), Argument::Ints(&[0])]);
        let Returned::Tensor(total) = total else { panic!("{total:?}") };
        let item = call("item", "", &[Argument::Tensor(&total)]);
        assert!(matches!(item, Returned::Number(Scalar::Complex(z)) if z == Complex64::new(5.0, 4.0)), "{item:?}");
    }

    #[test]
    fn the_forms_of_an_operator_are_found_by_their_arguments() {
        let overload = |name: &str, overload: &str, sibling: &str| {
            let sibling = Operator::find(name, overload).expect(name).sibling(sibling)?;
            Some(sibling.overload.into_string().expect("ASCII"))
        };
        assert_eq!(overload("add", "Tensor", "add_").as_deref(), Some("Tensor"));
        assert_eq!(overload("add", "Tensor", "add").as_deref(), Some("out"));
        assert_eq!(overload("eq", "Tensor", "eq").as_deref(), Some("Tensor_out"));
        assert_eq!(overload("sum", "dim_IntList", "sum").as_deref(), Some("IntList_out"));
        assert_eq!(overload("expand", "", "expand"), None);
    }

    #[test]
    fn what_libtorch_throws_stops_at_the_boundary() {
        let x = numbers([1, 2]);
        let add = Operator::find("add", "Tensor").expect("add");
        let Err(Raised(what)) = add.call(&[Argument::Tensor(&x), Argument::Nothing], None) else { panic!("accepted") };
        assert!(!what.is_empty());
        let Err(Raised(what)) = add.call(&[Argument::Tensor(&x)], None) else { panic!("accepted") };
        assert_eq!(what, "shim: no argument for other");
        assert!(read(&x, 3).is_err());
        assert!(Operator::find("no_such_operator", "").is_none());
    }
}
