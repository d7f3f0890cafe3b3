//! Weaker judgement where there is no single right outcome: what a step leaves open, by rules that have names.
//!
//! A relaxation does not leave a program out. The program is made and run, and everything that is determined is judged:
//! whether a step is accepted, shape, dtype, strides, aliasing, the other elements. What a rule leaves open is a
//! [`Freedom`] of its step. The rules see the program and one reply to it, and nothing of how either side computes.

pub(crate) mod conditions;
pub(crate) mod elements;
pub(crate) mod families;
pub(crate) mod singular;
mod tameness;
pub(crate) mod tracker;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::ops::Family;
use crate::program::{Outcome, Program, Reply};

pub(crate) use conditions::is_unreliable;
pub(crate) use tracker::{Scene, TensorState, Tracker, sums};

/// The set of elements that are right where a step leaves some open. Each is a part of the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elements {
    /// The one that the table of operations asks for.
    #[default]
    Determined,
    /// A zero may have either sign.
    EitherZero,
    /// The same, and of an operation that returns elements and their indices any index is right.
    Places,
    /// A number may have either sign.
    EitherSign,
    /// Both parts of a complex number may be off by a few units of the greater one.
    Parts,
    /// The same by some thousands of units, as an exponential magnifies the error of what it is taken of.
    Magnified,
    /// A number may be off by what the order of the arithmetic loses of the largest operand.
    Bounded,
    /// The same, and what overflows on the way may overflow, or not.
    Overflow,
    /// A number may be off by what a dtype of 16 bits loses of it.
    Coarse,
    /// Any element is right.
    Any,
}

/// What a step leaves open of gradients that flow through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gradients {
    /// Nothing.
    #[default]
    Determined,
    /// Their elements, by what a dtype of 16 bits loses of them.
    Coarse,
    /// Their elements.
    Elements,
    /// Whether there are any, too.
    Outcome,
}

/// What a step leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Freedom {
    /// Elements of its result, and of what it writes to.
    pub elements: Elements,
    /// Strides of its result.
    pub strides: bool,
    /// The message of its rejection, but for the class.
    pub message: bool,
    /// Its warnings.
    pub warnings: bool,
    /// Its being accepted or rejected, and all that follows from that.
    pub outcome: bool,
    /// The shape of its result and where it lies, and all that follows from them.
    pub geometry: bool,
    /// Gradients that flow through it.
    pub gradients: Gradients,
}

impl Freedom {
    /// Nothing is open.
    pub const NONE: Freedom = Freedom {
        elements: Elements::Determined,
        strides: false,
        message: false,
        warnings: false,
        outcome: false,
        geometry: false,
        gradients: Gradients::Determined,
    };

    const fn of(elements: Elements) -> Freedom {
        Freedom { elements, ..Freedom::NONE }
    }

    /// Returns whether the result, or what is written to, is not the same in every right implementation.
    pub fn is_of_value(self) -> bool {
        self.elements > Elements::Determined || self.strides || self.outcome || self.geometry
    }

    fn or(self, other: Freedom) -> Freedom {
        Freedom {
            elements: self.elements.max(other.elements),
            strides: self.strides || other.strides,
            message: self.message || other.message,
            warnings: self.warnings || other.warnings,
            outcome: self.outcome || other.outcome,
            geometry: self.geometry || other.geometry,
            gradients: self.gradients.max(other.gradients),
        }
    }
}

const EITHER_ZERO: Freedom = Freedom::of(Elements::EitherZero);
const PLACES: Freedom = Freedom { gradients: Gradients::Elements, ..Freedom::of(Elements::Places) };
const EITHER_SIGN: Freedom = Freedom::of(Elements::EitherSign);
const PARTS: Freedom = Freedom::of(Elements::Parts);
const MAGNIFIED: Freedom = Freedom::of(Elements::Magnified);
const BOUNDED: Freedom = Freedom::of(Elements::Bounded);
const OVERFLOW: Freedom = Freedom::of(Elements::Overflow);
const ANY: Freedom = Freedom::of(Elements::Any);
const ANY_AND_GRADIENTS: Freedom = Freedom { gradients: Gradients::Elements, ..ANY };
const STRIDES: Freedom = Freedom { strides: true, ..Freedom::NONE };
const MESSAGE: Freedom = Freedom { message: true, ..Freedom::NONE };
const OUTCOME: Freedom = Freedom { outcome: true, ..Freedom::of(Elements::Any) };
const GEOMETRY: Freedom = Freedom { geometry: true, strides: true, ..OUTCOME };
const COARSE: Freedom = Freedom::of(Elements::Coarse);
const WARNINGS: Freedom = Freedom { warnings: true, ..Freedom::NONE };
const COARSE_GRADIENTS: Freedom = Freedom { gradients: Gradients::Coarse, ..Freedom::NONE };
const GRADIENT_ELEMENTS: Freedom = Freedom { gradients: Gradients::Elements, ..Freedom::NONE };
const GRADIENTS: Freedom = Freedom { gradients: Gradients::Outcome, ..Freedom::NONE };

