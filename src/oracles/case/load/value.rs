//! Numbers, shapes and nested lists of numbers, and which numbers a dtype can hold.

use num_complex::Complex64;
use serde_yaml::Value;

use super::node::Node;
use crate::tensor::{Category, DType, Scalar, ScalarType, Shape};

/// Nested lists of numbers.
pub struct Nested<'a> {
    /// The number of elements in the lists of each depth, outermost first.
    pub sizes: Vec<i64>,
    /// The numbers, row-major, each with its place.
    pub elements: Vec<(Scalar, Node<'a>)>,
}

impl<'a> Nested<'a> {
    /// Reads lists of which those at one depth have equal lengths, or a single number.
    pub fn read(node: Node<'a>) -> Option<Self> {
        let mut nested = Nested { sizes: Vec::new(), elements: Vec::new() };
        let mut outermost = node;
        // The first list of each depth fixes the length of the others.
        while let Value::Sequence(_) = outermost.value {
            let list = outermost.list("a list")?;
            nested.sizes.push(list.len() as i64);
            let Some(&first) = list.first() else { break };
            outermost = first;
        }
        nested.collect(node, 0)?;
        Some(nested)
    }

    /// The numbers without their places.
    pub fn scalars(&self) -> Vec<Scalar> {
        self.elements.iter().map(|&(scalar, _)| scalar).collect()
    }

    /// Notes each number that `dtype` cannot hold; whether it holds all.
    pub fn fit(&self, dtype: DType) -> bool {
        let mut fit = true;
        for &(number, node) in &self.elements {
            if !holds(dtype, number) {
                node.fault(format!("{number} is not a value of dtype {dtype}"));
                fit = false;
            }
        }
        fit
    }

    /// Returns whether a tensor of this shape is printed with this nesting. Lists say nothing of the dimensions inside an
    /// empty one.
    pub fn suits(&self, shape: &Shape) -> bool {
        let sizes = shape.sizes();
        let visible = sizes.iter().position(|&size| size == 0).map_or(sizes.len(), |empty| empty + 1);
        self.sizes == sizes || self.sizes == sizes[..visible]
    }

    fn collect(&mut self, node: Node<'a>, depth: usize) -> Option<()> {
        let Some(&size) = self.sizes.get(depth) else {
            if let Value::Sequence(_) = node.value {
                node.fault("ragged: a list where the elements before it are numbers");
                return None;
            }
            self.elements.push((number(node)?, node));
            return Some(());
        };
        let Value::Sequence(_) = node.value else {
            if number(node).is_some() {
                node.fault("ragged: a number where the elements before it are lists");
            }
            return None;
        };
        let list = node.list("a list")?;
        if list.len() as i64 != size {
            node.fault(format!("ragged: {} elements where the lists before it have {size}", list.len()));
            return None;
        }
        // Every fault below counts, not only the first.
        list.into_iter().map(|child| self.collect(child, depth + 1)).fold(Some(()), Option::and)
    }
}

/// A number: an integer, a float, a truth value, or a complex number as the text `1.0+2.0j`.
pub fn number(node: Node<'_>) -> Option<Scalar> {
    match node.value {
        Value::Bool(value) => Some(Scalar::Bool(*value)),
        Value::Number(number) if number.is_f64() => number.as_f64().map(Scalar::Float),
        Value::Number(_) => node.integer("a number").map(Scalar::Int),
        Value::String(text) => match complex(text) {
            Some(value) => Some(Scalar::Complex(value)),
            None => node.wrong("a number, true or false, or a complex number such as 1.0+2.0j"),
        },
        _ => node.wrong("a number"),
    }
}

/// A complex number as `number` writes it: both parts, the second with a sign and `j`.
pub fn complex(text: &str) -> Option<Complex64> {
    let body = text.strip_suffix('j')?;
    let bytes = body.as_bytes();
    // The sign that begins the imaginary part is the last one that is no exponent's.
    let sign = (1..bytes.len()).rev().find(|&at| matches!(bytes[at], b'+' | b'-') && bytes[at - 1] != b'e')?;
    let (re, im) = body.split_at(sign);
    Some(Complex64::new(re.parse().ok()?, im.parse().ok()?))
}

/// A list of integers.
pub fn integers(node: Node<'_>, expected: impl std::fmt::Display) -> Option<Vec<i64>> {
    let expected = expected.to_string();
    let elements = node.list(&expected)?;
    let integers: Vec<_> = elements.into_iter().map(|element| element.integer(&expected)).collect();
    integers.into_iter().collect()
}

