//! Broadcasting by its definition, within one implementation: programs that mean the same have the same outcome.
//!
//! A [`FollowUp`] is a program that says by other means what one step of a program says: with operands that were expanded
//! by hand, in another form, from another layout in memory. Both are run on the same implementation, so nothing here
//! depends on how the reference computes, and a function that is compared within a tolerance elsewhere is held to itself
//! here. What the documents leave open is left out by the rule that would ask for it; each rule says where.

mod broadcast;
mod defaults;
mod dimensions;
mod forms;
mod gradient;
mod judge;
mod layout;
mod promoted;
pub mod reference_exceptions;
mod siblings;
mod step_context;
mod synonym;
#[cfg(test)]
mod tests;

use crate::program::{Outcome, Program, Reply, Step, StepOutcome};

use crate::{Aspect, Difference, format};
use judge::OutputRelation;
use step_context::StepContext;

/// The most follow-up programs of one program that [`follow_ups`] chooses. Each costs as much as the program itself.
pub const MOST: usize = 4;

/// The most elements that a follow-up may copy.
const LARGEST: usize = 1 << 14;

/// The most elements that the outer product of the operands of a follow-up may have.
const LARGEST_PRODUCT: usize = 1 << 21;

/// The most bytes that the values of a program may take together for it to have follow-up programs. An expanded tensor can show
/// millions of elements, and every follow-up would send them again.
const HEAVIEST: usize = 1 << 20;

/// A program that by definition means the same as another one in one step of it.
#[derive(Clone, Debug)]
pub struct FollowUp {
    /// The reason why it means the same.
    pub rule: Relation,
    /// The step of the other program.
    pub step: usize,
    /// The program to run, on the implementation that ran the other program.
    pub program: Program,
    relation: OutputRelation,
}

