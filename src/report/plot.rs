//! How much changed from release to release: `changes.svg`.

use plotters::prelude::*;

use super::changes::{Kind, between};
use super::history::History;
use super::matrix::steps;

/// What is drawn together, with the colour and the name of it. Colours stand out on white and on black.
const PARTS: &[(&str, RGBColor, &[Kind])] = &[
    (
        "accepted or refused",
        RGBColor(207, 72, 60),
        &[Kind::Breaks, Kind::Works, Kind::NewlyRejected, Kind::NewlyAccepted],
    ),
    (
        "shape, dtype, values",
        RGBColor(221, 145, 38),
        &[Kind::Shape, Kind::Dtype, Kind::Values, Kind::Strides, Kind::Aliasing],
    ),
    ("message or warning", RGBColor(66, 133, 190), &[Kind::Class, Kind::Message, Kind::Raises, Kind::Warnings]),
    ("rounding", RGBColor(125, 145, 155), &[Kind::Rounding]),
    ("other", RGBColor(140, 105, 175), &[Kind::Other]),
];

/// For text and lines, on white and on black.
pub(super) const INK: RGBColor = RGBColor(125, 130, 138);

/// The picture.
///
/// # Errors
/// When the library cannot draw it.
pub fn render(history: &History) -> Result<String, String> {
    let mut svg = String::new();
    draw(history, &mut svg).map_err(|error| format!("the plot of changes: {error}"))?;
    Ok(ended(svg))
}

/// The picture as a file of text ends.
pub(super) fn ended(mut svg: String) -> String {
    if !svg.ends_with('\n') {
        svg.push('\n');
    }
    svg
}

fn draw(history: &History, svg: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let steps: Vec<(String, Vec<usize>)> = steps(history)
        .into_iter()
        .map(|(before, after)| {
            let changes = between((history, before), (history, after), &[]);
            let of = |kinds: &[Kind]| kinds.iter().filter_map(|kind| changes.kinds.get(kind)).sum();
            (history.columns[after].version.clone(), PARTS.iter().map(|(_, _, kinds)| of(kinds)).collect())
        })
        .collect();
    let most = steps.iter().map(|(_, parts)| parts.iter().sum::<usize>()).max().unwrap_or(0).max(1);
    let root = SVGBackend::with_string(svg, (900, 340)).into_drawing_area();
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(48)
        .build_cartesian_2d((0..steps.len().saturating_sub(1)).into_segmented(), 0..most + most.div_ceil(10))?;
    let text = ("sans-serif", 13).into_font().color(&INK);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(INK)
        .light_line_style(TRANSPARENT)
        .bold_line_style(INK.mix(0.25))
        .label_style(text.clone())
        .x_labels(steps.len().max(1))
        .x_label_formatter(&|at| match at {
            SegmentValue::CenterOf(at) => steps.get(*at).map(|(version, _)| version.clone()).unwrap_or_default(),
            _ => String::new(),
        })
        .y_desc("cases that changed")
        .y_label_formatter(&|cases| cases.to_string())
        .draw()?;
    for (part, (name, colour, _)) in PARTS.iter().enumerate() {
        let bars = steps.iter().enumerate().filter(|(_, (_, parts))| parts[part] > 0).map(|(at, (_, parts))| {
            let below: usize = parts[..part].iter().sum();
            let corners = [(SegmentValue::Exact(at), below), (SegmentValue::Exact(at + 1), below + parts[part])];
            let mut bar = Rectangle::new(corners, colour.filled());
            bar.set_margin(0, 0, 6, 6);
            bar
        });
        let (name, colour) = (*name, *colour);
        chart
            .draw_series(bars)?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .label_font(text)
        .border_style(TRANSPARENT)
        .draw()?;
    root.present()?;
    drop(chart);
    Ok(())
}
