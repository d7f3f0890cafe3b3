//! The differences between two implementations, or two releases of one: value by value, grouped by the kind of
//! change, by statement and by operation.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::history::History;
use crate::harness::Aspect;
use crate::harness::model::event::{self, Agreement, Came, CaseStated, Exact, Generated, Judged, Verdict};

/// The largest relative difference of elements that are still the same number rounded in another order.
const ROUNDING: f64 = 1e-3;

/// The kind of a change, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It crashes, hangs or breaks the protocol now.
    Breaks,
    /// It does no longer.
    Works,
    /// A call that was accepted is rejected.
    NewlyRejected,
    /// A call that was rejected is accepted.
    NewlyAccepted,
    /// The shape.
    Shape,
    /// The dtype.
    Dtype,
    /// The elements.
    Values,
    /// The strides.
    Strides,
    /// The storage that is shared.
    Aliasing,
    /// The class of a rejection.
    Class,
    /// The text of a rejection.
    Message,
    /// The type of the exception.
    Raises,
    /// The warnings.
    Warnings,
    /// Elements, by no more than rounding.
    Rounding,
    /// Anything else.
    Other,
}

/// One value that is not what it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The case.
    pub case: String,
    /// The value, by name.
    pub value: String,
    /// The value before the change.
    pub before: String,
    /// The value after the change.
    pub after: String,
    /// The reason, if the change is a known one (`changes.yaml`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Changes of one kind, under one statement, in one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The kind of the changes.
    pub kind: Kind,
    /// The first statement of the cases.
    pub clause: String,
    /// The operation that is called.
    pub call: String,
    /// The program of the first change, as YAML.
    pub program: String,
    /// The changes, in the order of the specification.
    pub changes: Vec<Change>,
}

/// Generated programs whose outcomes changed in the same way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Programs {
    /// The kind of the change.
    pub kind: Kind,
    /// Their numbers.
    pub programs: Vec<u64>,
    /// The operations that the first of them calls.
    pub call: String,
    /// The outcome of the first of them before the change.
    pub before: String,
    /// Its outcome after the change.
    pub after: String,
}

/// Everything that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changes {
    /// The implementation that is compared with.
    pub before: String,
    /// The implementation that is compared.
    pub after: String,
    /// The number of cases that both support.
    pub cases: usize,
    /// The number of them that differ.
    pub differing: usize,
    /// The number of cases that the first alone does not support, which are not compared.
    pub unsupported_before: usize,
    /// The number of cases that the second alone does not support.
    pub unsupported_after: usize,
    /// Aspects that one of the two does not report, which are not compared.
    pub unreported: Vec<Aspect>,
    /// Kinds of changes that were to be ignored.
    pub ignored: Vec<Kind>,
    /// The number of generated programs that both have.
    pub generated: usize,
    /// The number of them that differ.
    pub generated_differing: usize,
    /// The number of cases with changes of each kind.
    pub kinds: BTreeMap<Kind, usize>,
    /// The cases.
    pub groups: Vec<Group>,
    /// The generated programs.
    pub programs: Vec<Programs>,
}

impl Kind {
    /// All of them, the gravest first.
    pub const ALL: &[Kind] = &[
        Kind::Breaks,
        Kind::Works,
        Kind::NewlyRejected,
        Kind::NewlyAccepted,
        Kind::Shape,
        Kind::Dtype,
        Kind::Values,
        Kind::Strides,
        Kind::Aliasing,
        Kind::Class,
        Kind::Message,
        Kind::Raises,
        Kind::Warnings,
        Kind::Rounding,
        Kind::Other,
    ];

    /// The name in JSON, as in `newly-rejected`.
    pub fn key(self) -> String {
        let json = serde_json::to_value(self).expect("a kind is a text");
        json.as_str().expect("a kind is a text").to_owned()
    }

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Breaks => "breaks",
            Kind::Works => "no longer breaks",
            Kind::NewlyRejected => "newly rejected",
            Kind::NewlyAccepted => "newly accepted",
            Kind::Shape => "shape",
            Kind::Dtype => "dtype",
            Kind::Values => "values",
            Kind::Strides => "strides",
            Kind::Aliasing => "aliasing",
            Kind::Class => "class of the rejection",
            Kind::Message => "message",
            Kind::Raises => "type of the exception",
            Kind::Warnings => "warnings",
            Kind::Rounding => "rounding",
            Kind::Other => "other",
        }
    }
}

