//! The meaning of a message that was pasted: which tensors and dimensions it is about, and the call that shows it again,
//! where its shapes are in the message.

use broadcheck_protocol::error::Class;
use broadcheck_protocol::tensor::DType;
use serde::{Deserialize, Serialize};

use crate::question::Given;
use crate::read::{Known, Reported, Size};

/// The meaning of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meaning {
    /// The message.
    pub message: String,
    /// The exception that it came with.
    pub exception: Option<String>,
    /// The user's own line that raised it, where a traceback has it, with its file and number.
    pub line: Option<String>,
    /// What it says, in words.
    pub says: String,
    /// What to look at next.
    pub look: Vec<String>,
}

/// The meaning of a message.
pub fn meaning(reported: &Reported) -> Meaning {
    let frame = reported.frame();
    let line = frame.and_then(|frame| {
        let source = frame.source.as_deref()?.trim();
        let number = frame.line.map(|line| format!(", line {line}")).unwrap_or_default();
        Some(format!("{source}   ({}{number})", frame.file))
    });
    let (says, mut look) = match &reported.known {
        Some(known) => said(known),
        None => (
            "this message is not known here".to_owned(),
            vec![
                "the shapes of the tensors in the line that raised it: print(x.shape), and ask again with them"
                    .to_owned(),
            ],
        ),
    };
    if let Some(source) = frame.and_then(|frame| frame.source.as_deref()) {
        look.insert(
            0,
            format!(
                "print the shapes of the tensors in `{}`, and ask again with this line and the shapes",
                source.trim()
            ),
        );
    }
    Meaning { message: reported.text.clone(), exception: reported.exception.clone(), line, says, look }
}

/// What a known message says, and what to look at.
fn said(known: &Known) -> (String, Vec<String>) {
    let fact = |name: &str| known.fact(name).unwrap_or("?").to_owned();
    let look = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    match known.name {
        "SizeMismatch" => (
            format!(
                "two tensors meet element by element. In dimension {} of the result, counted from 0 at the left, the first \
                 operand has size {} and the second has size {}. They differ and neither is 1, so none is expanded",
                fact("dim"),
                fact("a"),
                fact("b")
            ),
            look(&[
                "a is the operand before the operator or the tensor that the method is called on, b is the other one",
                "shapes line up at their last dimension; a tensor with fewer dimensions gets its missing ones on the left, so one \
                 that belongs further left needs unsqueeze or None",
            ]),
        ),
        "OutputShape" | "NumpyOutput" => (
            format!(
                "an in-place operation would have to change the shape of the tensor that it writes: that one has shape {}, and \
                 the operands broadcast to {}",
                fact("output"),
                fact("broadcast")
            ),
            look(&[
                "the other operand is larger than the target: write a + b instead of a += b or a.add_(b), or make the target that large first",
            ]),
        ),
        "ExpandSize" | "ExpandSize04" => (
            format!(
                "a tensor is expanded to a shape that it does not fit: in dimension {} of the wanted shape it has size {}, and \
                 {} is wanted; expand changes sizes of 1 only",
                fact("dim"),
                fact("existing"),
                fact("wanted")
            ),
            look(&[
                "this is raised by expand, by x[…] = v, by copy_, and by masks of attention: the tensor has to broadcast to the target",
            ]),
        ),
        "MatrixSizes" | "MatrixSizes19" | "BatchInner" | "MatrixSizes15" | "MatrixSizes15Bare" => (
            match (known.fact("rows"), known.fact("left"), known.fact("right"), known.fact("columns")) {
                (Some(rows), Some(left), Some(right), Some(columns)) => format!(
                    "a product of matrices: the first has {rows} rows of {left}, the second {right} rows of {columns}; the inner \
                     sizes {left} and {right} have to be equal"
                ),
                _ => "a product of matrices whose inner sizes differ".to_owned(),
            },
            look(&[
                "in a linear layer the first matrix is the input, flattened to rows, and the second the transposed weight: the layer \
                 is Linear(inner size of the second, its columns)",
                "if the input is an image or a sequence, flatten it first, or move the features to the last dimension",
            ]),
        ),
        "BatchSizes" => (
            format!(
                "a product of batches: the second one should have shape {} and more, and has {}",
                fact("expected"),
                fact("got")
            ),
            look(&[
                "bmm does not broadcast: both need three dimensions, the same batch, and equal inner sizes; matmul broadcasts the batch",
            ]),
        ),
        "ViewSize" => (
            format!(
                "the tensor has {} elements, and the shape {} has another number of them",
                fact("numel"),
                fact("target")
            ),
            look(&[
                "let one size be -1, or compute it from the tensor's own shape (x.shape[0]) rather than from a constant",
            ]),
        ),
        "PutShape" => (
            format!(
                "values of shape {} are assigned to places of shape {}, to which they do not broadcast",
                fact("value"),
                fact("places")
            ),
            look(&["the values line up with the places at the last dimension, as in any broadcast"]),
        ),
        "BatchSize" => (
            format!("the input has {} rows, and the target {}", fact("input"), fact("target")),
            look(&[
                "the first dimension of both is the batch: look where the input was reshaped, or where the target lost or gained one",
            ]),
        ),
        "TargetSizeWarning" | "TargetSize" | "LossSize" => (
            format!("the input has shape {}, the target {}", fact("input"), fact("target")),
            look(&[
                "a loss compares element by element; a [n] beside a [n, 1] broadcasts to [n, n] and the mean is of another thing",
            ]),
        ),
        "CatSizes" => (
            format!(
                "cat joins along dimension {}, and all other sizes have to be equal: the first tensor has {}, tensor {} has {}",
                fact("dim"),
                fact("expected"),
                fact("tensor"),
                fact("got")
            ),
            look(&["cat does not broadcast: expand, pad or cut the tensor, or join along another dimension"]),
        ),
        "StackSizes" => (
            format!(
                "stack needs equal shapes: tensor {} has {}, tensor {} has {}",
                fact("at"),
                fact("first"),
                fact("entry"),
                fact("other")
            ),
            look(&[
                "samples of different lengths: pad them (torch.nn.utils.rnn.pad_sequence), cut them, or collate them as a list",
            ]),
        ),
        "GradNeedsScalar" => (
            "backward() without an argument begins at a single number, and the tensor has more elements".to_owned(),
            look(&[
                "reduce it first: loss.sum().backward() or loss.mean().backward(); or pass a gradient of its shape",
            ]),
        ),
        _ => {
            let facts: Vec<String> = known.facts.iter().map(|(name, text)| format!("{name}: {text}")).collect();
            (
                format!("{} ({})", words(known.class), facts.join(", ")),
                look(&["the shapes of the tensors of that line"]),
            )
        }
    }
}

