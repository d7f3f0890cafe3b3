//! One aspect of a value as PyTorch's Python prints it: the property that shows it, and the text.

use crate::program::{Outcome, Program, Reply, TensorValue, Value};
use crate::tensor::Scalar;

use super::super::Aspect;

/// The most elements that are printed; of more, the first that differs.
const MOST: usize = 24;

/// An observation of a value.
pub(super) enum Look {
    /// A property, and how Python prints it.
    Value(Property, String),
    /// The message of a rejection.
    Error(String),
}

/// A property of a value that is printed.
pub(super) enum Property {
    Elements,
    /// The element with this number.
    Element(usize),
    Shape,
    Dtype,
    Strides,
    /// The sharing of the storage of this input (true or false), and the offset at which it begins there.
    Shares(String),
    Offset,
    /// The value as a tuple.
    Sizes,
    Itself,
}

/// A value of a program, by name, as an implementation answered it.
type Named<'a> = (&'a Program, &'a Reply, &'a str);

/// An aspect of a value as Python prints it. `other` is the value that it is compared with, which decides what is printed
/// of many elements.
pub(super) fn look(
    program: &Program,
    reply: &Reply,
    value: &str,
    aspect: Aspect,
    other: Option<Named>,
) -> Option<Look> {
    let other = || other.and_then(|(program, reply, value)| found(program, reply, value));
    match found(program, reply, value)? {
        Found::Rejected(message) => Some(Look::Error(message.to_owned())),
        Found::Value(Value::Number(number)) => Some(Look::Value(Property::Itself, number_text(*number))),
        Found::Value(Value::Dtype(dtype)) => Some(Look::Value(Property::Itself, format!("torch.{dtype}"))),
        Found::Value(Value::Sizes(sizes)) => Some(Look::Value(Property::Sizes, tuple(sizes))),
        Found::Value(Value::Nothing) => Some(Look::Value(Property::Itself, "None".to_owned())),
        Found::Value(_) => None,
        Found::Tensor(tensor) => {
            let against = match other() {
                Some(Found::Tensor(tensor)) => Some(tensor),
                _ => None,
            };
            let (property, text) = property(program, tensor, aspect, against)?;
            Some(Look::Value(property, text))
        }
    }
}

/// The value with a name.
enum Found<'a> {
    Tensor(&'a TensorValue),
    Value(&'a Value),
    Rejected(&'a str),
}

fn found<'a>(program: &Program, reply: &'a Reply, name: &str) -> Option<Found<'a>> {
    if let Some(input) = name.strip_suffix(" after") {
        let at = program.inputs.iter().position(|own| own.name == input)?;
        return reply.inputs.get(at).map(Found::Tensor);
    }
    let (step, part) = match name.split_once('.') {
        Some((step, part)) => (step, part.parse().ok()?),
        None => (name, 0),
    };
    let at = program.steps.iter().position(|own| own.name == step)?;
    match &reply.steps.get(at)?.outcome {
        Outcome::Value(Value::Tensor(tensor)) => Some(Found::Tensor(tensor)),
        Outcome::Value(Value::Tensors(tensors)) => tensors.get(part).map(Found::Tensor),
        Outcome::Value(value) => Some(Found::Value(value)),
        Outcome::Rejected(rejected) => Some(Found::Rejected(&rejected.message)),
        _ => None,
    }
}

fn property(
    program: &Program,
    tensor: &TensorValue,
    aspect: Aspect,
    other: Option<&TensorValue>,
) -> Option<(Property, String)> {
    Some(match aspect {
        Aspect::Shape => (Property::Shape, tuple(tensor.shape.sizes())),
        Aspect::Dtype => (Property::Dtype, format!("torch.{}", tensor.dtype)),
        Aspect::Strides => (Property::Strides, tuple(tensor.strides.as_deref()?)),
        Aspect::Aliasing => {
            let storage = tensor.storage?;
            let other = other.and_then(|other| other.storage);
            let owner = [Some(storage), other].into_iter().flatten().find_map(|at| program.inputs.get(at.id));
            match owner {
                Some(owner) => {
                    let shares = program.inputs.get(storage.id).is_some_and(|own| own.name == owner.name);
                    let text = format!("{} {}", if shares { "True" } else { "False" }, storage.offset);
                    (Property::Shares(owner.name.clone()), text)
                }
                None => (Property::Offset, storage.offset.to_string()),
            }
        }
        // There is nothing else to be seen of no elements, and of so many that the adapter sent none.
        _ if tensor.data.is_empty() => (Property::Shape, tuple(tensor.shape.sizes())),
        _ if tensor.shape.numel() <= MOST => (Property::Elements, elements(tensor)),
        // Of one that is accepted and should not be.
        _ if aspect == Aspect::Outcome => (Property::Shape, tuple(tensor.shape.sizes())),
        _ => {
            let (own, other) = (tensor.scalars(), other.map(TensorValue::scalars).unwrap_or_default());
            let differs = own.iter().zip(&other).position(|(a, b)| number_text(*a) != number_text(*b)).unwrap_or(0);
            (Property::Element(differs), own.get(differs).map(|scalar| number_text(*scalar))?)
        }
    })
}

/// The elements as Python prints their list.
pub(super) fn elements(tensor: &TensorValue) -> String {
    let texts: Vec<String> = tensor.scalars().into_iter().map(number_text).collect();
    nested(&mut texts.iter(), tensor.shape.sizes())
}

fn nested<'a>(texts: &mut impl Iterator<Item = &'a String>, sizes: &[i64]) -> String {
    match sizes {
        [] => texts.next().cloned().unwrap_or_default(),
        [size, inner @ ..] => {
            let parts: Vec<String> = (0..*size).map(|_| nested(texts, inner)).collect();
            format!("[{}]", parts.join(", "))
        }
    }
}

fn tuple(sizes: &[i64]) -> String {
    match sizes {
        [one] => format!("({one},)"),
        _ => format!("({})", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A number as Python prints it.
fn number_text(number: Scalar) -> String {
    match number {
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => float(value),
        Scalar::Complex(value) => {
            // `repr` of a complex number: no `.0`, and no real part that is positive zero.
            let part = |value: f64| float(value).trim_end_matches(".0").to_owned();
            let imaginary = part(value.im);
            match value.re.to_bits() {
                0 => format!("{imaginary}j"),
                _ => {
                    let sign = if imaginary.starts_with('-') { "" } else { "+" };
                    format!("({}{sign}{imaginary}j)", part(value.re))
                }
            }
        }
    }
}

/// `repr` of a float: the shortest digits, with an exponent below 1e-4 and from 1e16.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').expect("`{:e}` has an exponent");
    match exponent.parse::<i32>().expect("a number") {
        exponent if !(-4..16).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        _ => {
            let plain = format!("{value}");
            if plain.contains('.') { plain } else { plain + ".0" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex64;

    #[test]
    fn numbers_are_as_python_prints_them() {
        for (value, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1f32.into(), "0.10000000149011612"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(float(value), text);
        }
        for (re, im, text) in
            [(1.0, 2.0, "(1+2j)"), (0.0, -0.5, "-0.5j"), (-0.0, 0.0, "(-0+0j)"), (f64::NAN, 1e20, "(nan+1e+20j)")]
        {
            assert_eq!(number_text(Scalar::Complex(Complex64::new(re, im))), text);
        }
        assert_eq!(tuple(&[3]), "(3,)");
    }
}
