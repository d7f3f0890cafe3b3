//! Causes of failures, as far as they can be seen in events: what reports and pins group cases by.

use crate::model::event::{CaseStated, FILE, Judged, Verdict};
use crate::{Aspect, Difference};

/// Stands for a reason that no person has given yet.
pub const NO_REASON: &str = "TODO";

/// The cause of rejections that count for nothing. Whatever fails the accepting cases is the cause of these as well.
pub const UNPROVEN: &str = "rejections that do not count, since the accepting case does not pass";

/// The most characters that a cause has of an adapter's own text.
const LONGEST: usize = 100;

/// The cause of a failed or broken case, as far as it can be seen from outside: what differs first, and how. Cases of one
/// cause may be of several operations, as a dtype or the class of a rejection is.
pub fn cause(judged: &Judged, case: Option<&CaseStated>) -> String {
    match &judged.verdict {
        Verdict::Failed { differences } => match first(differences, case) {
            Some((one, call)) => differing(one, call),
            None => match &differences[..] {
                [only] if only.by == FILE => "known differences that are gone".to_owned(),
                [one, ..] => plain(one, &one.value),
                [] => "no difference".to_owned(),
            },
        },
        Verdict::Broken { fault, .. } => {
            let fault = shortened(fault);
            // Of several steps it is not known which one it was.
            match case.map(|case| case.calls.as_slice()) {
                Some([call]) => format!("{fault} in {}", call.call.split('(').next().unwrap_or(&call.call)),
                _ => fault,
            }
        }
        _ => UNPROVEN.to_owned(),
    }
}

/// The call whose outcome differs first, as in `add_`; the known difference, where that is gone.
pub fn call<'a>(judged: &'a Judged, case: Option<&'a CaseStated>) -> Option<&'a str> {
    let Verdict::Failed { differences } = &judged.verdict else { return None };
    match &differences[..] {
        [only] if only.by == FILE => only.value.strip_prefix("divergence "),
        differences => first(differences, case).map(|(_, call)| call),
    }
}

/// The first difference in the result of a call that was run.
fn first<'a, 'b>(differences: &'a [Difference], case: Option<&'b CaseStated>) -> Option<(&'a Difference, &'b str)> {
    let call_of = |value: &str| {
        let name = value.split(['.', ' ']).next().unwrap_or(value);
        let call = case?.calls.iter().find(|call| call.value == name)?;
        Some(call.call.split('(').next().unwrap_or(&call.call))
    };
    let mut ran = differences.iter().filter(|one| !one.observed.starts_with("not run"));
    ran.find_map(|one| Some((one, call_of(&one.value)?)))
}

fn differing(one: &Difference, call: &str) -> String {
    let (expected, observed) = (class_of(&one.expected), class_of(&one.observed));
    let form = match call {
        call if call.ends_with(" out=") => " with out=",
        call if call.ends_with('_') => " in place",
        _ => "",
    };
    if let Some(error) = one.observed.strip_prefix("the adapter failed: ") {
        return format!("the adapter fails: {}", shortened(error));
    }
    match (one.aspect, expected, observed) {
        (Aspect::Outcome, None, Some(class)) => format!("rejection ({class}) of what PyTorch accepts{form}"),
        (Aspect::Outcome, Some(class), None) => format!("acceptance of what PyTorch rejects ({class}){form}"),
        (Aspect::Dtype, ..) => format!("dtype {}, not {}", one.observed, one.expected),
        (Aspect::Class, ..) => format!("rejection of class {}, not {}", word(&one.observed), word(&one.expected)),
        _ => plain(one, call),
    }
}

/// The beginning of the first line.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// The class in what a difference has of a rejection: `dtype: the message`.
fn word(text: &str) -> &str {
    text.split(':').next().unwrap_or(text).trim()
}

fn plain(one: &Difference, what: &str) -> String {
    format!("{} of {what}", one.aspect.name())
}

/// The class in the text of a rejection, as in `rejected (dtype): …`.
fn class_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("rejected")?.trim_start();
    Some(rest.strip_prefix('(').and_then(|rest| rest.split(')').next()).unwrap_or("unknown"))
}