fn words(class: Class) -> &'static str {
    match class {
        Class::SizeMismatch => "shapes that do not fit together",
        Class::OutputShape => "a target that would have to change shape",
        Class::Expand | Class::NotExpandable => "a tensor that cannot be expanded to the wanted shape",
        Class::ImpossibleSize => "a size that no tensor can have",
        Class::Dimension => "a dimension or an index that is not there, or too many of them",
        Class::View => "a view with another number of elements, or with strides that do not exist",
        Class::Dtype => "a dtype that the operation does not take",
        Class::Overlap => "a tensor that is written to while it shares its memory",
        Class::ItemCount => "more than one element where one was needed",
        Class::ProductShape => "factors whose sizes do not fit",
        Class::EinsumEquation | Class::EinsumOperand => "an einsum equation that does not fit its operands",
        Class::Argument => "an argument that the operation does not take",
        Class::ZeroDivision => "a division of integers by zero",
        Class::Singular => "a matrix without an inverse",
        Class::Autograd => "something that autograd does not support",
    }
}

/// The call that a message is of, with the tensors that its facts say; `None` where the message has no whole shapes. Where it
/// has none, the tensors that were given with it may do.
pub fn call(reported: &Reported, tensors: &[Given]) -> Option<(String, Vec<Given>)> {
    let known = reported.known.as_ref()?;
    if let ("IndexTensorRank" | "GatherShape", [input, index]) = (known.name, tensors) {
        let index = Given { dtype: index.dtype.or(Some(DType::Int64)), ..index.clone() };
        return Some((format!("torch.gather({}, 0, {})", input.name, index.name), vec![input.clone(), index]));
    }
    if let ("SizeMismatch", [a, b]) = (known.name, tensors) {
        return Some((format!("{} + {}", a.name, b.name), tensors.to_vec()));
    }
    // The loss that raises rejects the shapes, and those that warn broadcast them.
    let raised = reported.exception.as_deref() == Some("ValueError") || reported.text.contains("deprecated");
    let sizes = |name: &str| known.sizes(name);
    let matrix = |rows: &str, columns: &str| Some(vec![known.number(rows)?, known.number(columns)?]);
    let given = |tensors: &[(&str, Vec<i64>)]| {
        tensors
            .iter()
            .map(|(name, sizes)| Given {
                name: (*name).to_owned(),
                sizes: sizes.iter().map(|size| Size::Number(*size)).collect(),
                dtype: None,
            })
            .collect::<Vec<_>>()
    };
    let list = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    Some(match known.name {
        "OutputShape" => {
            ("target.add_(other)".to_owned(), given(&[("target", sizes("output")?), ("other", sizes("broadcast")?)]))
        }
        "MatrixSizes" => (
            "mat1 @ mat2".to_owned(),
            given(&[("mat1", matrix("rows", "left")?), ("mat2", matrix("right", "columns")?)]),
        ),
        "ExpandSize" => (format!("tensor.expand({})", list(&sizes("target")?)), given(&[("tensor", sizes("tensor")?)])),
        "ExpandRank" => (format!("tensor.expand({})", list(&sizes("target")?)), given(&[("tensor", sizes("tensor")?)])),
        "ViewSize" => {
            (format!("tensor.view({})", list(&sizes("target")?)), given(&[("tensor", vec![known.number("numel")?])]))
        }
        // `[2394 x 7]`, as releases before 1.9 print a matrix.
        "MatrixSizes15" | "MatrixSizes15Bare" => {
            let old = |name: &str| -> Option<Vec<i64>> {
                let text = known.fact(name)?.trim_matches(['[', ']']);
                text.split('x').map(|size| size.trim().parse().ok()).collect()
            };
            let [right, columns] = old("b")?[..] else { return None };
            (format!("nn.Linear({right}, {columns})(x)"), given(&[("x", old("a")?)]))
        }
        "PutShape" => {
            ("places[:] = value".to_owned(), given(&[("places", sizes("places")?), ("value", sizes("value")?)]))
        }
        "TargetSizeWarning" | "TargetSize" | "LossSize" => {
            let loss = match known.name {
                "TargetSize" => "binary_cross_entropy_with_logits",
                _ if raised => "binary_cross_entropy",
                _ => "mse_loss",
            };
            (format!("F.{loss}(input, target)"), given(&[("input", sizes("input")?), ("target", sizes("target")?)]))
        }
        "StackSizes" => {
            ("torch.stack([first, other])".to_owned(), given(&[("first", sizes("first")?), ("other", sizes("other")?)]))
        }
        "NumpyOperands" | "JaxOperation" | "IndexShapes" => {
            let shapes = known.shapes("shapes").filter(|shapes| shapes.len() > 1)?;
            let names = ["a", "b", "c", "d", "e", "f"];
            let tensors: Vec<(&str, Vec<i64>)> = names.into_iter().zip(shapes).collect();
            let source = match tensors.as_slice() {
                [_, _] => "a + b".to_owned(),
                all => format!(
                    "torch.broadcast_tensors({})",
                    all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
                ),
            };
            (source, given(&tensors))
        }
        "NumpyDot" => ("a @ b".to_owned(), given(&[("a", sizes("a")?), ("b", sizes("b")?)])),
        "TensorflowShapes" => ("a + b".to_owned(), given(&[("a", sizes("a")?), ("b", sizes("b")?)])),
        "InnerSizes" => ("torch.inner(a, b)".to_owned(), given(&[("a", sizes("a")?), ("b", sizes("b")?)])),
        "NotExpandable" => {
            (format!("tensor.sum_to_size({})", list(&sizes("to")?)), given(&[("tensor", sizes("from")?)]))
        }
        "DotSizes" => {
            ("torch.dot(a, b)".to_owned(), given(&[("a", vec![known.number("a")?]), ("b", vec![known.number("b")?])]))
        }
        "NumpyReshape" => {
            (format!("tensor.view({})", list(&sizes("shape")?)), given(&[("tensor", vec![known.number("size")?])]))
        }
        _ => return None,
    })
}