/// A column of a history.
type Side<'a> = (&'a History, usize);

/// Returns the differences between two columns, of one history or of two on the same specification, except in the
/// `ignored` kinds. Only what both support, and both report, is compared.
pub fn between(before: Side, after: Side, ignored: &[Kind]) -> Changes {
    let unreported: BTreeSet<Aspect> = unreported(before).union(&unreported(after)).copied().collect();
    let mut changes = Changes {
        before: before.0.columns[before.1].label.clone(),
        after: after.0.columns[after.1].label.clone(),
        cases: 0,
        differing: 0,
        unsupported_before: 0,
        unsupported_after: 0,
        unreported: unreported.iter().copied().collect(),
        ignored: ignored.to_vec(),
        generated: 0,
        generated_differing: 0,
        kinds: BTreeMap::new(),
        groups: Vec::new(),
        programs: Vec::new(),
    };
    let mut groups: BTreeMap<(Kind, String, String), (&CaseStated, Vec<Change>)> = BTreeMap::new();
    for case in after.0.cases() {
        let judged = |(history, column): Side<'_>| history.judged(column, &case.id).cloned();
        let (Some(was), Some(is)) = (judged(before), judged(after)) else { continue };
        // Another program under the same name would differ in everything.
        if was.digest.program != is.digest.program {
            continue;
        }
        let lacks = |judged: &Judged| matches!(judged.verdict, Verdict::Unsupported { .. });
        match (lacks(&was), lacks(&is)) {
            (false, false) => changes.cases += 1,
            (was, is) => {
                changes.unsupported_before += usize::from(was && !is);
                changes.unsupported_after += usize::from(is && !was);
                continue;
            }
        }
        let mut found = of_case(&was, &is, &unreported);
        found.retain(|(kind, _)| !ignored.contains(kind));
        changes.differing += usize::from(!found.is_empty());
        let mut kinds: Vec<Kind> = found.iter().map(|(kind, _)| *kind).collect();
        kinds.sort();
        kinds.dedup();
        for kind in kinds {
            *changes.kinds.entry(kind).or_default() += 1;
        }
        for (kind, change) in found {
            let clause = case.clauses.first().cloned().unwrap_or_default();
            let key = (kind, clause, call_of(case, &change.value));
            groups.entry(key).or_insert((case, Vec::new())).1.push(change);
        }
    }
    let group = |((kind, clause, call), (case, changes)): ((Kind, String, String), (&CaseStated, Vec<Change>))| Group {
        kind,
        clause,
        call,
        program: case.program.clone(),
        changes,
    };
    changes.groups = groups.into_iter().map(group).collect();
    generated(before, after, &mut changes);
    changes
}

/// Compares every release with the one before, the oldest first. Releases without data are left out.
pub fn steps(history: &History) -> Vec<Changes> {
    let mut releases = history.releases();
    releases.retain(|at| history.columns[*at].came.is_ok());
    releases.windows(2).map(|pair| between((history, pair[0]), (history, pair[1]), &[])).collect()
}

/// Aspects that an implementation does not report, where its cases expect something of them.
fn unreported((history, column): Side<'_>) -> BTreeSet<Aspect> {
    let judged = history.cases().iter().filter_map(|case| history.judged(column, &case.id));
    judged.flat_map(|judged| judged.untold.iter().copied()).collect()
}

