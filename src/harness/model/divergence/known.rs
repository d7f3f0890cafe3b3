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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::case::load_program;
    use crate::reference::Reference;
    use crate::{Aspect, Difference};

    /// A release differs from the next one where one of them is known to differ from the reference, and in no other way.
    #[test]
    fn a_difference_between_releases_is_what_either_is_known_for() {
        use crate::adapter::Implementation as _;

        let known = "[{id: rounds, releases: ['2.0'], kind: bug, link: unreported, why: w, applies: [{ops: [add]}], \
                     signature: [{oracle: reference, call: add, kind: message, text: 'right / wrong'}]}]";
        let divergences: Vec<Divergence> = serde_yaml::from_str(known).unwrap();
        let release = |version: &str| Hello { version: version.to_owned(), ..Reference.hello() };
        let program = load_program(Path::new("test.yaml"), "{x: {shape: [1]}, r: {add: [x, x]}}").unwrap();
        let seen = |[expected, observed]: [&str; 2], of: &str, against: &str| {
            let difference = Difference {
                value: "r".to_owned(),
                aspect: Aspect::Message,
                by: against.to_owned(),
                expected: expected.to_owned(),
                observed: observed.to_owned(),
            };
            let finding = Finding::of_differences(Oracle::Release, &program, vec![difference]).unwrap();
            assert_eq!(super::known(&divergences, &finding, &release(of)), None, "it is no signature of this oracle");
            known_between(&divergences, &finding, &release(of), &release(against)).is_some()
        };
        assert!(seen(["right", "wrong"], "2.0", "1.0"), "it came");
        assert!(seen(["wrong", "right"], "3.0", "2.0"), "it went");
        assert!(!seen(["right", "wrong"], "3.0", "1.0"), "neither release has it");
        assert!(!seen(["right", "wrong"], "3.0", "2.0"), "the other one has it, and was right");
        assert!(!seen(["right", "worse"], "2.0", "1.0"), "it is another message");
    }
}
