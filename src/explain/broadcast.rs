//! How shapes line up, and the rule that decides each dimension ("General semantics" in PyTorch's notes on
//! broadcasting).

use broadcheck_protocol::tensor::Shape;
use broadcheck_protocol::tensor::shape::{Alignment, align};
use serde::{Deserialize, Serialize};

/// One dimension of shapes that line up at their ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// The size of each operand there; `None` where it has no such dimension.
    pub sizes: Vec<Option<i64>>,
    /// The size of the result; `None` where there is none.
    pub result: Option<i64>,
    /// True if it is a reason for a rejection.
    pub conflict: bool,
    /// The rule that decides it, in words.
    pub rule: String,
}

/// The dimensions of named shapes, from the first to the last. `target` is true if the first shape is written in place,
/// and so may not grow. `label` writes a size.
///
/// ```
/// use broadcheck_explain::broadcast::dimensions;
/// use broadcheck_protocol::tensor::Shape;
///
/// let shape = |sizes: &[i64]| Shape::new(sizes.to_vec()).unwrap();
/// let named = [("a".to_owned(), shape(&[5, 1])), ("b".to_owned(), shape(&[3]))];
/// let dimensions = dimensions(&named, false, &|size| size.to_string());
/// assert_eq!(dimensions[1].result, Some(3));
/// assert_eq!(dimensions[1].rule, "a has 1, expanded to 3");
/// ```
pub fn dimensions(operands: &[(String, Shape)], target: bool, label: &dyn Fn(i64) -> String) -> Vec<Dimension> {
    let rank = operands.iter().map(|(_, shape)| shape.rank()).max().unwrap_or(0);
    (0..rank).map(|dim| dimension(operands, dim, rank, target, label)).collect()
}

fn dimension(
    operands: &[(String, Shape)],
    dim: usize,
    rank: usize,
    target: bool,
    label: &dyn Fn(i64) -> String,
) -> Dimension {
    let sizes: Vec<Option<i64>> = operands.iter().map(|(_, shape)| shape.aligned(dim, rank)).collect();
    let mut result = None;
    for size in &sizes {
        result = match align(result, *size) {
            Alignment::Equal(size) | Alignment::Left(size) | Alignment::Right(size) => Some(size),
            Alignment::Mismatch { a, b } => {
                let first = |wanted| sizes.iter().position(|size| *size == Some(wanted)).map(|at| &operands[at].0);
                let (left, right) = (first(a).cloned().unwrap_or_default(), first(b).cloned().unwrap_or_default());
                let (a, b) = (label(a), label(b));
                let rule = format!("{left} has {a} and {right} has {b}: they differ and neither is 1");
                return Dimension { sizes, result: None, conflict: true, rule };
            }
        };
    }
    let size = result.unwrap_or(1);
    if target && sizes[0] != Some(size) {
        let own = sizes[0].map_or("has no such dimension".to_owned(), |own| format!("has size {}", label(own)));
        let rule = format!("broadcasts to {}, but the target {own} and may not change shape", label(size));
        return Dimension { sizes, result: Some(size), conflict: true, rule };
    }
    let rule = rule(operands, &sizes, size, label);
    Dimension { sizes, result: Some(size), conflict: false, rule }
}

/// The rule that decides a dimension which broadcasts.
fn rule(operands: &[(String, Shape)], sizes: &[Option<i64>], result: i64, label: &dyn Fn(i64) -> String) -> String {
    let have = |wanted: &dyn Fn(Option<i64>) -> bool, what: &str| {
        let names: Vec<&str> =
            operands.iter().zip(sizes).filter(|(_, size)| wanted(**size)).map(|((name, _), _)| name.as_str()).collect();
        let (last, others) = names.split_last()?;
        Some(match others {
            [] => format!("{last} has {what}"),
            others => format!("{} and {last} have {what}", others.join(", ")),
        })
    };
    let missing = have(&|size| size.is_none(), "no such dimension (counts as 1)");
    let ones = have(&|size| size == Some(1) && result != 1, "1");
    let reasons: Vec<String> = missing.into_iter().chain(ones).collect();
    match (reasons.is_empty(), result) {
        (true, result) => format!("all have {}", label(result)),
        (false, 1) => reasons.join(" and "),
        (false, result) => format!("{}, expanded to {}", reasons.join(" and "), label(result)),
    }
}
