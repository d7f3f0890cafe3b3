//! Shapes that broadcast element by element, and the functions that join tensors, which do not broadcast.

use super::{Cell, Drawing, Label, Mark, Named, Row, dims, shape_text};
use crate::broadcast::dimensions;

/// Shapes that line up at their ends. `target` is true if the first one is written in place; `out` is a tensor that
/// `out=` names, which is resized and does not broadcast.
pub fn elementwise(operands: &[Named], target: bool, out: Option<&Named>, label: Label) -> Drawing {
    let dimensions = dimensions(operands, target, label);
    let mut drawing =
        Drawing { columns: (0..dimensions.len()).map(|dim| dim.to_string()).collect(), ..Drawing::default() };
    for (at, (name, shape)) in operands.iter().enumerate() {
        let cells = dimensions.iter().map(|dimension| match dimension.sizes[at] {
            Some(size) if dimension.conflict => Cell::of(label(size), Mark::Conflict),
            Some(1) if dimension.result != Some(1) => Cell::of("1", Mark::Expanded),
            Some(size) => Cell::plain(label(size)),
            None => Cell::of("", Mark::Missing),
        });
        drawing.rows.push(Row::new(name, shape_text(shape.sizes(), label), cells.collect()));
    }
    let results: Option<Vec<i64>> = dimensions.iter().map(|dimension| dimension.result).collect();
    let cells = dimensions.iter().map(|dimension| match (dimension.result, dimension.conflict) {
        (Some(size), true) => Cell::of(label(size), Mark::Conflict),
        (Some(size), false) => Cell::plain(label(size)),
        (None, _) => Cell::of("✗", Mark::Conflict),
    });
    let shape = results.as_ref().map(|sizes| shape_text(sizes, label)).unwrap_or_default();
    drawing.rows.push(Row::result(shape, cells.collect()));
    // PyTorch goes from the last dimension to the first, and reports the first mismatch that it meets.
    for (dim, dimension) in dimensions.iter().enumerate().rev() {
        drawing.rule(!dimension.conflict, dim, format!("dimension {dim}: {}", dimension.rule));
    }
    if let (Some((name, out)), Some(results)) = (out, results) {
        let (own, wanted) = (shape_text(out.sizes(), label), shape_text(&results, label));
        match out.sizes() == results {
            true => drawing.law(true, format!("{name} has the shape of the result, {wanted}")),
            false if out.numel() == 0 => drawing.law(true, format!("{name} is empty, and is resized to {wanted}")),
            false => drawing.law(true, format!("{name} has shape {own}: it is resized to {wanted}, with a warning")),
        }
    }
    drawing
}

/// `prelu`: the weight is one number, or one for each channel, which are in dimension 1.
pub fn prelu(tensor: &Named, weight: &Named, label: Label) -> Drawing {
    let sizes = tensor.1.sizes();
    let channels = sizes.get(1).copied().unwrap_or(1);
    let count = weight.1.numel() as i64;
    let fits = count == 1 || count == channels;
    let mut drawing = Drawing { columns: (0..sizes.len()).map(|at| at.to_string()).collect(), ..Drawing::default() };
    let own = |at: usize| if at == 1 && !fits { Mark::Conflict } else { Mark::Plain };
    let cells = sizes.iter().enumerate().map(|(at, size)| Cell::of(label(*size), own(at))).collect();
    drawing.rows.push(Row::new(&tensor.0, shape_text(sizes, label), cells));
    let mut cells = vec![Cell::of("", Mark::Missing); sizes.len()];
    if let (Some(cell), true) = (cells.get_mut(1), count != 1 || channels == 1) {
        *cell = Cell::of(label(count), own(1));
    }
    drawing.rows.push(Row::new(&weight.0, shape_text(weight.1.sizes(), label), cells));
    let cells = sizes.iter().map(|size| Cell::plain(label(*size))).collect();
    drawing.rows.push(Row::result(if fits { shape_text(sizes, label) } else { String::new() }, cells));
    let (has, wanted) = (label(count), label(channels));
    drawing.law(
        fits,
        match fits {
            true if count == 1 => format!("{} has one element, for all channels", weight.0),
            true => format!("{} has {has} elements, one for each channel, which are in dimension 1", weight.0),
            false => format!(
                "{} has {has} elements, and {} has {wanted} in dimension 1, that of channels",
                weight.0, tensor.0
            ),
        },
    );
    if weight.1.rank() > 1 {
        drawing.law(false, format!("{} has {}, and a weight has at most 1", weight.0, dims(weight.1.rank())));
    }
    drawing
}

