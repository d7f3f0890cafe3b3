//! A finding again, on other implementations: is it there, and since when?

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::runner::{Runner, Start};
use super::super::{Aspect, Difference};
use super::{Dossier, Expected, Native, native};
use crate::adapter::{Fault, Hello, Implementation, Limits, unsupported_by};
use crate::case::Case;
use crate::class_of;
use crate::corpus;
use crate::escape::one_line;
use crate::format;
use crate::model::divergence::Divergence;
use crate::model::finding::FINDING;
use crate::model::finding::{Finding, Oracle, Signature};
use crate::oracles::comparison::{Side, between_releases, from_reference};
use crate::oracles::mathematics;
use crate::oracles::metamorphic::{self, Relation};
use crate::oracles::specification;
use crate::program::{Outcome, Program, Reply, TensorValue};
use crate::reference::Reference;

/// The content of a finding's folder.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The signature that it was found with.
    pub signature: Signature,
    /// The program.
    pub program: Program,
    /// The differences.
    pub differences: Vec<Difference>,
    /// The name and version of the implementation that it was found in.
    pub implementation: Named,
    observed: Option<Reply>,
    expected: Option<(Hello, Reply)>,
    same_as: Option<SameAs>,
    /// The program in the library's own calls, if its adapter wrote it.
    pub native: Option<Native>,
    pytorch: bool,
}

/// An implementation by its name and version.
#[derive(Clone, Debug, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    #[serde(default)]
    build: String,
}

/// The part of `finding.json` that is read again.
#[derive(Deserialize)]
struct Stored {
    signature: Signature,
    implementation: Named,
    program: Program,
    #[serde(default)]
    differences: Vec<Difference>,
    #[serde(default)]
    observed: Option<Reply>,
    #[serde(default)]
    expected: Option<(Hello, Reply)>,
    #[serde(default)]
    same_as: Option<SameAs>,
    #[serde(default)]
    native: Option<Native>,
    /// Whether PyTorch's Python is its language. Older files do not say it.
    #[serde(default)]
    pytorch: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
struct SameAs {
    rule: String,
    program: Program,
    pairs: Vec<(String, String)>,
    #[serde(default)]
    reply: Option<Reply>,
}

/// The outcome of a finding on one implementation.
struct Seen {
    verdict: Verdict,
    differences: Vec<Difference>,
    observed: Option<Reply>,
    /// The reply to the program that is the same by definition.
    other: Option<Reply>,
}

/// The verdict on one implementation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// The finding, by its signature.
    Same,
    /// No difference.
    Right,
    /// A difference of another signature.
    Another {
        /// The signature that it has in common with other findings of one cause.
        signature: String,
    },
    /// It cannot run the program.
    CannotRun {
        /// The reason.
        why: String,
    },
}

/// One implementation and its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The name and version, or what was given on the command line.
    pub implementation: String,
    /// The verdict on it.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Verdict {
    /// As the table prints it.
    pub fn text(&self) -> String {
        match self {
            Verdict::Same => "the same".to_owned(),
            Verdict::Right => "right".to_owned(),
            Verdict::Another { signature } => format!("another difference: {signature}"),
            Verdict::CannotRun { why } => format!("cannot run it: {why}"),
        }
    }
}

/// Reads the folder of a finding.
///
/// # Errors
/// When it is none, in a sentence.
pub fn read(folder: &Path) -> Result<Recorded, String> {
    let path = folder.join(FINDING);
    let wrong = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(&path)
        .map_err(|error| wrong(&format!("{error}; the folder of a finding has a {FINDING}")))?;
    let stored: Stored = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
    let Stored { signature, implementation, program, differences, observed, expected, same_as, native, pytorch } =
        stored;
    corpus::well_formed(&program).map_err(|error| wrong(&error))?;
    let pytorch = pytorch.unwrap_or_else(|| native::is_named_pytorch(&implementation.name));
    Ok(Recorded { signature, program, differences, implementation, observed, expected, same_as, native, pytorch })
}

