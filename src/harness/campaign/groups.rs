//! Groups of signatures that one cause explains, for the summary of a campaign.
//!
//! A signature is exact, so a rule that many operations share has one for each of them, and for each number of dimensions
//! that its message names. A group has what such signatures have in common. It orders what a person reads, and decides
//! nothing: which findings are known, and which are reduced, is a matter of signatures.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::Difference;
use crate::campaign::record::Example;
use crate::model::finding::{Oracle, Signature};
use crate::ops::{Family, Op};
use crate::tensor::DType;

/// A message that so many operations give is a rule of its own. One of fewer belongs to the operation.
const SHARED: usize = 3;

/// Findings that one cause may explain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseGroup {
    /// How bad it is.
    pub severity: Severity,
    /// True if another authority holds right what was observed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disputed: bool,
    /// The oracle that found it.
    pub oracle: Oracle,
    /// What the signatures have in common.
    pub rule: String,
    /// In how many cases, over all signatures.
    pub count: usize,
    /// The signatures, the most frequent first.
    pub signatures: Vec<Signature>,
    /// The one with the smallest program.
    pub smallest: Signature,
}

impl CauseGroup {
    /// What to call it: a group of one signature by that.
    pub fn title(&self) -> String {
        match &self.signatures[..] {
            [signature] => signature.to_string(),
            _ => format!("{} · {} · {}", self.severity.name(), self.oracle.name(), self.rule),
        }
    }
}

/// The findings of one signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The signature that they have in common.
    pub signature: Signature,
    /// The known divergence that they are.
    pub known: Option<String>,
    /// In how many cases.
    pub count: usize,
    /// The lowest number of these cases.
    pub first: u64,
    /// Its folder among the findings.
    pub folder: Option<String>,
    /// True if the campaign ended before it was shrunk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_reduced: bool,
    /// The simplest program, if it was shrunk, else the first one.
    pub example: Option<Example>,
}

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The process ended, hung, or broke the protocol.
    Crash,
    /// Wrong elements.
    Values,
    /// Another shape.
    Shape,
    /// Another dtype.
    Dtype,
    /// Other strides, or another storage.
    Layout,
    /// A rejection in place of a value, or a value in place of a rejection.
    Outcome,
    /// Another class of rejection.
    Class,
    /// Another message, warning or type of exception.
    Text,
}

impl Severity {
    /// That of a kind of signatures.
    pub fn of(kind: &str) -> Severity {
        match kind {
            "values" | "disputed" => Severity::Values,
            "shape" => Severity::Shape,
            "dtype" => Severity::Dtype,
            "strides" | "aliasing" => Severity::Layout,
            "outcome" => Severity::Outcome,
            "class" => Severity::Class,
            "message" | "raises" | "warnings" => Severity::Text,
            _ => Severity::Crash,
        }
    }

    /// The name that summaries use.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Crash => "crash",
            Severity::Values => "values",
            Severity::Shape => "shape",
            Severity::Dtype => "dtype",
            Severity::Layout => "layout",
            Severity::Outcome => "outcome",
            Severity::Class => "class",
            Severity::Text => "text",
        }
    }
}

/// The groups of the findings that are not known, by severity and then by count.
pub fn groups(lines: &[Line]) -> Vec<CauseGroup> {
    let new = || lines.iter().filter(|line| line.known.is_none());
    let mut speakers: BTreeMap<(Oracle, &str, String), BTreeSet<&str>> = BTreeMap::new();
    for Line { signature, .. } in new() {
        let message = (signature.oracle, signature.kind.as_str(), normal(&signature.text));
        speakers.entry(message).or_default().insert(op_of(&signature.call));
    }
    let is_shared = |signature: &Signature, message: &str| {
        let key = (signature.oracle, signature.kind.as_str(), message.to_owned());
        speakers.get(&key).is_some_and(|ops| ops.len() >= SHARED)
    };
    let mut grouped: BTreeMap<(Severity, bool, Oracle, String), Vec<&Line>> = BTreeMap::new();
    for line in new() {
        let signature = &line.signature;
        let rule = rule(line, &is_shared);
        let key = (Severity::of(&signature.kind), signature.is_disputed(), signature.oracle, rule);
        grouped.entry(key).or_default().push(line);
    }
    let mut groups: Vec<CauseGroup> = grouped
        .into_iter()
        .filter_map(|((severity, disputed, oracle, rule), mut lines)| {
            lines.sort_by_key(|line| (Reverse(line.count), &line.signature));
            let size = |line: &&&Line| line.example.as_ref().map_or(usize::MAX, |example| example.program.len());
            let smallest = lines.iter().min_by_key(size)?.signature.clone();
            let count = lines.iter().map(|line| line.count).sum();
            let signatures = lines.iter().map(|line| line.signature.clone()).collect();
            Some(CauseGroup { severity, disputed, oracle, rule, count, signatures, smallest })
        })
        .collect();
    groups.sort_by_key(|group| (group.severity, Reverse(group.count)));
    groups
}

