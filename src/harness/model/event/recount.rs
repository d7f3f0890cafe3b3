//! A recount of the totals at the end of a run, from the events before them.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::event::{Agreement, CorpusTally, Started, Tally, Totals, Verdict};

/// Counted so far: every judgement that stands in a file, also on cases that are no longer what they were.
#[derive(Debug, Default)]
pub(super) struct Recount {
    /// The number of cases that were chosen.
    cases: usize,
    implementations: Vec<One>,
}

/// The counts of an implementation.
#[derive(Debug, Default)]
struct One {
    tally: Tally,
    corpus: CorpusTally,
    judged: BTreeSet<String>,
}

impl Recount {
    pub(super) fn started(&mut self, started: &Started) {
        self.cases = started.cases;
    }

    pub(super) fn implementation(&mut self) {
        self.implementations.push(One::default());
    }

    /// # Errors
    /// When there is no implementation yet that it could be about, or the case was judged before.
    pub(super) fn judged(&mut self, case: &str, verdict: &Verdict) -> Result<(), String> {
        let one = self.implementations.last_mut().ok_or("a judgement of no implementation")?;
        one.tally.add(verdict);
        if one.judged.insert(case.to_owned()) { Ok(()) } else { Err(format!("the case `{case}` is judged twice")) }
    }

    /// # Errors
    /// When there is no implementation yet that it could be about.
    pub(super) fn generated(&mut self, agreement: &Agreement) -> Result<(), String> {
        let one = self.implementations.last_mut().ok_or("a generated program of no implementation")?;
        match agreement {
            Agreement::Agrees => one.corpus.agree += 1,
            Agreement::Known { .. } => one.corpus.known += 1,
            Agreement::Differs { .. } | Agreement::Broken { .. } => one.corpus.differ += 1,
            Agreement::Unsupported { .. } => one.corpus.unsupported += 1,
        }
        Ok(())
    }

    /// Checks that the totals are those of the events.
    ///
    /// # Errors
    /// With the first number that is not.
    pub(super) fn check(&self, totals: &Totals) -> Result<(), String> {
        let (claimed, counted) = (totals.implementations.len(), self.implementations.len());
        differs("the whole", "implementations", claimed, counted)?;
        for (claimed, one) in totals.implementations.iter().zip(&self.implementations) {
            let name = claimed.implementation.as_str();
            let judged = one.tally.executed() + one.tally.unsupported + one.tally.not_judged;
            let counted = Tally { not_run: self.cases.saturating_sub(judged), ..one.tally.clone() };
            for (what, claimed, counted) in [
                ("passed", claimed.passed, counted.passed),
                ("failed", claimed.failed, counted.failed),
                // Files from before release-specific cases were told apart count both as one.
                (
                    "as pinned",
                    claimed.diverging.saturating_add(claimed.release_specific),
                    counted.diverging + counted.release_specific,
                ),
                ("unsupported", claimed.unsupported, counted.unsupported),
                ("not judged", claimed.not_judged, counted.not_judged),
                ("not run", claimed.not_run, counted.not_run),
            ] {
                differs(name, what, claimed, counted)?;
            }
            let corpus = claimed.corpus.clone().unwrap_or_default();
            for (what, claimed, counted) in [
                ("generated programs that agree", corpus.agree, one.corpus.agree),
                ("generated programs that are known", corpus.known, one.corpus.known),
                ("generated programs that differ", corpus.differ, one.corpus.differ),
                ("generated programs that are unsupported", corpus.unsupported, one.corpus.unsupported),
            ] {
                differs(name, what, claimed, counted)?;
            }
        }
        let green = !totals.implementations.is_empty()
            && totals.implementations.iter().all(Tally::is_green)
            && totals.shortfalls.is_empty();
        if totals.conforms && !green {
            return Err(wrong("it says that the run conforms, and by its own numbers it does not"));
        }
        Ok(())
    }

    /// The same for the clauses that no implementation executed, in a file that has all its cases itself.
    ///
    /// # Errors
    /// With the first clause that is wrong.
    pub(super) fn check_clauses(
        totals: &Totals,
        clauses: &BTreeMap<String, bool>,
        executed: &BTreeSet<String>,
    ) -> Result<(), String> {
        let shown = clauses.iter().filter(|(_, can_be_shown)| **can_be_shown).map(|(id, _)| id);
        let counted: BTreeSet<&String> = shown.filter(|id| !executed.contains(*id)).collect();
        let claimed: BTreeSet<&String> = totals.unexecuted_clauses.iter().collect();
        match claimed.symmetric_difference(&counted).next() {
            None => Ok(()),
            Some(clause) if counted.contains(clause) => {
                Err(wrong(&format!("it does not say that no case of `{clause}` was executed, and none was")))
            }
            Some(clause) => Err(wrong(&format!("it says that no case of `{clause}` was executed, and that is not so"))),
        }
    }
}

fn differs<N: PartialEq + std::fmt::Display>(name: &str, what: &str, claimed: N, counted: N) -> Result<(), String> {
    if claimed == counted {
        return Ok(());
    }
    Err(wrong(&format!("{name}: it claims {claimed} {what}, and {counted} are in the file")))
}

fn wrong(what: &str) -> String {
    format!("the end of the run is not that of what comes before it: {what}; run the check again")
}
