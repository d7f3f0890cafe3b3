//! Values as text, for people: short, on one line, unmistakable.

use crate::adapter::Hello;
use crate::case::{Expectation, Expected};
use crate::ops::Form;
use crate::program::{Arg, Outcome, Program, Step, TensorValue, Value, ValueRef};
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape, shape::bracketed};

/// The number of elements that are written out for a reader who wants the gist.
const ELEMENTS: usize = 24;

/// Formats the name that reports give an implementation: its name, and its version unless it is our own.
pub fn label(hello: &Hello) -> String {
    if hello.name == "reference" { hello.name.clone() } else { format!("{} {}", hello.name, hello.version) }
}

/// The name of a value: `r`, or `r.0` for one of several results.
pub fn name(program: &Program, value: ValueRef) -> String {
    match value.part {
        Some(part) => format!("{}.{part}", program.value_name(value.value)),
        None => program.value_name(value.value).to_owned(),
    }
}

/// Formats the outcome of a step.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(value) => self::value(value),
        Outcome::Rejected(rejected) => match rejected.class {
            Some(class) => format!("rejected ({class}): {}", rejected.message),
            None => format!("rejected: {}", rejected.message),
        },
        Outcome::Unsupported(what) => format!("unsupported: {what}"),
        Outcome::Blocked(value) => format!("not run: value {value} is missing"),
        Outcome::Failed(message) => format!("the adapter failed: {message}"),
    }
}

/// A value.
pub fn value(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => self::tensor(tensor),
        Value::Tensors(tensors) => tensors.iter().map(self::tensor).collect::<Vec<_>>().join("; "),
        Value::Sizes(sizes) => bracketed(sizes),
        Value::Number(number) => number.to_string(),
        Value::Dtype(dtype) => dtype.to_string(),
        Value::Nothing => "None".to_owned(),
    }
}

/// A tensor: dtype, shape, elements; cut after a few.
pub fn tensor(tensor: &TensorValue) -> String {
    tensor_up_to(ELEMENTS, tensor)
}

/// The same, and the element with this number if it is not among the few.
pub fn tensor_at(tensor: &TensorValue, at: usize) -> String {
    let text = self::tensor(tensor);
    match tensor.scalars().get(at) {
        Some(scalar) if at >= ELEMENTS => {
            let strides = Layout::contiguous(tensor.shape.clone()).strides;
            let index = strides.iter().zip(tensor.shape.sizes());
            let index: Vec<i64> = index.map(|(stride, size)| at as i64 / stride % size).collect();
            format!("{text}; at {} {}", bracketed(&index), element(*scalar, tensor.dtype))
        }
        _ => text,
    }
}

/// The same with so many elements at most.
pub fn tensor_up_to(most: usize, tensor: &TensorValue) -> String {
    format!("{} {} {}", tensor.dtype, tensor.shape, tensor_elements(most, tensor))
}

/// The elements of a tensor, cut after so many.
pub fn tensor_elements(most: usize, tensor: &TensorValue) -> String {
    if tensor.data.is_empty() && !tensor.shape.sizes().contains(&0) {
        return "too large to be shown".to_owned();
    }
    // What is cut off is not written first: a view can have millions of elements.
    let whole = tensor.data.len() / tensor.dtype.size();
    let shown = &tensor.data[..whole.min(most) * tensor.dtype.size()];
    let scalars = Buffer::from_bytes(tensor.dtype, shown).expect("whole elements").scalars();
    let elements: Vec<String> = scalars.into_iter().map(|scalar| element(scalar, tensor.dtype)).collect();
    nested(&elements, &tensor.shape, most)
}

/// Elements, nested as the shape nests them; cut after a few.
pub fn elements(scalars: &[Scalar], shape: &Shape) -> String {
    let elements: Vec<String> = scalars.iter().map(Scalar::to_string).collect();
    nested(&elements, shape, ELEMENTS)
}

/// The shortest text that is this element of its dtype and of no neighbour, `0.1` and not `0.10000000149011612`.
fn element(scalar: Scalar, dtype: DType) -> String {
    let narrow = dtype != DType::Float64 && dtype != DType::Complex128;
    let part = |part: f64| match part {
        part if part.is_nan() => "nan".to_owned(),
        part if narrow => format!("{:?}", part as f32),
        part => format!("{part:?}"),
    };
    match scalar {
        Scalar::Float(value) => part(value),
        Scalar::Complex(value) => {
            let (re, im) = (part(value.re), part(value.im));
            let plus = if im.starts_with('-') { "" } else { "+" };
            format!("{re}{plus}{im}j")
        }
        exact => exact.to_string(),
    }
}

fn nested(elements: &[String], shape: &Shape, most: usize) -> String {
    let mut text = String::new();
    nest(elements, shape.sizes(), most, &mut 0, &mut text);
    text
}

