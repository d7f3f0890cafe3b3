//! Findings of an oracle in a program, and the signature that distinguishes findings of one cause from others.

use std::fmt;

use broadcheck_oracles::difference::{DISPUTED, MATHEMATICS, ROUNDED_OTHERWISE};
use serde::{Deserialize, Serialize};

use crate::adapter::{Fault, FaultKind};
use crate::messages::skeleton;
use crate::ops::{Family, Form, Op};
use crate::program::{Program, ValueRef};

use crate::{Aspect, Difference, format};

/// The file that other programs read: the signature, the program, the observed outcome, and the source of the expectation.
pub const FINDING: &str = "finding.json";

/// The kind of a finding of such a difference.
const KIND_DISPUTED: &str = "disputed";

/// What follows the name of an input in the name of what it is at the end of the program.
const AFTER: &str = " after";

/// The kind of findings that have no answer in time.
pub const HANG: &str = "hang";

/// The oracle that decides what an outcome should have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Oracle {
    /// The reference implementation.
    Reference,
    /// The implementation itself, on a program that means the same by the definition of broadcasting.
    Definition,
    /// Another release of the implementation, or the same one elsewhere.
    Release,
    /// The definition of each function, and the standards.
    Mathematics,
}

/// A program on which an implementation is not what an oracle says.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The signature that it has in common with other findings of one cause.
    pub signature: Signature,
    /// The program that was started.
    pub program: Program,
    /// The differences; empty if the implementation broke.
    pub differences: Vec<Difference>,
    /// The failure of the implementation, if it broke.
    pub fault: Option<Fault>,
}

/// The properties that findings of one cause have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The oracle that found it.
    pub oracle: Oracle,
    /// The operation in the form in which it was called, as in `add_` or `sum out=`; `input` for what an input has become,
    /// `any` for a fault that no program alone causes.
    pub call: String,
    /// The aspect that differs, or how the process broke.
    pub kind: String,
    /// The expected and the observed text, without numbers and names; empty where they say nothing of the cause, as of
    /// values.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Signature {
    /// Returns whether another authority holds right what was observed.
    pub fn is_disputed(&self) -> bool {
        self.kind == KIND_DISPUTED
    }
}

impl Oracle {
    /// The name that reports and signatures use.
    pub fn name(self) -> &'static str {
        match self {
            Oracle::Reference => "reference",
            Oracle::Definition => "definition",
            Oracle::Release => "release",
            Oracle::Mathematics => "mathematics",
        }
    }
}

impl Finding {
    /// Returns whether the implementation crashed or hung instead of answering.
    pub fn is_broken(&self) -> bool {
        self.fault.is_some() || self.differences.is_empty()
    }

    /// The finding that these differences are; `None` without any. The first of them names it, since those after it
    /// follow from it more often than not.
    pub fn of_differences(oracle: Oracle, program: &Program, differences: Vec<Difference>) -> Option<Finding> {
        let first = differences.first()?;
        let name = first.value.split(['.', ' ']).next();
        let step = program.steps.iter().find(|step| Some(step.name.as_str()) == name);
        let call = step.map_or("input".to_owned(), format::call);
        // A rejection is in its words; what was accepted instead says nothing of the cause.
        let refused = |text: &str| if text.starts_with("rejected") { skeleton(text) } else { "a value".to_owned() };
        let text = match first.aspect {
            Aspect::Outcome => format!("{} / {}", refused(&first.expected), refused(&first.observed)),
            Aspect::Message | Aspect::Warnings => {
                format!("{} / {}", skeleton(&first.expected), skeleton(&first.observed))
            }
            _ => String::new(),
        };
        // What a definition says of a call, it says for one of several reasons; what mathematics says has an authority.
        let disputed = first.by.starts_with(DISPUTED);
        let reasons = ["definition: ", MATHEMATICS, DISPUTED];
        let text = match reasons.iter().find_map(|reason| first.by.strip_prefix(reason)) {
            Some(rule) if text.is_empty() => rule.to_owned(),
            Some(rule) => format!("{rule}: {text}"),
            None if first.by.ends_with(ROUNDED_OTHERWISE) => "rounded otherwise".to_owned(),
            None => text,
        };
        let kind = if disputed { KIND_DISPUTED } else { first.aspect.name() };
        let signature = Signature { oracle, call, kind: kind.to_owned(), text };
        Some(Finding { signature, program: program.clone(), differences, fault: None })
    }

