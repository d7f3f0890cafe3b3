//! Values as text, for people: short, on one line, unmistakable.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::adapter::Hello;
use crate::case::{Expectation, Expected, render};
use crate::ops::Form;
use crate::program::{Arg, Input, Outcome, Program, Reply, Step, StorageRef, TensorValue, Value, ValueRef};
use crate::tensor::{Buffer, DType, Layout, Scalar, Shape, shape::bracketed};

use crate::model::difference::class_of;
use crate::model::event::{Came, Exact as Saw};

/// The number of elements that are written out for a reader who wants the gist.
const ELEMENTS: usize = 24;

/// The number of elements that are written out where nothing may be lost; a digest stands for the rest.
const EXACT_ELEMENTS: usize = 256;

/// The storage of a value that shares it with none before it.
const OWN_STORAGE: &str = "in a storage of its own";

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

fn tensor_up_to(most: usize, tensor: &TensorValue) -> String {
    format!("{} {} {}", tensor.dtype, tensor.shape, tensor_elements(most, tensor))
}

fn tensor_elements(most: usize, tensor: &TensorValue) -> String {
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

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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

/// A program with its outcomes, exactly: a line for the inputs, one for each step with its outcome, one for each
/// warning, and one for each input that is not what it was. Of a tensor it says the strides where the tensor is not
/// contiguous, and the storage where it is that of a value before it.
///
/// ```
/// use std::path::Path;
///
/// use broadcheck_harness::{case::load_program, format::transcript};
/// use broadcheck_protocol::adapter::Implementation;
/// use broadcheck_reference::Reference;
///
/// let program = load_program(Path::new("p.yaml"), "x: {values: [1, 2]}\nr: {mul: [x, x]}").unwrap();
/// let text = transcript(&program, &Reference.run(&program));
/// assert!(text.contains("r: {mul: [x, x]} → int64 [2] [1, 4]"), "{text}");
/// ```
pub fn transcript(program: &Program, reply: &Reply) -> String {
    let mut exact = Exact { program, storages: Vec::new(), lines: Vec::new() };
    let text = render::program(program);
    let mut written = text.lines();
    let inputs: Vec<&str> = written.by_ref().take(program.inputs.len()).collect();
    let mut lines: Vec<String> = if inputs.is_empty() { Vec::new() } else { vec![inputs.join("; ")] };
    for ((step, answer), written) in program.steps.iter().zip(&reply.steps).zip(written) {
        let outcome = match &answer.outcome {
            Outcome::Value(Value::Tensor(tensor)) => exact.briefly(&step.name, tensor),
            Outcome::Value(Value::Tensors(tensors)) => {
                let parts = tensors.iter().enumerate();
                let parts = parts.map(|(part, tensor)| exact.briefly(&format!("{}.{part}", step.name), tensor));
                format!("({})", parts.collect::<Vec<_>>().join("; "))
            }
            Outcome::Blocked(value) => format!("not run, {} is missing", program.value_name(*value)),
            other => outcome(other),
        };
        // A message of several lines stays on the line of its step.
        lines.push(format!("{written} → {}", outcome.replace('\n', "\\n")));
        lines.extend(answer.warnings.iter().map(|warning| format!("  warning: {}", warning.replace('\n', "\\n"))));
    }
    for (input, tensor) in program.inputs.iter().zip(&reply.inputs) {
        let after = exact.briefly(&input.name, tensor);
        if !is_as_it_was(input, tensor) {
            lines.push(format!("{} after → {after}", input.name));
        }
    }
    lines.join("\n") + "\n"
}

/// All outcomes of a program, exactly, in the order of its steps: the text behind the digest of a generated
/// program.
pub fn reply(program: &Program, reply: &Reply) -> String {
    let mut text = Exact { program, storages: Vec::new(), lines: Vec::new() };
    for (step, answer) in program.steps.iter().zip(&reply.steps) {
        match &answer.outcome {
            Outcome::Value(Value::Tensor(tensor)) => text.tensor(&step.name, &step.name, tensor),
            Outcome::Value(Value::Tensors(tensors)) => {
                for (part, tensor) in tensors.iter().enumerate() {
                    let part = format!("{}.{part}", step.name);
                    text.tensor(&part, &part, tensor);
                }
            }
            Outcome::Blocked(value) => {
                let missing = program.value_name(*value);
                text.lines.push(format!("{} is not run, for {missing} is missing", step.name));
            }
            other => text.lines.push(format!("{} = {}", step.name, outcome(other))),
        }
        text.lines.extend(answer.warnings.iter().map(|warning| format!("    warning: {warning}")));
    }
    for (input, tensor) in program.inputs.iter().zip(&reply.inputs) {
        text.tensor(&format!("{} after", input.name), &input.name, tensor);
    }
    text.lines.join("\n") + "\n"
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

/// All outcomes of a program, as data; of the inputs, those that changed.
pub fn exact(program: &Program, reply: &Reply) -> Vec<Saw> {
    let mut storages = Exact { program, storages: Vec::new(), lines: Vec::new() };
    let mut saw = Vec::new();
    for (step, answer) in program.steps.iter().zip(&reply.steps) {
        let came: Vec<(String, Came)> = match &answer.outcome {
            Outcome::Value(Value::Tensor(tensor)) => vec![(step.name.clone(), storages.came(&step.name, tensor))],
            Outcome::Value(Value::Tensors(tensors)) => {
                let named = tensors.iter().enumerate().map(|(part, tensor)| (format!("{}.{part}", step.name), tensor));
                named.map(|(name, tensor)| (name.clone(), storages.came(&name, tensor))).collect()
            }
            Outcome::Value(other) => vec![(step.name.clone(), Came::Other(value(other)))],
            Outcome::Rejected(rejected) => {
                let class = class_of(rejected).map(|class| class.name().to_owned());
                vec![(
                    step.name.clone(),
                    Came::Rejected { class, message: rejected.message.clone(), raises: rejected.raises.clone() },
                )]
            }
            Outcome::Unsupported(what) => vec![(step.name.clone(), Came::Unsupported(what.clone()))],
            Outcome::Blocked(value) => {
                vec![(step.name.clone(), Came::NotRun { missing: program.value_name(*value).to_owned() })]
            }
            Outcome::Failed(message) => vec![(step.name.clone(), Came::Failed(message.clone()))],
        };
        let (mut warnings, mut categories) = (answer.warnings.clone(), answer.categories.clone());
        saw.extend(came.into_iter().map(|(value, is)| {
            let (warnings, categories) = (std::mem::take(&mut warnings), std::mem::take(&mut categories));
            Saw { value, is, warnings, categories }
        }));
    }
    for (input, tensor) in program.inputs.iter().zip(&reply.inputs) {
        if !is_as_it_was(input, tensor) {
            let is = storages.came(&input.name, tensor);
            saw.push(Saw { value: format!("{} after", input.name), is, warnings: Vec::new(), categories: Vec::new() });
        }
    }
    saw
}

/// Formats the outcome of each step without the elements, on one line.
pub fn outline(saw: &[Saw]) -> String {
    let one = |saw: &Saw| {
        let is = match &saw.is {
            Came::Tensor { dtype, shape, .. } => format!("{dtype} {}", bracketed(shape)),
            Came::Other(_) => "no tensor".to_owned(),
            Came::Rejected { message, .. } => format!("rejected: {message}"),
            Came::NotRun { .. } => "not run".to_owned(),
            Came::Unsupported(what) => format!("unsupported: {what}"),
            Came::Failed(message) => format!("failed: {message}"),
        };
        let warnings: String = saw.warnings.iter().map(|warning| format!(" (warning: {warning})")).collect();
        format!("{} = {is}{warnings}", saw.value)
    };
    saw.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Returns whether the program has left an input alone.
fn is_as_it_was(input: &Input, tensor: &TensorValue) -> bool {
    let strides = || Layout::contiguous(input.shape.clone()).strides;
    (input.dtype, &input.shape, &input.data) == (tensor.dtype, &tensor.shape, &tensor.data)
        && tensor.strides.as_ref().is_none_or(|own| *own == strides())
}

struct Exact<'a> {
    program: &'a Program,
    /// The storages that are no input's, each with the first value that lies in it.
    storages: Vec<(usize, String)>,
    lines: Vec<String>,
}

impl Exact<'_> {
    fn tensor(&mut self, heading: &str, name: &str, tensor: &TensorValue) {
        self.lines.push(format!("{heading} = {}", tensor_up_to(EXACT_ELEMENTS, tensor)));
        if tensor.shape.numel() > EXACT_ELEMENTS && !tensor.data.is_empty() {
            let digest = digest(&tensor.data);
            self.lines.push(format!("    sha256 of all {} elements {digest}", tensor.shape.numel()));
        }
        let strides = tensor
            .strides
            .as_deref()
            .map_or("no strides told".to_owned(), |strides| format!("strides {}", bracketed(strides)));
        let place = tensor.storage.map_or("no storage told".to_owned(), |storage| self.place(name, storage));
        self.lines.push(format!("    {strides}, {place}"));
    }

    fn briefly(&mut self, name: &str, tensor: &TensorValue) -> String {
        let mut text = tensor_up_to(EXACT_ELEMENTS, tensor);
        if tensor.shape.numel() > EXACT_ELEMENTS && !tensor.data.is_empty() {
            let _ = write!(text, ", sha256 {}", digest(&tensor.data));
        }
        match &tensor.strides {
            None => text.push_str(", strides not reported"),
            Some(strides) if *strides == Layout::contiguous(tensor.shape.clone()).strides => {}
            Some(strides) => {
                let _ = write!(text, ", strides {}", bracketed(strides));
            }
        }
        let place = tensor.storage.map_or("storage not reported".to_owned(), |storage| self.place(name, storage));
        if place != OWN_STORAGE {
            let _ = write!(text, ", {place}");
        }
        text
    }

    fn came(&mut self, name: &str, tensor: &TensorValue) -> Came {
        let mut elements = tensor_elements(EXACT_ELEMENTS, tensor);
        if tensor.shape.numel() > EXACT_ELEMENTS && !tensor.data.is_empty() {
            let _ = write!(elements, " sha256 {}", digest(&tensor.data));
        }
        Came::Tensor {
            dtype: tensor.dtype.to_string(),
            shape: tensor.shape.sizes().to_vec(),
            strides: tensor.strides.clone(),
            storage: tensor.storage.map_or("not told".to_owned(), |storage| self.place(name, storage)),
            elements,
        }
    }

    fn place(&mut self, name: &str, storage: StorageRef) -> String {
        let owner = match self.program.inputs.get(storage.id) {
            Some(input) => Some(&input.name),
            None => self.storages.iter().find(|(id, _)| *id == storage.id).map(|(_, owner)| owner),
        };
        let place = match owner {
            Some(owner) => format!("in the storage of {owner}"),
            None => {
                self.storages.push((storage.id, name.to_owned()));
                OWN_STORAGE.to_owned()
            }
        };
        match storage.offset {
            0 => place,
            offset => format!("{place} from element {offset}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(sizes: &[i64], storage: usize) -> TensorValue {
        let shape = Shape::new(sizes.to_vec()).unwrap();
        let layout = Layout::contiguous(shape.clone());
        let scalars = (0..shape.numel()).map(|at| Scalar::Float(at as f64 / 10.0));
        let data = Buffer::from_scalars(DType::Float32, scalars).to_bytes(&layout);
        let storage = Some(StorageRef { id: storage, offset: 0 });
        TensorValue { dtype: DType::Float32, shape, data, strides: Some(layout.strides), storage }
    }

    #[test]
    fn elements_are_as_short_as_their_dtype_allows() {
        assert_eq!(tensor(&floats(&[2, 2], 0)), "float32 [2, 2] [[0.0, 0.1], [0.2, 0.3]]");
        assert_eq!(element(Scalar::Float(f64::from(0.1f32)), DType::Float64), "0.10000000149011612");
        assert_eq!(element(Scalar::Float(-0.0), DType::Float32), "-0.0");
    }

    #[test]
    fn the_text_is_short_however_many_lists_there_are() {
        let text = tensor(&floats(&[1 << 62, 0], 0));
        assert!(text.len() < 400, "{} characters", text.len());
    }

    #[test]
    fn an_element_beyond_the_text_is_shown_with_its_index() {
        let (few, many) = (floats(&[2, 2], 0), floats(&[6, 7], 0));
        assert_eq!(tensor_at(&few, 1), tensor(&few));
        assert!(tensor_at(&many, 40).ends_with("…]; at [5, 5] 4.0"), "{}", tensor_at(&many, 40));
    }

    #[test]
    fn an_exact_text_tells_any_two_tensors_apart() {
        let text = |tensor: &TensorValue| {
            let mut text = Exact { program: &Program::default(), storages: Vec::new(), lines: Vec::new() };
            text.tensor("r", "r", tensor);
            (text.lines.join("\n"), text.briefly("r", tensor))
        };
        for size in [EXACT_ELEMENTS, EXACT_ELEMENTS + 1] {
            let tensor = floats(&[size as i64], 0);
            let mut other = tensor.clone();
            *other.data.last_mut().unwrap() ^= 1;
            assert_ne!(text(&tensor).0, text(&other).0, "{size} elements");
            assert_ne!(text(&tensor).1, text(&other).1, "{size} elements, briefly");
        }
    }

    #[test]
    fn a_brief_text_says_what_is_not_as_usual() {
        let mut text = Exact { program: &Program::default(), storages: Vec::new(), lines: Vec::new() };
        let mut tensor = floats(&[2, 2], 0);
        assert_eq!(text.briefly("a", &tensor), "float32 [2, 2] [[0.0, 0.1], [0.2, 0.3]]");
        tensor.strides = Some(vec![1, 2]);
        let elements = "float32 [2, 2] [[0.0, 0.1], [0.2, 0.3]]";
        assert_eq!(text.briefly("b", &tensor), format!("{elements}, strides [1, 2], in the storage of a"));
        (tensor.strides, tensor.storage) = (None, None);
        assert_eq!(text.briefly("c", &tensor), format!("{elements}, strides not reported, storage not reported"));
    }

    #[test]
    fn shared_storages_are_named_after_the_first_value_in_them() {
        let mut text = Exact { program: &Program::default(), storages: Vec::new(), lines: Vec::new() };
        assert_eq!(text.place("a", StorageRef { id: 7, offset: 0 }), "in a storage of its own");
        assert_eq!(text.place("b", StorageRef { id: 8, offset: 0 }), "in a storage of its own");
        assert_eq!(text.place("c", StorageRef { id: 7, offset: 2 }), "in the storage of a from element 2");
    }
}
