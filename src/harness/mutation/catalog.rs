//! The faults, one a row: id, family, what it breaks, and how.

mod forms;
mod functions;
mod shapes;
mod texts;
mod values;

use crate::mutation::Mutant;

/// One row for each fault.
macro_rules! mutants {
    ($family:literal $($id:literal $what:literal $how:ident => $run:expr;)+) => {
        &[$($crate::mutation::Mutant {
            id: $id,
            family: $family,
            what: $what,
            how: $crate::mutation::planted::How::$how($run),
        }),+]
    };
}
use mutants;

/// All of them, family by family.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    let families = [
        values::ARITHMETIC,
        values::PLACES,
        values::REDUCTIONS,
        values::PRODUCTS,
        values::INDEXING,
        shapes::SHAPES,
        shapes::DTYPES,
        shapes::LAYOUT,
        forms::IN_PLACE,
        forms::OUT,
        forms::GRADIENTS,
        texts::REJECTIONS,
        texts::WORDS,
        texts::WARNINGS,
        texts::PROCESS,
    ];
    families.into_iter().flatten()
}

/// The faults of values and gradients, which are planted in the reference and the implementation alike.
pub fn common() -> impl Iterator<Item = &'static Mutant> {
    let families = [
        values::ARITHMETIC,
        values::PLACES,
        values::REDUCTIONS,
        values::PRODUCTS,
        values::INDEXING,
        forms::GRADIENTS,
        functions::FUNCTIONS,
        functions::DERIVATIVES,
    ];
    families.into_iter().flatten()
}

/// Breaks nothing: the control.
pub static NONE: &Mutant = &Mutant {
    id: "none",
    family: "control",
    what: "breaks nothing",
    how: crate::mutation::planted::How::Lies(crate::mutation::wrong_replies::honest),
};
