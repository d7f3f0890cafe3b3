//! A badge: how many releases conform.

use serde_json::json;

use super::history::History;
use super::template;
use crate::harness::model::event::Tally;

/// The approximate width of a character of 11 pixels.
const CHARACTER: usize = 7;

/// The picture.
pub fn render(history: &History) -> String {
    let releases = history.releases();
    let conforms = |at: &usize| history.columns[*at].came.as_ref().is_ok_and(Tally::is_green);
    let good = releases.iter().filter(|at| conforms(at)).count();
    let whole =
        |at: &usize| history.columns[*at].came.as_ref().is_ok_and(|tally| tally.executed() == history.cases().len());
    let extent = if releases.iter().all(whole) { "" } else { " in what they support" };
    let text = format!("{good}/{} libtorch releases conform{extent}", releases.len());
    let colour = match good {
        good if good == releases.len() && good > 0 => "#2e7d32",
        0 => "#b3261e",
        _ => "#9a6700",
    };
    let name = "broadcheck";
    let (left, right) = (name.len() * CHARACTER + 12, text.len() * CHARACTER + 4);
    template::fill(
        "badge.svg",
        json!({"name": name, "text": text, "colour": colour, "left": left, "right": right, "width": left + right}),
    )
}
