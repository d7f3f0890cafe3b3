//! What programs in PyTorch's Python have shown of libtorch's known bugs: `confirmed.json`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::history::ranges;

/// The file next to the folder of the events.
pub const CONFIRMED: &str = "confirmed.json";

/// The releases of PyTorch whose Python was asked, by the name of the bug.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Confirmed(BTreeMap<String, Releases>);

/// The releases that were asked for one bug, oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Releases {
    /// Those in which the program of the bug does what its comments say.
    pub shown: Vec<String>,
    /// Those in which it does something else.
    pub not_shown: Vec<String>,
}

impl Confirmed {
    /// Reads a file; a missing one has nothing.
    ///
    /// # Errors
    /// The file cannot be read, or is not one of these, in a sentence.
    pub fn read(path: &Path) -> Result<Confirmed, String> {
        if !path.exists() {
            return Ok(Confirmed::default());
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The text of the file, a line a bug.
    pub fn to_json(&self) -> String {
        let line = |(id, releases): (&String, &Releases)| {
            let releases = serde_json::to_string(releases).expect("lists of text");
            format!("{}: {releases}", serde_json::json!(id))
        };
        format!("{{\n{}\n}}\n", self.0.iter().map(line).collect::<Vec<_>>().join(",\n"))
    }

    /// Takes down what the Python of a release shows of a bug, in place of what it has shown before. `order` has all releases,
    /// oldest first.
    pub fn put(&mut self, id: &str, release: &str, shown: bool, order: &[String]) {
        self.forget(id, release);
        let releases = self.0.entry(id.to_owned()).or_default();
        let list = if shown { &mut releases.shown } else { &mut releases.not_shown };
        list.push(release.to_owned());
        list.sort_by_key(|release| order.iter().position(|other| other == release));
    }

    /// Forgets what the Python of a release has shown of a bug.
    pub fn forget(&mut self, id: &str, release: &str) {
        let Some(releases) = self.0.get_mut(id) else { return };
        for list in [&mut releases.shown, &mut releases.not_shown] {
            list.retain(|other| other != release);
        }
    }

    /// Forgets bugs that are not known any more.
    pub fn retain(&mut self, is_known: impl Fn(&str) -> bool) {
        self.0.retain(|id, _| is_known(id));
    }

    /// The releases that were asked for a bug, if any.
    pub fn of(&self, id: &str) -> Option<&Releases> {
        self.0.get(id)
    }

    /// The cell of a bug in the table: `shown in 1.13.1 – 2.13.0; not in 2.15.0`.
    pub fn cell(&self, id: &str, releases: &[String]) -> String {
        let Some(own) = self.of(id) else { return "–".to_owned() };
        let names: Vec<&str> = releases.iter().map(String::as_str).collect();
        let within = |list: &[String]| ranges(&names, |at| list.iter().any(|release| release == names[at]));
        match (own.shown.is_empty(), own.not_shown.is_empty()) {
            (false, false) => format!("shown in {}; not in {}", within(&own.shown), within(&own.not_shown)),
            (false, true) => format!("shown in {}", within(&own.shown)),
            (true, true) => "–".to_owned(),
            (true, false) => format!("not in {}", within(&own.not_shown)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_answer_takes_the_place_of_an_earlier_one() {
        let order = ["2.9.1", "2.10.0", "2.11.0"].map(str::to_owned);
        let mut confirmed = Confirmed::default();
        confirmed.put("a-bug", "2.11.0", true, &order);
        confirmed.put("a-bug", "2.9.1", true, &order);
        assert_eq!(confirmed.cell("a-bug", &order), "shown in 2.9.1, 2.11.0");
        confirmed.put("a-bug", "2.11.0", false, &order);
        assert_eq!(confirmed.cell("a-bug", &order), "shown in 2.9.1; not in 2.11.0");
        assert_eq!(confirmed.cell("another", &order), "–");
        let read: Confirmed = serde_json::from_str(&confirmed.to_json()).unwrap();
        assert_eq!(read.to_json(), confirmed.to_json());
        confirmed.forget("a-bug", "2.11.0");
        assert_eq!(confirmed.cell("a-bug", &order), "shown in 2.9.1");
        confirmed.retain(|id| id != "a-bug");
        assert!(confirmed.of("a-bug").is_none());
    }
}
