//! Reductions: which dimensions go, and what `keepdim` leaves of them.

use super::{Cell, Drawing, Label, Mark, Named, Row, shape_text};

/// A reduction over some dimensions, or over all where none is named.
pub fn reduction(tensor: &Named, dims: &[usize], keepdim: bool, label: Label) -> Drawing {
    let sizes = tensor.1.sizes();
    let gone = |at: usize| dims.is_empty() || dims.contains(&at);
    let mut drawing = Drawing { columns: (0..sizes.len()).map(|at| at.to_string()).collect(), ..Drawing::default() };
    let mark = |at: usize| if gone(at) { Mark::Reduced } else { Mark::Plain };
    let cells = sizes.iter().enumerate().map(|(at, size)| Cell::of(label(*size), mark(at))).collect();
    drawing.rows.push(Row::new(&tensor.0, shape_text(sizes, label), cells));
    let left = |at: usize| match (gone(at), keepdim) {
        (false, _) => Some(sizes[at]),
        (true, true) => Some(1),
        (true, false) => None,
    };
    let cells = (0..sizes.len()).map(|at| left(at).map_or(Cell::empty(), |size| Cell::plain(label(size)))).collect();
    let result: Vec<i64> = (0..sizes.len()).filter_map(left).collect();
    drawing.rows.push(Row::result(shape_text(&result, label), cells));
    let removed = (0..sizes.len()).any(|at| gone(at) && at + 1 < sizes.len());
    if !keepdim && removed && !result.is_empty() {
        drawing
            .law(true, "the dimension is gone, so the result lines up with other dimensions; keepdim=True leaves a 1");
    }
    drawing
}