    /// The finding in the inputs that are wrong at the end of the program, if the step that it names reads one of them after an
    /// earlier step wrote to it.
    pub fn of_inputs_read(&self) -> Option<Finding> {
        let first = self.differences.first()?;
        let wrong = self.differences.iter().filter(|difference| difference.value.ends_with(AFTER));
        let wrong: Vec<Difference> = wrong.cloned().collect();
        let at = self.program.steps.iter().position(|step| step.name == first.value)?;
        let step = &self.program.steps[at];
        let is_wrong = |value: ValueRef| {
            let name = self.program.inputs.get(value.value).map(|input| format!("{}{AFTER}", input.name));
            let written = self.program.steps[..at].iter().any(|step| step.target() == Some(value));
            written && wrong.iter().any(|difference| Some(&difference.value) == name.as_ref())
        };
        // A view in place and a copy compute nothing.
        let computes = step.op.info().family() != Family::Views && step.op != Op::Copy;
        let reads = (step.form == Form::Functional || !computes) && step.uses().any(is_wrong);
        reads.then(|| Finding::of_differences(self.signature.oracle, &self.program, wrong)).flatten()
    }

    /// The finding that a difference between two releases is in the newer one, if the reference agrees with the other.
    pub fn to_the_reference(&self) -> Option<Finding> {
        if self.signature.oracle != Oracle::Release {
            return None;
        }
        Finding::of_differences(Oracle::Reference, &self.program, self.differences.clone())
    }

    /// The finding that a difference between two releases is in the one that was compared with, if the reference agrees with
    /// the other.
    pub fn of_the_other_release(&self) -> Option<Finding> {
        if self.signature.oracle != Oracle::Release {
            return None;
        }
        if let Some(fault) = &self.fault {
            return Some(Finding::of_fault(Oracle::Reference, &self.program, fault.clone()));
        }
        let turned = self.differences.iter().map(|difference| Difference {
            expected: difference.observed.clone(),
            observed: difference.expected.clone(),
            ..difference.clone()
        });
        Finding::of_differences(Oracle::Reference, &self.program, turned.collect())
    }

    /// Returns whether it is certainly about the program: what breaks an implementation can come from outside.
    pub fn is_confirmed(&self) -> bool {
        self.fault.as_ref().is_none_or(|fault| fault.confirmed)
    }

    /// The finding that a fault is.
    pub fn of_fault(oracle: Oracle, program: &Program, fault: Fault) -> Finding {
        let (kind, text) = match &fault.kind {
            FaultKind::Crashed { status } => ("crash", status.clone()),
            FaultKind::TimedOut { .. } => (HANG, String::new()),
            FaultKind::Protocol { why, .. } => ("protocol", skeleton(why)),
            FaultKind::BudgetSpent { .. } | FaultKind::Halted { .. } | FaultKind::NotRestarted { .. } => {
                ("not run", String::new())
            }
        };
        // The program ends with the step that did it, if that was asked.
        let last = program.steps.last().filter(|_| fault.confirmed);
        let call = last.map_or(UNTOLD, |step| step.op.name()).to_owned();
        let signature = Signature { oracle, call, kind: kind.to_owned(), text };
        Finding { signature, program: program.clone(), differences: Vec::new(), fault: Some(fault) }
    }
}

/// In place of the call that ended a process, where asking step by step did not end it again.
pub const UNTOLD: &str = "a step";

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} · {} · {}", self.oracle.name(), self.call, self.kind)?;
        if !self.text.is_empty() {
            write!(f, " · {}", self.text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::case::load_program;

    /// A wrong sum of an input is the fault of the step that wrote the input, if one did.
    #[test]
    fn a_step_that_reads_a_wrong_input_is_not_the_first_cause() {
        let difference = |value: &str| Difference {
            value: value.to_owned(),
            aspect: Aspect::Values,
            by: "reference".to_owned(),
            expected: "1".to_owned(),
            observed: "2".to_owned(),
        };
        let seen = |text: &str, wrong: &str| {
            let program = load_program(Path::new("test.yaml"), text).unwrap_or_else(|error| panic!("{error}"));
            let differences = vec![difference("s"), difference(wrong)];
            let finding = Finding::of_differences(Oracle::Reference, &program, differences).expect("a difference");
            finding.of_inputs_read().map(|finding| finding.signature.call)
        };
        let written = "{x: {shape: [1]}, y: {shape: [1]}, m: {mean: [y], out: x}, s: {add: [x, x]}}";
        assert_eq!(seen(written, "x after").as_deref(), Some("input"));
        assert_eq!(seen(written, "y after"), None, "the step does not read it");
        let viewed = "{x: {shape: [1]}, y: {shape: [1]}, m: {mean: [y], out: x}, s: {unsqueeze_: [x, 0]}}";
        assert_eq!(seen(viewed, "x after").as_deref(), Some("input"));
        let added = "{x: {shape: [1]}, y: {shape: [1]}, m: {mean: [y], out: x}, s: {add_: [x, x]}}";
        assert_eq!(seen(added, "x after"), None, "it may be wrong itself");
        assert_eq!(seen("{x: {shape: [1]}, s: {add: [x, x]}}", "x after"), None, "nothing was written before");
    }
}
