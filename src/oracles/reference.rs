//! The reference as the harness asks it: it may go wrong over a program, and that is no end of what asks.
//!
//! A panic of the reference is caught here, and a program that asks for more work than its budget is stopped. Nothing else in
//! the harness calls the reference, so that a campaign, a check or a reduction goes on with the next program.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use broadcheck_reference::{BUDGET, OverBudget};

use crate::adapter::{Hello, Implementation};
use crate::program::{Input, Outcome, Program, Reply, Step, StepOutcome, TensorValue};
use crate::tensor::Shape;

/// The kind of findings over which the reference ends the process: nothing may ask it again.
pub const DEATH: &str = "reference death";

/// The reference as an implementation that answers whatever happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

/// A way of asking the reference for its reply to a program.
pub type Ask = fn(&Program) -> Result<Reply, Abort>;

/// The reason why the reference has no reply to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The step that it went wrong over; `None` for an input.
    pub step: Option<usize>,
    /// The way in which it went wrong.
    pub kind: AbortKind,
}

/// The way in which the reference goes wrong over a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortKind {
    /// It panicked, with this message.
    Panicked(String),
    /// The program takes more element operations than its budget.
    OverBudget(OverBudget),
    /// The program is malformed.
    Malformed(String),
    /// It ended the process whenever it was asked for this case: its stack overflowed, or memory ran out.
    Died {
        /// The number of the case.
        case: u64,
    },
}

impl AbortKind {
    /// The kind that signatures of findings use.
    pub fn name(&self) -> &'static str {
        match self {
            AbortKind::Panicked(_) => "reference panic",
            AbortKind::OverBudget(_) => "reference budget",
            AbortKind::Malformed(_) => "reference malformed",
            AbortKind::Died { .. } => DEATH,
        }
    }

    /// The message of the failure, without the name of the reference; empty where there is none.
    pub fn text(&self) -> String {
        match self {
            AbortKind::Panicked(text) | AbortKind::Malformed(text) => text.clone(),
            AbortKind::OverBudget(over) => over.to_string(),
            AbortKind::Died { .. } => String::new(),
        }
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            AbortKind::Panicked(text) => write!(f, "the reference panicked: {text}"),
            AbortKind::OverBudget(over) => write!(f, "the reference stopped: {over}"),
            AbortKind::Malformed(text) => write!(f, "the reference refused the program: {text}"),
            AbortKind::Died { case } => write!(f, "the reference ended the process twice, over case {case}"),
        }
    }
}

impl Abort {
    /// The reply of an implementation that went wrong in this way: no step has an outcome.
    pub fn reply(&self, program: &Program) -> Reply {
        let failed = StepOutcome::of(Outcome::Failed(self.to_string()));
        Reply { steps: vec![failed; program.steps.len()], inputs: Vec::new() }
    }
}

/// Asks the reference for its reply to a program.
///
/// # Errors
/// When it panics, or the program takes more work than its budget.
pub fn ask(program: &Program) -> Result<Reply, Abort> {
    ask_within(program, BUDGET)
}

/// The same with a budget of element operations.
///
/// # Errors
/// When it panics, or the program takes more work than that.
pub fn ask_within(program: &Program, budget: u64) -> Result<Reply, Abort> {
    ask_with(program, budget, |_| {}, None)
}

/// Asks the reference for its reply to a program in which each step is given what an implementation has made before it,
/// not what the reference has: a result that is within a tolerance stays within it, and what is made of it is judged by
/// the operands that it was made of.
///
/// # Errors
/// When it panics, or the program takes more work than its budget.
pub fn ask_given(program: &Program, observed: &Reply) -> Result<Reply, Abort> {
    ask_with(program, BUDGET, |_| {}, Some(observed))
}

/// The same with something to be done before each step, where a test plants a fault.
///
/// # Errors
/// When it panics, or the program takes more work than its budget.
pub fn ask_with(program: &Program, budget: u64, before: impl Fn(&Step), given: Option<&Reply>) -> Result<Reply, Abort> {
    let step = Cell::new(None);
    let abort = |kind| Abort { step: step.get(), kind };
    let run = || -> Result<Reply, AbortKind> {
        let mut session = Session::within(&program.inputs, budget).map_err(AbortKind::Malformed)?;
        let mut steps = Vec::with_capacity(program.steps.len());
        for (at, next) in program.steps.iter().enumerate() {
            step.set(Some(at));
            before(next);
            steps.push(session.0.step(next).map_err(AbortKind::OverBudget)?);
            if let Some(observed) = given.and_then(|given| given.steps.get(at)) {
                session.0.adopt(&observed.outcome);
            }
        }
        let inputs = if program.mutates() { session.0.inputs() } else { Vec::new() };
        Ok(Reply { steps, inputs })
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(reply) => reply.map_err(abort),
        Err(panic) => Err(abort(AbortKind::Panicked(message(&*panic)))),
    }
}

/// The message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

impl Implementation for Reference {
    fn hello(&mut self) -> Hello {
        broadcheck_reference::Reference.hello()
    }

    fn run(&mut self, program: &Program) -> Reply {
        ask(program).unwrap_or_else(|abort| abort.reply(program))
    }
}

/// A program that the reference runs step by step. A clone goes on by itself from where it is made.
#[derive(Clone, Debug)]
pub struct Session(broadcheck_reference::Session);

impl Session {
    /// A program with these inputs and no steps.
    ///
    /// # Errors
    /// When the data of an input does not fill its shape.
    pub fn new(inputs: &[Input]) -> Result<Session, String> {
        Session::within(inputs, BUDGET)
    }

    fn within(inputs: &[Input], budget: u64) -> Result<Session, String> {
        broadcheck_reference::Session::within(inputs, budget).map(Session)
    }

    /// Runs the next step; `None` if the reference goes wrong over it. The session is of no use then.
    pub fn step(&mut self, step: &Step) -> Option<StepOutcome> {
        catch_unwind(AssertUnwindSafe(|| self.0.step(step))).ok()?.ok()
    }

    /// Returns the element operations that the steps have taken; `None` if they are more than the budget.
    pub fn operations(&self) -> Option<u64> {
        self.0.operations()
    }

    /// The inputs as they are now.
    pub fn inputs(&mut self) -> Vec<TensorValue> {
        self.0.inputs()
    }

    /// The shape that an input has now; `None` for a value that is no input.
    pub fn input_shape(&self, value: usize) -> Option<&Shape> {
        self.0.input_shape(value)
    }
}
