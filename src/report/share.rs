//! Shares of a whole, as text, and as steps of a scale of colours. Where colours are is the matter of `page.css`.

/// The steps of the scale, the best first: the lowest percentage of each, and its words in a legend. The name of a step,
/// `t0`, `t1`, …, is its place.
pub const SCALE: &[(f64, &str)] = &[
    (100.0, "100 %"),
    (95.0, "95 % or more"),
    (90.0, "90 % or more"),
    (75.0, "75 % or more"),
    (50.0, "50 % or more"),
    (0.0, "less than 50 %"),
];

/// A share as text; nothing of nothing is not 0 %.
pub fn percent(part: usize, of: usize) -> String {
    if of == 0 {
        return "no data".to_owned();
    }
    // Not rounded up to a whole that it is not.
    format!("{:.1} %", (1000.0 * part as f64 / of as f64).floor() / 10.0)
}

/// Returns the step of the scale that a share is on; none for nothing of nothing.
pub fn step(part: usize, of: usize) -> Option<usize> {
    let percent = 100.0 * part as f64 / of as f64;
    SCALE.iter().position(|(least, _)| percent >= *least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_a_percentage() {
        assert_eq!(percent(0, 0), "no data");
        assert_eq!(percent(3190, 3191), "99.9 %");
        assert_eq!(percent(7, 7), "100.0 %");
    }

    #[test]
    fn all_and_nearly_all_and_a_half_are_other_steps() {
        assert_eq!(step(0, 0), None);
        assert_eq!(
            [(7, 7), (3190, 3191), (9, 10), (61, 100), (0, 7)].map(|(part, of)| step(part, of)),
            [Some(0), Some(1), Some(2), Some(4), Some(5)]
        );
    }
}