macro_rules! relations {
    ($($(#[$doc:meta])* $variant:ident $name:literal: $make:path,)+) => {
        /// The reasons why two programs mean the same.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Relation {
            $($(#[$doc])* $variant),+
        }

        impl Relation {
            /// Every rule.
            pub const ALL: &[Relation] = &[$(Relation::$variant),+];

            /// The name that findings use.
            pub fn name(self) -> &'static str {
                match self { $(Relation::$variant => $name),+ }
            }

            /// The rule with this name.
            pub fn named(name: &str) -> Option<Relation> {
                Relation::ALL.iter().find(|rule| rule.name() == name).copied()
            }

            /// Returns whether the elements are the same, or only what is accepted, the shape and the dtype.
            pub fn is_of_elements(self) -> bool {
                !matches!(self, Relation::Sibling | Relation::Resized)
            }

            /// Returns the follow-ups that it makes of one step.
            fn apply(self, context: &StepContext) -> Vec<FollowUp> {
                let made: Vec<(Program, OutputRelation)> = match self { $(Relation::$variant => $make(context).into_iter().collect()),+ };
                made.into_iter().map(|(program, relation)| FollowUp { rule: self, step: context.at, program, relation }).collect()
            }
        }
    };
}

relations! {
    /// `op(x, y)` is `op(x.expand(s).contiguous(), y.expand(s).contiguous())`, bit for bit, or within the tolerance of a
    /// sum. It does not hold where a tensor without dimensions meets another dtype, since it has a lower rank in type
    /// promotion, which it would lose; nor for a second operand of one element that 16-bit numbers meet unrounded.
    Expanded "expanded": broadcast::expanded,
    /// An elementwise result does not depend on the number of elements: twice the operands, one after the other, have twice
    /// the result. It does not hold for a result that is reduced afterwards.
    Repeated "repeated": broadcast::repeated,
    /// `x.op_(y)` is `x.copy_(op(x, y))`, and is refused if that is. Not where the target shares memory with an operand or
    /// with itself, and not where autograd refuses to write to a leaf.
    InPlace "in-place": forms::in_place,
    /// `op(x, y, out=z)` is `z.copy_(op(x, y))` once `z` has the shape. A reduction to another dtype is not, since it
    /// adds up in that dtype; nor is what shares memory with an operand, unless it reduces that operand itself.
    Out "out": forms::out,
    /// An accepted step writes what its functional form returns, though its target shares memory with an operand, or with
    /// itself: it is rejected, or it has one defined result.
    Aliased "aliased": forms::aliased,
    /// A rejected step leaves its target as it was, but that an `out=` tensor may have been resized.
    Refused "refused": forms::refused,
    /// Operands in another layout in memory have the same result, and the same refusal. Not what is asked for memory
    /// rather than elements: `view`, `as_strided`; not what is refused for the memory; and not what is put at indices,
    /// which may be the same.
    Layout "layout": layout::layout,
    /// The gradient of an operand is that of its expansion, summed to its size, and is refused if that is. Values are
    /// compared only where no number is large, as the order of the sum decides what is lost of others.
    Gradient "gradient": gradient::gradient,
    /// A number is a tensor without dimensions, where the other operands decide the dtype. Only for numbers that every
    /// dtype has, since it is open where others are rounded.
    Number "number": synonym::number,
    /// Two documented names for one thing: `expand` and `broadcast_to`, `lt(x, y)` and `gt(y, x)`, `mm` and `matmul` of
    /// matrices.
    Synonym "synonym": synonym::synonym,
    /// An elementwise operation on operands with their dimensions in reverse order has the result in reverse order.
    Permuted "permuted": dimensions::permuted,
    /// An elementwise operation on operands with one more dimension in front has the result with one more.
    Batched "batched": dimensions::batched,
    /// A tensor without dimensions is one of one element, next to a tensor of the same dtype that has dimensions.
    OneElement "one-element": dimensions::one_element,
    /// Operands that broadcast to each other first, and then with the first of them, have the same result: broadcasting is
    /// associative. It does not hold for a tensor without dimensions next to another dtype, as for `expanded`.
    Regrouped "regrouped": broadcast::regrouped,
    /// Operands of different dtypes are converted to the dtype that promotion says, and then combined; the gradient of an
    /// operand is the same if the caller converts another, and is refused if that is. Not for elements that the dtype does not
    /// hold, and not where ranks or numbers take part in promotion.
    Promoted "promoted": promoted::promoted,
    /// `result_type(x, y)` is the dtype of `x + y`, and for tensors with dimensions what `promote_types` gives of their dtypes.
    /// `promote_types(a, b)` is itself if it is promoted with `a`, and both may be cast to it. `can_cast(a, b)` is true if a tensor
    /// of `b` takes a sum of tensors of `a`.
    Dtypes "dtypes": promoted::dtypes,
    /// A reduction that keeps its dimensions has the same elements, and is refused if one that does not is.
    KeepDim "keepdim": dimensions::kept,
    /// Operations that differ in the function of the elements alone accept the same operands, return the same dtype and shape,
    /// and warn as often. So do calls of which one is a part of the other: `mm` and a `bmm` of one matrix, `addmm` and `mm`,
    /// `clamp_min` and `maximum`.
    Sibling "sibling": siblings::siblings,
    /// Whether a call is accepted, and its dtype, do not depend on whether a size that its operands have in common is 0, 1
    /// or another: of an elementwise operation, or of a product, whose dimensions have letters.
    Resized "resized": siblings::resized,
    /// An argument that is left out has its default: the number 1 is 1.0 where all tensors are floats, `p=2` is `p=2.0`, no
    /// weight is a weight of one, no dimension is all of them, one dimension is a list of it, and no `correction` is one of 1.
    Default "default": defaults::written_out,
}

/// Variants of a program, [`MOST`] at most. Which ones, where there are more, follows from the program alone, so that the
/// same program always has the same.
///
/// An implementation may lack an operation that a follow-up needs:
/// [`unsupported_by`](crate::adapter::unsupported_by) tells before it is run.
pub fn follow_ups(program: &Program, reply: &Reply) -> Vec<FollowUp> {
    let mut follow_ups = all(program, reply);
    let mut left = Vec::with_capacity(MOST);
    let mut state = hash(program);
    while left.len() < MOST && !follow_ups.is_empty() {
        // A rule first, and then one of its follow-up programs, so that the rules with many of them do not crowd out the others.
        let mut rules: Vec<Relation> = follow_ups.iter().map(|follow_up| follow_up.rule).collect();
        rules.dedup();
        let rule = rules[draw(&mut state, rules.len())];
        let of_rule: Vec<usize> = (0..follow_ups.len()).filter(|&at| follow_ups[at].rule == rule).collect();
        left.push(follow_ups.remove(of_rule[draw(&mut state, of_rule.len())]));
    }
    left
}

/// The texts by which a library calls a rejection a fault of its own. The last one is that of autograd's check of the gradients that
/// libtorch's own formulas return.
const OWN_FAULTS: &[&str] = &[
    "INTERNAL ASSERT FAILED",
    "report a bug to PyTorch",
    "report this bug",
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex)",
];

/// The rejections that the library itself calls faults. They need nothing to compare with.
pub fn own_faults(program: &Program, reply: &Reply) -> Vec<Difference> {
    let fault = |(step, answer): (&Step, &StepOutcome)| {
        let Outcome::Rejected(rejected) = &answer.outcome else { return None };
        OWN_FAULTS.iter().any(|text| rejected.message.contains(text)).then(|| Difference {
            value: step.name.clone(),
            aspect: Aspect::Outcome,
            by: "definition: own-fault".to_owned(),
            expected: "a value, or an error that the caller can act on".to_owned(),
            observed: format::outcome(&answer.outcome),
        })
    };
    program.steps.iter().zip(&reply.steps).filter_map(fault).collect()
}

/// Every follow-up of a program, rule by rule. A simpler program shows the same as another if one of them does.
pub fn all(program: &Program, reply: &Reply) -> Vec<FollowUp> {
    let bytes =
        reply.steps.iter().flat_map(|step| step.outcome.tensors()).map(|tensor| tensor.data.len()).sum::<usize>();
    if bytes > HEAVIEST {
        return Vec::new();
    }
    let contexts: Vec<StepContext> =
        (0..program.steps.len()).filter_map(|at| StepContext::new(program, reply, at)).collect();
    Relation::ALL.iter().flat_map(|rule| contexts.iter().flat_map(|context| rule.apply(context))).collect()
}

impl FollowUp {
    /// The values that should be the same: of the program, and of the follow-up, by name. None for what is said of the follow-up
    /// alone.
    pub fn pairs(&self, program: &Program) -> Vec<(String, String)> {
        let there = match self.relation {
            OutputRelation::Same { at, .. } => at,
            OutputRelation::Written { copied, .. } => copied,
            OutputRelation::Alike { at, .. } | OutputRelation::Agrees { at } => at,
            OutputRelation::Unchanged { .. } => return Vec::new(),
        };
        vec![(program.steps[self.step].name.clone(), self.program.steps[there].name.clone())]
    }

    /// Returns the differences between the program and its follow-up, both run on one implementation.
    pub fn judge(&self, program: &Program, reply: &Reply, follow_up_reply: &Reply) -> Vec<Difference> {
        judge::judge(self, program, reply, follow_up_reply)
    }
}

/// FNV-1a over all that the program says.
fn hash(program: &Program) -> u64 {
    let bytes = serde_json::to_vec(program).expect("programs have only text for keys");
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A number below `end`.
fn draw(state: &mut u64, end: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize % end
}
