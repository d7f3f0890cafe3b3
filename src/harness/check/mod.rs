//! The whole specification, or a part of it, on some implementations.

pub mod drawing;
pub mod dtype_substitution;
pub mod matrix;
pub mod pin;
pub mod required;
pub mod seeded_programs;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::Difference;
use super::give_up::{Breaks, is_as_pinned, is_pinned};
use super::runner::Runner;
use crate::adapter::{Capability, Fault, Hello, Implementation, unsupported_by};
use crate::case::{Case, Expectation, Specification, render};
use crate::format::{self, label};
use crate::model::divergence::{self, Divergence};
use crate::model::event::{
    Call, CaseDigest, CaseStated, ClauseStated, Corpus, Event, ImplementationReady, Judged, Seen, Started, Stated,
    StatedOtherwise, Tally, Totals, Verdict,
};
use crate::oracles::{comparison, specification};
use crate::program::{Outcome, Program, Reply, ValueRef};
use crate::reference::Reference;
use dtype_substitution::Replaced;
use required::Required;

/// The selection of cases to run. Empty lists choose everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Clause ids.
    pub clauses: Vec<String>,
    /// Case ids, or beginnings of them.
    pub cases: Vec<String>,
    /// Generated programs to run after the cases; none unless they are asked for.
    pub corpus: Option<Corpus>,
    /// The amount that has to be run.
    pub required: Required,
    /// After how many crashes and hangs that are not pinned an implementation is given up; 0 for never.
    pub give_up: u64,
    /// Once it is true the run ends with what was judged by then.
    pub halt: Arc<AtomicBool>,
}

impl Selection {
    /// Returns whether every case of the specification is chosen.
    pub fn is_whole(&self, specification: &Specification) -> bool {
        specification.cases.iter().all(|case| self.takes(case))
    }

    /// Returns whether a case is chosen.
    pub fn takes(&self, case: &Case) -> bool {
        let clause = self.clauses.is_empty() || case.clauses.iter().any(|clause| self.clauses.contains(clause));
        clause && (self.cases.is_empty() || self.cases.iter().any(|wanted| case.id.starts_with(wanted.as_str())))
    }
}

/// An implementation and how the command line calls it.
pub struct Candidate {
    /// The text that the user typed after `--impl`.
    pub given: String,
    /// The implementation.
    pub runner: Runner,
    /// The known divergences of the implementation.
    pub divergences: Vec<Divergence>,
    /// The verdicts of an earlier run of the same implementation. A case that is unchanged since then is not run again.
    pub earlier: BTreeMap<String, Judged>,
}

impl Candidate {
    /// An implementation, with the divergences that are known of it.
    ///
    /// # Errors
    /// When the file of its divergences cannot be read.
    pub fn new(
        given: String,
        runner: Runner,
        source: &divergence::Source,
        specification: &Specification,
    ) -> Result<Candidate, String> {
        let divergences = match &runner {
            Runner::Reference => Vec::new(),
            _ => divergence::load(source, &runner.hello(), specification)?,
        };
        Ok(Candidate { given, runner, divergences, earlier: BTreeMap::new() })
    }
}