fn nest(elements: &[String], sizes: &[i64], most: usize, at: &mut usize, text: &mut String) {
    let Some((size, inner)) = sizes.split_first() else {
        text.push_str(elements.get(*at).map_or("?", String::as_str));
        *at += 1;
        return;
    };
    text.push('[');
    // A list without elements counts as one, since there may be any number of them.
    *at += usize::from(*size == 0);
    for index in 0..*size {
        if index > 0 {
            text.push_str(", ");
        }
        if *at >= most {
            text.push('…');
            break;
        }
        nest(elements, inner, most, at, text);
    }
    text.push(']');
}

/// Formats the expectation of a case for a value.
pub fn expectation(program: &Program, expectation: &Expectation) -> String {
    match expectation {
        Expectation::Value(expected) => properties(program, expected),
        Expectation::Rejected(rejection) => {
            let raises = rejection.raises.as_ref().map_or(String::new(), |raises| format!(" [{raises}]"));
            match (&rejection.class, &rejection.message) {
                (Some(class), Some(message)) => format!("rejected ({class}): {message}{raises}"),
                (None, Some(message)) => format!("rejected: {message}{raises}"),
                (Some(class), None) => format!("rejected ({class}){raises}"),
                (None, None) => format!("rejected{raises}"),
            }
        }
        Expectation::Unchanged => "unchanged".to_owned(),
        Expectation::Nothing => "None".to_owned(),
    }
}

fn properties(program: &Program, expected: &Expected) -> String {
    let mut parts = Vec::new();
    parts.extend(expected.dtype.map(|dtype| dtype.to_string()));
    parts.extend(expected.shape.as_ref().map(Shape::to_string));
    if let (Some(values), Some(shape)) = (&expected.values, &expected.shape) {
        parts.push(elements(values, shape));
    }
    parts.extend(expected.decimals.map(|decimals| format!("to {decimals} decimals")));
    parts.extend(expected.strides.as_ref().map(|strides| format!("strides {}", bracketed(strides))));
    parts.extend(expected.view_of.map(|value| format!("a view of {}", name(program, value))));
    parts.extend(expected.fresh.then(|| "in a storage of its own".to_owned()));
    parts.extend(expected.number.map(|number| number.to_string()));
    parts.extend(expected.warnings.as_ref().map(|warnings| self::warnings(warnings)));
    parts.extend(expected.categories.as_ref().map(|categories| format!("of category {}", categories.join(", "))));
    parts.join(" ")
}

/// The warnings of a step.
pub fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() { "no warning".to_owned() } else { format!("warning: {}", warnings.join(" | ")) }
}

/// Formats the call of a step: `add`, `add_`, or `add out=`.
pub fn call(step: &Step) -> String {
    match step.form {
        Form::Functional => step.op.name().to_owned(),
        Form::InPlace => format!("{}_", step.op.name()),
        Form::Out => format!("{} out=", step.op.name()),
    }
}

/// Formats the call and the parameters that are given tensors or sizes, as in `clamp_(self, max)`.
pub fn given(step: &Step) -> String {
    let params = step.op.info().arguments.iter().zip(&step.args);
    let given = params.filter(|(_, arg)| matches!(arg, Arg::Tensor(_) | Arg::Tensors(_) | Arg::Ints(_)));
    let names: Vec<&str> = given.map(|(param, _)| param.name).collect();
    format!("{}({})", call(step), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(sizes: &[i64]) -> TensorValue {
        let shape = Shape::new(sizes.to_vec()).unwrap();
        let layout = Layout::contiguous(shape.clone());
        let scalars = (0..shape.numel()).map(|at| Scalar::Float(at as f64 / 10.0));
        let data = Buffer::from_scalars(DType::Float32, scalars).to_bytes(&layout);
        TensorValue { dtype: DType::Float32, shape, data, strides: None, storage: None }
    }

    #[test]
    fn elements_are_as_short_as_their_dtype_allows() {
        assert_eq!(tensor(&floats(&[2, 2])), "float32 [2, 2] [[0.0, 0.1], [0.2, 0.3]]");
        assert_eq!(element(Scalar::Float(f64::from(0.1f32)), DType::Float64), "0.10000000149011612");
        assert_eq!(element(Scalar::Float(-0.0), DType::Float32), "-0.0");
    }

    #[test]
    fn the_text_is_short_however_many_lists_there_are() {
        let text = tensor(&floats(&[1 << 62, 0]));
        assert!(text.len() < 400, "{} characters", text.len());
    }

    #[test]
    fn an_element_beyond_the_text_is_shown_with_its_index() {
        let (few, many) = (floats(&[2, 2]), floats(&[6, 7]));
        assert_eq!(tensor_at(&few, 1), tensor(&few));
        assert!(tensor_at(&many, 40).ends_with("…]; at [5, 5] 4.0"), "{}", tensor_at(&many, 40));
    }
}
