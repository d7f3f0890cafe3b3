//! The whole specification, or a part of it, on some implementations.

use std::collections::{BTreeMap, BTreeSet};

use crate::adapter::{Capability, Fault, Hello, Implementation, unsupported_by};
use crate::case::{Case, Expectation, Specification, render};
use crate::program::{Outcome, Program, Reply, ValueRef};
use crate::reference::Reference;

use super::divergence::{self, Divergence};
use super::event::{
    Call, CaseStated, ClauseStated, Corpus, Event, ImplementationReady, Judged, Seen, Started, Stated, StatedOtherwise,
    Tally, Totals, Verdict,
};
use super::replace::{self, Replaced};
use super::runner::{Runner, label};
use super::{Difference, compare, corpus, drawing, expect, show};

/// Which cases to run. Empty lists choose everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Clause ids.
    pub clauses: Vec<String>,
    /// Case ids, or beginnings of them.
    pub cases: Vec<String>,
    /// Generated programs to run after the cases; none unless they are asked for.
    pub corpus: Option<Corpus>,
}

impl Selection {
    /// Whether a case is chosen.
    pub fn takes(&self, case: &Case) -> bool {
        let clause = self.clauses.is_empty() || case.clauses.iter().any(|clause| self.clauses.contains(clause));
        clause && (self.cases.is_empty() || self.cases.iter().any(|wanted| case.id.starts_with(wanted.as_str())))
    }
}

/// An implementation and how the command line calls it.
pub struct Candidate {
    /// What the user typed after `--impl`.
    pub given: String,
    /// The implementation.
    pub runner: Runner,
    /// Where it is known to be wrong.
    pub divergences: Vec<Divergence>,
}

impl Candidate {
    /// An implementation, with the divergences that are known of it.
    ///
    /// # Errors
    /// When the file of its divergences cannot be read.
    pub fn new(given: String, runner: Runner, specification: &Specification) -> Result<Candidate, String> {
        let divergences = divergence::load(&runner.hello(), specification)?;
        Ok(Candidate { given, runner, divergences })
    }
}

/// Runs the chosen cases on every candidate and tells `sink` of everything, in a fixed order. Returns the totals.
pub fn check(
    specification: &Specification,
    suite: &str,
    selection: &Selection,
    candidates: &mut [Candidate],
    mut sink: impl FnMut(&Event),
) -> Totals {
    let chosen: Vec<&Case> = specification.cases.iter().filter(|case| selection.takes(case)).collect();
    sink(&Event::Started(Started {
        broadcheck: env!("CARGO_PKG_VERSION").to_owned(),
        suite: suite.to_owned(),
        cases: chosen.len(),
        of: specification.cases.len(),
        documents: specification.documents.clone(),
        corpus: selection.corpus,
    }));
    let clauses = stated(specification, &chosen);
    for clause in &clauses {
        sink(&Event::Clause(clause.clone()));
    }
    for case in &chosen {
        sink(&Event::Case(Box::new(case_stated(case))));
    }

    let mut totals = Totals::default();
    let mut executed = BTreeSet::new();
    let mut has_reference = false;
    for candidate in candidates {
        let hello = candidate.runner.hello();
        has_reference |= hello.name == "reference";
        sink(&Event::Implementation(ImplementationReady {
            label: label(&hello),
            given: candidate.given.clone(),
            name: hello.name.clone(),
            version: hello.version.clone(),
            build: hello.build.clone(),
        }));
        let mut tally = Tally { implementation: label(&hello), ..Tally::default() };
        judge_all(specification, &chosen, candidate, &hello, |judged| {
            match judged.verdict {
                Verdict::Passed => tally.passed += 1,
                Verdict::Unsupported { .. } => tally.unsupported += 1,
                Verdict::Diverges { .. } => tally.diverging += 1,
                _ => tally.failed += 1,
            }
            if judged.verdict.executed() {
                executed.extend(judged.clauses.iter().cloned());
            }
            sink(&Event::Judged(Box::new(judged)));
        });
        if let Some(corpus) = selection.corpus {
            let told = corpus::run(corpus, candidate, |generated| sink(&Event::Generated(Box::new(generated))));
            tally.corpus = Some(told);
        }
        totals.implementations.push(tally);
    }
    totals.unexecuted_clauses =
        clauses.into_iter().map(|clause| clause.id).filter(|clause| !executed.contains(clause)).collect();
    totals.conforms = conforms(&totals, has_reference);
    sink(&Event::Finished(totals.clone()));
    totals
}