/// Runs the chosen cases on every candidate and sends all events to `sink`, in a fixed order. Returns the totals.
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
    let set = CaseSet::new(specification, &chosen);
    for (case, one) in chosen.iter().zip(&set.chosen) {
        sink(&Event::Case(Box::new(case_stated(case, &set.cases[*one]))));
    }

    let mut totals = Totals::default();
    let mut executed = BTreeSet::new();
    let mut has_reference = false;
    for candidate in candidates {
        let hello = candidate.runner.hello();
        has_reference |= matches!(candidate.runner, Runner::Reference);
        sink(&Event::Implementation(ImplementationReady {
            label: label(&hello),
            given: candidate.given.clone(),
            name: hello.name.clone(),
            version: hello.version.clone(),
            build: hello.build.clone(),
            declares: candidate.runner.declares(),
        }));
        let mut tally = Tally { implementation: label(&hello), ..Tally::default() };
        let mut breaks = Breaks::new(selection.give_up, Arc::clone(&selection.halt));
        let judgements = judge_all(&set, candidate, &hello, &mut breaks);
        let ran: BTreeSet<&str> =
            judgements.iter().filter(|judged| judged.verdict.executed()).map(|judged| judged.case.as_str()).collect();
        // What was not run any more says nothing of what is supported.
        if !matches!(candidate.runner, Runner::Reference) && !breaks.are_too_many() {
            totals.shortfalls.extend(selection.required.shortfalls(&label(&hello), &ran, &chosen));
        }
        for judged in judgements {
            tally.add(&judged.verdict);
            if judged.verdict.executed() {
                executed.extend(judged.clauses.iter().cloned());
            }
            sink(&Event::Judged(Box::new(judged)));
        }
        tally.not_run = chosen.len() - tally.executed() - tally.unsupported - tally.not_judged;
        if let Some(corpus) = selection.corpus.filter(|_| !breaks.are_too_many()) {
            let told = seeded_programs::run(corpus, candidate, &mut breaks, |generated| {
                sink(&Event::Generated(Box::new(generated)))
            });
            tally.corpus = Some(told);
        }
        tally.ended_badly = breaks.given_up().or_else(|| candidate.runner.finish());
        totals.implementations.push(tally);
    }
    let shown = clauses.into_iter().filter(|clause| clause.cannot_be_shown.is_none());
    totals.unexecuted_clauses = shown.map(|clause| clause.id).filter(|clause| !executed.contains(clause)).collect();
    totals.conforms = conforms(&totals, has_reference);
    sink(&Event::Finished(totals.clone()));
    totals
}

/// Nothing failed, every implementation did something, and every clause was executed somewhere. Where the reference is
/// not asked, which lacks nothing, a clause of which the others declare that they lack all is reported, and no failure.
fn conforms(totals: &Totals, has_reference: bool) -> bool {
    !totals.implementations.is_empty()
        && totals.implementations.iter().all(Tally::is_green)
        && totals.shortfalls.is_empty()
        && (totals.unexecuted_clauses.is_empty() || !has_reference)
}

/// The chosen clauses. One that cannot be shown has no case, and belongs to the whole specification alone.
fn stated(specification: &Specification, chosen: &[&Case]) -> Vec<ClauseStated> {
    let whole = chosen.len() == specification.cases.len();
    specification
        .clauses
        .iter()
        .map(|clause| ClauseStated {
            id: clause.id.clone(),
            statement: clause.statement.clone(),
            about: clause.about.clone(),
            sources: clause.sources.clone(),
            cases: chosen.iter().filter(|case| case.clauses.contains(&clause.id)).map(|case| case.id.clone()).collect(),
            cannot_be_shown: clause.cannot_be_shown.clone(),
            correction: clause.correction.clone(),
        })
        .filter(|clause| !clause.cases.is_empty() || whole && clause.cannot_be_shown.is_some())
        .collect()
}

fn case_stated(case: &Case, prepared: &Prepared) -> CaseStated {
    let stated = |expectations: &[(ValueRef, Expectation)]| {
        let one = |(value, expectation): &(ValueRef, Expectation)| Stated {
            value: format::name(&case.program, *value),
            outcome: format::expectation(&case.program, expectation),
            aspects: expectation.aspects(),
        };
        expectations.iter().map(one).collect()
    };
    let values: Vec<ValueRef> = case.expect.iter().map(|(value, _)| *value).collect();
    let names = |values: &Vec<ValueRef>| values.iter().map(|value| format::name(&case.program, *value)).collect();
    CaseStated {
        id: case.id.clone(),
        digest: prepared.digest.clone(),
        clauses: case.clauses.clone(),
        witnesses: case.witnesses.iter().map(|(clause, values)| (clause.clone(), names(values))).collect(),
        source: case.source.clone(),
        location: place(case),
        program: render::program(&case.program),
        calls: case
            .program
            .steps
            .iter()
            .map(|step| Call { value: step.name.clone(), call: format::call(step) })
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
        drawing: drawing::of_case(&case.program, &prepared.reference, &values),
    }
}

/// The location of a case.
fn place(case: &Case) -> String {
    format!("{}:{}", case.location.file.display(), case.location.line)
}