impl Recorded {
    /// What an implementation does otherwise in a case than the case and the reference; `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// The implementation declares that it lacks what the program needs.
    pub fn of_case(case: &Case, runner: &mut Runner) -> Result<Option<Recorded>, String> {
        let (program, hello) = (&case.program, runner.hello());
        if let Some(why) = unsupported_by(&hello, program) {
            return Err(why);
        }
        let (reference, wanted) = (Reference.hello(), Reference.run(program));
        let mut answer = None;
        runner.run_each(&[program], |_, reply| answer = Some(reply));
        let (finding, observed) = match answer.expect("an answer") {
            Ok(reply) => {
                let sides = [Side { hello: &reference, reply: &wanted }, Side { hello: &hello, reply: &reply }];
                let mut differences = from_reference(program, sides[0], sides[1]);
                // The comparison leaves open what a rejected step has written; a case may say it.
                let found = |own: &Difference| {
                    !differences.iter().any(|other| (&other.value, other.aspect) == (&own.value, own.aspect))
                };
                let expected: Vec<Difference> =
                    specification::judge(case, &hello, &reply).into_iter().filter(found).collect();
                differences.extend(expected);
                (Finding::of_differences(Oracle::Reference, program, differences), Some(reply))
            }
            Err(fault) => (Some(Finding::of_fault(Oracle::Reference, program, fault)), None),
        };
        Ok(finding.map(|Finding { signature, program, differences, .. }| Recorded {
            signature,
            program,
            differences,
            pytorch: native::is_of_pytorch(&hello),
            implementation: Named { name: hello.name, version: hello.version, build: hello.build },
            observed,
            expected: None,
            same_as: None,
            native: None,
        }))
    }

    /// The finding as it was recorded. How an implementation broke, if it did, is in its signature alone.
    pub fn finding(&self) -> Finding {
        let (signature, program, differences) =
            (self.signature.clone(), self.program.clone(), self.differences.clone());
        Finding { signature, program, differences, fault: None }
    }

    /// What is known of the implementation that it was recorded on.
    pub fn hello(&self) -> Hello {
        let Named { name, version, build } = self.implementation.clone();
        let hello = Reference.hello();
        let capabilities = if self.pytorch { hello.capabilities } else { Vec::new() };
        Hello { name, version, build, capabilities, ..hello }
    }

    /// Returns whether PyTorch's Python is the language of the implementation.
    pub fn is_of_pytorch(&self) -> bool {
        self.pytorch
    }

    /// Asks the adapter of the implementation that it was recorded on for the program in the library's own calls, unless
    /// it is there.
    pub fn ask(&mut self, start: &Start, limits: &Limits) {
        if self.native.is_none() {
            let implementation = self.hello();
            let other = self.same_as.as_ref().map(|same| &same.program);
            self.native = native::ask(start, &implementation, limits, &self.program, other);
        }
    }

    /// Runs it on an implementation.
    pub fn judge(&self, runner: &mut Runner) -> Verdict {
        self.see(runner).verdict
    }

    /// Runs it on an implementation, and takes what is seen there into the record if it is the finding.
    pub fn renew(&mut self, runner: &mut Runner) -> Verdict {
        let Seen { verdict, differences, observed, other } = self.see(runner);
        if verdict == Verdict::Same {
            let Hello { name, version, build, .. } = runner.hello();
            self.implementation = Named { name, version, build };
            (self.differences, self.observed) = (differences, observed);
            self.same_as.iter_mut().for_each(|same| same.reply.clone_from(&other));
        }
        verdict
    }

    /// Hands a function the dossier that is needed to write the finding down again. Whatever the reference says, it says
    /// again.
    pub fn with_dossier<T>(&self, releases: &str, known: Option<&Divergence>, then: impl FnOnce(&Dossier) -> T) -> T {
        let finding = self.finding();
        let reference = (Reference.hello(), Reference.run(&self.program));
        let (hello, reply) = self.expected.as_ref().unwrap_or(&reference);
        let expected = match &self.same_as {
            Some(SameAs { rule, program, pairs, reply }) => {
                Expected::SameAs { rule, program, pairs, reply: reply.as_ref() }
            }
            None => Expected::Outcomes(Side { hello, reply }),
        };
        let implementation = &self.hello();
        let observed = self.observed.as_ref();
        let native = self.native.as_ref();
        then(&Dossier { finding: &finding, expected, implementation, observed, releases, known, native })
    }