/// Nothing failed, every implementation did something, and every clause was executed somewhere. Where the reference is
/// not asked, which lacks nothing, a clause of which the others declare that they lack all is told of, and no fault.
fn conforms(totals: &Totals, has_reference: bool) -> bool {
    let green = |tally: &Tally| {
        tally.failed == 0 && tally.passed > 0 && tally.corpus.as_ref().is_none_or(|corpus| corpus.differ == 0)
    };
    !totals.implementations.is_empty()
        && totals.implementations.iter().all(green)
        && (totals.unexecuted_clauses.is_empty() || !has_reference)
}

fn stated(specification: &Specification, chosen: &[&Case]) -> Vec<ClauseStated> {
    specification
        .clauses
        .iter()
        .map(|clause| ClauseStated {
            id: clause.id.clone(),
            statement: clause.statement.clone(),
            sources: clause.sources.clone(),
            cases: chosen.iter().filter(|case| case.clauses.contains(&clause.id)).map(|case| case.id.clone()).collect(),
        })
        .filter(|clause| !clause.cases.is_empty())
        .collect()
}

fn case_stated(case: &Case) -> CaseStated {
    let stated = |expectations: &[(ValueRef, Expectation)]| {
        let one = |(value, expectation): &(ValueRef, Expectation)| Stated {
            value: show::name(&case.program, *value),
            outcome: show::expectation(&case.program, expectation),
        };
        expectations.iter().map(one).collect()
    };
    let values: Vec<ValueRef> = case.expect.iter().map(|(value, _)| *value).collect();
    CaseStated {
        id: case.id.clone(),
        clauses: case.clauses.clone(),
        source: case.source.clone(),
        location: place(case),
        program: render::program(&case.program),
        calls: case
            .program
            .steps
            .iter()
            .map(|step| Call { value: step.name.clone(), call: show::call(step) })
            .collect(),
        expected: stated(&case.expect),
        otherwise: case
            .otherwise
            .iter()
            .map(|one| StatedOtherwise { releases: one.releases.to_string(), expected: stated(&one.expect) })
            .collect(),
        documented: stated(&case.documented),
        why: case.why.clone(),
        note: case.note.clone(),
        control: case.control.clone(),
        drawing: drawing::of_case(&case.program, &Reference.run(&case.program), &values),
    }
}

/// Where a case stands.
fn place(case: &Case) -> String {
    format!("{}:{}", case.location.file.display(), case.location.line)
}

/// Runs the chosen cases, and the controls that they need, and judges them in the order of the specification.
fn judge_all(
    specification: &Specification,
    chosen: &[&Case],
    candidate: &mut Candidate,
    hello: &Hello,
    mut judged: impl FnMut(Judged),
) {
    let wanted: BTreeSet<&str> =
        chosen.iter().flat_map(|case| [Some(case.id.as_str()), case.control.as_deref()]).flatten().collect();
    let cases: Vec<&Case> = specification.cases.iter().filter(|case| wanted.contains(case.id.as_str())).collect();
    let cases: Vec<AsRun> = cases.into_iter().map(|case| AsRun::of(case, hello)).collect();
    let (runnable, unsupported): (Vec<&AsRun>, Vec<&AsRun>) = cases.iter().partition(|one| one.lacks.is_none());
    let programs: Vec<Program> = runnable.iter().map(|one| one.case().program.clone()).collect();

    let mut results: BTreeMap<&str, CaseRun> = BTreeMap::new();
    for one in unsupported {
        let what = one.lacks.clone().unwrap_or_default();
        results.insert(&one.original.id, CaseRun { reply: None, verdict: Verdict::Unsupported { what } });
    }
    candidate.runner.run_each(&programs, |at, result| {
        let one = runnable[at];
        let mut run = case_run(one, hello, result);
        pin(&candidate.divergences, one.case(), hello, &mut run);
        results.insert(&one.original.id, run);
    });
    let by_id: BTreeMap<&str, &AsRun> = cases.iter().map(|one| (one.original.id.as_str(), one)).collect();
    for case in chosen {
        let one = by_id[case.id.as_str()];
        let mut run = results.get(case.id.as_str()).cloned().unwrap_or_else(|| CaseRun {
            reply: None,
            verdict: Verdict::Broken { fault: "the run ended before the case".to_owned(), stderr: String::new() },
        });
        if let Some(control) = &case.control
            && run.verdict == Verdict::Passed
        {
            run.verdict = beside_control(control, results.get(control.as_str()).map(|control| &control.verdict));
        }
        judged(tell(one, hello, &candidate.given, run));
    }
}