fn generated(before: Side, after: Side, changes: &mut Changes) {
    // Other programs under the same numbers would differ in everything.
    let made = |(history, column): Side<'_>| history.corpus(column).map(|corpus| corpus.digest.clone());
    if made(before).is_none() || made(before) != made(after) {
        return;
    }
    let (was, is) = (before.0.generated(before.1), after.0.generated(after.1));
    let mut groups: BTreeMap<Kind, Vec<u64>> = BTreeMap::new();
    for (number, was) in &was {
        let Some(is) = is.get(number) else { continue };
        let lacks = |generated: &Generated| matches!(generated.verdict, Agreement::Unsupported { .. });
        if lacks(was) || lacks(is) {
            continue;
        }
        changes.generated += 1;
        if let Some(kind) = of_program(was, is).filter(|kind| !changes.ignored.contains(kind)) {
            changes.generated_differing += 1;
            groups.entry(kind).or_default().push(*number);
        }
    }
    let outline = |generated: &Generated| match generated.outline.as_str() {
        "" => "no outcome".to_owned(),
        outline => outline.to_owned(),
    };
    changes.programs = groups
        .into_iter()
        .map(|(kind, programs)| Programs {
            kind,
            call: was[&programs[0]].calls.join(", "),
            before: outline(was[&programs[0]]),
            after: outline(is[&programs[0]]),
            programs,
        })
        .collect();
}

/// A digest shows that elements differ, and not by how much: by rounding, if the reference agrees with both.
fn of_program(was: &Generated, is: &Generated) -> Option<Kind> {
    if was.outline == is.outline && was.digest == is.digest {
        return None;
    }
    Some(match (was.outline.is_empty(), is.outline.is_empty()) {
        (false, true) => Kind::Breaks,
        (true, false) => Kind::Works,
        _ if was.outline == is.outline => match (&was.verdict, &is.verdict) {
            (Agreement::Agrees, Agreement::Agrees) => Kind::Rounding,
            _ => Kind::Values,
        },
        _ => {
            let rejections = |generated: &Generated| generated.outline.matches("= rejected: ").count();
            match rejections(is).cmp(&rejections(was)) {
                std::cmp::Ordering::Greater => Kind::NewlyRejected,
                std::cmp::Ordering::Less => Kind::NewlyAccepted,
                std::cmp::Ordering::Equal if rejections(is) > 0 => Kind::Message,
                std::cmp::Ordering::Equal => Kind::Other,
            }
        }
    })
}