    fn see(&self, runner: &mut Runner) -> Seen {
        let only = |verdict| Seen { verdict, differences: Vec::new(), observed: None, other: None };
        let hello = runner.hello();
        let programs: Vec<Program> =
            std::iter::once(&self.program).chain(self.same_as.as_ref().map(|other| &other.program)).cloned().collect();
        if let Some(why) = programs.iter().find_map(|program| unsupported_by(&hello, program)) {
            return only(Verdict::CannotRun { why });
        }
        let mut replies: Vec<Result<Reply, Fault>> = Vec::new();
        runner.run_each(&programs, |_, reply| replies.push(reply));
        let first = replies.remove(0);
        let observed = first.as_ref().ok().cloned();
        let second = replies.pop();
        let other = second.as_ref().and_then(|other| other.as_ref().ok().cloned());
        let finding = match first {
            Err(fault) if !fault.kind.was_run() => {
                return only(Verdict::CannotRun { why: "the adapter did not start again".to_owned() });
            }
            Err(fault) => Some(Finding::of_fault(self.signature.oracle, &self.program, fault)),
            Ok(reply) => {
                let unsupported = reply.steps.iter().find_map(|step| match &step.outcome {
                    Outcome::Unsupported(what) => Some(what.clone()),
                    _ => None,
                });
                if let Some(why) = unsupported {
                    return only(Verdict::CannotRun { why });
                }
                let is_of_values =
                    ![Aspect::Warnings, Aspect::Class].map(Aspect::name).contains(&&*self.signature.kind);
                if self.signature.oracle == Oracle::Definition && !(self.same_as.is_some() && is_of_values) {
                    self.by_relations(runner, &hello, &reply)
                } else {
                    let differences = self.differences(&hello, &reply, second);
                    Finding::of_differences(self.signature.oracle, &self.program, differences)
                }
            }
        };
        let differences = finding.as_ref().map(|finding| finding.differences.clone()).unwrap_or_default();
        let verdict = match finding {
            None => Verdict::Right,
            Some(finding) if finding.signature == self.signature => Verdict::Same,
            Some(finding) => Verdict::Another { signature: finding.signature.to_string() },
        };
        Seen { verdict, differences, observed, other }
    }

    /// The finding of the relations that compare no value of the program with one of another, such as what a rejected step
    /// leaves behind, or another aspect than a value: the finding itself, if one of them still shows it.
    fn by_relations(&self, runner: &mut Runner, hello: &Hello, reply: &Reply) -> Option<Finding> {
        let mut differences = vec![metamorphic::own_faults(&self.program, reply)];
        for follow_up in metamorphic::all(&self.program, reply) {
            if unsupported_by(hello, &follow_up.program).is_none() {
                runner.run_each(&[&follow_up.program], |_, answer| {
                    let judged = answer.map(|answer| follow_up.judge(&self.program, reply, &answer));
                    differences.extend(judged);
                });
            }
        }
        let of_differences = |differences| Finding::of_differences(Oracle::Definition, &self.program, differences);
        let mut findings: Vec<Finding> = differences.into_iter().filter_map(of_differences).collect();
        let own = findings.iter().position(|finding| finding.signature == self.signature).unwrap_or(0);
        (own < findings.len()).then(|| findings.swap_remove(own))
    }

    fn differences(&self, hello: &Hello, reply: &Reply, other: Option<Result<Reply, Fault>>) -> Vec<Difference> {
        let observed = Side { hello, reply };
        match (&self.same_as, &self.expected, self.signature.oracle) {
            (Some(same), _, _) => match other {
                Some(Ok(other)) => pairs(&self.program, reply, same, &other),
                _ => {
                    let none = "no answer of the other program";
                    vec![difference(same, &same.pairs[0].0, Aspect::Outcome, "a result", none)]
                }
            },
            (None, Some((hello, expected)), Oracle::Release) => {
                between_releases(&self.program, Side { hello, reply: expected }, observed)
            }
            (None, _, Oracle::Mathematics) => mathematics::judge(&self.program, reply),
            _ => {
                let reference = Reference.run(&self.program);
                let expected = Side { hello: &Reference.hello(), reply: &reference };
                from_reference(&self.program, expected, observed)
            }
        }
    }
}

fn difference(same: &SameAs, value: &str, aspect: Aspect, expected: &str, observed: &str) -> Difference {
    let by = format!("definition: {}", same.rule);
    Difference { value: value.to_owned(), aspect, by, expected: expected.to_owned(), observed: observed.to_owned() }
}

