//! `broadcheck check --pin` and `--divergences`: the file of known differences in a library's own repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::case;
use crate::cli::{Failure, tell};
use crate::escape::visible;
use crate::harness::check::pin;
use crate::harness::check::required::operations;
use crate::harness::check::{Candidate, Selection, check};
use crate::harness::model::divergence::{self, Source};
use crate::harness::model::event::{Event, Judged};
use crate::harness::runner::Runner;
use crate::output;
use crate::report::{Run, count};

/// The most causes that are named as new or gone.
const SHOWN: usize = 10;

/// Pins what differs now, and has the candidates judged by that. What they have done is not done again.
pub fn write(
    path: &Path,
    specification: &case::Specification,
    selection: &Selection,
    candidates: &mut [Candidate],
    mut each: impl FnMut(&Event),
) -> Result<(), Failure> {
    let earlier = match std::fs::read_to_string(path) {
        Ok(text) => {
            // Before anything is run. Cases that the specification no longer has go.
            pin::check(&text, specification).map_err(|error| format!("--pin {}: {error}", path.display()))?;
            Some(text)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(format!("--pin {}: {error}", path.display()).into()),
    };
    let mut run = Run::default();
    let totals = check(specification, &specification.digest, selection, candidates, |event| {
        each(event);
        run.add(event);
    });
    // A case that did not run would count as right.
    super::given_up(&totals).map_err(|error| format!("--pin {}: no difference was pinned: {error}", path.display()))?;
    let ready = run.implementations.iter().find(|ready| ready.name != "reference");
    let Some(label) = ready.map(|ready| ready.label.clone()) else {
        return Err("--pin: the reference does not differ from itself".into());
    };
    let judged: Vec<Judged> = run.of(&label).cloned().collect();
    let ran = judged.iter().filter(|judged| judged.verdict.executed());
    let ran: BTreeSet<&str> = ran.map(|judged| judged.case.as_str()).collect();
    let counts = operations(specification.cases.iter().filter(|case| ran.contains(case.id.as_str())));
    let all: BTreeSet<&str> = specification.cases.iter().map(|case| case.id.as_str()).collect();
    let whole = selection.is_whole(specification).then_some(&counts);
    let pinned = pin::pin(earlier.as_deref(), &label, &judged, &run.cases, &all, whole)
        .map_err(|error| format!("--pin {}: {error}", path.display()))?;
    output::write_named(path, &pinned.text).map_err(|error| format!("--pin {error}"))?;
    let mut told =
        format!("{}: {} of {}\n", path.display(), count(pinned.cases, "case"), count(pinned.causes, "cause"));
    for (word, ids) in [("new, without a reason yet", &pinned.new), ("gone", &pinned.gone)] {
        if !ids.is_empty() {
            let first = ids.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = ids.len().saturating_sub(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            told += &format!("  {word}: {first}{more}\n");
        }
    }
    tell(&visible(&told));
    for candidate in candidates.iter_mut().filter(|one| !matches!(one.runner, Runner::Reference)) {
        candidate.divergences =
            divergence::load(&Source::File(path.to_owned()), &candidate.runner.hello(), specification)?;
        candidate.earlier = judged.iter().map(|judged| (judged.case.clone(), judged.clone())).collect();
    }
    Ok(())
}

/// A file, and how many cases of each operation it requires.
type Wanted = (String, BTreeMap<String, usize>);

/// The number of cases of each operation that a file of known differences requires; none for a part of the
/// specification.
pub fn wanted(
    path: &Path,
    specification: &case::Specification,
    selection: &Selection,
) -> Result<Option<Wanted>, Failure> {
    let judged = divergence::read(path, specification)?.judged;
    Ok(selection.is_whole(specification).then(|| (path.display().to_string(), judged)))
}
