//! Products: batch dimensions broadcast, inner sizes have to agree.

use broadcheck_protocol::tensor::shape::{Alignment, align};

use super::{Cell, Drawing, Label, Mark, Named, Row, dims, shape_text};

/// A product of matrices, vectors, or batches of them (`torch.matmul`): the last two dimensions are those of matrices,
/// all before them broadcast. `batches` is false for a product that takes its batches as they are (`bmm`, `mm`).
pub fn matmul(a: &Named, b: &Named, batches: bool, label: Label) -> Drawing {
    let (left, right) = (a.1.sizes(), b.1.sizes());
    if left.is_empty() || right.is_empty() {
        let mut drawing = Drawing::default();
        drawing.law(false, "a product needs at least one dimension of each operand");
        return drawing;
    }
    let (left_batch, left_matrix) = left.split_at(left.len().saturating_sub(2));
    let (right_batch, right_matrix) = right.split_at(right.len().saturating_sub(2));
    let (rows, inner_left) = match left_matrix {
        [rows, inner] => (Some(*rows), *inner),
        [inner, ..] => (None, *inner),
        [] => (None, 1),
    };
    let (inner_right, columns) = match right_matrix {
        [inner, columns] => (*inner, Some(*columns)),
        [inner, ..] => (*inner, None),
        [] => (1, None),
    };
    let rank = left_batch.len().max(right_batch.len());
    let mut drawing = Drawing {
        columns: std::iter::repeat_n("batch", rank).chain(["rows", "inner", "columns"]).map(str::to_owned).collect(),
        ..Drawing::default()
    };
    let batch = |sizes: &[i64], at: usize| (at + sizes.len()).checked_sub(rank).map(|own| sizes[own]);
    let inner_mark = if inner_left == inner_right { Mark::Reduced } else { Mark::Conflict };
    let mut cells = [Vec::new(), Vec::new(), Vec::new()];
    let mut result = Some(Vec::new());
    for at in 0..rank {
        let (own, other) = (batch(left_batch, at), batch(right_batch, at));
        let size = match align(own, other) {
            Alignment::Equal(size) => Some(size),
            Alignment::Left(size) | Alignment::Right(size) if batches => Some(size),
            _ => None,
        };
        for (of, side) in [(0, own), (1, other)] {
            cells[of].push(match side {
                Some(side) if size.is_none() => Cell::of(label(side), Mark::Conflict),
                Some(1) if size != Some(1) => Cell::of("1", Mark::Expanded),
                Some(side) => Cell::plain(label(side)),
                None => Cell::of("", Mark::Missing),
            });
        }
        cells[2].push(size.map_or(Cell::of("✗", Mark::Conflict), |size| Cell::plain(label(size))));
        result = result.zip(size).map(|(mut sizes, size)| {
            sizes.push(size);
            sizes
        });
        let text = match (own, other) {
            (Some(own), Some(other)) if own == other => format!("batch dimension {at}: both have {}", label(own)),
            (Some(own), Some(other)) if size.is_none() => {
                let end = if batches { "they differ and neither is 1" } else { "this product does not broadcast" };
                format!("batch dimension {at}: {} has {} and {} has {}: {end}", a.0, label(own), b.0, label(other))
            }
            (own, _) => {
                let narrow = if own.is_none_or(|own| own == 1 && size != Some(1)) { &a.0 } else { &b.0 };
                format!("batch dimension {at}: {narrow} is used again for each of {}", label(size.unwrap_or(1)))
            }
        };
        drawing.rule(size.is_some(), at, text);
    }
    let optional = |size: Option<i64>| size.map_or(Cell::empty(), |size| Cell::plain(label(size)));
    cells[0].extend([optional(rows), Cell::of(label(inner_left), inner_mark), Cell::empty()]);
    cells[1].extend([Cell::empty(), Cell::of(label(inner_right), inner_mark), optional(columns)]);
    cells[2].extend([optional(rows), Cell::empty(), optional(columns)]);
    drawing.rules.insert(0, inner_rule(a, b, (inner_left, inner_right), rank, label));
    let result = result.filter(|_| inner_left == inner_right).map(|mut sizes| {
        sizes.extend(rows.into_iter().chain(columns));
        shape_text(&sizes, label)
    });
    let [left, right, last] = cells;
    drawing.rows = vec![
        Row::new(&a.0, shape_text(a.1.sizes(), label), left),
        Row::new(&b.0, shape_text(b.1.sizes(), label), right),
        Row::result(result.unwrap_or_default(), last),
    ];
    drawing
}