/// Tensors that are concatenated along a dimension: all other sizes have to be equal, and a 1 is a size like any other.
pub fn cat(tensors: &[Named], dim: usize, label: Label) -> Drawing {
    // A tensor of shape [0] is left out, whatever the others are (`cat_should_skip_tensor`).
    let kept: Vec<&Named> = tensors.iter().filter(|(_, shape)| shape.sizes() != [0]).collect();
    let rank = kept.first().map_or(0, |(_, shape)| shape.rank());
    let mut drawing = Drawing { columns: (0..rank).map(|at| at.to_string()).collect(), ..Drawing::default() };
    let size = |at: usize, tensor: &Named| tensor.1.sizes().get(at).copied();
    let first = |at: usize| kept.first().and_then(|tensor| size(at, tensor));
    for tensor in tensors {
        let cells = (0..rank).map(|at| match size(at, tensor) {
            None => Cell::of("✗", Mark::Conflict),
            Some(own) if at != dim && Some(own) != first(at) => Cell::of(label(own), Mark::Conflict),
            Some(own) => Cell::plain(label(own)),
        });
        drawing.rows.push(Row::new(&tensor.0, shape_text(tensor.1.sizes(), label), cells.collect()));
    }
    let sum: i64 = kept.iter().filter_map(|tensor| size(dim, tensor)).sum();
    let cells: Vec<Cell> = (0..rank)
        .map(|at| match at == dim {
            true => Cell::plain(label(sum)),
            false if kept.iter().all(|tensor| size(at, tensor) == first(at)) => {
                Cell::plain(label(first(at).unwrap_or(0)))
            }
            false => Cell::of("✗", Mark::Conflict),
        })
        .collect();
    for (name, shape) in &kept {
        if shape.rank() != rank {
            drawing.law(
                false,
                format!("{name} has {}, the first tensor has {rank}: no dimension is added", dims(shape.rank())),
            );
        }
    }
    for (at, cell) in cells.iter().enumerate() {
        let sizes: Vec<String> = kept.iter().filter_map(|tensor| size(at, tensor)).map(label).collect();
        match at == dim {
            true => drawing.rule(true, at, format!("dimension {at}: the sizes are added, {}", sizes.join(" + "))),
            false if cell.mark == Mark::Conflict => {
                let text = format!("dimension {at}: {} differ, and cat does not broadcast", sizes.join(" and "));
                drawing.rule(false, at, text);
            }
            false => drawing.rule(true, at, format!("dimension {at}: all have {}", cell.text)),
        }
    }
    drawing.rows.push(Row::result("", cells));
    drawing
}

/// Tensors that are stacked along a new dimension: their shapes have to be equal.
pub fn stack(tensors: &[Named], dim: usize, label: Label) -> Drawing {
    let Some((first, shape)) = tensors.first() else { return Drawing::default() };
    let columns = |at: usize| if at == dim { "new".to_owned() } else { (at - usize::from(at > dim)).to_string() };
    let mut drawing = Drawing { columns: (0..=shape.rank()).map(columns).collect(), ..Drawing::default() };
    let fits = |own: &Named| own.1 == *shape;
    for tensor in tensors {
        let mark = if fits(tensor) { Mark::Plain } else { Mark::Conflict };
        let mut cells: Vec<Cell> = tensor.1.sizes().iter().map(|size| Cell::of(label(*size), mark)).collect();
        cells.resize(shape.rank(), Cell::of("✗", Mark::Conflict));
        cells.truncate(shape.rank());
        cells.insert(dim.min(shape.rank()), Cell::empty());
        drawing.rows.push(Row::new(&tensor.0, shape_text(tensor.1.sizes(), label), cells));
        if !fits(tensor) {
            let (own, wanted) = (shape_text(tensor.1.sizes(), label), shape_text(shape.sizes(), label));
            drawing.law(false, format!("{} is {own}, and {first} is {wanted}: stack does not broadcast", tensor.0));
        }
    }
    if tensors.iter().all(fits) {
        drawing.law(
            true,
            format!("all are {}; the new dimension {dim} has one entry a tensor", shape_text(shape.sizes(), label)),
        );
    }
    let mut sizes = shape.sizes().to_vec();
    sizes.insert(dim.min(shape.rank()), tensors.len() as i64);
    let text = if tensors.iter().all(fits) { shape_text(&sizes, label) } else { String::new() };
    drawing.rows.push(Row::result(text, sizes.iter().map(|size| Cell::plain(label(*size))).collect()));
    drawing
}
