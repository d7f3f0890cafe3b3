//! What becomes of the dimensions of one tensor: views expand or reshape it, reductions remove them, or leave 1 with
//! `keepdim`.

use super::{Cell, Drawing, Label, Mark, Named, Row, shape_text};

/// `expand`: the sizes that are asked for, above the tensor's own, which line up at their ends. -1 keeps a size.
pub fn expand(tensor: &Named, wanted: &[i64], label: Label) -> Drawing {
    let own = tensor.1.sizes();
    let rank = wanted.len().max(own.len());
    let mut drawing = Drawing { columns: (0..rank).map(|at| at.to_string()).collect(), ..Drawing::default() };
    let at = |sizes: &[i64], dim: usize| (dim + sizes.len()).checked_sub(rank).map(|at| sizes[at]);
    let mut rows = [Vec::new(), Vec::new(), Vec::new()];
    for dim in 0..rank {
        let (size, asked) = (at(own, dim), at(wanted, dim));
        let (result, text) = match (size, asked) {
            (Some(size), Some(-1)) => (Some(size), format!("-1 keeps {}", label(size))),
            (None, Some(-1)) => (None, format!("-1 keeps a size, and {} has no such dimension", tensor.0)),
            (Some(size), None) => (None, format!("{} has {} here, and no size is given for it", tensor.0, label(size))),
            (Some(size), Some(asked)) if size == asked => (Some(size), format!("{} stays", label(size))),
            (Some(1), Some(asked)) => (Some(asked), format!("1 is expanded to {}", label(asked))),
            (None, Some(asked)) => (Some(asked), format!("a new dimension of {}", label(asked))),
            (Some(size), Some(asked)) => (
                None,
                format!("{} has {}, which is not 1, so it cannot become {}", tensor.0, label(size), label(asked)),
            ),
            (None, None) => (None, String::new()),
        };
        let conflict = |text: String| match result {
            Some(_) => Cell::plain(text),
            None => Cell::of(text, Mark::Conflict),
        };
        rows[0].push(match size {
            Some(1) if result.is_some_and(|result| result != 1) => Cell::of("1", Mark::Expanded),
            Some(size) => conflict(label(size)),
            None => Cell::of("", Mark::Missing),
        });
        rows[1].push(asked.map_or(Cell::empty(), |asked| conflict(label(asked))));
        rows[2].push(result.map_or(Cell::of("✗", Mark::Conflict), |size| Cell::plain(label(size))));
        drawing.rule(result.is_some(), dim, format!("dimension {dim}: {text}"));
    }
    drawing.rules.reverse();
    let [tensor_cells, wanted_cells, result] = rows;
    drawing.rows = vec![
        Row::new(&tensor.0, shape_text(own, label), tensor_cells),
        Row::new("sizes", shape_text(wanted, label), wanted_cells),
        Row::result("", result),
    ];
    drawing
}

/// `view` and `reshape`: both shapes have to hold the same number of elements; one size may be -1.
pub fn view(tensor: &Named, wanted: &[i64], label: Label) -> Drawing {
    let own = tensor.1.sizes();
    let rank = own.len().max(wanted.len());
    let row = |sizes: &[i64]| {
        let mut cells: Vec<Cell> = sizes.iter().map(|size| Cell::plain(label(*size))).collect();
        cells.resize(rank, Cell::empty());
        cells
    };
    let mut drawing = Drawing { columns: (0..rank).map(|at| at.to_string()).collect(), ..Drawing::default() };
    drawing.rows = vec![
        Row::new(&tensor.0, shape_text(own, label), row(own)),
        Row::new("sizes", shape_text(wanted, label), row(wanted)),
    ];
    let product =
        |sizes: &[i64]| sizes.iter().filter(|size| **size != -1).fold(1i64, |all, size| all.saturating_mul(*size));
    let (have, asked) = (product(own), product(wanted));
    let factors = |sizes: &[i64]| {
        let sizes: Vec<String> = sizes.iter().filter(|size| **size != -1).map(|size| label(*size)).collect();
        if sizes.is_empty() { "1".to_owned() } else { sizes.join(" × ") }
    };
    let has = format!("{} has {} = {} elements", tensor.0, factors(own), label(have));
    let (holds, text) = match wanted.contains(&-1) {
        true if asked != 0 && have % asked == 0 => (true, format!("{has}, so -1 is {}", label(have / asked))),
        true => (false, format!("{has}, which {} does not divide", factors(wanted))),
        false if have == asked => (true, format!("{has}, and so has the new shape")),
        false => (false, format!("{has}, the new shape {} = {}", factors(wanted), label(asked))),
    };
    drawing.law(holds, text);
    drawing
}

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
