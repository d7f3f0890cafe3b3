//! A test bench: an implementation under test in a process of its own, what it is compared with, and the oracles.
//!
//! A program that breaks the implementation is a finding, and never the end of the bench.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::adapter::{Halt, Hello, Implementation, unsupported_by};
use crate::campaign::Setup;
use crate::campaign::cases::Made;
use crate::campaign::counts::{Checked, Counts, Judged};
use crate::campaign::supervised::{Came, Tested, Told};
use crate::format;
use crate::generate::bounded_exhaustive::World;
use crate::messages::skeleton;
use crate::model::finding::{Finding, Oracle, Signature, UNTOLD};
use crate::oracles::comparison::{Side, between_releases, from_reference};
use crate::oracles::mathematics;
use crate::oracles::metamorphic::{self, FollowUp};
use crate::program::{Outcome, Program, Reply, Step};
use crate::reference::{Abort, Ask, Reference, message};
use crate::relaxations::freedoms_of_given;
use crate::{Aspect, Difference};

pub use crate::campaign::supervised::Unfinished;

/// The executor that judges programs. Each worker of a campaign has one.
pub struct Bench<'a> {
    subject: Tested<'a>,
    against: Option<Tested<'a>>,
    reference: Hello,
    ask: Ask,
}

impl<'a> Bench<'a> {
    /// Starts the implementation, and what it is compared with. Both are left when it is time to halt.
    ///
    /// # Errors
    /// When one of them does not start, or is not what it was before.
    pub fn new(setup: &'a Setup, halt: Halt) -> Result<Bench<'a>, Unfinished> {
        let subject = Tested::start(setup, &setup.subject.0, &setup.subject.1, halt.clone())?;
        let against = setup.against.as_ref();
        let against = against.map(|(start, hello)| Tested::start(setup, start, hello, halt)).transpose()?;
        Ok(Bench { subject, against, reference: Reference.hello(), ask: setup.ask })
    }

    /// Allows each program so much time from now on.
    pub fn allow(&mut self, program: Duration) {
        [Some(&mut self.subject), self.against.as_mut()].into_iter().flatten().for_each(|tested| tested.allow(program));
    }

    /// Runs cases, lets the oracles judge, hands over each finding as soon as it is made, and counts. `found` says whether
    /// the finding is a new one; `meanwhile` does a piece of other work, if there is any.
    ///
    /// # Errors
    /// When an implementation cannot be started any more. The cases are not done then.
    pub fn judge(
        &mut self,
        cases: Vec<Made>,
        oracles: &[Oracle],
        meanwhile: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(u64, Finding) -> bool,
    ) -> Result<Counts, Unfinished> {
        self.judge_with(cases, oracles, metamorphic::follow_ups, meanwhile, |case, finding| {
            found(case, finding);
        })
    }

    /// The same for cases of a small world, judged by the reference, call by call. A case in which anything is amiss is
    /// run again, each call alone: what one of them does says nothing of the others then, and a finding is one call.
    ///
    /// # Errors
    /// When the implementation cannot be started any more. The cases are not done then.
    pub fn judge_calls(
        &mut self,
        cases: Vec<Made>,
        world: &World,
        meanwhile: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(u64, Finding) -> bool,
    ) -> Result<Counts, Unfinished> {
        let restarts = self.restarts();
        let mut counts = Counts { cases: cases.len() as u64, ..Counts::default() };
        let mut amiss = Vec::new();
        // A call at a time the reference would end the process again.
        let (cases, deadly): (Vec<Made>, Vec<Made>) = cases.into_iter().partition(|made| !made.is_deadly());
        for made in deadly {
            if let Err(abort) = &made.expected {
                found(made.case, of_abort(&made.program, abort));
            }
        }
        self.each(&cases, Told::Whole, meanwhile, |made, reply, finding| match (reply, finding) {
            // Something else broke the implementation while it was at it.
            (None, Some(finding)) if !finding.is_confirmed() => drop(found(made.case, finding)),
            (Some(reply), None) if is_answered(made, reply) => {
                let steps = made.program.steps.iter().zip(&reply.steps).rev().take(world.calls(made.case));
                steps.for_each(|(step, answer)| counts.add_call(step, Some(&answer.outcome), None));
            }
            (_, finding) => amiss.push((made.case, finding)),
        })?;
        for (case, whole) in amiss {
            let ask = self.ask;
            let made = |program| Made::of(case, program, ask);
            let alone: Vec<Made> = world.programs(case).into_iter().map(made).collect();
            let mut anything = false;
            self.each(&alone, Told::ToTheStep, meanwhile, |made, reply, finding| {
                let stray = finding.as_ref().is_some_and(|finding| !finding.is_confirmed());
                anything |= finding.is_some() && !stray;
                let new = finding.map(|finding| found(case, finding));
                if let Some(call) = made.program.steps.last().filter(|_| !stray) {
                    counts.add_call(call, last_answer(made, reply), new);
                }
            })?;
            // It takes several of them.
            if !anything && let Some(whole) = whole {
                found(case, whole);
            }
        }
        counts.restarts = self.restarts() - restarts;
        Ok(counts)
    }

    /// Runs cases and hands over what came of each, and in what it is not as the reference says. Without a reply the
    /// finding is a fault.
    fn each(
        &mut self,
        cases: &[Made],
        told: Told,
        meanwhile: &mut dyn FnMut() -> bool,
        mut each: impl FnMut(&Made, Option<&Reply>, Option<Finding>),
    ) -> Result<(), Unfinished> {
        let programs: Vec<&Program> = cases.iter().map(|made| &made.program).collect();
        let (reference, hello) = (&self.reference, self.subject.hello);
        let answered = self.subject.run(&programs, told, meanwhile, |at, came| {
            let made = &cases[at];
            match came {
                Came::Fault(fault, program) => {
                    each(made, None, Some(Finding::of_fault(Oracle::Reference, &program, fault)));
                }
                Came::Reply(reply) => {
                    let finding = disagreement(reference, hello, &made.program, &made.expected, &reply);
                    each(made, Some(&reply), finding);
                }
            }
        });
        answered.map_err(|unfinished| unfinished.of_cases(|at| cases[at].case))
    }

    /// The same with a choice of the programs that mean the same.
    fn judge_with(
        &mut self,
        cases: Vec<Made>,
        oracles: &[Oracle],
        follow_ups: fn(&Program, &Reply) -> Vec<FollowUp>,
        meanwhile: &mut dyn FnMut() -> bool,
        mut found: impl FnMut(u64, Finding),
    ) -> Result<Counts, Unfinished> {
        let restarts = self.restarts();
        let mut counts = Counts { cases: cases.len() as u64, ..Counts::default() };
        let (cases, beyond): (Vec<Made>, Vec<Made>) =
            cases.into_iter().partition(|made| self.is_supported(&made.program));
        for step in beyond.iter().flat_map(|made| &made.program.steps) {
            counts.operations.entry(step.op).or_default().unsupported += 1;
        }
        let mut numbers = Vec::with_capacity(cases.len());
        let mut programs = Vec::with_capacity(cases.len());
        let mut wanted = Vec::with_capacity(cases.len());
        for Made { case, program, expected } in cases {
            // Whatever oracle judges: a reference that goes wrong over a program is a finding, and the program is run.
            expected.as_ref().err().into_iter().for_each(|abort| found(case, of_abort(&program, abort)));
            // The program of a case that the reference cannot make.
            if program.steps.is_empty() {
                continue;
            }
            numbers.push(case);
            programs.push(program);
            wanted.push(expected);
        }
        // What other oracles than the reference go on with.
        let mut ran = Vec::new();
        let mut asked = Vec::new();
        let kept = oracles.iter().any(|oracle| matches!(oracle, Oracle::Definition | Oracle::Release));
        // A fault is told by the oracle that comes first.
        let first = oracles.first().copied().unwrap_or(Oracle::Reference);
        let [with_reference, with_definition, with_mathematics] =
            [Oracle::Reference, Oracle::Definition, Oracle::Mathematics].map(|oracle| oracles.contains(&oracle));
        let (reference, hello) = (&self.reference, self.subject.hello);
        let answered = self.subject.run(&programs, Told::ToTheStep, meanwhile, |at, came| {
            let program = &programs[at];
            let reply = match came {
                Came::Fault(fault, to) => return found(numbers[at], Finding::of_fault(first, &to, fault)),
                Came::Reply(reply) => reply,
            };
            if with_reference
                && wanted[at].is_ok()
                && let Some(finding) = disagreement(reference, hello, program, &wanted[at], &reply)
            {
                found(numbers[at], finding);
            }
            let expected = wanted[at].as_ref().ok().filter(|_| with_reference);
            count(program, expected, &reply, &mut counts);
            count_openness(program, expected.unwrap_or(&reply), &mut counts);
            if with_mathematics
                && let Some(finding) = Finding::of_differences(
                    Oracle::Mathematics,
                    program,
                    seen(program, || mathematics::judge(program, &reply)),
                )
            {
                found(numbers[at], finding);
            }
            if with_definition {
                let faults = metamorphic::own_faults(program, &reply);
                if let Some(finding) = Finding::of_differences(Oracle::Definition, program, faults) {
                    found(numbers[at], finding);
                }
                let mut follow_ups = follow_ups(program, &reply);
                follow_ups.retain(|follow_up| unsupported_by(hello, &follow_up.program).is_none());
                asked.extend(follow_ups.into_iter().map(|follow_up| (ran.len(), follow_up)));
            }
            if kept {
                ran.push(Ran { case: numbers[at], program, reply });
            }
        });
        answered.map_err(|unfinished| unfinished.of_cases(|at| numbers[at]))?;
        self.definition(&ran, &asked, meanwhile, &mut found)?;
        if oracles.contains(&Oracle::Release) {
            self.release(&ran, meanwhile, &mut found)?;
        }
        counts.restarts = self.restarts() - restarts;
        Ok(counts)
    }

    /// Returns the findings of the oracles in one program, whichever program that means the same shows it.
    ///
    /// # Errors
    /// When an implementation cannot be started any more.
    pub fn findings(&mut self, program: &Program, oracles: &[Oracle]) -> Result<Vec<Finding>, Unfinished> {
        let mut findings = Vec::new();
        let made = vec![Made::of(0, program.clone(), self.ask)];
        self.judge_with(made, oracles, metamorphic::all, &mut || false, |_, finding| findings.push(finding))?;
        Ok(findings)
    }

    /// Returns the account for a finding's folder: what the oracle expected, and the outcome of the program when it runs
    /// once more.
    ///
    /// # Errors
    /// When an implementation cannot be started any more.
    pub fn account(&mut self, finding: &Finding) -> Result<Account, Unfinished> {
        let program = &finding.program;
        let observed = self.subject.answer(program)?;
        let expected = match (finding.signature.oracle, &mut self.against, &observed) {
            (Oracle::Release, Some(against), _) => {
                against.answer(program)?.map(|reply| Said::Reply(against.hello.clone(), reply))
            }
            (Oracle::Definition, _, Some(reply)) => self.other(program, reply)?,
            _ => None,
        };
        let reply = || (self.ask)(program).unwrap_or_else(|abort| abort.reply(program));
        let reference = || Said::Reply(Reference.hello(), reply());
        Ok(Account { observed, expected: expected.unwrap_or_else(reference) })
    }

    /// The first follow-up that comes to something else, and has what can be compared side by side.
    fn other(&mut self, program: &Program, reply: &Reply) -> Result<Option<Said>, Unfinished> {
        for follow_up in metamorphic::all(program, reply) {
            if unsupported_by(self.subject.hello, &follow_up.program).is_some() {
                continue;
            }
            let answer = self.subject.answer(&follow_up.program)?;
            let differs = answer.as_ref().is_none_or(|answer| !follow_up.judge(program, reply, answer).is_empty());
            let pairs = follow_up.pairs(program);
            if differs && !pairs.is_empty() {
                let (rule, program) = (follow_up.rule.name(), follow_up.program);
                return Ok(Some(Said::SameAs { rule, program, pairs, reply: answer }));
            }
        }
        Ok(None)
    }

    fn is_supported(&self, program: &Program) -> bool {
        let hellos = [Some(self.subject.hello), self.against.as_ref().map(|against| against.hello)];
        hellos.into_iter().flatten().all(|hello| unsupported_by(hello, program).is_none())
    }

    fn restarts(&self) -> u64 {
        self.subject.restarts() + self.against.as_ref().map_or(0, Tested::restarts)
    }

    /// Asks the implementation for programs that mean the same by the definition of broadcasting, each of one that ran.
    fn definition(
        &mut self,
        ran: &[Ran],
        asked: &[(usize, FollowUp)],
        meanwhile: &mut dyn FnMut() -> bool,
        found: &mut impl FnMut(u64, Finding),
    ) -> Result<(), Unfinished> {
        let programs: Vec<&Program> = asked.iter().map(|(_, follow_up)| &follow_up.program).collect();
        let answered = self.subject.run(&programs, Told::ToTheStep, meanwhile, |number, came| {
            let (at, follow_up) = &asked[number];
            let Ran { case, program, reply } = &ran[*at];
            let finding = match came {
                Came::Fault(fault, to) => Some(Finding::of_fault(Oracle::Definition, &to, fault)),
                Came::Reply(answer) => {
                    let differences = seen(program, || follow_up.judge(program, reply, &answer));
                    Finding::of_differences(Oracle::Definition, program, differences)
                }
            };
            if let Some(finding) = finding {
                found(*case, finding);
            }
        });
        answered.map_err(|unfinished| unfinished.of_cases(|at| ran[asked[at].0].case))
    }

    /// Runs the same programs on what the implementation is compared with.
    fn release(
        &mut self,
        ran: &[Ran],
        meanwhile: &mut dyn FnMut() -> bool,
        found: &mut impl FnMut(u64, Finding),
    ) -> Result<(), Unfinished> {
        let Some(against) = &mut self.against else { return Ok(()) };
        let programs: Vec<&Program> = ran.iter().map(|ran| ran.program).collect();
        let (hello, other) = (self.subject.hello, against.hello);
        let answered = against.run(&programs, Told::ToTheStep, meanwhile, |at, came| {
            let Ran { case, program, reply } = &ran[at];
            let finding = match came {
                Came::Fault(fault, to) => Some(Finding::of_fault(Oracle::Release, &to, fault)),
                Came::Reply(expected) => {
                    let expected = Side { hello: other, reply: &expected };
                    let differences = between_releases(program, expected, Side { hello, reply });
                    Finding::of_differences(Oracle::Release, program, differences)
                }
            };
            if let Some(finding) = finding {
                found(*case, finding);
            }
        });
        answered.map_err(|unfinished| unfinished.of_cases(|at| ran[at].case))
    }
}

/// A program of a case, and what came of it.
struct Ran<'a> {
    case: u64,
    program: &'a Program,
    reply: Reply,
}