/// The chosen cases and the controls that they need.
struct CaseSet<'a> {
    /// In the order of the specification.
    cases: Vec<Prepared<'a>>,
    /// The positions of the chosen cases among them.
    chosen: Vec<usize>,
}

struct Prepared<'a> {
    case: &'a Case,
    digest: CaseDigest,
    /// The reply of the reference to it.
    reference: Reply,
}

impl<'a> CaseSet<'a> {
    fn new(specification: &'a Specification, chosen: &[&'a Case]) -> CaseSet<'a> {
        let ids: BTreeSet<&str> = chosen.iter().map(|case| case.id.as_str()).collect();
        let controls: BTreeSet<&str> = chosen.iter().filter_map(|case| case.control.as_deref()).collect();
        let wanted = |case: &&Case| ids.contains(case.id.as_str()) || controls.contains(case.id.as_str());
        let cases: Vec<&Case> = specification.cases.iter().filter(wanted).collect();
        let replies: BTreeMap<&str, Reply> =
            cases.iter().map(|case| (case.id.as_str(), Reference.run(&case.program))).collect();
        let by_id: BTreeMap<&str, &Case> = cases.iter().map(|case| (case.id.as_str(), *case)).collect();
        let prepared = |case: &&'a Case| {
            let control = case.control.as_deref().and_then(|control| by_id.get(control)).copied();
            let parts = [Some(*case), control].into_iter().flatten();
            let parts: Vec<(&Case, &Reply)> = parts.map(|case| (case, &replies[case.id.as_str()])).collect();
            Prepared { case, digest: digest(&parts), reference: replies[case.id.as_str()].clone() }
        };
        let cases: Vec<Prepared> = cases.iter().map(prepared).collect();
        let chosen = (0..cases.len()).filter(|at| ids.contains(cases[*at].case.id.as_str())).collect();
        CaseSet { cases, chosen }
    }
}

/// The digest of every case.
pub fn digests(specification: &Specification) -> BTreeMap<String, CaseDigest> {
    let set = CaseSet::new(specification, &specification.cases.iter().collect::<Vec<_>>());
    set.cases.into_iter().map(|one| (one.case.id.clone(), one.digest)).collect()
}

/// The digest of a case and its control: what is run, and what is expected of it.
fn digest(parts: &[(&Case, &Reply)]) -> CaseDigest {
    let short = |text: String| format::digest(text.as_bytes())[..8].to_owned();
    let json = |value: &dyn Fn() -> serde_json::Result<String>| value().expect("only text for keys");
    let program = |(case, _): &(&Case, &Reply)| json(&|| serde_json::to_string(&case.program));
    let expected = |(case, reply): &(&Case, &Reply)| {
        render::expectations(case) + &json(&|| serde_json::to_string(&format::exact(&case.program, reply)))
    };
    CaseDigest {
        program: short(parts.iter().map(program).collect()),
        expected: short(parts.iter().map(expected).collect()),
    }
}

