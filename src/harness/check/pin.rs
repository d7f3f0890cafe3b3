//! Pins: writes down how an implementation differs now, as the file of known differences that stands in the repository of
//! its library ([`crate::model::divergence::KnownDifferences`]).
//!
//! The differences are grouped by cause, as far as that can be seen from outside: by operation, and by what differs
//! first. A person then says what each group is, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde::Serialize;
use serde_yaml::{Mapping, Value};

use crate::case::Specification;
use crate::model::divergence::{self, Divergence, is_pinned, observed, value_of};
use crate::model::event::cause::{NO_REASON, cause};
use crate::model::event::{CaseStated, Judged, Verdict};

/// The most characters of an id that is made of a cause.
const LONGEST_ID: usize = 60;

/// A file of known differences, and what is new in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    /// The file.
    pub text: String,
    /// The number of cases that it has.
    pub cases: usize,
    /// The number of causes that it has.
    pub causes: usize,
    /// The ids of causes that were not in the file before.
    pub new: Vec<String>,
    /// The ids of causes that are gone.
    pub gone: Vec<String>,
}

/// A case that shows a difference, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Witness {
    case: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    observed: BTreeMap<String, BTreeMap<&'static str, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    broken: Option<String>,
}

/// The file of the differences in these judgements, which were made without known differences. `earlier` is the text of
/// the file as it was: its causes keep what people wrote of them. `known` are the cases of the specification. `judged_now` has the number of judged cases for each
/// operation, if the whole specification was run; in a part of it, the other cases stay as they were.
///
/// # Errors
/// When the earlier file is no file of known differences.
pub fn pin(
    earlier: Option<&str>,
    label: &str,
    judged: &[Judged],
    cases: &[CaseStated],
    known: &BTreeSet<&str>,
    judged_now: Option<&BTreeMap<&'static str, usize>>,
) -> Result<Pinned, String> {
    let (mut causes, judged_before) = earlier.map_or(Ok((Vec::new(), Mapping::new())), causes_of)?;
    let before: Vec<String> = causes.iter().map(|(cause, _)| id_of(cause)).collect();
    let ran: BTreeSet<&str> = judged.iter().map(|judged| judged.case.as_str()).collect();
    let of_case: BTreeMap<&str, &CaseStated> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let mut where_it_was: BTreeMap<String, (usize, Value)> = BTreeMap::new();
    for (at, (_, witnesses)) in causes.iter_mut().enumerate() {
        for witness in std::mem::take(witnesses) {
            let case = case_of(&witness).to_owned();
            if ran.contains(case.as_str()) || judged_now.is_some() || !known.contains(case.as_str()) {
                where_it_was.insert(case, (at, witness));
            } else {
                witnesses.push(witness);
            }
        }
    }
    for judged in judged {
        let Some(witness) = witness(judged, where_it_was.get(&judged.case).map(|(_, witness)| witness)) else {
            continue;
        };
        let witness = serde_yaml::to_value(&witness).map_err(|error| error.to_string())?;
        let at = match where_it_was.get(&judged.case) {
            Some((at, _)) => *at,
            None => new_cause(&mut causes, &cause(judged, of_case.get(judged.case.as_str()).copied())),
        };
        causes[at].1.push(witness);
    }
    // What campaigns meet again has no case.
    causes.retain(|(cause, witnesses)| !witnesses.is_empty() || CASELESS.iter().any(|key| cause.contains_key(*key)));
    let now: Vec<String> = causes.iter().map(|(cause, _)| id_of(cause)).collect();
    let number = |count: &usize| serde_yaml::to_value(count).unwrap_or_default();
    let judged_now = judged_now.map_or(judged_before, |judged| {
        judged.iter().map(|(operation, count)| (Value::from(*operation), number(count))).collect()
    });
    Ok(Pinned {
        text: text(label, &judged_now, &causes)?,
        cases: causes.iter().map(|(_, witnesses)| witnesses.len()).sum(),
        causes: causes.len(),
        new: now.iter().filter(|id| !before.contains(id)).cloned().collect(),
        gone: before.iter().filter(|id| !now.contains(id)).cloned().collect(),
    })
}