/// The call that a value comes from; of an input that has changed, all of them.
fn call_of(case: &CaseStated, value: &str) -> String {
    let name = value.split(['.', ' ']).next().unwrap_or_default();
    match case.calls.iter().find(|call| call.value == name) {
        Some(call) => call.call.clone(),
        None => case.calls.iter().map(|call| call.call.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn of_case(was: &Judged, is: &Judged, unreported: &BTreeSet<Aspect>) -> Vec<(Kind, Change)> {
    let why = [is, was].into_iter().find_map(|judged| match &judged.verdict {
        Verdict::Diverges { kind: event::Kind::Changed, why, .. } => Some(why.clone()),
        _ => None,
    });
    let change = |value: &str, before: String, after: String| Change {
        case: is.case.clone(),
        value: value.to_owned(),
        before,
        after,
        why: why.clone(),
    };
    let broken = |judged: &Judged| match &judged.verdict {
        Verdict::Broken { fault, .. } => Some(fault.clone()),
        Verdict::Diverges { broken, .. } => broken.clone(),
        _ => None,
    };
    match (broken(was), broken(is)) {
        (None, None) => {}
        (Some(_), Some(_)) => return Vec::new(),
        (None, Some(after)) => return vec![(Kind::Breaks, change("", "runs".to_owned(), after))],
        (Some(before), None) => return vec![(Kind::Works, change("", before, "runs".to_owned()))],
    }
    let names = |judged: &Judged| judged.exact.iter().map(|exact| exact.value.clone()).collect::<Vec<_>>();
    let mut all = names(was);
    all.extend(names(is).into_iter().filter(|name| !all.contains(name)).collect::<Vec<_>>());
    let of = |judged: &'_ Judged, name: &str| judged.exact.iter().find(|exact| exact.value == name).cloned();
    let mut found = Vec::new();
    for name in all {
        let (before, after) = (of(was, &name), of(is, &name));
        if before == after {
            continue;
        }
        let text = |exact: &Option<Exact>| exact.as_ref().map_or("as it was".to_owned(), show);
        let kinds = kinds(before.as_ref(), after.as_ref(), unreported);
        found.extend(kinds.into_iter().map(|kind| (kind, change(&name, text(&before), text(&after)))));
    }
    // A step that was blocked by a missing value follows from the outcome of that value.
    let follows = |change: &Change| change.before.starts_with("not run") || change.after.starts_with("not run");
    if found.iter().any(|(_, change)| !follows(change)) {
        found.retain(|(_, change)| !follows(change));
    }
    found
}

fn kinds(before: Option<&Exact>, after: Option<&Exact>, unreported: &BTreeSet<Aspect>) -> Vec<Kind> {
    let (Some(before), Some(after)) = (before, after) else { return vec![Kind::Values] };
    let reported = |aspect: Aspect| !unreported.contains(&aspect);
    let mut kinds = Vec::new();
    match (&before.is, &after.is) {
        (was, is) if was == is => {}
        (
            Came::Tensor { dtype, shape, strides, storage, elements },
            Came::Tensor {
                dtype: dtype_is,
                shape: shape_is,
                strides: strides_is,
                storage: storage_is,
                elements: elements_is,
            },
        ) => {
            if shape != shape_is {
                kinds.push(Kind::Shape);
            }
            if dtype != dtype_is {
                kinds.push(Kind::Dtype);
            }
            if kinds.is_empty() && elements != elements_is && reported(Aspect::Values) {
                kinds.push(if is_rounding(elements, elements_is) { Kind::Rounding } else { Kind::Values });
            }
            let both_reported = strides.is_some() && strides_is.is_some() && reported(Aspect::Strides);
            if kinds.is_empty() && strides != strides_is && both_reported {
                kinds.push(Kind::Strides);
            }
            if storage != storage_is && reported(Aspect::Aliasing) {
                kinds.push(Kind::Aliasing);
            }
        }
        (
            Came::Rejected { class, message, raises },
            Came::Rejected { class: class_is, message: message_is, raises: raises_is },
        ) => {
            if class.is_some() && class_is.is_some() && class != class_is {
                kinds.push(Kind::Class);
            }
            if message != message_is && reported(Aspect::Message) {
                kinds.push(Kind::Message);
            }
            if raises.is_some() && raises_is.is_some() && raises != raises_is && reported(Aspect::Raises) {
                kinds.push(Kind::Raises);
            }
        }
        (Came::Rejected { .. }, _) => kinds.push(Kind::NewlyAccepted),
        (_, Came::Rejected { .. }) => kinds.push(Kind::NewlyRejected),
        (Came::Other(_), Came::Other(_)) => kinds.push(Kind::Values),
        _ => kinds.push(Kind::Other),
    }
    if before.warnings != after.warnings && reported(Aspect::Warnings) {
        kinds.push(Kind::Warnings);
    }
    kinds
}

/// Returns whether all elements are numbers that differ by no more than rounding.
fn is_rounding(before: &str, after: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        let parts = text.split(['[', ']', ',', ' ']).filter(|part| !part.is_empty());
        parts.map(str::to_owned).collect()
    };
    let (before, after) = (parts(before), parts(after));
    let close = |a: f64, b: f64| a == b || (a - b).abs() <= ROUNDING * a.abs().max(b.abs());
    before.len() == after.len()
        && before.iter().zip(&after).all(|(a, b)| match (number(a), number(b)) {
            _ if a == b => true,
            (Some(a), Some(b)) => close(a.0, b.0) && close(a.1, b.1),
            // Digests of what is not written out.
            (None, None) => a.len() == 64 && b.len() == 64,
            _ => false,
        })
}

/// An element with a point, as its real and imaginary part. Integers are equal or not.
fn number(text: &str) -> Option<(f64, f64)> {
    let Some(complex) = text.strip_suffix('j') else {
        return text.contains(['.', 'e']).then(|| text.parse().ok()).flatten().map(|real| (real, 0.0));
    };
    let signs = complex.char_indices().rev().filter(|(_, c)| matches!(c, '+' | '-'));
    let at = signs.map(|(at, _)| at).find(|at| *at > 0 && !complex[..*at].ends_with('e'))?;
    Some((complex[..at].parse().ok()?, complex[at..].parse().ok()?))
}

/// Formats the outcome of a value in a line.
pub fn show(exact: &Exact) -> String {
    let text = match &exact.is {
        Came::Tensor { dtype, shape, strides, storage, elements } => {
            let strides = strides.as_ref().map_or(String::new(), |strides| format!(" strides {strides:?}"));
            let storage = if storage == "in a storage of its own" { String::new() } else { format!(" {storage}") };
            format!("{dtype} {shape:?} {elements}{strides}{storage}")
        }
        Came::Other(text) => text.clone(),
        Came::Rejected { message, .. } => format!("rejected: {message}"),
        Came::NotRun { missing } => format!("not run, for {missing} is missing"),
        Came::Unsupported(what) => format!("unsupported: {what}"),
        Came::Failed(message) => format!("the adapter failed: {message}"),
    };
    let warnings: String = exact.warnings.iter().map(|warning| format!("; warning: {warning}")).collect();
    text + &warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[i64], elements: &str) -> Exact {
        let is = Came::Tensor {
            dtype: "float32".to_owned(),
            shape: shape.to_vec(),
            strides: None,
            storage: "in a storage of its own".to_owned(),
            elements: elements.to_owned(),
        };
        Exact { value: "r".to_owned(), is, warnings: Vec::new(), categories: Vec::new() }
    }

    fn rejected(message: &str) -> Exact {
        let is = Came::Rejected { class: None, message: message.to_owned(), raises: None };
        Exact { value: "r".to_owned(), is, warnings: Vec::new(), categories: Vec::new() }
    }

    #[test]
    fn changes_are_distinguished() {
        let of = |before: Exact, after: Exact| kinds(Some(&before), Some(&after), &BTreeSet::new());
        let value = || tensor(&[2], "[1.0, 2.0]");
        assert_eq!(of(value(), value()), []);
        assert_eq!(of(value(), tensor(&[1, 2], "[[1.0, 2.0]]")), [Kind::Shape]);
        assert_eq!(of(value(), tensor(&[2], "[1.0, 3.0]")), [Kind::Values]);
        assert_eq!(of(value(), tensor(&[2], "[1.0, nan]")), [Kind::Values]);
        assert_eq!(of(value(), tensor(&[2], "[1.0, 2.0000002]")), [Kind::Rounding]);
        assert_eq!(of(tensor(&[1], "[100000]"), tensor(&[1], "[100001]")), [Kind::Values]);
        assert_eq!(of(tensor(&[1], "[true]"), tensor(&[1], "[false]")), [Kind::Values]);
        assert_eq!(of(tensor(&[1], "[1.0-2.0e-5j]"), tensor(&[1], "[1.0-2.00001e-5j]")), [Kind::Rounding]);
        assert_eq!(of(value(), rejected("no")), [Kind::NewlyRejected]);
        assert_eq!(of(rejected("no"), value()), [Kind::NewlyAccepted]);
        assert_eq!(of(rejected("no"), rejected("not so")), [Kind::Message]);
        let warned = Exact { warnings: vec!["w".to_owned()], ..value() };
        assert_eq!(of(value(), warned), [Kind::Warnings]);
    }

    #[test]
    fn what_one_of_them_does_not_report_is_not_compared() {
        let untold = [Aspect::Message, Aspect::Warnings, Aspect::Aliasing].into();
        let of = |before: &Exact, after: &Exact| kinds(Some(before), Some(after), &untold);
        let class = |message: &str, class: &str| {
            let class = Some(class.to_owned());
            Exact { is: Came::Rejected { class, message: message.to_owned(), raises: None }, ..rejected("") }
        };
        assert_eq!(of(&rejected("no"), &rejected("not so")), []);
        assert_eq!(of(&class("no", "shape"), &class("not so", "dtype")), [Kind::Class]);
        assert_eq!(of(&class("no", "shape"), &rejected("not so")), [], "an unknown class is not a different class");
        let warned = Exact { warnings: vec!["w".to_owned()], ..tensor(&[1], "[1.0]") };
        assert_eq!(of(&tensor(&[1], "[1.0]"), &warned), []);
        let Came::Tensor { dtype, shape, elements, .. } = warned.is.clone() else { unreachable!() };
        let view = Came::Tensor { dtype, shape, strides: Some(vec![1]), storage: "of x".to_owned(), elements };
        assert_eq!(of(&warned, &Exact { is: view, ..warned.clone() }), []);
    }
}
