//! A known difference as a program in PyTorch's Python, and whether a PyTorch does what the program says.

use serde::{Deserialize, Serialize};

use super::bisect::{self, Recorded};
use super::{BROKEN, EXPECTED, Language, PRINTS, UNDESCRIBED, repro};
use crate::case::Specification;
use crate::model::divergence::{Divergence, findings_folder};
use crate::model::finding::HANG;
use crate::runner::Runner;

/// The code with which a program ends in `adapters/pytorch/confirm.py` that calls what this PyTorch has not.
const NO_SUCH_CALL: i32 = 2;

/// A program that shows a known difference in one release.
#[derive(Clone, Debug, Serialize)]
pub struct Snippet {
    /// The name of the known difference.
    pub id: String,
    /// The kind of its signature.
    #[serde(skip)]
    pub kind: String,
    /// Whether it prints uninitialized memory.
    #[serde(skip)]
    pub uninitialized: bool,
    /// The program, whose comments say what it prints.
    pub text: String,
}

/// The end of a program, as `adapters/pytorch/confirm.py` prints it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Ran {
    /// The id of the program.
    pub id: String,
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it. With neither it was ended after its time.
    pub signal: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it printed to standard error.
    pub err: String,
}

/// The first of the cases and findings of a known difference that this libtorch shows and Python can show, as a program;
/// `None` if there is none.
///
/// # Errors
/// The folder of a finding cannot be read.
pub fn snippet(
    known: &Divergence,
    specification: &Specification,
    runner: &mut Runner,
) -> Result<Option<Snippet>, String> {
    for witness in &known.witnesses {
        let case = specification.cases.iter().find(|case| case.id == witness.case);
        let recorded = case.and_then(|case| Recorded::of_case(case, runner).ok()?);
        if let Some(snippet) = recorded.and_then(|recorded| of(known, &recorded)) {
            return Ok(Some(snippet));
        }
    }
    let findings = findings_folder().map_err(|error| error.to_string())?;
    for name in &known.findings {
        let mut recorded = bisect::read(&findings.join(name))?;
        if recorded.renew(runner) == bisect::Verdict::Same
            && let Some(snippet) = of(known, &recorded)
        {
            return Ok(Some(snippet));
        }
    }
    Ok(None)
}

fn of(known: &Divergence, recorded: &Recorded) -> Option<Snippet> {
    let text = recorded.with_dossier("", None, |dossier| repro(dossier, Language::Python));
    let kind = recorded.signature.kind.clone();
    let says_what_it_does = [PRINTS, BROKEN].iter().any(|comment| text.contains(comment));
    (says_what_it_does && !text.contains(UNDESCRIBED)).then(|| Snippet {
        id: known.id.clone(),
        kind,
        uninitialized: known.uninitialized,
        text,
    })
}

impl Snippet {
    /// Returns whether the program did what its comments say: it printed this, or did not end, or ended its process. One
    /// that prints uninitialized memory has to print anything but what is expected. `None` says that this PyTorch
    /// has not what it calls.
    pub fn is_confirmed_by(&self, ran: &Ran) -> Option<bool> {
        let comments = |start: &'static str| self.text.lines().filter_map(move |line| line.strip_prefix(start));
        let printed = || ran.out.lines().map(str::trim_end);
        Some(match self.kind.as_str() {
            "crash" => ran.signal.is_some(),
            HANG => ran.code.is_none() && ran.signal.is_none(),
            _ if ran.code == Some(NO_SUCH_CALL) => return None,
            _ if ran.code != Some(0) => false,
            _ if self.uninitialized => !ran.out.is_empty() && !printed().eq(comments(EXPECTED)),
            _ => printed().eq(comments(PRINTS).map(str::trim_end)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(code: Option<i32>, signal: Option<i32>, out: &str) -> Ran {
        Ran { id: String::new(), code, signal, out: out.to_owned(), err: String::new() }
    }

    #[test]
    fn a_program_is_confirmed_by_what_its_comments_say() {
        let text = "print(a)\n# prints: 1\n# expected: 2\nprint(b)\n# prints: 3\n# expected: 4\n".to_owned();
        let values = Snippet { id: String::new(), kind: "values".to_owned(), uninitialized: false, text };
        let printed = |out: &str| ran(Some(0), None, out);
        assert_eq!(values.is_confirmed_by(&printed("1\n3\n")), Some(true));
        assert_eq!(values.is_confirmed_by(&printed("2\n4\n")), Some(false));
        assert_eq!(values.is_confirmed_by(&printed("1\n")), Some(false));
        assert_eq!(values.is_confirmed_by(&ran(Some(1), None, "1\n3\n")), Some(false));
        assert_eq!(values.is_confirmed_by(&ran(Some(NO_SUCH_CALL), None, "1\n3\n")), None);
        let uninitialized = Snippet { uninitialized: true, ..values.clone() };
        assert_eq!(uninitialized.is_confirmed_by(&printed("9\n9\n")), Some(true));
        assert_eq!(uninitialized.is_confirmed_by(&printed("2\n4\n")), Some(false));
        assert_eq!(uninitialized.is_confirmed_by(&printed("")), Some(false));
        let (ended, segfault) = (printed("1\n3\n"), ran(None, Some(11), ""));
        let crash = Snippet { kind: "crash".to_owned(), ..values.clone() };
        assert_eq!([&ended, &segfault].map(|ran| crash.is_confirmed_by(ran)), [Some(false), Some(true)]);
        let hang = Snippet { kind: HANG.to_owned(), ..values };
        assert_eq!([&ran(None, None, ""), &segfault].map(|ran| hang.is_confirmed_by(ran)), [Some(true), Some(false)]);
    }
}