/// Checks that a file can be brought up to date: it is one of known differences, whatever has become of their cases.
///
/// # Errors
/// When it is none.
pub fn check(text: &str, specification: &Specification) -> Result<(), String> {
    let (causes, _) = causes_of(text)?;
    let is_there = |case: &str| specification.cases.iter().any(|known| known.id == case);
    let mut list = Vec::new();
    for (mut cause, mut witnesses) in causes {
        let had_some = !witnesses.is_empty();
        witnesses.retain(|witness| is_there(case_of(witness)));
        if had_some && witnesses.is_empty() && !CASELESS.iter().any(|key| cause.contains_key(*key)) {
            continue;
        }
        cause.insert("witnesses".into(), Value::Sequence(witnesses));
        list.push(Value::Mapping(cause));
    }
    let divergences: Vec<Divergence> =
        serde_yaml::from_value(Value::Sequence(list)).map_err(|error| error.to_string())?;
    divergence::valid(&divergences, specification)
}

/// The keys that a cause may have in place of cases: they match findings that campaigns meet again.
const CASELESS: [&str; 2] = ["applies", "findings"];

fn case_of(witness: &Value) -> &str {
    witness.get("case").and_then(Value::as_str).unwrap_or_default()
}

/// A cause without its witnesses, and those.
type Cause = (Mapping, Vec<Value>);

/// The causes of a file, and what it says was judged.
fn causes_of(text: &str) -> Result<(Vec<Cause>, Mapping), String> {
    let file: Value = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    let (list, judged) = match file {
        Value::Mapping(mut file) => (file.remove("divergences"), file.remove("judged")),
        list => (Some(list), None),
    };
    let list = match list {
        Some(Value::Sequence(list)) => list,
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err("it has no list of divergences".to_owned()),
    };
    let judged = if let Some(Value::Mapping(judged)) = judged { judged } else { Mapping::new() };
    let split = |cause: Value| match cause {
        Value::Mapping(mut cause) => {
            let witnesses = match cause.remove("witnesses") {
                Some(Value::Sequence(witnesses)) => witnesses,
                _ => Vec::new(),
            };
            Ok((cause, witnesses))
        }
        _ => Err("a divergence is no mapping".to_owned()),
    };
    Ok((list.into_iter().map(split).collect::<Result<_, _>>()?, judged))
}

fn id_of(cause: &Mapping) -> String {
    cause.get("id").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the position of a cause that has no reason yet: a new case is never filed under the reason of others.
fn new_cause(causes: &mut Vec<Cause>, cause: &str) -> usize {
    let wanted = slug(cause);
    let is_open = |cause: &Mapping| cause.get("why").and_then(Value::as_str).is_some_and(|why| why == NO_REASON);
    let is_wanted = |id: &str| id.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || is_number(rest));
    if let Some(at) = causes.iter().position(|(cause, _)| is_open(cause) && is_wanted(&id_of(cause))) {
        return at;
    }
    let taken: BTreeSet<String> = causes.iter().map(|(cause, _)| id_of(cause)).collect();
    let numbered = (2..).map(|number| format!("{wanted}-{number}"));
    let id = [wanted.clone()].into_iter().chain(numbered).find(|id| !taken.contains(id)).expect("numbers do not end");
    let fields = [("id", id.as_str()), ("kind", "bug"), ("link", "unreported"), ("why", NO_REASON)];
    causes.push((fields.into_iter().map(|(key, text)| (key.into(), text.into())).collect(), Vec::new()));
    causes.len() - 1
}