/// Both sides of a finding.
pub struct Account {
    /// The outcome of the program; `None` if it broke the implementation.
    pub observed: Option<Reply>,
    /// The expected outcome.
    pub expected: Said,
}

/// The expectation of an oracle.
pub enum Said {
    /// These outcomes.
    Reply(Hello, Reply),
    /// The outcomes of a program that means the same, by a rule; which of its values equal which; and what came of it,
    /// unless it broke.
    SameAs {
        /// The relation.
        rule: &'static str,
        /// The program that was started.
        program: Program,
        /// Values of the two programs that have to agree.
        pairs: Vec<(String, String)>,
        /// The outcome of the program.
        reply: Option<Reply>,
    },
}

/// In what a reply is not as the reference says, if anything, or that the reference has nothing to say.
fn disagreement(
    reference: &Hello,
    hello: &Hello,
    program: &Program,
    expected: &Result<Reply, Abort>,
    reply: &Reply,
) -> Option<Finding> {
    match expected {
        Ok(expected) => {
            let expected = Side { hello: reference, reply: expected };
            let differences = from_reference(program, expected, Side { hello, reply });
            Finding::of_differences(Oracle::Reference, program, differences)
        }
        Err(abort) => Some(of_abort(program, abort)),
    }
}

/// Returns whether both sides support every step, so that all of them were compared.
fn is_answered(made: &Made, reply: &Reply) -> bool {
    reply.unsupported().is_none() && made.expected.as_ref().is_ok_and(|expected| expected.unsupported().is_none())
}

