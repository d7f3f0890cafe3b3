//! Subscripts, and functions that take places from an index.

use broadcheck_protocol::tensor::Shape;

use super::{Cell, Drawing, Label, Mark, Named, Row, dims, shape_text};

/// An item of a subscript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPart {
    /// Its text, `1:3`.
    pub text: String,
    /// What it does.
    pub kind: PartKind,
}

/// What an item of a subscript does with dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Takes one place, and the dimension with it.
    At(i64),
    /// Keeps some places of a dimension: start, stop, step.
    Slice(Option<i64>, Option<i64>, i64),
    /// Adds a dimension.
    New,
    /// Keeps the dimensions that no other item names.
    Ellipsis,
    /// Takes places by a tensor of integers.
    Places(Vec<i64>),
    /// Takes the places where a tensor of bools is true; it stands for as many dimensions as it has.
    Mask(Vec<i64>),
}

impl PartKind {
    /// The dimensions that it stands for; those of an ellipsis are what is left.
    fn takes(&self) -> usize {
        match self {
            PartKind::At(_) | PartKind::Slice(..) | PartKind::Places(_) => 1,
            PartKind::New | PartKind::Ellipsis => 0,
            PartKind::Mask(sizes) => sizes.len(),
        }
    }
}

/// `x[…]`: each item of the subscript below the dimension that it stands for.
pub fn index(tensor: &Named, parts: &[IndexPart], label: Label) -> Drawing {
    let sizes = tensor.1.sizes();
    let mut drawing = Drawing::default();
    let taken: usize = parts.iter().map(|part| part.kind.takes()).sum();
    let mut rows = [Vec::new(), Vec::new(), Vec::new()];
    let mut column = |drawing: &mut Drawing, head: String, cells: [Cell; 3]| {
        drawing.columns.push(head);
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    };
    if taken > sizes.len() {
        let own = dims(sizes.len());
        drawing.law(false, format!("the index names {}, and {} has {own}", dims(taken), tensor.0));
    }
    let mut dim = 0;
    let whole = || IndexPart { text: ":".to_owned(), kind: PartKind::Slice(None, None, 1) };
    let has_dots = parts.iter().any(|part| part.kind == PartKind::Ellipsis);
    let left = sizes.len().saturating_sub(taken);
    let mut expanded: Vec<IndexPart> = Vec::new();
    for part in parts {
        match part.kind {
            PartKind::Ellipsis => expanded.extend(std::iter::repeat_with(whole).take(left)),
            _ => expanded.push(part.clone()),
        }
    }
    if !has_dots {
        expanded.extend(std::iter::repeat_with(whole).take(left));
    }
    let at = |dim: usize| sizes.get(dim).copied();
    for part in &expanded {
        let text = part.text.clone();
        let size = at(dim).unwrap_or(0);
        let (here, own) =
            (drawing.columns.len(), at(dim).map_or(Cell::of("✗", Mark::Conflict), |size| Cell::plain(label(size))));
        match &part.kind {
            // It was replaced by whole dimensions.
            PartKind::Ellipsis => continue,
            PartKind::New => {
                column(&mut drawing, "new".to_owned(), [Cell::empty(), Cell::plain(text), Cell::plain("1")]);
                drawing.rule(true, here, "None adds a dimension of 1");
                continue;
            }
            PartKind::At(place) => {
                let holds = -size <= *place && *place < size;
                let mark = if holds { Mark::Reduced } else { Mark::Conflict };
                column(&mut drawing, dim.to_string(), [own, Cell::of(text, mark), Cell::empty()]);
                let said = if holds { "is taken, and the dimension is gone" } else { "is out of range" };
                drawing.rule(holds, here, format!("dimension {dim}: place {place} of {} {said}", label(size)));
            }
            PartKind::Slice(start, stop, step) => {
                let wrap = |place: i64| if place < 0 { (place + size).max(0) } else { place.min(size) };
                let (start, stop) = (wrap(start.unwrap_or(0)), wrap(stop.unwrap_or(size)));
                let kept = if *step > 0 { ((stop - start).max(0) + step - 1) / step } else { 0 };
                column(&mut drawing, dim.to_string(), [own, Cell::plain(text.clone()), Cell::plain(label(kept))]);
                match *step > 0 {
                    true if kept != size => {
                        drawing.rule(
                            true,
                            here,
                            format!("dimension {dim}: {text} keeps {} of {}", label(kept), label(size)),
                        );
                    }
                    true => {}
                    false => drawing.rule(false, here, format!("dimension {dim}: the step of a slice is at least 1")),
                }
            }
            PartKind::Places(own_sizes) => {
                column(&mut drawing, dim.to_string(), [own, Cell::of(text.clone(), Mark::Reduced), Cell::empty()]);
                drawing.rule(
                    true,
                    here,
                    format!("dimension {dim}: places by {text}, {}", shape_text(own_sizes, label)),
                );
            }
            PartKind::Mask(own_sizes) => {
                for (offset, wanted) in own_sizes.iter().enumerate() {
                    let (dim, here) = (dim + offset, here + offset);
                    let fits = at(dim) == Some(*wanted);
                    let mark = if fits { Mark::Reduced } else { Mark::Conflict };
                    let own = at(dim).map_or(Cell::empty(), |size| Cell::plain(label(size)));
                    column(&mut drawing, dim.to_string(), [own, Cell::of(label(*wanted), mark), Cell::empty()]);
                    let (is, size) = (label(*wanted), at(dim).map_or("none".to_owned(), label));
                    let rule = if fits { "as it should" } else { "and a mask does not broadcast here" };
                    drawing.rule(
                        fits,
                        here,
                        format!("dimension {dim}: the mask {text} has {is}, {} has {size}, {rule}", tensor.0),
                    );
                }
            }
        }
        dim += part.kind.takes();
    }
    together(&mut drawing, &expanded, label);
    let [own, items, result] = rows;
    let text: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    drawing.rows = vec![
        Row::new(&tensor.0, shape_text(sizes, label), own),
        Row::new("index", format!("[{}]", text.join(", ")), items),
        Row::result("", result),
    ];
    drawing
}

