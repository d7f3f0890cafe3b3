//! The budget of a program: how many element operations the reference does for it.
//!
//! A program can ask for more work than anyone waits for: a product of two large expanded matrices, a polynomial of degree
//! 10^18. The reference counts the element operations that it does, by the numbers of elements and never by the clock, so
//! that a program is over its budget on every machine or on none. Loops charge for their work before they begin, and before
//! they allocate anything.
//!
//! The meter belongs to the thread, and a loop that exceeds the budget unwinds to the step that it works for: the formulas of
//! single elements and the loops over them know nothing of machines, and have no result that says "stopped". Nothing but
//! [`Meter::run`] catches it.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The element operations that a program may take: a hundred times what the largest programs of the specification and of the
/// generator take. They take seconds at most.
pub const BUDGET: u64 = 1 << 27;

/// The steps of a recurrence that are charged for together.
pub(super) const STRIDE: usize = 1 << 10;

thread_local! {
    /// What is left of the budget of the program that this thread runs. Work outside of a program is free.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A program that asked for more work than its budget allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// The budget, in element operations.
    pub budget: u64,
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program takes more than {} element operations", self.budget)
    }
}

/// What unwinds from the loop to the meter.
struct Exceeded;

/// Charges for so many element operations of the program that runs, and ends its step if they are too many.
pub(super) fn charge(operations: usize) {
    let Some(left) = LEFT.get() else { return };
    let left = left.checked_sub(operations as u64);
    LEFT.set(Some(left.unwrap_or(0)));
    if left.is_none() {
        // Without the hook of panics: nothing is wrong that a backtrace would explain.
        resume_unwind(Box::new(Exceeded));
    }
}

/// Charges for `count` times so many element operations.
pub(super) fn charge_product(factors: &[usize]) {
    charge(factors.iter().fold(1, |product, &factor| product.saturating_mul(factor)));
}

/// The meter of a program: its budget, and what is left of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    budget: u64,
    /// `None` once it is exceeded.
    left: Option<u64>,
}

impl Meter {
    pub fn new(budget: u64) -> Meter {
        Meter { budget, left: Some(budget) }
    }

    /// Returns the operations that the program has taken; `None` if they are more than its budget.
    pub fn taken(&self) -> Option<u64> {
        self.left.map(|left| self.budget - left)
    }

    /// Runs a part of the program.
    ///
    /// # Errors
    /// When the budget is exceeded, by this part or by one before it.
    pub fn run<R>(&mut self, work: impl FnOnce() -> R) -> Result<R, OverBudget> {
        let over = OverBudget { budget: self.budget };
        let left = self.left.ok_or(over)?;
        let outer = LEFT.replace(Some(left));
        // What the work leaves half done is never looked at again: no other part of the program runs.
        let result = catch_unwind(AssertUnwindSafe(work));
        self.left = LEFT.replace(outer);
        match result {
            Ok(result) => Ok(result),
            Err(panic) if is_exceeded(&*panic) => {
                self.left = None;
                Err(over)
            }
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn is_exceeded(panic: &(dyn Any + Send)) -> bool {
    panic.is::<Exceeded>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_across_the_parts_of_a_program() {
        let mut meter = Meter::new(10);
        assert_eq!(meter.run(|| charge(4)), Ok(()));
        assert_eq!(meter.taken(), Some(4));
        assert_eq!(meter.run(|| charge(6)), Ok(()), "all of it may be spent");
        assert_eq!(meter.run(|| charge(1)), Err(OverBudget { budget: 10 }));
        assert_eq!(meter.taken(), None);
        assert_eq!(meter.run(|| 1), Err(OverBudget { budget: 10 }), "and no part runs after that");
    }

    #[test]
    fn a_part_that_is_too_much_is_not_begun() {
        let mut begun = false;
        let over = Meter::new(10).run(|| {
            charge_product(&[usize::MAX, 3]);
            begun = true;
        });
        assert!(over.is_err() && !begun);
    }

    #[test]
    fn other_panics_pass() {
        let panic = std::panic::catch_unwind(|| Meter::new(10).run(|| resume_unwind(Box::new("mine"))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"mine"));
        assert_eq!(LEFT.get(), None, "the next program on this thread has a budget of its own");
    }

    #[test]
    fn what_belongs_to_no_program_is_free() {
        charge(usize::MAX);
        assert_eq!(Meter::new(1).run(|| Meter::new(5).run(|| charge(5))), Ok(Ok(())), "nor to the one around it");
    }
}