/// Returns the outcome of the last step; that it is not supported, if either side says so.
fn last_answer<'a>(made: &'a Made, reply: Option<&'a Reply>) -> Option<&'a Outcome> {
    let last = |reply: &'a Reply| reply.steps.last().map(|step| &step.outcome);
    let expected = made.expected.as_ref().ok().and_then(last).filter(|outcome| outcome.unsupported().is_some());
    expected.or_else(|| reply.and_then(last))
}

/// The differences that an oracle sees. If it panics, that is one: a fault of broadcheck, and not the end of a campaign.
fn seen(program: &Program, judge: impl FnOnce() -> Vec<Difference>) -> Vec<Difference> {
    catch_unwind(AssertUnwindSafe(judge)).unwrap_or_else(|panic| {
        vec![Difference {
            value: program.steps.last().map_or_else(String::new, |step| step.name.clone()),
            aspect: Aspect::Outcome,
            by: "broadcheck".to_owned(),
            expected: "a judgement".to_owned(),
            observed: format!("broadcheck panicked: {}", message(&*panic)),
        }]
    })
}

/// The finding that a failure of the reference is: the program up to the step that it went wrong over.
pub fn of_abort(program: &Program, abort: &Abort) -> Finding {
    let mut program = program.clone();
    program.steps.truncate(abort.step.map_or(usize::MAX, |at| at + 1));
    let last = program.steps.last();
    let call = last.map_or(UNTOLD, |step| step.op.name()).to_owned();
    let difference = Difference {
        value: last.map_or("the program", |step| step.name.as_str()).to_owned(),
        aspect: Aspect::Outcome,
        by: Oracle::Reference.name().to_owned(),
        expected: "an outcome of the reference".to_owned(),
        observed: abort.to_string(),
    };
    let (kind, text) = (abort.kind.name().to_owned(), skeleton(&abort.kind.text()));
    let signature = Signature { oracle: Oracle::Reference, call, kind, text };
    Finding { signature, program, differences: vec![difference], fault: None }
}