/// What a signature has in common with others of its cause.
fn rule(line: &Line, is_shared: &dyn Fn(&Signature, &str) -> bool) -> String {
    let Signature { call, kind, text, .. } = &line.signature;
    let first = line.example.as_ref().and_then(|example| example.differences.first());
    let op = op_of(call);
    match Severity::of(kind) {
        Severity::Crash => line.signature.to_string(),
        Severity::Outcome | Severity::Text => {
            let message = normal(text);
            let rejects = |side: Option<&str>| side.is_some_and(|side| side.contains("rejected"));
            let mut sides = text.splitn(2, " / ");
            let what = match (rejects(sides.next()), rejects(sides.next())) {
                _ if Severity::of(kind) == Severity::Text => kind.as_str(),
                (false, true) => "rejects what is accepted",
                (true, false) => "accepts what is rejected",
                _ => "another outcome",
            };
            if is_shared(&line.signature, &message) { format!("{what}: {message}") } else { format!("{op}: {what}") }
        }
        Severity::Class => {
            let class = first.and_then(|first| class(&first.expected)).unwrap_or("that which is expected");
            format!("another class of rejection than {class}")
        }
        severity => {
            let dtypes = |first: &Difference| format!("{} expected, {} observed", first.expected, first.observed);
            let form = if call.ends_with(" out=") { ", out=" } else { "" };
            let what = match (severity, first) {
                (Severity::Dtype, Some(first)) => dtypes(first),
                (Severity::Values, _) => family(op).to_owned(),
                _ => format!("{}{form}", family(op)),
            };
            if text.is_empty() { what } else { format!("{what}: {text}") }
        }
    }
}

/// The operation of a call such as `add_` or `sum out=`.
fn op_of(call: &str) -> &str {
    let name = call.strip_suffix(" out=").unwrap_or(call);
    if Op::named(name).is_some() { name } else { name.strip_suffix('_').unwrap_or(name) }
}

fn family(op: &str) -> &'static str {
    match Op::named(op).map(|op| op.info().family()) {
        Some(Family::Pointwise) => "elementwise operations",
        Some(Family::Views) => "views and copies",
        Some(Family::Indexing) => "indexing",
        Some(Family::Products) => "products",
        Some(Family::Reductions) => "reductions",
        Some(Family::Losses) => "losses",
        Some(Family::Autograd) => "gradients",
        Some(Family::Sizes) => "functions of sizes",
        Some(Family::Dtypes) => "functions of dtypes",
        Some(Family::FrontEnd) => "functions of the Python front end",
        None => "inputs after the program",
    }
}

/// The class in a text such as `rejected (dtype): …`.
fn class(outcome: &str) -> Option<&str> {
    Some(outcome.strip_prefix("rejected (")?.split_once(')')?.0)
}

/// A text without what varies within one rule: quoted names, dtypes, numbers, and how many dimensions shapes have.
pub(super) fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after_word = normal.ends_with(|c: char| c.is_alphanumeric() || c == '#');
        let (piece, length) = match c {
            '\'' | '"' | '`' if !after_word => match quoted(rest, c) {
                Some(length) => ("'…'".to_owned(), length),
                None => (c.to_string(), 1),
            },
            '(' | '[' => match listed(rest) {
                Some(length) => ("(…)".to_owned(), length),
                None => (c.to_string(), 1),
            },
            c if c.is_alphanumeric() => {
                let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
                (word(&rest[..length]), length)
            }
            c => (c.to_string(), c.len_utf8()),
        };
        // Of several shapes after each other, how many there are says no more than how many dimensions they have.
        let again = piece == "(…)" && normal.trim_end_matches([',', ' ']).ends_with("(…)");
        if !again {
            normal.push_str(&piece);
        }
        rest = &rest[length..];
    }
    normal.trim_end().to_owned()
}

fn word(word: &str) -> String {
    if DType::ALL.iter().any(|dtype| dtype.to_string() == word) {
        return "#".to_owned();
    }
    let mut without = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            '0'..='9' if without.ends_with('#') => {}
            '0'..='9' => without.push('#'),
            c => without.push(c),
        }
    }
    without
}

/// The length of a quoted text at the beginning of another, quotes included.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let end = text[1..].find(quote)? + 2;
    let ends = !text[end..].starts_with(|c: char| c.is_alphanumeric());
    (ends && end <= 60).then_some(end)
}