/// Judges the chosen cases in the order of the specification. Those that an earlier run has judged as they are now, and
/// their controls, are not run again; what an implementation that is not at hand has never run is left out, and so is what
/// comes after one is given up.
fn judge_all(set: &CaseSet, candidate: &mut Candidate, hello: &Hello, breaks: &mut Breaks) -> Vec<Judged> {
    let mut raw: BTreeMap<&str, Judged> = BTreeMap::new();
    let mut fresh = Vec::new();
    for one in &set.cases {
        match candidate.earlier.get(&one.case.id).filter(|earlier| earlier.digest == one.digest) {
            Some(earlier) => {
                let verdict = earlier.verdict.clone().raw();
                let (clauses, given) = (one.case.clauses.clone(), candidate.given.clone());
                let judged = Judged { verdict, clauses, given, ..earlier.clone() };
                raw.insert(&one.case.id, judged);
            }
            None if candidate.runner.is_at_hand() => fresh.push(one),
            None => {}
        }
    }
    let cases: Vec<AsRun> = fresh.into_iter().map(|one| AsRun::of(one, hello)).collect();
    let (runnable, unsupported): (Vec<&AsRun>, Vec<&AsRun>) = cases.iter().partition(|one| one.lacks.is_none());
    let programs: Vec<Program> = runnable.iter().map(|one| one.case().program.clone()).collect();
    let is_reference = matches!(candidate.runner, Runner::Reference);
    for one in unsupported {
        let verdict = Verdict::Unsupported { what: one.lacks.clone().unwrap_or_default(), control: None };
        let run = CaseRun { reply: None, verdict };
        raw.insert(&one.prepared.case.id, tell(one, hello, &candidate.given, run));
    }
    let leave = candidate.runner.leave();
    let divergences = &candidate.divergences;
    candidate.runner.run_each(&programs, |at, result| {
        let one = runnable[at];
        if let Err(fault) = &result
            && !breaks.are_too_many()
            && !is_pinned(divergences, &one.prepared.case.id, hello, &fault.to_string())
        {
            breaks.count_fault(fault);
        }
        if breaks.are_too_many() {
            leave.now();
        }
        if result.as_ref().is_err_and(|fault| !fault.kind.was_run()) {
            return;
        }
        let run = case_run(one, hello, is_reference, result);
        raw.insert(&one.prepared.case.id, tell(one, hello, &candidate.given, run));
    });
    let given_up = breaks.are_too_many();
    for one in runnable.iter().filter(|_| !given_up) {
        raw.entry(&one.prepared.case.id).or_insert_with(|| {
            let fault = "the run ended before the case".to_owned();
            let run = CaseRun { reply: None, verdict: Verdict::Broken { fault, stderr: String::new() } };
            tell(one, hello, &candidate.given, run)
        });
    }
    for (case, judged) in &mut raw {
        pin(&candidate.divergences, case, hello, judged);
    }
    let verdicts: BTreeMap<&str, Verdict> = raw.iter().map(|(case, one)| (*case, one.verdict.clone())).collect();
    let chosen = set.chosen.iter().filter_map(|at| {
        let case = set.cases[*at].case;
        let mut judged = raw.remove(case.id.as_str())?;
        if let Some(control) = &case.control
            && judged.verdict == Verdict::Passed
        {
            if given_up && !verdicts.contains_key(control.as_str()) {
                return None;
            }
            judged.verdict = with_control(control, verdicts.get(control.as_str()));
        }
        Some(judged)
    });
    chosen.collect()
}

/// A case as an implementation gets it.
struct AsRun<'a> {
    prepared: &'a Prepared<'a>,
    /// In other dtypes, where it lacks those of the case.
    replaced: Option<Replaced>,
    /// The capability that it lacks all the same.
    lacks: Option<String>,
}

impl AsRun<'_> {
    fn of<'a>(prepared: &'a Prepared<'a>, hello: &Hello) -> AsRun<'a> {
        let replaced = dtype_substitution::replaced(prepared.case, hello)
            .filter(|one| unsupported_by(hello, &one.case.program).is_none());
        let lacks = if replaced.is_some() { None } else { unsupported_by(hello, &prepared.case.program) };
        AsRun { prepared, replaced, lacks }
    }

    fn case(&self) -> &Case {
        self.replaced.as_ref().map_or(self.prepared.case, |replaced| &replaced.case)
    }

    fn reference(&self) -> &Reply {
        self.replaced.as_ref().map_or(&self.prepared.reference, |replaced| &replaced.reference)
    }
}

/// Returns the verdict on a rejection that is as expected, given the verdict on its control.
fn with_control(control: &str, verdict: Option<&Verdict>) -> Verdict {
    let control = control.to_owned();
    match verdict {
        Some(Verdict::Passed | Verdict::NotJudged { .. }) => Verdict::Passed,
        // A control that is known to be rejected wrongly makes its rejections known differences, too.
        Some(Verdict::Diverges { divergence, kind, why, .. }) => Verdict::Diverges {
            divergence: divergence.clone(),
            kind: *kind,
            why: why.clone(),
            differences: Vec::new(),
            broken: None,
            control: Some(control),
        },
        // Nor does what cannot be run stand up for anything.
        Some(Verdict::Unsupported { what, .. }) => {
            Verdict::Unsupported { what: format!("the accepting case {control}, {what}"), control: Some(control) }
        }
        _ => Verdict::Uncontrolled { control },
    }
}

