//! Checks between records: ids are unique, references lead somewhere, clauses have the cases that they ask for.

use std::collections::HashMap;

use super::records::{List, References};
use super::{Fault, did_you_mean};
use crate::case::model::{Aspect, Case, Clause, Location, Shows, Specification};

/// The ids of one list, with the places where they are defined. Those of faulty records are among them.
#[derive(Default)]
pub struct Ids {
    /// In the order of the files.
    pub defined: Vec<(String, Location)>,
    /// True if a file could not be read at all, so that ids are missing.
    pub incomplete: bool,
}

/// Notes the ids that two records share.
pub fn unique(list: List, ids: &Ids, faults: &mut Vec<Fault>) {
    let mut first = HashMap::new();
    for (id, location) in &ids.defined {
        if let Some(first) = first.get(id.as_str()) {
            let message = format!("the {} `{id}` is defined twice, first at {first}", list.noun());
            faults.push(Fault { location: location.clone(), message });
        } else {
            first.insert(id.as_str(), location);
        }
    }
}

/// Notes the references that lead nowhere, or to a case that is no control.
pub fn references(references: &References, ids: &HashMap<List, Ids>, cases: &[Case], faults: &mut Vec<Fault>) {
    let rejecting: HashMap<&str, bool> = cases.iter().map(|case| (case.id.as_str(), case.rejects())).collect();
    for reference in references {
        let (noun, id) = (reference.list.noun(), &reference.id);
        let ids = &ids[&reference.list];
        let message = if !ids.incomplete && !ids.defined.iter().any(|(defined, _)| defined == id) {
            format!("there is no {noun} `{id}`{}", did_you_mean(id, ids.defined.iter().map(|(id, _)| id.as_str())))
        } else if reference.control && rejecting.get(id.as_str()) == Some(&true) {
            format!("the control `{id}` expects a rejection itself: name a case that is accepted")
        } else {
            continue;
        };
        faults.push(Fault { location: reference.location.clone(), message });
    }
}

/// Notes the clauses that lack a case, and the cases that cannot contradict a clause that they name. A specification with
/// other faults lacks cases, so this comes last.
pub fn coverage(specification: &Specification, faults: &mut Vec<Fault>) {
    for clause in &specification.clauses {
        let cases: Vec<&Case> = specification.cases.iter().filter(|case| case.clauses.contains(&clause.id)).collect();
        let mut fault = |message| faults.push(Fault { location: clause.location.clone(), message });
        for message in of_sources(specification, clause) {
            fault(message);
        }
        match (cases.first(), &clause.cannot_be_shown) {
            (None, Some(_)) => continue,
            (Some(case), Some(_)) => {
                fault(format!(
                    "the clause `{}` is marked as one that cannot be shown, but the case `{}` names it",
                    clause.id, case.id
                ));
                continue;
            }
            (None, None) => {
                fault(format!("no case names the clause `{}`", clause.id));
                continue;
            }
            (Some(_), None) => {}
        }
        for kind in missing(clause, &cases) {
            fault(format!("the clause `{}` has no case that {kind}", clause.id));
        }
        let expected: Vec<Vec<Aspect>> = cases.iter().map(|case| expected_of(case, clause)).collect();
        for aspect in clause.about.iter().filter(|_| clause.about_is_explicit) {
            if !expected.iter().any(|aspects| aspects.contains(aspect)) {
                let name = aspect.name();
                fault(format!("the clause `{}` is about {name}, and no case of it expects any {name}", clause.id));
            }
        }
        for (case, aspects) in cases.iter().zip(&expected) {
            if !clause.about.iter().any(|aspect| aspects.contains(aspect)) {
                let about: Vec<&str> = clause.about.iter().map(|aspect| aspect.name()).collect();
                let message = format!(
                    "the case cannot contradict the clause `{}`, which is about {}: it expects none of that",
                    clause.id,
                    about.join(", ")
                );
                faults.push(Fault { location: case.location.clone(), message });
            }
        }
    }
}

/// The aspects that a case expects of the values that witness a clause.
fn expected_of(case: &Case, clause: &Clause) -> Vec<Aspect> {
    let says = case.document_says().filter(|(value, _)| case.witnesses(&clause.id, *value));
    says.flat_map(|(_, expectation)| expectation.aspects()).collect()
}

/// Returns the problems with the sources of a clause: a sentence of a document has a place, and a correction is for a
/// document.
fn of_sources(specification: &Specification, clause: &Clause) -> Vec<String> {
    let is_code = |id: &str| specification.documents.iter().any(|document| document.id == id && document.code);
    let mut faults = Vec::new();
    for source in &clause.sources {
        match (is_code(&source.doc), &source.at) {
            (false, None) => faults.push(format!(
                "the clause `{}` lacks its place in \"{}\" of {}: add `at`, such as `paragraph 2`",
                clause.id, source.section, source.doc
            )),
            (true, Some(_)) => {
                faults.push(format!("the clause `{}` has a place `at` in code, which moves: leave it out", clause.id));
            }
            _ => {}
        }
    }
    if clause.correction.is_some() && clause.sources.iter().all(|source| is_code(&source.doc)) {
        faults.push(format!("the clause `{}` has a `correction`, but no document as its source", clause.id));
    }
    faults
}

/// The kinds of case that a clause asks for and does not have.
fn missing(clause: &Clause, cases: &[&Case]) -> Vec<&'static str> {
    let missing = |shows: &Shows| match shows {
        Shows::Accept => cases.iter().all(|case| case.rejects()).then_some("accepts (no rejection expected)"),
        Shows::Reject => (!cases.iter().any(|case| case.rejects())).then_some("expects a rejection"),
        Shows::Claim => None,
    };
    clause.shows.iter().filter_map(missing).collect()
}