/// Returns the differences between values that should be the same.
fn pairs(program: &Program, reply: &Reply, same: &SameAs, other: &Reply) -> Vec<Difference> {
    let find = |program: &Program, reply: &Reply, name: &str| -> Option<Outcome> {
        let (step, _) = name.split_once('.').unwrap_or((name, ""));
        let at = program.steps.iter().position(|own| own.name == step)?;
        match &reply.steps.get(at)?.outcome {
            // A step without an operand has the outcome of the step that should have made it.
            Outcome::Blocked(value) => {
                let at = value.checked_sub(program.inputs.len())?;
                Some(reply.steps.get(at)?.outcome.clone())
            }
            outcome => Some(outcome.clone()),
        }
    };
    let of_elements = Relation::named(&same.rule).is_none_or(Relation::is_of_elements);
    let mut differences = Vec::new();
    for (here, there) in &same.pairs {
        let (Some(got), Some(wanted)) = (find(program, reply, here), find(&same.program, other, there)) else {
            continue;
        };
        let (shown_wanted, shown_got) = (format::outcome(&wanted), format::outcome(&got));
        let aspect = match (&wanted, &got) {
            (Outcome::Value(_), Outcome::Value(_)) => {
                let part = |name: &str| name.split_once('.').and_then(|(_, part)| part.parse().ok()).unwrap_or(0);
                let (wanted, got) = (wanted.tensors().get(part(there)), got.tensors().get(part(here)));
                match (wanted, got) {
                    (Some(wanted), Some(got)) => {
                        unlike(wanted, got).filter(|aspect| of_elements || *aspect == Aspect::Dtype)
                    }
                    _ => (shown_wanted != shown_got).then_some(Aspect::Outcome),
                }
            }
            (Outcome::Rejected(a), Outcome::Rejected(b)) if !of_elements => {
                (class_of(a) != class_of(b)).then_some(Aspect::Class)
            }
            (Outcome::Rejected(a), Outcome::Rejected(b)) => (a.message != b.message).then_some(Aspect::Message),
            _ => (shown_wanted != shown_got).then_some(Aspect::Outcome),
        };
        differences.extend(aspect.map(|aspect| difference(same, here, aspect, &shown_wanted, &shown_got)));
    }
    differences
}

fn unlike(wanted: &TensorValue, got: &TensorValue) -> Option<Aspect> {
    let same = |(a, b): (&crate::tensor::Scalar, &crate::tensor::Scalar)| broadcheck_oracles::same_bits(*a, *b);
    match (wanted, got) {
        _ if wanted.dtype != got.dtype => Some(Aspect::Dtype),
        _ if wanted.shape != got.shape => Some(Aspect::Shape),
        _ => (!wanted.scalars().iter().zip(&got.scalars()).all(same)).then_some(Aspect::Values),
    }
}

/// Since when in a sentence, and the table for people. Rows are in the order of the releases, the oldest first; successive
/// releases of one outcome share a line.
pub fn table(rows: &[Row]) -> String {
    let mut text = format!("{}\n\n| release | outcome |\n|---|---|\n", since(rows));
    let alike = |one: &Row, other: &Row| {
        one.verdict == other.verdict && named(&one.implementation).0 == named(&other.implementation).0
    };
    let cell = |text: &str| one_line(text).replace('|', "\\|");
    for group in rows.chunk_by(alike) {
        let (first, last) = (&group[0].implementation, named(&group[group.len() - 1].implementation).1);
        let releases = match group.len() {
            1 => first.clone(),
            2 => format!("{first}, {last}"),
            count => format!("{first} to {last} ({count} releases)"),
        };
        text.push_str(&format!("| {} | {} |\n", cell(&releases), cell(&group[0].verdict.text())));
    }
    text
}

/// The name and the version of an implementation, as [`format::label`] has put them together. A command line has no version.
fn named(label: &str) -> (&str, &str) {
    let is_version = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    label.rsplit_once(' ').filter(|(_, version)| is_version(version)).unwrap_or((label, label))
}

