//! A case that shows a divergence: what is pinned of it, and whether it is what is seen.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::case::Releases;
use crate::model::event::{Came, Exact};
use crate::{Aspect, Difference};

/// What is observed of each value, in each aspect that differs.
pub type Observed = BTreeMap<String, BTreeMap<Aspect, String>>;

/// A case that shows a divergence, and what was observed there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// The case.
    pub case: String,
    /// The releases in which it was observed, if not in all releases of the divergence.
    #[serde(default)]
    pub releases: Option<Releases>,
    /// The observation for each value and each aspect that differs, as events have it. `*` at the end of a text stands
    /// for elements that are not determined, such as uninitialised memory.
    #[serde(default)]
    pub observed: Observed,
    /// The way in which the implementation broke, if it does not survive the case.
    #[serde(default)]
    pub broken: Option<String>,
    /// The reason why some processors give another outcome, where no part of the build that the implementation reports tells
    /// them apart: the one in `elsewhere`, or without that the expected one. Any third outcome is a failure as ever.
    #[serde(default)]
    pub some_processors: Option<String>,
    /// The observation on those processors, if it is not as expected either.
    #[serde(default)]
    pub elsewhere: Observed,
    /// Whether it is one of libtorch's, met below a front end of it. The case may pass there, or differ otherwise.
    #[serde(skip)]
    pub inherited: bool,
}

impl Witness {
    /// Returns whether it was observed in this version, if the divergence was.
    pub(super) fn is_in(&self, version: &str) -> bool {
        self.releases.as_ref().is_none_or(|releases| releases.contain(version))
    }
}

/// Returns the reason why the differences of a case are not exactly the pinned ones; `None` if they are. Each aspect that
/// differs has to be pinned, with the observed text, and each pinned aspect has to differ.
pub fn mismatch(witness: &Witness, differences: &[Difference], exact: &[Exact]) -> Option<String> {
    if let Some(broken) = &witness.broken {
        return Some(format!("an answer, where it is pinned to break: {broken}"));
    }
    let mut seen: BTreeMap<(String, Aspect), String> = BTreeMap::new();
    for one in differences {
        let value = value_of(&one.value).to_owned();
        let text = observed(exact, &value, one.aspect);
        seen.insert((value, one.aspect), text);
    }
    let other = || (!witness.elsewhere.is_empty()).then(|| otherwise(witness, &witness.elsewhere, &seen));
    otherwise(witness, &witness.observed, &seen).filter(|_| other() != Some(None))
}

/// Returns the reason why what was seen is not exactly what is pinned.
fn otherwise(witness: &Witness, observed: &Observed, seen: &BTreeMap<(String, Aspect), String>) -> Option<String> {
    for ((value, aspect), text) in seen {
        match observed.get(value).and_then(|aspects| aspects.get(aspect)) {
            None => return Some(format!("{value}: {} is not pinned, and is {text}", aspect.name())),
            Some(pinned) if !is_pinned(pinned, text) => {
                return Some(format!("{value}: {} is pinned as {pinned}, and is {text}", aspect.name()));
            }
            Some(_) => {}
        }
    }
    let pinned = observed.iter().flat_map(|(value, aspects)| aspects.keys().map(move |aspect| (value, aspect)));
    // A mode may be judged on fewer aspects than libtorch is.
    for (value, aspect) in pinned.filter(|_| !witness.inherited) {
        if !seen.contains_key(&(value.clone(), *aspect)) {
            return Some(format!(
                "{value}: {} is pinned, and is as expected: remove it, or run `check --pin`",
                aspect.name()
            ));
        }
    }
    None
}

/// The name of the value that a difference is about. The reference's differences call an input `x after`.
pub(crate) fn value_of(name: &str) -> &str {
    name.strip_suffix(" after").unwrap_or(name)
}

/// Returns the observation of a value in one aspect, as events have it.
pub fn observed(exact: &[Exact], value: &str, aspect: Aspect) -> String {
    let after = format!("{value} after");
    let found = exact.iter().find(|one| one.value == *value || one.value == after);
    let Some(one) = found else {
        // Several results have a name each.
        let is_part = |one: &&Exact| one.value.strip_prefix(value).is_some_and(|rest| rest.starts_with('.'));
        let parts: Vec<String> =
            exact.iter().filter(is_part).map(|part| observed(exact, &part.value, aspect)).collect();
        return if parts.is_empty() { "unchanged".to_owned() } else { parts.join("; ") };
    };
    match (&one.is, aspect) {
        (_, Aspect::Warnings) => {
            let categories = one.categories.iter().map(|category| format!("{category}: "));
            let categories = categories.chain(std::iter::repeat(String::new()));
            let warnings = categories.zip(&one.warnings).map(|(category, text)| category + text);
            warnings.collect::<Vec<_>>().join(" | ")
        }
        (Came::Tensor { shape, .. }, Aspect::Shape) => format!("{shape:?}"),
        (Came::Tensor { dtype, .. }, Aspect::Dtype) => dtype.clone(),
        (Came::Tensor { strides, .. }, Aspect::Strides) => {
            strides.as_ref().map_or("not told".to_owned(), |strides| format!("{strides:?}"))
        }
        (Came::Tensor { storage, .. }, Aspect::Aliasing) => storage.clone(),
        (Came::Tensor { elements, .. }, Aspect::Values) => elements.clone(),
        (Came::Tensor { dtype, shape, elements, .. }, _) => format!("{dtype} {shape:?} {elements}"),
        (Came::Rejected { class, .. }, Aspect::Class) => class.clone().unwrap_or("unknown".to_owned()),
        (Came::Rejected { message, .. }, Aspect::Message) => message.clone(),
        (Came::Rejected { raises, .. }, Aspect::Raises) => raises.clone().unwrap_or("not told".to_owned()),
        (Came::Rejected { message, .. }, _) => format!("rejected: {message}"),
        (Came::Other(text), _) => text.clone(),
        (Came::NotRun { missing }, _) => format!("not run: {missing} is missing"),
        (Came::Unsupported(what), _) => format!("unsupported: {what}"),
        (Came::Failed(what), _) => format!("the adapter failed: {what}"),
    }
}