/// Tensors in a subscript broadcast; the result stands in their place, or in front where others stand between them.
fn together(drawing: &mut Drawing, parts: &[IndexPart], label: Label) {
    let mut shape = Some(Shape::scalar());
    let mut places = Vec::new();
    // Integers are taken first, and leave no dimension.
    for (at, part) in parts.iter().filter(|part| !matches!(part.kind, PartKind::At(_))).enumerate() {
        match &part.kind {
            PartKind::Places(sizes) => {
                let own = Shape::new(sizes.clone()).unwrap_or_default();
                shape = shape.and_then(|shape| shape.broadcast(&own).ok());
                places.push(at);
            }
            // The number of elements that are true is not known.
            PartKind::Mask(_) => return,
            _ => {}
        }
    }
    let [first, .., last] = places[..] else { return };
    let adjacent = last - first + 1 == places.len();
    match shape {
        None => drawing.law(false, "the indices do not broadcast to one shape"),
        Some(shape) => {
            let place = if adjacent { "in their place" } else { "in front, since something stands between them" };
            drawing.law(
                true,
                format!("the indices broadcast to {}, which stands {place}", shape_text(shape.sizes(), label)),
            );
        }
    }
}

/// `gather`: the result has the shape of the index, which may not be larger than the tensor but in one dimension.
pub fn gather(tensor: &Named, index: &Named, dim: usize, label: Label) -> Drawing {
    let mut drawing = within(&[tensor, index], Some(dim), label);
    drawing.rows.push(Row::result(
        shape_text(index.1.sizes(), label),
        index.1.sizes().iter().map(|size| Cell::plain(label(*size))).collect(),
    ));
    drawing
}

/// `scatter`: the index may not be larger than the tensor but in one dimension, nor than the source in any.
pub fn scatter(tensor: &Named, index: &Named, source: &Named, dim: usize, label: Label) -> Drawing {
    let mut drawing = within(&[tensor, index], Some(dim), label);
    let inner = within(&[source, index], None, label);
    drawing.rows.extend(inner.rows.into_iter().take(1));
    drawing.rules.extend(inner.rules.into_iter().filter(|rule| !rule.holds));
    drawing.rows.push(Row::result(
        shape_text(tensor.1.sizes(), label),
        tensor.1.sizes().iter().map(|size| Cell::plain(label(*size))).collect(),
    ));
    drawing
}

/// The rules of an index that lies within a tensor, in all dimensions but one.
fn within([tensor, index]: &[&Named; 2], dim: Option<usize>, label: Label) -> Drawing {
    let (own, places) = (tensor.1.sizes(), index.1.sizes());
    let rank = own.len().max(places.len());
    let mut drawing = Drawing { columns: (0..rank).map(|at| at.to_string()).collect(), ..Drawing::default() };
    // An index without elements takes nothing, whatever its shape.
    let empty = index.1.numel() == 0;
    // A tensor without dimensions counts as one of a single dimension.
    if own.len().max(1) != places.len().max(1) && !empty {
        let (has, other) = (dims(own.len()), dims(places.len()));
        drawing.law(false, format!("{} has {has} and {} has {other}: the index needs as many", tensor.0, index.0));
    }
    let mut cells = [Vec::new(), Vec::new()];
    for at in 0..rank {
        let (size, place) = (own.get(at).copied(), places.get(at).copied());
        let along = dim == Some(at);
        let fits = along || empty || size.is_none() || place.is_none_or(|place| Some(place) <= size);
        let mark = if fits { Mark::Plain } else { Mark::Conflict };
        let cell = |size: Option<i64>| size.map_or(Cell::empty(), |size| Cell::of(label(size), mark));
        cells[0].push(cell(size));
        cells[1].push(cell(place));
        let (Some(size), Some(place)) = (size, place) else { continue };
        let (size, place) = (label(size), label(place));
        let text = match (along, fits) {
            (true, _) => format!("the entries of {} are places in {}, of which there are {size}", index.0, tensor.0),
            (false, true) => format!("{} has {place}, and {} has {size}", index.0, tensor.0),
            (false, false) => {
                format!(
                    "{} has {place} and {} has {size}: the index is larger, and nothing broadcasts",
                    index.0, tensor.0
                )
            }
        };
        drawing.rule(fits, at, format!("dimension {at}: {text}"));
    }
    let [first, second] = cells;
    drawing.rows =
        vec![Row::new(&tensor.0, shape_text(own, label), first), Row::new(&index.0, shape_text(places, label), second)];
    drawing
}
