//! Changes that make a rejected call work, each tried before it is proposed.
//!
//! A change is an edit of the text: an operand gets a view, a call gets an argument, or another call takes its place. What
//! `propose` returns is accepted by the same inference that rejected the original, and comes with the shape that it gives.

mod edits;
mod joins;
mod kinds;
mod lay;
mod placements;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::evaluate::Call;

pub(crate) use kinds::{is_elementwise, reduction_at};

/// A change that works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The line to write instead.
    pub code: String,
    /// The shape of its result.
    pub result: String,
    /// The reason why it works, or what it means.
    pub why: String,
}

/// A change that may work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The replaced places of the text, in their order, with what to write there.
    pub edits: Vec<(Range<usize>, String)>,
    /// What it means.
    pub why: String,
    /// The cost: small changes that keep the meaning come first.
    pub cost: u32,
}

impl Candidate {
    fn new(edits: Vec<(Range<usize>, String)>, why: impl Into<String>, cost: u32) -> Candidate {
        let mut edits = edits;
        edits.sort_by_key(|(span, _)| span.start);
        Candidate { edits, why: why.into(), cost }
    }

    /// The text with the edits made.
    pub fn apply(&self, source: &str) -> Option<String> {
        let mut text = String::with_capacity(source.len() + 16);
        let mut at = 0;
        for (span, new) in &self.edits {
            text.push_str(source.get(at..span.start)?);
            text.push_str(new);
            at = span.end;
        }
        text.push_str(source.get(at..)?);
        Some(text)
    }

    /// The line of the edited text that has the edit.
    fn line<'a>(&self, text: &'a str) -> &'a str {
        let start = self.edits.first().map_or(0, |(span, _)| span.start).min(text.len());
        let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let rest = &text[from..];
        rest.split('\n').next().unwrap_or(rest).trim()
    }
}

/// A tried change that works.
pub(crate) struct Tried {
    /// The text, which may have been changed in more places to work.
    pub source: String,
    /// The shape of its result as people read it.
    pub text: String,
    /// The sizes of the result of the call that was edited.
    pub sizes: Vec<i64>,
    /// True if a later call had to be changed, too.
    pub further: bool,
}

/// A change that works, and the whole text that it makes.
pub(crate) struct Proposed {
    /// The change.
    pub fix: Fix,
    /// The text.
    pub source: String,
}

/// The most changes that are proposed.
const MOST: usize = 4;

/// The most changes that are tried.
const MOST_TRIED: usize = 240;

/// The changes that make a call work, the smallest and most likely first. `attempt` evaluates a whole text, and returns the
/// result of its last call, or nothing if any call is rejected.
pub(crate) fn propose(
    source: &str,
    call: &Call,
    calls: &[Call],
    attempt: &mut dyn FnMut(&str) -> Option<Tried>,
) -> Vec<Proposed> {
    let mut candidates = kinds::candidates(source, call, calls);
    candidates.sort_by_key(|candidate| candidate.cost);
    let mut found: Vec<(u32, Proposed)> = Vec::new();
    for candidate in candidates.into_iter().take(MOST_TRIED) {
        let Some(text) = candidate.apply(source) else { continue };
        let Some(tried) = attempt(&text) else { continue };
        let code = candidate.line(&tried.source).to_owned();
        if found.iter().any(|(_, other)| other.fix.code == code) {
            continue;
        }
        let cost = candidate.cost + surprise(call, &tried.sizes) + if tried.further { 20 } else { 0 };
        let fix = Fix { code, result: tried.text, why: candidate.why };
        found.push((cost, Proposed { fix, source: tried.source }));
    }
    found.sort_by_key(|(cost, _)| *cost);
    let mut proposed: Vec<Proposed> = Vec::new();
    for (_, one) in found {
        // Of changes that differ in how they are written only, the first.
        let again = proposed.iter().any(|other| other.fix.result == one.fix.result && other.fix.why == one.fix.why);
        if !again && proposed.len() < MOST {
            proposed.push(one);
        }
    }
    proposed
}

/// The cost of a result that has another shape than each operand: people mostly mean to keep the shape of the largest.
fn surprise(call: &Call, sizes: &[i64]) -> u32 {
    if !kinds::is_elementwise(call) || call.operands.is_empty() {
        return 0;
    }
    let kept = call.operands.iter().any(|operand| operand.shape.sizes() == sizes);
    if kept { 0 } else { 25 }
}