/// A case as an implementation gets it.
struct AsRun<'a> {
    original: &'a Case,
    /// In other dtypes, where it lacks those of the case.
    replaced: Option<Replaced>,
    /// What it lacks all the same.
    lacks: Option<String>,
}

impl AsRun<'_> {
    fn of<'a>(original: &'a Case, hello: &Hello) -> AsRun<'a> {
        let replaced =
            replace::replaced(original, hello).filter(|one| unsupported_by(hello, &one.case.program).is_none());
        let lacks = if replaced.is_some() { None } else { unsupported_by(hello, &original.program) };
        AsRun { original, replaced, lacks }
    }

    fn case(&self) -> &Case {
        self.replaced.as_ref().map_or(self.original, |replaced| &replaced.case)
    }
}

/// What a rejection that is as expected counts for, by what became of its control.
fn beside_control(control: &str, verdict: Option<&Verdict>) -> Verdict {
    match verdict {
        Some(Verdict::Passed) => Verdict::Passed,
        // What is known to be refused wrongly takes the rejections with it that it would have stood up for.
        Some(known @ Verdict::Diverges { .. }) => known.clone(),
        // Nor does what cannot be run stand up for anything.
        Some(Verdict::Unsupported { what }) => {
            Verdict::Unsupported { what: format!("the accepting case {control}, {what}") }
        }
        _ => Verdict::Uncontrolled { control: control.to_owned() },
    }
}

#[derive(Clone)]
struct CaseRun {
    reply: Option<Reply>,
    verdict: Verdict,
}

fn case_run(one: &AsRun, hello: &Hello, result: Result<Reply, Fault>) -> CaseRun {
    match result {
        Err(fault) => {
            let stderr = fault.stderr_lines(20).join("\n");
            CaseRun { reply: None, verdict: Verdict::Broken { fault: fault.to_string(), stderr } }
        }
        Ok(reply) => {
            let verdict = match &one.replaced {
                Some(replaced) => verdict_beside(&replaced.case, hello, &reply, Some(&replaced.reference)),
                None => verdict(one.original, hello, &reply),
            };
            CaseRun { reply: Some(reply), verdict }
        }
    }
}

/// Compares a case with the divergence that it is the witness of, if it is one.
fn pin(divergences: &[Divergence], case: &Case, hello: &Hello, run: &mut CaseRun) {
    let Some((divergence, witness)) = divergence::of_case(divergences, &hello.version, &case.id) else { return };
    let outcome = run.reply.as_ref().map(|reply| seen(&case.program, reply)).unwrap_or_default();
    let as_pinned = match &run.verdict {
        Verdict::Failed { differences } => divergence::matches(witness, differences, &outcome),
        Verdict::Broken { fault, .. } => witness.broken.as_ref().is_some_and(|pinned| fault.contains(pinned)),
        _ => false,
    };
    if as_pinned {
        let (divergence, kind, why) = (divergence.id.clone(), divergence.kind, divergence.why.clone());
        run.verdict = Verdict::Diverges { divergence, kind, why };
        return;
    }
    match &mut run.verdict {
        Verdict::Failed { differences } => {
            differences.push(divergence::unmatched(divergence, "wrong in another way than the pinned one"));
        }
        verdict @ Verdict::Passed => {
            let differences = vec![divergence::unmatched(divergence, "right: the divergence is gone, remove it")];
            *verdict = Verdict::Failed { differences };
        }
        _ => {}
    }
}

/// The specification first, then, for anything but the reference itself, the reference.
pub fn verdict(case: &Case, hello: &Hello, reply: &Reply) -> Verdict {
    let reference = (hello.name != "reference").then(|| Reference.run(&case.program));
    verdict_beside(case, hello, reply, reference.as_ref())
}

