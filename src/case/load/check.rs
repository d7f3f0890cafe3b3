//! What must hold between records: ids are unique, references lead somewhere, clauses have the cases that they ask for.

use std::collections::HashMap;

use super::records::{List, References};
use super::{Fault, did_you_mean};
use crate::case::model::{Case, Clause, Location, Shows, Specification};

/// The ids of one list, with the places where they are defined. Those of faulty records are among them.
#[derive(Default)]
pub struct Ids {
    /// In the order of the files.
    pub defined: Vec<(String, Location)>,
    /// Whether a file could not be read at all, so that ids are missing.
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
            format!("no {noun} is called `{id}`{}", did_you_mean(id, ids.defined.iter().map(|(id, _)| id.as_str())))
        } else if reference.control && rejecting.get(id.as_str()) == Some(&true) {
            format!("the control `{id}` expects a rejection itself, so it proves nothing")
        } else {
            continue;
        };
        faults.push(Fault { location: reference.location.clone(), message });
    }
}

/// Notes the clauses that lack a case. A specification with other faults lacks cases, so this comes last.
pub fn coverage(specification: &Specification, faults: &mut Vec<Fault>) {
    for clause in &specification.clauses {
        let cases: Vec<&Case> = specification.cases.iter().filter(|case| case.clauses.contains(&clause.id)).collect();
        let mut fault = |message| faults.push(Fault { location: clause.location.clone(), message });
        if cases.is_empty() {
            fault(format!("no case names the clause `{}`", clause.id));
            continue;
        }
        for kind in missing(clause, &cases) {
            fault(format!("the clause `{}` has no case that {kind}", clause.id));
        }
    }
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