/// The first release that shows the finding, and those that change that, as far as the rows show it.
pub fn since(rows: &[Row]) -> String {
    let ran: Vec<&Row> = rows.iter().filter(|row| !matches!(row.verdict, Verdict::CannotRun { .. })).collect();
    let is = |row: &Row| row.verdict == Verdict::Same;
    let Some(first) = ran.iter().position(|row| is(row)) else {
        return match ran.is_empty() {
            true => "None of these could run the program.".to_owned(),
            false => "It is in none of these.".to_owned(),
        };
    };
    if ran.len() == 1 {
        return "One release alone says nothing of since when: `broadcheck libtorch install VERSION` adds another."
            .to_owned();
    }
    let name = |at: usize| ran[at].implementation.as_str();
    // What differs in another way says nothing of the fault.
    let is_right = |at: usize| ran[at].verdict == Verdict::Right;
    let mut text = match first {
        0 => format!("It is in {} already, the oldest of these", name(0)),
        _ if is_right(first - 1) => format!("It is there since {}; {} does not have it", name(first), name(first - 1)),
        _ => format!("It is there since {}; {} differs in another way", name(first), name(first - 1)),
    };
    for at in first + 1..ran.len() {
        match (is(ran[at - 1]), is(ran[at])) {
            (true, false) if is_right(at) => text += &format!(", and it is gone in {}", name(at)),
            (true, false) => text += &format!(", and {} differs in another way", name(at)),
            (false, true) => text += &format!(", and it is there again since {}", name(at)),
            _ => {}
        }
    }
    text + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_releases_of_one_outcome_share_a_line() {
        let row = |implementation: &str, verdict: Verdict| Row { implementation: implementation.to_owned(), verdict };
        let releases =
            ["1.13.1", "2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.1.2"].map(|version| format!("libtorch {version}"));
        let verdict = |at| if at == 0 || at > 3 { Verdict::Right } else { Verdict::Same };
        let rows: Vec<Row> = releases.iter().enumerate().map(|(at, name)| row(name, verdict(at))).collect();
        let lines = "| libtorch 1.13.1 | right |\n| libtorch 2.0.0 to 2.1.0 (3 releases) | the same |\n\
                     | libtorch 2.1.1, 2.1.2 | right |\n";
        assert!(table(&rows).ends_with(lines), "{}", table(&rows));
        let others = ["numpy 2.4.6", "jax 0.9.0", "a command", "a command"].map(|name| row(name, Verdict::Same));
        let lines = "| numpy 2.4.6 | the same |\n| jax 0.9.0 | the same |\n| a command, a command | the same |\n";
        assert!(table(&others).ends_with(lines), "{}", table(&others));
    }

    #[test]
    fn the_first_release_is_given_as_far_as_it_is_known() {
        let row = |implementation: &str, verdict: Verdict| Row { implementation: implementation.to_owned(), verdict };
        let cannot = || Verdict::CannotRun { why: "no lerp".to_owned() };
        let said = |verdicts: Vec<Verdict>| {
            let names = ["2.1", "2.2", "2.3", "2.4"];
            since(&names.iter().zip(verdicts).map(|(name, verdict)| row(name, verdict)).collect::<Vec<_>>())
        };
        assert!(said(vec![Verdict::Same]).starts_with("One release alone"));
        assert_eq!(said(vec![Verdict::Right, Verdict::Right]), "It is in none of these.");
        assert_eq!(said(vec![cannot()]), "None of these could run the program.");
        assert_eq!(said(vec![Verdict::Right, Verdict::Same]), "It is there since 2.2; 2.1 does not have it.");
        assert_eq!(said(vec![Verdict::Same, Verdict::Same]), "It is in 2.1 already, the oldest of these.");
        let fixed = said(vec![Verdict::Right, Verdict::Same, Verdict::Right]);
        assert_eq!(fixed, "It is there since 2.2; 2.1 does not have it, and it is gone in 2.3.");
        assert_eq!(said(vec![cannot(), Verdict::Right, Verdict::Same]), "It is there since 2.3; 2.2 does not have it.");
        let again = said(vec![Verdict::Right, Verdict::Same, Verdict::Right, Verdict::Same]);
        assert_eq!(
            again,
            "It is there since 2.2; 2.1 does not have it, and it is gone in 2.3, and it is there again since 2.4."
        );
        let other = || Verdict::Another { signature: "another message".to_owned() };
        assert_eq!(
            said(vec![other(), Verdict::Same, other()]),
            "It is there since 2.2; 2.1 differs in another way, and 2.3 differs in another way."
        );
    }
}
