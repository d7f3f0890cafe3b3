//! Values as text, for people: short, on one line, unmistakable.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use broadcheck_oracles::format;
pub use broadcheck_oracles::format::{
    call, elements, expectation, given, label, name, outcome, tensor, value, warnings,
};

use crate::case::render;
use crate::class_of;
use crate::program::{Input, Outcome, Program, Reply, StorageRef, TensorValue, Value};
use crate::tensor::{Layout, shape::bracketed};

use crate::model::event::{Came, Exact as Saw};

/// The number of elements that are written out where nothing may be lost; a digest stands for the rest.
const EXACT_ELEMENTS: usize = 256;

/// The storage of a value that shares it with none before it.
const OWN_STORAGE: &str = "in a storage of its own";

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A program with its outcomes, exactly: a line for each step with its outcome, the first with the inputs before it, one for
/// each warning, and one for each input that is not what it was. Of a tensor it says the strides where the tensor is not
/// contiguous, and the storage where it is that of a value before it.
///
/// ```
/// use std::path::Path;
///
/// use broadcheck_harness::{case::load_program, format::transcript};
/// use broadcheck_protocol::adapter::Implementation;
/// use broadcheck_reference::Reference;
///
/// let program = load_program(Path::new("p.yaml"), "x: {values: [3, 2]}\nr: {mul: [x, x]}").unwrap();
/// let text = transcript(&program, &Reference.run(&program));
/// assert_eq!(text, "x: {values: [3, 2]}; r: {mul: [x, x]} → int64 [2] [9, 4]\n");
/// ```
pub fn transcript(program: &Program, reply: &Reply) -> String {
    let mut exact = Exact { program, storages: Vec::new(), lines: Vec::new() };
    let text = render::program(program);
    let mut written = text.lines();
    let mut inputs: Vec<&str> = written.by_ref().take(program.inputs.len()).collect();
    let mut lines = Vec::new();
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
        inputs.push(written);
        lines.push(format!("{} → {}", std::mem::take(&mut inputs).join("; "), outcome.replace('\n', "\\n")));
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
        self.lines.push(format!("{heading} = {}", format::tensor_up_to(EXACT_ELEMENTS, tensor)));
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
        let mut text = format::tensor_up_to(EXACT_ELEMENTS, tensor);
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
        let mut elements = format::tensor_elements(EXACT_ELEMENTS, tensor);
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
    use crate::tensor::{Buffer, DType, Scalar, Shape};

    fn floats(sizes: &[i64], storage: usize) -> TensorValue {
        let shape = Shape::new(sizes.to_vec()).unwrap();
        let layout = Layout::contiguous(shape.clone());
        let scalars = (0..shape.numel()).map(|at| Scalar::Float(at as f64 / 10.0));
        let data = Buffer::from_scalars(DType::Float32, scalars).to_bytes(&layout);
        let storage = Some(StorageRef { id: storage, offset: 0 });
        TensorValue { dtype: DType::Float32, shape, data, strides: Some(layout.strides), storage }
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