macro_rules! relaxations {
    ($($(#[$doc:meta])* $variant:ident: $module:ident::$applies:ident($($of:ident),+) => $freedom:ident,)+) => {
        /// A kind of step that has no single right outcome.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Relaxation {
            $($(#[$doc])* $variant),+
        }

        impl Relaxation {
            /// Every one.
            pub const ALL: &[Relaxation] = &[$(Relaxation::$variant),+];

            /// Returns what it leaves open.
            pub fn freedom(self) -> Freedom {
                match self { $(Relaxation::$variant => $freedom),+ }
            }

            /// Returns whether it is about operands whose elements are not the same in every right implementation.
            fn is_of_operands(self) -> bool {
                use Relaxation::*;
                matches!(self, TolerantOperands | TolerantDecisions | TolerantMasks)
            }

            /// Returns whether the last step of a scene is of this kind.
            fn applies(self, scene: Scene, outcome: &Outcome) -> bool {
                match self { $(Relaxation::$variant => relaxations!(@ $module, $applies, scene, outcome; $($of)+)),+ }
            }
        }
    };
    (@ $module:ident, $applies:ident, $scene:ident, $outcome:ident; scene) => { $module::$applies($scene) };
    (@ $module:ident, $applies:ident, $scene:ident, $outcome:ident; scene outcome) => {
        $module::$applies($scene, Some($outcome))
    };
}

relaxations! {
    /// The use of a result that is compared within a tolerance: what is made of it has no tolerance of its own, and a
    /// comparison of it may go either way.
    TolerantOperands: conditions::tolerant_operands(scene, outcome) => ANY_AND_GRADIENTS,
    /// The same where elements decide what is rejected.
    TolerantDecisions: conditions::tolerant_decisions(scene, outcome) => OUTCOME,
    /// The same where they are a mask, which decides how many elements there are.
    TolerantMasks: conditions::tolerant_masks(scene) => GEOMETRY,
    /// The use of a result whose strides are open.
    OpenLayouts: conditions::open_layouts(scene) => STRIDES,
    /// A view of such a result, which may be rejected for its strides, or a copy.
    ViewsOfOpenLayouts: conditions::views_of_open_layouts(scene) => GEOMETRY,
    /// The least or greatest of zeros of both signs: which one libtorch's vector loop takes depends on where they stand.
    SignedZeros: families::signed_zeros(scene) => EITHER_ZERO,
    /// Order statistics and running extremes of equal elements, or of several NaN: the documents say which element they
    /// return, and not which of those that are equal, nor which of their indices.
    TiedPlaces: families::tied_places(scene) => PLACES,
    /// Random numbers: which ones they are depends on the generator.
    RandomElements: families::random_elements(scene) => ANY,
    /// The mode of a line in which several elements are as frequent, or some are NaN: it is "a value which appears most often".
    TiedModes: families::tied_modes(scene) => ANY_AND_GRADIENTS,
    /// The negative zero as an operand of an extremum: which of two zeros libtorch takes depends on the element's place in
    /// the tensor and on the dtype, and IEEE 754 leaves it open.
    ZeroExtrema: elements::zero_extrema(scene) => EITHER_ZERO,
    /// Bounds of tensors with negative zeros: which of two zeros is the result depends on whether libtorch's vector loop
    /// has the element.
    BoundsOfZeros: elements::bounds_of_zeros(scene) => EITHER_ZERO,
    /// `lerp` that is zero where there are enough elements for libtorch's vector loop: the sign of the zero depends on which
    /// of its loops has the element.
    ZeroPoints: elements::zero_points(scene, outcome) => EITHER_ZERO,
    /// `copysign` with NaN, whose sign nothing promises.
    SignsOfNan: elements::signs_of_nan(scene) => EITHER_SIGN,
    /// Division of complex numbers: not correctly rounded in libtorch, whose loops differ in which products they round
    /// before a sum. Scaled as it is, what overflows or is infinite is the same in all of them.
    ComplexDivision: elements::complex_division(scene) => PARTS,
    /// Products of complex numbers, and sums with a factor, that are rounded or overflow: whether libtorch rounds the
    /// products that they are made of before it adds them depends on the element's place in the tensor.
    ComplexExtremes: elements::complex_extremes(scene) => OVERFLOW,
    /// Losses without elements: the strides of what is empty follow from every step.
    EmptyLosses: families::empty_losses(scene, outcome) => STRIDES,
    /// `ldexp` of no elements, whose strides are those of a tensor in between.
    EmptyLdexp: elements::empty_ldexp(scene) => STRIDES,
    /// An `out=` tensor that has grown when the operation is rejected: what is in the new memory is anything.
    RefusedAfterResize: elements::refused_after_resize(scene, outcome) => ANY,
    /// A reduction that is rejected once its `out=` tensor has grown: the new elements are anything.
    GrownAndRefused: families::grown_and_refused(scene, outcome) => ANY,
    /// A rejected `out=` of a loss, whose target has been resized already.
    LossesOfTarget: families::losses_of_target(scene, outcome) => ANY,
    /// A loss into one of its operands: libtorch takes the dimensions of the target away before it reads them.
    LossesIntoOperands: families::losses_into_operands(scene) => OUTCOME,
    /// `gather` and `scatter` rejected for one of several bad indices: which one libtorch names depends on the loop, the
    /// dimension of the indices being its inner or its outer one.
    SeveralBadIndices: families::several_bad_indices(scene, outcome) => MESSAGE,
    /// Sums and products of extremes, infinities and NaN: what is lost, and whether it overflows on the way, depends on the
    /// order of the terms, and libtorch promises none.
    SumsOfExtremes: conditions::sums_of_extremes(scene, outcome) => OVERFLOW,
    /// Roots, powers and logarithms of sums of such: what is lost is magnified by them.
    FunctionsOfExtremes: conditions::functions_of_extremes(scene) => ANY,
    /// Gradients of extremes, and of what is next to nothing.
    GradientsOfExtremes: conditions::gradients_of_extremes(scene) => GRADIENT_ELEMENTS,
    /// Losses and distances that are within a tolerance, of operands of several dtypes, of large integers, or of numbers
    /// whose squares are lost: a step in the narrower dtype may be a unit off, which shows in the wider one, and no sum is
    /// exact.
    RoundedSteps: elements::rounded_steps(scene) => ANY,
    /// Gradients of `smooth_l1_loss` and `huber_loss` as operations, of numbers whose products may be beyond the dtype, or below
    /// its normal numbers: libtorch's loop over elements and its vector loop multiply and divide in their own order.
    ExtremeSlopes: elements::extreme_slopes(scene) => OVERFLOW,
    /// Writing to a tensor while another view of the same elements is read: PyTorch calls the result undefined where it
    /// does not reject it.
    OverlappingWrites: conditions::overlapping_writes(scene, outcome) => ANY,
    /// The same of integer divisions, which a zero that was written stops.
    OverlappingDivisions: conditions::overlapping_divisions(scene, outcome) => OUTCOME,
    /// `backward` with complex tensors: it needs a real root or a gradient of the root's own dtype, and its message has the
    /// tensors in it. And after a complex number, which makes gradients complex even if it is real.
    ComplexGradients: elements::complex_gradients(scene) => GRADIENTS,
    /// Products of batches of 16 bits: where oneDNN has no kernel for the processor, libtorch warns and takes another.
    ProcessorFallback: families::processor_fallback(scene) => WARNINGS,
    /// Products that may be beyond the dtype on their way: whether they come back depends on the order.
    LargeProducts: families::large_products(scene, outcome) => OVERFLOW,
    /// Norms with an exponent beyond 4, below 1/2, or that is no number: what is lost is raised to a power.
    ExtremeNorms: families::extreme_norms(scene, outcome) => ANY,
    /// A reduction of complex numbers to float16 or bfloat16: libtorch converts them twice for some strides, and warns
    /// each time.
    LostParts: families::lost_parts(scene, outcome) => WARNINGS,
    /// A variance without a degree of freedom, of numbers that are rounded: whether it is zero or next to nothing that is
    /// divided by zero depends on the order of the sum.
    NoFreedom: families::no_freedom(scene, outcome) => OVERFLOW,
    /// Linear equations with a matrix of which rounding decides whether it has an inverse, or how far off the solution is:
    /// any without a column of zeros whose diagonal elements do not outweigh the others of their columns, or that has
    /// infinities or NaN, among which no pivot is the largest. And one without
    /// an inverse where there is an `out=` tensor, which then holds an intermediate state of the elimination.
    UnstableEquations: families::unstable_equations(scene, outcome) => OUTCOME,
    /// Linear equations with a triangle whose diagonal elements do not outweigh the others of their columns: rounding is
    /// magnified from row to row, and a quotient by zero becomes infinities or NaN in an order that is free.
    UnstableTriangles: families::unstable_triangles(scene, outcome) => ANY_AND_GRADIENTS,
    /// Attention whose scores may be large: the exponential magnifies what rounding has lost of them.
    SteepAttention: families::steep_attention(scene, outcome) => GRADIENT_ELEMENTS,
    /// `layer_norm` of what is large next to its deviation, or by less than a quarter: what rounding has lost of the mean is
    /// divided by the deviation.
    SteepNormalization: families::steep_normalization(scene, outcome) => ANY_AND_GRADIENTS,
    /// Ranks and pseudoinverses of matrices with infinities or NaN, which no rotation makes orthogonal.
    EndlessMatrices: singular::endless_matrices(scene) => OUTCOME,
    /// Ranks and pseudoinverses of matrices with a singular value so close to its tolerance that rounding decides which of both
    /// is greater, or that is an extreme, and pseudoinverses of some whose singular values are far apart, or close on both sides of the tolerance.
    CloseTolerances: singular::close_tolerances(scene, outcome) => ANY_AND_GRADIENTS,
    /// `gather` and its like into a tensor that they read, too, and rejected ones into a tensor that was resized first, or
    /// with an index out of range after others that were written already.
    GathersInPart: families::gathers_in_part(scene, outcome) => ANY,
    /// Functions of complex numbers that are no choice among them: libtorch's vector and scalar loops differ in the last
    /// places.
    ComplexFunctions: elements::complex_functions(scene, outcome) => MAGNIFIED,
    /// Those of them that are made of products, of infinities and of what overflows on the way.
    ComplexCompositions: elements::complex_compositions(scene, outcome) => OVERFLOW,
    /// Complex powers whose exponent is so large that it multiplies the rounding error of the base's logarithm by whole
    /// turns.
    TurningPowers: elements::turning_powers(scene, outcome) => ANY,
    /// Complex logarithms of sums, which may be close to zero where their operands are not.
    ComplexLogarithms: elements::complex_logarithms(scene, outcome) => BOUNDED,
    /// Logarithms of sums that are close to zero: what cancels was rounded before.
    CancelledLogarithms: elements::cancelled_logarithms(scene, outcome) => BOUNDED,
    /// A function that is compared in units in the last place, or within a tolerance, or of complex numbers, written to a
    /// wider dtype than it is computed in: the units are those of the narrower one.
    WidenedResults: elements::widened_results(scene) => COARSE,
    /// In-place operations on what gradients flow through, other than arithmetic on results of arithmetic and views: many
    /// operations keep their result for the gradient, and libtorch rejects the gradient once that is overwritten.
    SavedResults: elements::saved_results(scene) => GRADIENTS,
    /// `out=` of what gradients flow through, where libtorch lets it be: its graph goes on with the tensor as it was. And a
    /// rejected `out=` that was kept for a gradient: it may have been resized, which libtorch does not count as a write.
    WrittenVariables: elements::written_variables(scene, outcome) => GRADIENTS,
    /// Gradients of functions, and of `smooth_l1_loss_backward`, whose operands are floats of several dtypes: the formulas round
    /// in between, in the narrower one.
    MixedGradients: elements::mixed_gradients(scene) => COARSE_GRADIENTS,
    /// Copies of fractions that an integer dtype cannot hold, factors of products of integers that are such, and results of
    /// addbmm for an `out=` of integers: C++ leaves the conversion undefined.
    UndefinedCopies: elements::undefined_copies(scene) => ANY,
    /// Sums and products of such fractions in an integer dtype, which are converted first.
    UndefinedSums: elements::undefined_sums(scene, outcome) => ANY,
    /// `backward` with a gradient: libtorch may keep the given tensor itself as the gradient of a leaf.
    GivenGradients: elements::given_gradients(scene) => GRADIENTS,
    /// `backward` through a step of two views of one storage: a write to it modifies both, and the message names the one that
    /// is looked at first.
    ModifiedViews: elements::modified_views(scene) => MESSAGE,
    /// `backward` that is rejected because a tensor was modified which the reference does not name as libtorch's message does.
    UnnamedNodes: elements::unnamed_nodes(scene, outcome) => MESSAGE,
    /// `grad` after a `backward` that was rejected: some gradients have arrived by then, in an order that is libtorch's own.
    GradientsHalfway: elements::gradients_halfway(scene) => OUTCOME,
    /// `put` of several elements at one place, of tensors that are not row-major: which of them stays is undefined by the page
    /// of `put_`, and libtorch's loop follows the strides.
    RepeatedPlaces: families::repeated_places(scene) => ANY,
    /// `index_copy` and `index_add` of no elements: an index that is out of range is accepted, and may be rejected by the
    /// gradient, which selects by it.
    IndicesOfNothing: families::indices_of_nothing(scene) => GRADIENTS,
    /// `isin` of tensors that are said to have no element twice, and may have: PyTorch promises nothing then.
    AssumedUnique: families::assumed_unique(scene) => ANY,
    /// An integer but 0, and nothing else, of a tensor without dimensions: libtorch reads a size that is not there.
    IndexedScalars: elements::indexed_scalars(scene) => OUTCOME,
    /// `as_strided` of a loss: there may be memory behind its one element, where libtorch had the losses of all elements.
    SpareStorage: elements::spare_storage(scene) => OUTCOME,
    /// Sums with a factor and an operand that is broadcast, whose product is not exact: libtorch's loops differ in whether
    /// they round it before the sum, and whether it overflows there.
    RepeatedFactors: elements::repeated_factors(scene, outcome) => OVERFLOW,
    /// A factor `alpha` of float16 and bfloat16 where the product is not exact and there are enough elements for libtorch's
    /// vector loop, which does not round the product before the sum. The loop over single elements does.
    FusedFactors: elements::fused_factors(scene, outcome) => OVERFLOW,
}

/// The elements and the aspects of the steps of programs, and how many of them are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Openness {
    /// Elements of results.
    pub elements: u64,
    /// Those that may be anything.
    pub any: u64,
    /// Those that may be one of a set: either zero, an interval.
    pub sets: u64,
    /// Aspects of outcomes: whether a step is accepted, shape, dtype, strides, elements, warnings; the message.
    pub aspects: u64,
    /// Those that are open.
    pub open: u64,
}

impl Openness {
    /// Counts one step.
    pub fn add(&mut self, freedom: Freedom, outcome: &Outcome) {
        let (value, rejected) = (matches!(outcome, Outcome::Value(_)), matches!(outcome, Outcome::Rejected(_)));
        if !value && !rejected {
            return;
        }
        let elements: u64 =
            outcome.tensors().iter().map(|tensor| (tensor.data.len() / tensor.dtype.size()) as u64).sum();
        self.elements = self.elements.saturating_add(elements);
        match freedom.elements {
            Elements::Determined => {}
            Elements::Any => self.any = self.any.saturating_add(elements),
            _ => self.sets = self.sets.saturating_add(elements),
        }
        let mut open = u64::from(freedom.outcome) + u64::from(freedom.warnings);
        if value {
            open += u64::from(freedom.strides) + u64::from(freedom.elements == Elements::Any);
            open += u64::from(freedom.geometry);
        } else {
            open += u64::from(freedom.message || freedom.outcome);
        }
        self.aspects = self.aspects.saturating_add(if value { 6 } else { 3 });
        self.open = self.open.saturating_add(open);
    }
}

impl AddAssign for Openness {
    fn add_assign(&mut self, other: Openness) {
        self.elements = self.elements.saturating_add(other.elements);
        self.any = self.any.saturating_add(other.any);
        self.sets = self.sets.saturating_add(other.sets);
        self.aspects = self.aspects.saturating_add(other.aspects);
        self.open = self.open.saturating_add(other.open);
    }
}

/// What the last step of a scene leaves undetermined in its result, and in what it writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undetermined {
    /// True if two right implementations may differ in it.
    pub open: bool,
    /// True if they may differ in anything, although both were given the same operands.
    pub unspecified: bool,
    /// True if they may lay it out differently.
    pub strides: bool,
}

impl Undetermined {
    /// What the last step of a scene leaves undetermined.
    pub fn of(scene: Scene, outcome: &Outcome) -> Undetermined {
        Undetermined::by_rules(scene, &rules(scene, outcome))
    }

    fn by_rules(scene: Scene, rules: &[Relaxation]) -> Undetermined {
        let freedom = of_rules(rules);
        let own: Vec<Relaxation> = rules.iter().filter(|rule| !rule.is_of_operands()).copied().collect();
        let own = of_rules(&own);
        let unreliable = is_unreliable(scene);
        Undetermined {
            open: freedom.is_of_value() || unreliable,
            unspecified: own.elements == Elements::Any || own.outcome || own.geometry || unreliable,
            strides: freedom.strides,
        }
    }
}

fn rules(scene: Scene, outcome: &Outcome) -> Vec<Relaxation> {
    Relaxation::ALL.iter().filter(|rule| rule.applies(scene, outcome)).copied().collect()
}

fn of_rules(rules: &[Relaxation]) -> Freedom {
    rules.iter().fold(Freedom::NONE, |freedom, rule| freedom.or(rule.freedom()))
}

/// Returns the relaxations of each step of a program, as far as this reply to it shows.
pub fn applying(program: &Program, reply: &Reply) -> Vec<Vec<Relaxation>> {
    let mut tracker = Tracker::default();
    program.inputs.iter().enumerate().for_each(|(at, input)| tracker.begin_with(at, input));
    let steps = program.steps.iter().zip(&reply.steps).enumerate();
    let applying = steps.map(|(at, (step, answer))| {
        tracker.propose(step);
        tracker.reshaped = step.out.is_some() && matches!(answer.outcome, Outcome::Rejected(_));
        let scene = Scene { inputs: &program.inputs, steps: &program.steps[..=at], tracker: &tracker };
        let rules = rules(scene, &answer.outcome);
        tracker.note(program.inputs.len() + at, step, &answer.outcome, Undetermined::by_rules(scene, &rules));
        rules
    });
    applying.collect()
}

/// Returns what each step of a program leaves open, as far as this reply to it shows, to who computes all of it anew.
pub fn freedoms(program: &Program, reply: &Reply) -> Vec<Freedom> {
    freedoms_by(program, reply, |_| true)
}

/// The same to who judges each step by the operands that it was given, whatever they are.
pub fn freedoms_of_given(program: &Program, reply: &Reply) -> Vec<Freedom> {
    freedoms_by(program, reply, |rule| !rule.is_of_operands())
}

fn freedoms_by(program: &Program, reply: &Reply, applies: fn(Relaxation) -> bool) -> Vec<Freedom> {
    let mut gradients = Gradients::Determined;
    let steps = program.steps.iter().zip(applying(program, reply));
    let freedoms = steps.map(|(step, mut rules)| {
        rules.retain(|rule| applies(*rule));
        let freedom = of_rules(&rules);
        gradients = gradients.max(freedom.gradients);
        match gradients {
            Gradients::Coarse if step.op.info().family() == Family::Autograd => freedom.or(COARSE),
            Gradients::Elements if step.op.info().family() == Family::Autograd => freedom.or(ANY),
            Gradients::Outcome if step.op.info().family() == Family::Autograd => freedom.or(OUTCOME),
            _ => freedom,
        }
    });
    freedoms.collect()
}