impl Counts {
    /// Counts a call of a small world by what came of it, and whether something new or known is wrong with it.
    fn add_call(&mut self, step: &Step, answer: Option<&Outcome>, new: Option<bool>) {
        let mut judged = Judged::default();
        let mut checked = Checked::default();
        match answer {
            Some(Outcome::Value(_)) => (judged.accepted, checked.accepted) = (1, 1),
            Some(Outcome::Rejected(_)) => (judged.rejected, checked.rejected) = (1, 1),
            Some(Outcome::Unsupported(_)) => (judged.unsupported, checked.unsupported) = (1, 1),
            Some(Outcome::Blocked(_) | Outcome::Failed(_)) | None => checked.broken = 1,
        }
        match new {
            Some(true) => checked.differing = 1,
            Some(false) => checked.known = 1,
            None => {}
        }
        *self.operations.entry(step.op).or_default() += judged;
        *self.calls.entry(format::given(step)).or_default() += checked;
    }
}

/// Counts what the steps of a program leave open.
fn count_openness(program: &Program, reply: &Reply, counts: &mut Counts) {
    for (freedom, answer) in freedoms_of_given(program, reply).into_iter().zip(&reply.steps) {
        counts.openness.add(freedom, &answer.outcome);
    }
}

/// Counts the steps of a program by what came of them. A step after a refused one that it needs is not counted.
fn count(program: &Program, expected: Option<&Reply>, reply: &Reply, counts: &mut Counts) {
    for (at, (step, answer)) in program.steps.iter().zip(&reply.steps).enumerate() {
        let expected = expected.and_then(|expected| expected.steps.get(at)).map(|step| &step.outcome);
        let judged = match (expected, &answer.outcome) {
            (Some(Outcome::Unsupported(_)), _) | (_, Outcome::Unsupported(_)) => {
                Judged { unsupported: 1, ..Judged::default() }
            }
            (_, Outcome::Value(_)) => Judged { accepted: 1, ..Judged::default() },
            (_, Outcome::Rejected(_)) => Judged { rejected: 1, ..Judged::default() },
            _ => continue,
        };
        *counts.operations.entry(step.op).or_default() += judged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oracle_that_panics_is_a_finding() {
        let differences = seen(&Program::default(), || panic!("planted"));
        assert_eq!(differences[0].observed, "broadcheck panicked: planted");
        let finding = Finding::of_differences(Oracle::Mathematics, &Program::default(), differences);
        assert!(finding.is_some_and(|finding| finding.signature.kind == "outcome"));
    }
}