/// `cdist`: every row of one matrix with every row of another, of which `transposed` is given.
pub fn distances(a: &Named, transposed: &Named, label: Label) -> Drawing {
    let few = [a, transposed].into_iter().find(|tensor| tensor.1.rank() < 2);
    if let Some(few) = few {
        let mut drawing = Drawing::default();
        drawing.law(false, format!("cdist takes matrices, and {} has {}", few.0, dims(few.1.rank())));
        return drawing;
    }
    let mut drawing = matmul(a, transposed, true, label);
    if let Some(rule) = drawing.rules.iter_mut().find(|rule| rule.text.starts_with("inner: ")) {
        let (own, other) = (a.1.sizes()[a.1.rank() - 1], transposed.1.sizes()[transposed.1.rank() - 2]);
        let name = transposed.0.trim_end_matches(".mT");
        rule.text = match rule.holds {
            true => format!("columns: each distance is between rows of {}", label(own)),
            false => {
                format!("columns: {} has {} and {name} has {}: they have to be equal", a.0, label(own), label(other))
            }
        };
    }
    drawing
}

/// `addbmm` adds the products of a batch up.
pub(crate) fn sum_batches(drawing: &mut Drawing) {
    for (at, head) in drawing.columns.iter().enumerate().filter(|(_, head)| *head == "batch") {
        for row in drawing.rows.iter_mut().filter(|row| row.result) {
            row.shape.clear();
            row.cells[at] = Cell::empty();
        }
        drawing.rules.push(super::Rule {
            holds: true,
            column: Some(at),
            text: format!("{head}: the products are added up, and the dimension is gone"),
        });
    }
}

/// `kron`: sizes are multiplied, dimension by dimension; a dimension that one has not counts as 1.
pub fn kron(a: &Named, b: &Named, label: Label) -> Drawing {
    let rank = a.1.rank().max(b.1.rank());
    let mut drawing = Drawing { columns: (0..rank).map(|at| at.to_string()).collect(), ..Drawing::default() };
    let mut sizes = Vec::new();
    let mut cells = [Vec::new(), Vec::new()];
    for dim in 0..rank {
        let (own, other) = (a.1.aligned(dim, rank), b.1.aligned(dim, rank));
        let size = own.unwrap_or(1).saturating_mul(other.unwrap_or(1));
        sizes.push(size);
        for (cells, size) in cells.iter_mut().zip([own, other]) {
            cells.push(size.map_or(Cell::of("", Mark::Missing), |size| Cell::plain(label(size))));
        }
        let (own, other) = (label(own.unwrap_or(1)), label(other.unwrap_or(1)));
        drawing.rule(true, dim, format!("dimension {dim}: {own} × {other} = {}", label(size)));
    }
    let [first, second] = cells;
    drawing.rows = vec![
        Row::new(&a.0, shape_text(a.1.sizes(), label), first),
        Row::new(&b.0, shape_text(b.1.sizes(), label), second),
        Row::result(shape_text(&sizes, label), sizes.iter().map(|size| Cell::plain(label(*size))).collect()),
    ];
    drawing
}

/// The rule of the inner sizes: the last of the first operand, and the last but one of the second.
fn inner_rule(a: &Named, b: &Named, (left, right): (i64, i64), column: usize, label: Label) -> super::Rule {
    let of = if b.1.rank() == 1 { "only dimension" } else { "last dimension but one" };
    let (left_label, right_label) = (label(left), label(right));
    let text = match left == right {
        true => format!("inner: {left_label} products are added up for each element of the result"),
        false => format!(
            "inner: the last dimension of {} has {left_label}, the {of} of {} has {right_label}: they have to be equal",
            a.0, b.0
        ),
    };
    super::Rule { holds: left == right, column: Some(column + 1), text }
}