/// The shape of a tensor.
pub fn shape(node: Node<'_>) -> Option<Shape> {
    possible(node, integers(node, "a shape: a list of sizes")?)
}

/// The shape with these sizes, which `node` has, if a tensor can have it.
pub fn possible(node: Node<'_>, sizes: Vec<i64>) -> Option<Shape> {
    match Shape::new(sizes) {
        Ok(shape) => Some(shape),
        Err(error) => {
            node.fault(format!("no tensor has this shape: {error}"));
            None
        }
    }
}

/// A dtype.
pub fn dtype(node: Node<'_>) -> Option<DType> {
    node.word("dtype", DType::ALL.iter().map(|dtype| dtype.name()), DType::parse)
}

/// Any dtype of PyTorch.
pub fn scalar_type(node: Node<'_>) -> Option<ScalarType> {
    node.word("dtype", ScalarType::ALL.iter().map(|dtype| dtype.name()), ScalarType::parse)
}

/// Returns whether a dtype can hold a number as it is written. Floats may round, as they do in every program; nothing else
/// may change.
pub fn holds(dtype: DType, number: Scalar) -> bool {
    let converted = || crate::tensor::Buffer::from_scalars(dtype, std::iter::once(number)).scalars()[0];
    match (dtype.category(), number) {
        (_, Scalar::Bool(_)) => true,
        (Category::Bool, Scalar::Int(value)) => matches!(value, 0 | 1),
        (Category::Bool, _) => false,
        (Category::Integral, Scalar::Int(_)) => converted() == number,
        (Category::Integral, Scalar::Float(value)) => {
            let negative_zero = value == 0.0 && value.is_sign_negative();
            !negative_zero && matches!(converted(), Scalar::Int(integer) if integer as f64 == value)
        }
        (Category::Floating, Scalar::Int(value)) => {
            matches!(converted(), Scalar::Float(float) if float as i128 == i128::from(value))
        }
        (Category::Floating, Scalar::Float(value)) => {
            matches!(converted(), Scalar::Float(float) if float.is_finite() == value.is_finite())
        }
        (Category::Integral | Category::Floating, Scalar::Complex(_)) => false,
        (Category::Complex, number) => {
            let part = if dtype == DType::Complex64 { DType::Float32 } else { DType::Float64 };
            match number {
                Scalar::Complex(value) => [value.re, value.im].iter().all(|&value| holds(part, Scalar::Float(value))),
                real => holds(part, real),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dtypes_hold_what_they_can_represent() {
        for (dtype, number, expected) in [
            (DType::Uint8, Scalar::Int(255), true),
            (DType::Uint8, Scalar::Int(300), false),
            (DType::Uint8, Scalar::Int(-1), false),
            (DType::Int64, Scalar::Float(0.5), false),
            (DType::Int64, Scalar::Float(2.0), true),
            (DType::Int64, Scalar::Float(f64::NAN), false),
            (DType::Int8, Scalar::Float(-0.0), false),
            (DType::Bool, Scalar::Int(2), false),
            (DType::Bool, Scalar::Int(1), true),
            (DType::Float32, Scalar::Float(0.1), true),
            (DType::Float32, Scalar::Float(1e40), false),
            (DType::Float32, Scalar::Float(f64::INFINITY), true),
            (DType::Float32, Scalar::Int(16_777_217), false),
            (DType::Float16, Scalar::Int(70_000), false),
            (DType::Float64, Scalar::Int(i64::MAX), false),
            (DType::Float64, Scalar::Complex(Complex64::new(1.0, 0.0)), false),
            (DType::Complex64, Scalar::Complex(Complex64::new(1.0, 1e40)), false),
            (DType::Complex64, Scalar::Int(3), true),
        ] {
            assert_eq!(holds(dtype, number), expected, "{dtype} {number}");
        }
    }

    #[test]
    fn complex_numbers_have_two_parts() {
        assert_eq!(complex("1.0-2.5j"), Some(Complex64::new(1.0, -2.5)));
        assert_eq!(complex("-1e-7+1e9j"), Some(Complex64::new(-1e-7, 1e9)));
        assert_eq!(complex("-inf-0.0j").map(|c| c.im.is_sign_negative()), Some(true));
        assert!(complex("nan+nanj").is_some_and(|c| c.re.is_nan() && c.im.is_nan()));
        for text in ["2j", "j", "1+2", "a-bj", "", "1+j"] {
            assert_eq!(complex(text), None, "{text}");
        }
    }
}