/// The length of a list of numbers at the beginning of a text, brackets included.
fn listed(text: &str) -> Option<usize> {
    let end = text.find([')', ']'])?;
    let numbers = |c: char| c.is_ascii_digit() || matches!(c, '#' | ',' | ' ' | '-' | '?');
    text[1..end].chars().all(numbers).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aspect;

    fn line(call: &str, kind: &str, text: &str, count: usize, seen: (&str, &str), program: &str) -> Line {
        let difference = Difference {
            value: "r".to_owned(),
            aspect: Aspect::Values,
            by: String::new(),
            expected: seen.0.to_owned(),
            observed: seen.1.to_owned(),
        };
        let example =
            Example { program: program.to_owned(), differences: vec![difference], fault: None, stderr: String::new() };
        let (call, kind, text) = (call.to_owned(), kind.to_owned(), text.to_owned());
        let signature = Signature { oracle: Oracle::Reference, call, kind, text };
        Line { signature, known: None, count, first: 0, folder: None, not_reduced: false, example: Some(example) }
    }

    fn seen(lines: &[Line]) -> Vec<(Severity, String, usize, usize)> {
        let of = |group: CauseGroup| (group.severity, group.rule, group.count, group.signatures.len());
        groups(lines).into_iter().map(of).collect()
    }

    #[test]
    fn a_rule_of_several_operations_and_ranks_is_one_group() {
        let text = |shapes: &str| format!("a value / rejected (output-shape): output of shape {shapes}");
        let lines: Vec<Line> = [("add out=", "(#,) ()"), ("add out=", "(#,#)"), ("mul out=", "(#,#)"), ("eq_", "()")]
            .into_iter()
            .map(|(call, shapes)| line(call, "outcome", &text(shapes), 2, ("", ""), "p"))
            .collect();
        let rule = "rejects what is accepted: a value / rejected (output-shape): output of shape (…)";
        assert_eq!(seen(&lines), [(Severity::Outcome, rule.to_owned(), 8, 4)]);
        // Of two operations, it is no rule.
        let of = |op: &str, count, signatures| {
            (Severity::Outcome, format!("{op}: rejects what is accepted"), count, signatures)
        };
        assert_eq!(seen(&lines[..3]), [of("add", 4, 2), of("mul", 2, 1)]);
    }

    #[test]
    fn a_rejection_of_what_is_accepted_is_one_group_of_the_operation() {
        let lines = [
            line("pow", "outcome", "a value / rejected (argument): no", 3, ("", ""), "longer"),
            line("pow_", "outcome", "a value / rejected (dtype): never", 4, ("", ""), "p"),
            line("pow", "outcome", "rejected (dtype): never / a value", 1, ("", ""), "p"),
        ];
        let all = groups(&lines);
        let rules: Vec<&str> = all.iter().map(|group| group.rule.as_str()).collect();
        assert_eq!(rules, ["pow: rejects what is accepted", "pow: accepts what is rejected"]);
        assert_eq!(all[0].smallest.call, "pow_");
        assert_eq!(all[0].signatures[0].call, "pow_", "the most frequent comes first");
    }

    #[test]
    fn the_worst_comes_first_and_then_the_most_frequent() {
        let lines = [
            line("add", "message", "a / b", 9, ("", ""), "p"),
            line("add", "class", "", 9, ("rejected (dtype): x", "y"), "p"),
            line("sum", "class", "", 9, ("rejected (dtype): z", "y"), "p"),
            line("add", "outcome", "a value / rejected: no", 9, ("", ""), "p"),
            line("add", "dtype", "", 9, ("float32", "float64"), "p"),
            line("mul", "dtype", "", 1, ("int8", "int64"), "p"),
            line("sum", "dtype", "", 9, ("float32", "float64"), "p"),
            line("sum out=", "shape", "", 9, ("[1]", "[2]"), "p"),
            line("add", "values", "", 9, ("1", "2"), "p"),
            line("sum", "values", "", 10, ("1", "2"), "p"),
            line("any", "hang", "", 1, ("", ""), "p"),
        ];
        let rules: Vec<String> = groups(&lines).into_iter().map(|group| group.rule).collect();
        let expected = [
            "reference · any · hang",
            "reductions",
            "elementwise operations",
            "reductions, out=",
            "float32 expected, float64 observed",
            "int8 expected, int64 observed",
            "add: rejects what is accepted",
            "another class of rejection than dtype",
            "add: message",
        ];
        assert_eq!(rules, expected);
    }

    #[test]
    fn known_findings_are_in_no_group_and_disputed_ones_apart() {
        let known = Line { known: Some("cause".to_owned()), ..line("add", "values", "", 1, ("1", "2"), "p") };
        assert_eq!(groups(&[known]), []);
        let lines = [line("add", "disputed", "", 1, ("1", "2"), "p"), line("add", "values", "", 1, ("1", "2"), "p")];
        let disputed: Vec<bool> = groups(&lines).into_iter().map(|group| group.disputed).collect();
        assert_eq!(disputed, [false, true]);
    }

    #[test]
    fn what_varies_within_a_rule_is_left_out() {
        let same = [
            ("\"lt_cpu\" not implemented for '#'", "\"ge_cpu\" not implemented for 'Bool'"),
            ("shapes (#,#) (#,) () ", "shapes (#,) (#,#,#) "),
            ("it doesn't match [#, #]", "it doesn't match []"),
            ("int8 and 0-dimensional", "float64 and 12-dimensional"),
        ];
        for (one, other) in same {
            assert_eq!(normal(one), normal(other));
            assert!(normal(one).chars().any(char::is_alphabetic), "{one}");
        }
        assert_ne!(normal("no overlap"), normal("no shape"));
        assert_ne!(normal("f(a)"), normal("f(b)"));
    }
}