/// The same with what the reference makes of the case, if it is to be compared with.
pub fn verdict_beside(case: &Case, hello: &Hello, reply: &Reply, reference: Option<&Reply>) -> Verdict {
    if let Some(what) = reply.unsupported() {
        return Verdict::Unsupported { what: what.to_owned() };
    }
    let mut differences = expect::judge(case, hello, reply);
    // The documents are those of implementations that mean to say PyTorch's words: most of what they are wrong about is a
    // text, of which nothing else can say that it is right after all.
    let of_this = hello.capabilities.contains(&Capability::Messages);
    let is_otherwise = |value| case.otherwise_of(value, hello.release()).is_some();
    let contradicted = of_this && case.documented.iter().any(|(value, _)| !is_otherwise(*value));
    if contradicted && differences.is_empty() && expect::documented_holds(case, hello, reply) {
        differences.push(Difference {
            value: case
                .documented
                .iter()
                .map(|(value, _)| show::name(&case.program, *value))
                .collect::<Vec<_>>()
                .join(", "),
            aspect: super::Aspect::Outcome,
            by: expect::SPECIFICATION.to_owned(),
            expected: "something else than the document says".to_owned(),
            observed: "the document is right after all: remove `documented` and `why`".to_owned(),
        });
    }
    if let Some(expected) = reference {
        let reference = Reference.hello();
        let (wanted, got) = (compare::Side { hello: &reference, reply: expected }, compare::Side { hello, reply });
        let known: BTreeSet<_> =
            differences.iter().map(|difference| (difference.value.clone(), difference.aspect)).collect();
        // The reference is about what holds now.
        let otherwise = case.expect.iter().filter(|(value, _)| is_otherwise(*value));
        let otherwise: BTreeSet<String> = otherwise.map(|(value, _)| show::name(&case.program, *value)).collect();
        let told = |difference: &Difference| {
            otherwise.contains(&difference.value) || known.contains(&(difference.value.clone(), difference.aspect))
        };
        differences
            .extend(compare::compare(&case.program, wanted, got).into_iter().filter(|difference| !told(difference)));
    }
    if differences.is_empty() { Verdict::Passed } else { Verdict::Failed { differences } }
}

fn tell(one: &AsRun, hello: &Hello, given: &str, run: CaseRun) -> Judged {
    let case = one.case();
    let documented = match (&run.reply, &run.verdict) {
        (None, _) | (_, Verdict::Unsupported { .. }) => None,
        (Some(reply), _) if !case.documented.is_empty() => Some(expect::documented_holds(case, hello, reply)),
        (Some(reply), _) => Some(expect::judge(case, hello, reply).is_empty()),
    };
    let says = |(value, expectation): &(_, _)| {
        format!("{} = {}", show::name(&case.program, *value), show::expectation(&case.program, expectation))
    };
    let exact = run.reply.as_ref().map(|reply| show::exact(&case.program, reply)).unwrap_or_default();
    Judged {
        case: case.id.clone(),
        clauses: case.clauses.clone(),
        source: case.source.clone(),
        location: place(case),
        implementation: label(hello),
        given: given.to_owned(),
        replaced: one.replaced.as_ref().map(|replaced| replaced.dtypes.clone()).unwrap_or_default(),
        verdict: run.verdict,
        documented,
        document_says: (!case.documented.is_empty())
            .then(|| case.documented.iter().map(says).collect::<Vec<_>>().join("; ")),
        why: case.why.clone(),
        outcome: run.reply.map(|reply| seen(&case.program, &reply)).unwrap_or_default(),
        exact,
    }
}

fn seen(program: &Program, reply: &Reply) -> Vec<Seen> {
    let steps = program.steps.iter().zip(&reply.steps).map(|(step, outcome)| Seen {
        value: step.name.clone(),
        outcome: show::outcome(&outcome.outcome),
        origin: match &outcome.outcome {
            Outcome::Rejected(rejected) => rejected.origin.clone(),
            _ => None,
        },
    });
    // What was written to is seen at the end, too.
    let inputs = program.inputs.iter().zip(&reply.inputs).map(|(input, after)| Seen {
        value: input.name.clone(),
        outcome: show::tensor(after),
        origin: None,
    });
    steps.chain(inputs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::divergence::Kind;

    #[test]
    fn a_rejection_counts_for_what_its_control_does() {
        let (divergence, why) = ("d".to_owned(), "w".to_owned());
        let known = Verdict::Diverges { divergence, kind: Kind::Changed, why };
        let uncontrolled = Verdict::Uncontrolled { control: "c".to_owned() };
        assert_eq!(beside_control("c", Some(&Verdict::Passed)), Verdict::Passed);
        assert_eq!(beside_control("c", Some(&known)), known, "never as passed");
        let unsupported = Verdict::Unsupported { what: "operation e".to_owned() };
        let neither = Verdict::Unsupported { what: "the accepting case c, operation e".to_owned() };
        assert_eq!(beside_control("c", Some(&unsupported)), neither);
        for other in [None, Some(Verdict::Failed { differences: Vec::new() }), Some(uncontrolled.clone())] {
            assert_eq!(beside_control("c", other.as_ref()), uncontrolled);
        }
    }
}