fn is_number(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A cause as an id: lower-case words with `-` between them.
fn slug(cause: &str) -> String {
    let words = cause.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut id = String::new();
    for word in words {
        if id.len() + word.len() >= LONGEST_ID {
            break;
        }
        if !id.is_empty() {
            id.push('-');
        }
        id += &word.to_ascii_lowercase();
    }
    if id.is_empty() { "unnamed".to_owned() } else { id }
}

/// The pin of a case, if it differs. What a person has shortened with `*` stays so, as long as it is still right.
fn witness(judged: &Judged, earlier: Option<&Value>) -> Option<Witness> {
    let kept = |path: [&str; 3], now: String| {
        let before = path.iter().try_fold(earlier?, |value, key| value.get(*key))?.as_str()?;
        is_pinned(before, &now).then(|| before.to_owned())
    };
    match &judged.verdict {
        Verdict::Failed { differences } => {
            let mut pinned: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
            for one in differences {
                let value = value_of(&one.value).to_owned();
                let now = observed(&judged.exact, &value, one.aspect);
                let text = kept(["observed", &value, one.aspect.name()], now.clone()).unwrap_or(now);
                pinned.entry(value).or_default().insert(one.aspect.name(), text);
            }
            Some(Witness { case: judged.case.clone(), observed: pinned, broken: None })
        }
        Verdict::Broken { fault, .. } => {
            let before = earlier.and_then(|witness| witness.get("broken")).and_then(Value::as_str);
            let pinned = before.filter(|before| fault.contains(before)).unwrap_or(fault.lines().next()?);
            Some(Witness { case: judged.case.clone(), observed: BTreeMap::new(), broken: Some(pinned.to_owned()) })
        }
        _ => None,
    }
}

/// The file: a line for each case, so that a change of one is a change of one line.
fn text(label: &str, judged: &Mapping, causes: &[Cause]) -> Result<String, String> {
    let yaml = |mapping: &Mapping| serde_yaml::to_string(mapping).map_err(|error| error.to_string());
    let mut text = format!(
        "# Where {label} is known to differ from PyTorch, as `broadcheck check --pin` found it.\n\
         #\n\
         # Say of each cause what it is and why, in `why`, and where it is reported, in `link`. Its `kind` is bug, unsupported,\n\
         # by-design or documentation. `broadcheck check --divergences` with this file fails when a case differs that is not\n\
         # here, or differs otherwise; when one that is here no longer differs; and when fewer cases of an operation are\n\
         # judged than here. `--pin` with this file brings it up to date, and keeps what was said of each cause.\n",
        label = label.escape_debug()
    );
    if !judged.is_empty() {
        text += "judged:\n";
        for line in yaml(judged)?.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text += if causes.is_empty() { "divergences: []\n" } else { "divergences:\n" };
    for (cause, witnesses) in causes {
        for (at, line) in yaml(cause)?.lines().enumerate() {
            let _ = writeln!(text, "{} {line}", if at == 0 { "-" } else { " " });
        }
        if !witnesses.is_empty() {
            text += "  witnesses:\n";
        }
        for witness in witnesses {
            let json = serde_json::to_string(witness).map_err(|error| error.to_string())?;
            let _ = writeln!(text, "  - {}", printable(&json));
        }
    }
    Ok(text)
}

/// JSON in which only what YAML takes for printable is not escaped.
fn printable(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(text, "\\u{:04x}", c as u32);
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_causes() {
        assert_eq!(slug("values of mul"), "values-of-mul");
        assert_eq!(slug("add_ rejected, where PyTorch accepts"), "add_-rejected-where-pytorch-accepts");
        assert_eq!(slug("…"), "unnamed");
        assert!(slug(&"long ".repeat(40)).len() <= LONGEST_ID);
    }

    #[test]
    fn a_new_case_is_not_filed_under_the_reason_of_others() {
        let mut causes = causes_of("- {id: values-of-mul, why: it rounds}").unwrap().0;
        assert_eq!(new_cause(&mut causes, "values of mul"), 1);
        assert_eq!(id_of(&causes[1].0), "values-of-mul-2");
        assert_eq!(new_cause(&mut causes, "values of mul"), 1, "it has no reason yet");
        assert_eq!(new_cause(&mut causes, "values of add"), 2);
    }

    #[test]
    fn text_of_every_kind_comes_back() {
        let odd = "a: \"b\" # c\n\u{85}\u{2028}\u{feff}\u{7f}\u{1f600}\\ *";
        let witness = serde_yaml::to_value([("case", odd)].into_iter().collect::<BTreeMap<_, _>>()).unwrap();
        let cause: Mapping = [("id", "a"), ("why", odd)].into_iter().map(|(k, v)| (k.into(), v.into())).collect();
        let text = text("l", &Mapping::new(), &[(cause.clone(), vec![witness.clone()])]).unwrap();
        assert_eq!(causes_of(&text).unwrap().0, [(cause, vec![witness])], "{text}");
    }
}