struct CaseRun {
    reply: Option<Reply>,
    verdict: Verdict,
}

fn case_run(one: &AsRun, hello: &Hello, is_reference: bool, result: Result<Reply, Fault>) -> CaseRun {
    match result {
        Err(fault) => {
            let stderr = fault.stderr_lines(20).join("\n");
            CaseRun { reply: None, verdict: Verdict::Broken { fault: fault.to_string(), stderr } }
        }
        Ok(reply) => {
            let reference = (!is_reference).then(|| one.reference());
            let verdict = verdict_with(one.case(), hello, &reply, reference);
            CaseRun { reply: Some(reply), verdict }
        }
    }
}

/// Compares a case with the divergence that it is the witness of, if it is one.
fn pin(divergences: &[Divergence], case: &str, hello: &Hello, judged: &mut Judged) {
    let Some((divergence, witness)) = divergence::of_case(divergences, hello, case) else { return };
    let mismatch = match &judged.verdict {
        Verdict::Failed { differences } => divergence::mismatch(witness, differences, &judged.exact),
        Verdict::Broken { fault, .. } => match &witness.broken {
            Some(pinned) if is_as_pinned(pinned, fault) => None,
            _ => return,
        },
        Verdict::Passed if witness.inherited => return,
        // The fault is there, and this processor is not one that shows it.
        Verdict::Passed if witness.some_processors.is_some() && witness.elsewhere.is_empty() => None,
        Verdict::Passed => Some("as expected: the difference is gone, remove it, or run `check --pin`".to_owned()),
        _ => return,
    };
    let Some(mismatch) = mismatch else {
        let (differences, broken) = match std::mem::replace(&mut judged.verdict, Verdict::Passed) {
            Verdict::Failed { differences } => (differences, None),
            Verdict::Broken { fault, .. } => (Vec::new(), Some(fault)),
            _ => (Vec::new(), None),
        };
        let (divergence, kind, why) = (divergence.id.clone(), divergence.kind, divergence.why.clone());
        judged.verdict = Verdict::Diverges { divergence, kind, why, differences, broken, control: None };
        return;
    };
    if witness.inherited {
        return;
    }
    let unmatched = divergence::unmatched(divergence, &mismatch);
    match &mut judged.verdict {
        Verdict::Failed { differences } => differences.push(unmatched),
        verdict => *verdict = Verdict::Failed { differences: vec![unmatched] },
    }
}

/// The verdict of one case: by the specification first, then, for anything but the reference itself, by the reference.
pub fn verdict_with(case: &Case, hello: &Hello, reply: &Reply, reference: Option<&Reply>) -> Verdict {
    if let Some(what) = reply.unsupported() {
        return Verdict::Unsupported { what: what.to_owned(), control: None };
    }
    let mut differences = specification::judge(case, hello, reply);
    // The documents are those of implementations that mean to say PyTorch's words: most of what they are wrong about is a
    // text, of which nothing else can say that it is right after all.
    let of_this = hello.capabilities.contains(&Capability::Messages);
    let is_otherwise = |value| case.otherwise_of(value, hello.release()).is_some();
    // An aspect that is not reported cannot show that the document is wrong.
    let untold = specification::untold(case, hello, reply);
    let is_reported = |(_, expectation): &(_, Expectation)| !expectation.aspects().iter().any(|it| untold.contains(it));
    let contradicted = of_this
        && case.documented.iter().all(is_reported)
        && case.documented.iter().any(|(value, _)| !is_otherwise(*value));
    if contradicted && differences.is_empty() && specification::documented_holds(case, hello, reply) {
        differences.push(Difference {
            value: case
                .documented
                .iter()
                .map(|(value, _)| format::name(&case.program, *value))
                .collect::<Vec<_>>()
                .join(", "),
            aspect: super::Aspect::Outcome,
            by: specification::SPECIFICATION.to_owned(),
            expected: "something else than the document says".to_owned(),
            observed: "the document is right after all: remove `documented` and `why`".to_owned(),
        });
    }
    if let Some(expected) = reference {
        let reference = Reference.hello();
        let (wanted, got) =
            (comparison::Side { hello: &reference, reply: expected }, comparison::Side { hello, reply });
        let known: BTreeSet<_> =
            differences.iter().map(|difference| (difference.value.clone(), difference.aspect)).collect();
        // The reference is about what holds now.
        let otherwise = case.expect.iter().filter(|(value, _)| is_otherwise(*value));
        let otherwise: BTreeSet<String> = otherwise.map(|(value, _)| format::name(&case.program, *value)).collect();
        let found = |difference: &Difference| {
            otherwise.contains(&difference.value) || known.contains(&(difference.value.clone(), difference.aspect))
        };
        differences.extend(
            comparison::compare_case(&case.program, wanted, got).into_iter().filter(|difference| !found(difference)),
        );
    }
    if !differences.is_empty() {
        return Verdict::Failed { differences };
    }
    let is_of_elements = |(_, expectation): &(_, Expectation)| expectation.aspects().contains(&super::Aspect::Values);
    if hello.capabilities.contains(&Capability::NoValues) && case.expect.iter().any(is_of_elements) {
        return Verdict::NotJudged { what: "the elements, which it does not tell".to_owned() };
    }
    Verdict::Passed
}

