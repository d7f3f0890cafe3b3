//! Python-style basic indexing: `None`, `...`, integers and slices.

use serde::{Deserialize, Serialize};

/// One item between the brackets of `x[…]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IndexItem {
    /// `None`: a new dimension of size 1.
    None,
    /// `...`: all the dimensions that the other items leave.
    Ellipsis,
    /// An integer: picks one index and drops the dimension.
    At(i64),
    /// `start:stop:step`; a step that is not positive is rejected.
    Slice {
        /// The first position.
        start: Option<i64>,
        /// The position after the last.
        stop: Option<i64>,
        /// The step.
        step: i64,
    },
}

/// Parses what stands between the brackets, for example `..., None` or `1:, ::2`.
///
/// ```
/// use broadcheck_protocol::tensor::{IndexItem, index::parse};
///
/// assert_eq!(parse("..., None"), Ok(vec![IndexItem::Ellipsis, IndexItem::None]));
/// assert_eq!(parse("-1"), Ok(vec![IndexItem::At(-1)]));
/// assert!(parse("a:b").is_err());
/// ```
pub fn parse(text: &str) -> Result<Vec<IndexItem>, String> {
    text.split(',').map(|item| parse_item(item.trim())).collect()
}

fn parse_item(item: &str) -> Result<IndexItem, String> {
    let number = |text: &str| -> Result<i64, String> {
        text.trim()
            .parse()
            .map_err(|_| format!("index item {item:?}: expected None, ..., an integer or start:stop:step"))
    };
    match item {
        "None" => Ok(IndexItem::None),
        "..." => Ok(IndexItem::Ellipsis),
        _ if item.contains(':') => {
            let parts: Vec<&str> = item.split(':').collect();
            let part = |at: usize| match parts.get(at).map(|text| text.trim()) {
                None | Some("") => Ok(None),
                Some(text) => number(text).map(Some),
            };
            let step = part(2)?.unwrap_or(1);
            if parts.len() > 3 {
                return Err(format!("index item {item:?}: a slice is start:stop:step"));
            }
            Ok(IndexItem::Slice { start: part(0)?, stop: part(1)?, step })
        }
        _ => number(item).map(IndexItem::At),
    }
}

/// The items as Python writes them.
pub fn render(items: &[IndexItem]) -> String {
    let bound = |bound: &Option<i64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
    let items: Vec<String> = items
        .iter()
        .map(|item| match item {
            IndexItem::None => "None".to_owned(),
            IndexItem::Ellipsis => "...".to_owned(),
            IndexItem::At(at) => at.to_string(),
            IndexItem::Slice { start, stop, step: 1 } => format!("{}:{}", bound(start), bound(stop)),
            IndexItem::Slice { start, stop, step } => format!("{}:{}:{step}", bound(start), bound(stop)),
        })
        .collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_round_trip() {
        for text in ["None", "..., None", "0, 1:", ":, ::2", "-1", "1:3:2, ...", "::-1"] {
            assert_eq!(render(&parse(text).unwrap()), text);
        }
        assert!(parse("x").is_err());
        assert!(parse("1:2:3:4").is_err());
    }
}