/// An equation of letters: each letter is one size in all operands, and one that the result does not name is summed
/// over. `None` for an equation that is malformed or that does not fit the ranks.
pub fn einsum(equation: &str, operands: &[Named], label: Label) -> Option<Drawing> {
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs.to_owned(), Some(output.to_owned())),
        None => (equation, None),
    };
    let inputs: Vec<&str> = inputs.split(',').collect();
    if inputs.len() != operands.len() {
        return None;
    }
    // The letters of each operand, one a dimension; dimensions of an ellipsis have numbers from the end.
    let mut named = Vec::new();
    let mut most = 0;
    for (letters, (_, shape)) in inputs.iter().zip(operands) {
        let letters = match letters.split_once("...") {
            Some((before, after)) => {
                let count = shape.rank().checked_sub(before.chars().count() + after.chars().count())?;
                most = most.max(count);
                let dots = (0..count).map(|at| format!("…{}", count - at));
                let own = |part: &str| part.chars().map(String::from).collect::<Vec<_>>();
                own(before).into_iter().chain(dots).chain(own(after)).collect::<Vec<_>>()
            }
            None => letters.chars().map(String::from).collect(),
        };
        if letters.len() != shape.rank() {
            return None;
        }
        named.push(letters);
    }
    let dots: Vec<String> = (0..most).map(|at| format!("…{}", most - at)).collect();
    let result: Vec<String> = match &output {
        Some(output) => match output.split_once("...") {
            Some((before, after)) => {
                let own = |part: &str| part.chars().map(String::from).collect::<Vec<_>>();
                own(before).into_iter().chain(dots).chain(own(after)).collect()
            }
            None => output.chars().map(String::from).collect(),
        },
        None => {
            // Letters that occur once, in alphabetical order.
            let all: Vec<&String> = named.iter().flatten().collect();
            let once = |letter: &String| all.iter().filter(|other| **other == letter).count() == 1;
            let mut letters: Vec<String> = all
                .iter()
                .filter(|letter| once(letter) && !letter.starts_with('…'))
                .map(|letter| (*letter).clone())
                .collect();
            letters.sort();
            dots.into_iter().chain(letters).collect()
        }
    };
    let mut columns: Vec<String> = result.clone();
    for letter in named.iter().flatten() {
        if !columns.contains(letter) {
            columns.push(letter.clone());
        }
    }
    let mut drawing = Drawing { columns: columns.clone(), ..Drawing::default() };
    // The size of a letter: the first that is not 1, as `einsum` takes it.
    let size_of = |letter: &String| {
        let sizes = named.iter().zip(operands).flat_map(|(letters, (_, shape))| {
            letters.iter().zip(shape.sizes()).filter(|(own, _)| *own == letter).map(|(_, size)| *size)
        });
        let sizes: Vec<i64> = sizes.collect();
        let size = sizes.iter().copied().find(|size| *size != 1).unwrap_or(1);
        (size, sizes.iter().all(|own| *own == size || *own == 1))
    };
    for (letters, (name, shape)) in named.iter().zip(operands) {
        let cells = columns.iter().map(|column| {
            let own: Vec<i64> = letters
                .iter()
                .zip(shape.sizes())
                .filter(|(letter, _)| *letter == column)
                .map(|(_, size)| *size)
                .collect();
            let (size, fits) = size_of(column);
            match own.as_slice() {
                [] => Cell::empty(),
                [1] if size != 1 => Cell::of("1", Mark::Expanded),
                [own, ..] if !fits => Cell::of(label(*own), Mark::Conflict),
                [own, ..] if !result.contains(column) => Cell::of(label(*own), Mark::Reduced),
                [own, ..] => Cell::plain(label(*own)),
            }
        });
        let cells = cells.collect();
        drawing.rows.push(Row::new(name, shape_text(shape.sizes(), label), cells));
    }
    let mut fits_all = true;
    for (at, column) in columns.iter().enumerate() {
        let (size, fits) = size_of(column);
        fits_all &= fits;
        let owners: Vec<String> = named
            .iter()
            .zip(operands)
            .flat_map(|(letters, (name, shape))| {
                letters.iter().zip(shape.sizes()).filter(|(own, _)| *own == column).map(move |(_, size)| (name, *size))
            })
            .map(|(name, size)| format!("{name} has {}", label(size)))
            .collect();
        let text = match (fits, result.contains(column)) {
            (false, _) => format!("{column}: {}: a letter has one size", owners.join(" and ")),
            (true, true) => format!("{column}: {}", label(size)),
            (true, false) => format!("{column}: {}, summed over, since the result does not name it", label(size)),
        };
        drawing.rule(fits, at, text);
    }
    let cells = columns.iter().map(|column| match (result.contains(column), size_of(column)) {
        (false, _) => Cell::empty(),
        (true, (size, true)) => Cell::plain(label(size)),
        (true, (_, false)) => Cell::of("✗", Mark::Conflict),
    });
    let cells: Vec<Cell> = cells.collect();
    let sizes: Vec<i64> = result.iter().map(|letter| size_of(letter).0).collect();
    let text = if fits_all { shape_text(&sizes, label) } else { String::new() };
    drawing.rows.push(Row::result(text, cells));
    Some(drawing)
}
