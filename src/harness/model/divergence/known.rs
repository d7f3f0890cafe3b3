//! Whether what was found is a known divergence.

use super::Divergence;
use crate::adapter::{Fault, Hello};
use crate::model::finding::{Finding, Oracle};
use crate::program::Program;

/// The divergence that a finding in this implementation is: one of its version that applies, with the very signature. What
/// goes wrong in another way at the same place is not known. A step that reads an input which an earlier one left wrong is
/// what that one is.
pub fn known<'a>(divergences: &'a [Divergence], finding: &Finding, hello: &Hello) -> Option<&'a Divergence> {
    let of = |finding: &Finding| {
        divergences.iter().find(|divergence| {
            divergence.is_in(hello)
                && divergence.signature.iter().any(|pattern| pattern.matches(&finding.signature))
                && divergence.applies.iter().any(|applies| applies.matches(finding))
        })
    };
    of(finding).or_else(|| of(&finding.of_inputs_read()?))
}

/// The divergence that a difference between two releases is: where they differ, one of them differs from the reference, too.
/// It is what a divergence of either is to the reference.
pub fn known_between<'a>(
    divergences: &'a [Divergence],
    finding: &Finding,
    hello: &Hello,
    against: &Hello,
) -> Option<&'a Divergence> {
    known(divergences, finding, hello)
        .or_else(|| known(divergences, &finding.to_the_reference()?, hello))
        .or_else(|| known(divergences, &finding.of_the_other_release()?, against))
}

/// The divergence that an end of the implementation is, which does not say at which step of a program it came.
pub fn known_break<'a>(
    divergences: &'a [Divergence],
    program: &Program,
    fault: &Fault,
    hello: &Hello,
) -> Option<&'a Divergence> {
    (1..=program.steps.len()).find_map(|steps| {
        let cut = Program { inputs: program.inputs.clone(), steps: program.steps[..steps].to_vec() };
        known(divergences, &Finding::of_fault(Oracle::Reference, &cut, fault.clone()), hello)
    })
}