pub(crate) fn is_pinned(pinned: &str, seen: &str) -> bool {
    pinned.strip_suffix('*').map_or(pinned == seen, |beginning| seen.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_exact_in_each_aspect_that_it_names_and_covers_no_other() {
        let pinned = |aspects: &[(Aspect, &str)]| {
            let aspects = aspects.iter().map(|(aspect, text)| (*aspect, (*text).to_owned())).collect();
            let observed = [("r".to_owned(), aspects)].into();
            Witness { case: "c".to_owned(), observed, ..Witness::default() }
        };
        let exact = |elements: &str, strides: &[i64], warnings: &[&str]| Exact {
            value: "r".to_owned(),
            is: Came::Tensor {
                dtype: "float32".to_owned(),
                shape: vec![2],
                strides: Some(strides.to_vec()),
                storage: "in a storage of its own".to_owned(),
                elements: elements.to_owned(),
            },
            warnings: warnings.iter().map(|warning| (*warning).to_owned()).collect(),
            categories: Vec::new(),
        };
        let differs = |value: &str, aspect: Aspect| Difference {
            value: value.to_owned(),
            aspect,
            by: String::new(),
            expected: String::new(),
            observed: String::new(),
        };
        let matches = |witness: &Witness, differences: &[Difference], exact: &Exact| {
            mismatch(witness, differences, std::slice::from_ref(exact)).is_none()
        };
        let (strides, values) = (Aspect::Strides, Aspect::Values);
        let layout = pinned(&[(strides, "[2]")]);
        assert!(matches(&layout, &[differs("r", strides)], &exact("[1.0, 2.0]", &[2], &[])));
        assert!(!matches(&layout, &[differs("r", strides)], &exact("[1.0, 2.0]", &[3], &[])), "other strides");
        assert!(!matches(&layout, &[differs("r", strides), differs("r", values)], &exact("[1.0]", &[2], &[])));
        assert!(!matches(&layout, &[differs("r", strides), differs("q", strides)], &exact("[1.0]", &[2], &[])));
        assert!(!matches(&layout, &[], &exact("[1.0]", &[2], &[])), "it is gone");
        let warned = pinned(&[(Aspect::Warnings, "a | b")]);
        assert!(matches(&warned, &[differs("r", Aspect::Warnings)], &exact("[1.0]", &[1], &["a", "b"])));
        assert!(!matches(&warned, &[differs("r", Aspect::Warnings)], &exact("[1.0]", &[1], &["a"])));
        let memory = pinned(&[(Aspect::Outcome, "float32 [2] *")]);
        assert!(matches(&memory, &[differs("r", Aspect::Outcome)], &exact("[3.0, 4.0]", &[1], &[])));
        let after = Exact { value: "r after".to_owned(), ..exact("[3.0]", &[1], &[]) };
        assert!(matches(&pinned(&[(values, "[3.0]")]), &[differs("r after", values)], &after), "an input");
    }

    #[test]
    fn some_processors_have_one_other_outcome() {
        let values = |text: &str| [("r".to_owned(), [(Aspect::Values, text.to_owned())].into())].into();
        let witness = Witness { observed: values("[1.0]"), elsewhere: values("[2.0]"), ..Witness::default() };
        let differs = Difference {
            value: "r".to_owned(),
            aspect: Aspect::Values,
            by: String::new(),
            expected: String::new(),
            observed: String::new(),
        };
        let exact = |elements: &str| Exact {
            value: "r".to_owned(),
            is: Came::Tensor {
                dtype: "float32".to_owned(),
                shape: vec![1],
                strides: None,
                storage: String::new(),
                elements: elements.to_owned(),
            },
            warnings: Vec::new(),
            categories: Vec::new(),
        };
        let told = |elements: &str| mismatch(&witness, std::slice::from_ref(&differs), &[exact(elements)]);
        assert_eq!((told("[1.0]"), told("[2.0]")), (None, None));
        assert!(told("[3.0]").is_some_and(|why| why.contains("pinned as [1.0], and is [3.0]")));
        assert!(mismatch(&witness, &[], &[exact("[1.0]")]).is_some(), "it is gone");
    }
}
