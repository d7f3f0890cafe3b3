//! Exclusions: the programs that are left out, each for a reason that has a name. What can be made and run is a
//! [relaxation](crate::relaxations) instead.

use crate::program::Outcome;
use crate::relaxations::conditions::abandoned_operands;
use crate::relaxations::elements::{
    complex_half, division_traps, endless_trials, grown_bools, long_recurrences, uncountable_strides,
};
use crate::relaxations::families::scattered_batches;
use crate::relaxations::singular::freed_sizes;
use crate::relaxations::tracker::Scene;

macro_rules! exclusions {
    ($($(#[$doc:meta])* $variant:ident: $applies:ident($($of:ident),+),)+) => {
        /// A kind of step that is left out of programs, because right implementations need not agree on it or because
        /// the reference is known to lack it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Exclusion {
            $($(#[$doc])* $variant),+
        }

        impl Exclusion {
            /// Every one.
            pub const ALL: &[Exclusion] = &[$(Exclusion::$variant),+];

            /// Returns whether the last step of the scene is to be left out, as far as that can be decided before it is
            /// run, when there is no outcome, or after.
            pub(super) fn applies(self, scene: Scene, outcome: Option<&Outcome>) -> bool {
                match self { $(Exclusion::$variant => exclusions!(@ $applies, scene, outcome; $($of)+)),+ }
            }
        }
    };
    // What does not look at the outcome is the same before and after.
    (@ $applies:ident, $scene:ident, $outcome:ident; scene) => { $outcome.is_none() && $applies($scene) };
    (@ $applies:ident, $scene:ident, $outcome:ident; scene outcome) => { $applies($scene, $outcome) };
}

impl Exclusion {
    /// The exclusions for programs that the reference cannot run, or not in time.
    pub const GAPS: &[Exclusion] = &[Exclusion::LongRecurrences];
}

exclusions! {
    /// The use of a tensor that a rejected step has written to where its rules leave the elements open: the protocol does not
    /// tell what is in it.
    AbandonedOperands: abandoned_operands(scene),
    /// float16 with complex operands, and `complex` and `polar` of float16: the result is complex32, a dtype that broadcheck
    /// does not have.
    ComplexHalf: complex_half(scene),
    /// The least number of int32 and int64 in a division that is truncated, or in a least common multiple: divided by -1,
    /// libtorch's process ends with SIGFPE.
    DivisionTraps: division_traps(scene),
    /// `binomial` of a number of trials that is NaN: libtorch's loop does not end.
    EndlessTrials: endless_trials(scene),
    /// Polynomials of a degree beyond a few hundred, and the zeta function from far below zero: libtorch takes a step for each
    /// degree, and so does the reference.
    LongRecurrences: long_recurrences(scene),
    /// `tril` and `triu` of batches for an `out=` tensor whose batches do not lie one after the other: libtorch takes the
    /// stride between two matrices for that between all, and writes beyond the end of the memory.
    ScatteredBatches: scattered_batches(scene),
    /// `linalg_matrix_rank` of more than five dimensions with an `out=` that is its matrix: libtorch resizes it to sizes that it
    /// has freed.
    FreedSizes: freed_sizes(scene),
    /// An `out=` tensor of bools that has grown when the operation is rejected: a byte of new memory may be no bool, and
    /// reading it is undefined.
    GrownBools: grown_bools(scene, outcome),
    /// Tensors without elements whose row-major strides are more bytes than can be counted: whether libtorch refuses them, or
    /// makes strides of what is left of the overflow, depends on the tensors that it makes on its way.
    UncountableStrides: uncountable_strides(scene, outcome),
}