fn tell(one: &AsRun, hello: &Hello, given: &str, run: CaseRun) -> Judged {
    let case = one.case();
    let documented = match (&run.reply, &run.verdict) {
        (None, _) | (_, Verdict::Unsupported { .. }) => None,
        (Some(reply), _) => Some(specification::against_document(case, hello, reply)),
    };
    let says = |(value, expectation): &(_, _)| {
        format!("{} = {}", format::name(&case.program, *value), format::expectation(&case.program, expectation))
    };
    let untold = run.reply.as_ref().map(|reply| specification::untold(case, hello, reply)).unwrap_or_default();
    let exact = run.reply.as_ref().map(|reply| format::exact(&case.program, reply)).unwrap_or_default();
    Judged {
        case: case.id.clone(),
        digest: one.prepared.digest.clone(),
        clauses: case.clauses.clone(),
        source: case.source.clone(),
        location: place(case),
        implementation: label(hello),
        given: given.to_owned(),
        replaced: one.replaced.as_ref().map(|replaced| replaced.dtypes.clone()).unwrap_or_default(),
        verdict: run.verdict,
        documented,
        untold,
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
        outcome: format::outcome(&outcome.outcome),
        origin: match &outcome.outcome {
            Outcome::Rejected(rejected) => rejected.origin.clone(),
            _ => None,
        },
    });
    // What was written to is seen at the end, too.
    let inputs = program.inputs.iter().zip(&reply.inputs).map(|(input, after)| Seen {
        value: input.name.clone(),
        outcome: format::tensor(after),
        origin: None,
    });
    steps.chain(inputs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::divergence::Kind;

    #[test]
    fn a_rejection_counts_for_what_its_control_does() {
        let diverges = |control: Option<&str>| Verdict::Diverges {
            divergence: "d".to_owned(),
            kind: Kind::Changed,
            why: "w".to_owned(),
            differences: Vec::new(),
            broken: None,
            control: control.map(str::to_owned),
        };
        let uncontrolled = Verdict::Uncontrolled { control: "c".to_owned() };
        assert_eq!(with_control("c", Some(&Verdict::Passed)), Verdict::Passed);
        assert_eq!(with_control("c", Some(&diverges(None))), diverges(Some("c")), "never as passed");
        let unsupported = Verdict::Unsupported { what: "operation e".to_owned(), control: None };
        let what = "the accepting case c, operation e".to_owned();
        let neither = Verdict::Unsupported { what, control: Some("c".to_owned()) };
        assert_eq!(with_control("c", Some(&unsupported)), neither);
        for other in [None, Some(Verdict::Failed { differences: Vec::new() }), Some(uncontrolled.clone())] {
            assert_eq!(with_control("c", other.as_ref()), uncontrolled);
        }
    }
}
