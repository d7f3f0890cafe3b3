//! Relaxed judgement keeps its teeth: faults planted in exactly the programs that a relaxation covers are found, but for the
//! one thing that it leaves open.

use std::collections::BTreeMap;

use broadcheck::adapter::Implementation;
use broadcheck::generate::{self, Exclusion, LeftOut, Options};
use broadcheck::harness::oracles::comparison::{Side, compare};
use broadcheck::harness::relaxations::{Elements, Freedom, Relaxation, applying, freedoms};
use broadcheck::ops::{Family, Op};
use broadcheck::program::{Outcome, Program, Rejected, Reply, TensorValue, Value};
use broadcheck::reference::Reference;
use broadcheck::tensor::{Buffer, Category, DType, Layout, Scalar, Shape};

/// Programs for each operation, and covered ones in which faults are planted.
const PROGRAMS: u64 = 1500;
const PLANTED: usize = 3;

/// The operations whose programs a relaxation covers, where most others have none.
fn operations(relaxation: Relaxation) -> Vec<Op> {
    use Relaxation::*;
    let family = |family: Family| Op::ALL.iter().copied().filter(|op| op.info().family() == family).collect();
    match relaxation {
        TolerantOperands => vec![Op::Sum, Op::Div, Op::Mul],
        TolerantDecisions => vec![Op::Div, Op::Sum, Op::Equal, Op::BinaryCrossEntropy],
        TolerantMasks => vec![Op::Sum, Op::Lt, Op::MaskedSelect],
        OpenLayouts | ViewsOfOpenLayouts => vec![Op::MseLoss, Op::Ldexp, Op::Transpose],
        SignedZeros => vec![Op::Amax, Op::Amin],
        TiedPlaces => vec![Op::Cummax, Op::Median],
        TiedModes => vec![Op::Mode],
        RandomElements => vec![Op::Normal, Op::Binomial, Op::Bernoulli],
        SteepAttention => vec![Op::ScaledDotProductAttention, Op::Backward],
        SteepNormalization => vec![Op::LayerNorm, Op::Backward],
        AssumedUnique => vec![Op::Isin],
        ZeroExtrema => vec![Op::Fmax, Op::Maximum],
        BoundsOfZeros => vec![Op::Clamp, Op::Add],
        ZeroPoints => vec![Op::Lerp],
        SignsOfNan => vec![Op::Copysign],
        ComplexDivision => vec![Op::Div, Op::Remainder],
        ComplexExtremes | RepeatedFactors | FusedFactors => vec![Op::Mul, Op::Add],
        EmptyLosses | LossesOfTarget | LossesIntoOperands | RoundedSteps => family(Family::Losses),
        EmptyLdexp => vec![Op::Ldexp],
        RefusedAfterResize => vec![Op::Add, Op::Remainder],
        GrownAndRefused | LostParts | SumsOfExtremes => vec![Op::Sum, Op::Mean],
        SeveralBadIndices | GathersInPart => vec![Op::Gather, Op::Scatter, Op::TakeAlongDim],
        FunctionsOfExtremes | NoFreedom => vec![Op::Var, Op::Std],
        GradientsOfExtremes | ComplexGradients | GivenGradients | GradientsHalfway => {
            vec![Op::Mul, Op::Sum, Op::Backward, Op::Grad]
        }
        RepeatedPlaces => vec![Op::Put, Op::Transpose],
        IndicesOfNothing => vec![Op::IndexCopy, Op::IndexAdd],
        ExtremeSlopes => vec![Op::SmoothL1LossBackward, Op::HuberLossBackward],
        OverlappingDivisions => vec![Op::FloorDivide, Op::Remainder, Op::Expand, Op::Select, Op::Transpose],
        OverlappingWrites => vec![Op::Add, Op::Expand, Op::Select, Op::Transpose],
        ProcessorFallback => vec![Op::Bmm, Op::Baddbmm],
        LargeProducts => vec![Op::Prod],
        ExtremeNorms => vec![Op::VectorNorm],
        UnstableEquations => vec![Op::LinalgSolve],
        UnstableTriangles => vec![Op::LinalgSolveTriangular, Op::CholeskySolve],
        EndlessMatrices | CloseTolerances => vec![Op::LinalgMatrixRank, Op::LinalgPinv],
        ComplexFunctions | ComplexCompositions | TurningPowers => vec![Op::Pow],
        ComplexLogarithms | CancelledLogarithms => vec![Op::Logaddexp],
        WidenedResults => vec![Op::Atan2],
        UnnamedNodes => Op::ALL.to_vec(),
        ModifiedViews => vec![Op::Mul, Op::Add, Op::Select, Op::Transpose, Op::Backward],
        SavedResults | WrittenVariables => vec![Op::Mul, Op::Pow],
        MixedGradients => vec![Op::Xlogy, Op::Igamma],
        UndefinedSums => vec![Op::Sum, Op::Prod],
        UndefinedCopies => vec![Op::Copy, Op::Fill],
        IndexedScalars => vec![Op::Index],
        SpareStorage => vec![Op::MseLoss, Op::AsStrided],
    }
}

/// A step of a program that the relaxation covers, last if nothing uses it.
struct Covered {
    program: Program,
    reply: Reply,
    at: usize,
    freedom: Freedom,
}

fn covered(relaxation: Relaxation) -> Vec<Covered> {
    let ops = operations(relaxation);
    let gradients = if ops.contains(&Op::Backward) || ops.iter().any(|op| op.info().differentiable) { 2 } else { 1 };
    let options = Options { ops, gradients, ..Options::comparable(&Reference.hello()) };
    let mut found = Vec::new();
    let mut state = 1;
    for _ in 0..PROGRAMS {
        let bytes: Vec<u8> = (0..480).map(|_| random(&mut state) as u8).collect();
        let program = generate::program(&bytes, &options);
        let reply = Reference.run(&program);
        let rules = applying(&program, &reply);
        if let Some(at) = rules.iter().position(|rules| rules.contains(&relaxation)) {
            let freedom = freedoms(&program, &reply)[at];
            found.push(Covered { program, reply, at, freedom });
            if found.len() == PLANTED {
                break;
            }
        }
    }
    found
}

/// splitmix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Covered {
    /// Returns whether a wrong reply to the step is found.
    fn is_found(&self, plant: impl FnOnce(&mut Outcome)) -> bool {
        let hello = Reference.hello();
        let mut wrong = self.reply.clone();
        plant(&mut wrong.steps[self.at].outcome);
        assert_ne!(wrong, self.reply, "a fault that changes nothing");
        let [expected, observed] = [&self.reply, &wrong].map(|reply| Side { hello: &hello, reply });
        !compare(&self.program, expected, observed).is_empty()
    }

    fn tensors(&self) -> &[TensorValue] {
        self.reply.steps[self.at].outcome.tensors()
    }
}

fn first(outcome: &mut Outcome) -> &mut TensorValue {
    match outcome {
        Outcome::Value(Value::Tensor(tensor)) => tensor,
        Outcome::Value(Value::Tensors(tensors)) => &mut tensors[0],
        _ => panic!("a tensor"),
    }
}

fn rejection(message: &str) -> Outcome {
    Outcome::Rejected(Rejected { message: message.to_owned(), class: None, origin: None, raises: None })
}

fn set(tensor: &mut TensorValue, elements: Vec<Scalar>) {
    tensor.data =
        Buffer::from_scalars(tensor.dtype, elements.into_iter()).to_bytes(&Layout::contiguous(tensor.shape.clone()));
}

#[test]
fn faults_are_found_in_what_a_relaxation_covers() {
    let mut counts = BTreeMap::new();
    for relaxation in Relaxation::ALL {
        let name = format!("{relaxation:?}");
        let programs = covered(*relaxation);
        counts.insert(name.clone(), programs.len());
        for covered in &programs {
            let context = || format!("{name}: {:?} in {:?}", covered.freedom, covered.program);
            let Freedom { elements, strides, outcome, geometry, message, .. } = covered.freedom;
            if let Outcome::Rejected(_) = covered.reply.steps[covered.at].outcome {
                let accepted = |outcome: &mut Outcome| *outcome = Outcome::Value(Value::Nothing);
                assert_eq!(covered.is_found(accepted), !outcome, "accepted, {}", context());
                let other = |outcome: &mut Outcome| *outcome = rejection("Boolean value of Tensor is ambiguous");
                assert_eq!(covered.is_found(other), !outcome, "another class, {}", context());
                assert!(
                    message
                        || outcome
                        || covered.is_found(|outcome| match outcome {
                            Outcome::Rejected(rejected) => rejected.message.push('!'),
                            _ => unreachable!(),
                        })
                );
                continue;
            }
            let rejected = |outcome: &mut Outcome| *outcome = rejection("some text");
            assert_eq!(covered.is_found(rejected), !outcome, "rejected, {}", context());
            let Some(tensor) = covered.tensors().first() else { continue };
            let other = if tensor.dtype == DType::Float64 { DType::Int64 } else { DType::Float64 };
            assert!(covered.is_found(|outcome| first(outcome).dtype = other), "dtype, {}", context());
            let wider = Shape::new([&[1], tensor.shape.sizes()].concat()).expect("sizes");
            assert_eq!(covered.is_found(|outcome| first(outcome).shape = wider), !geometry, "shape, {}", context());
            let far = |outcome: &mut Outcome| first(outcome).strides = Some(vec![77; tensor.shape.rank()]);
            if tensor.shape.sizes().iter().any(|size| *size != 1) {
                assert_eq!(covered.is_found(far), !strides, "strides, {}", context());
            }
            let moved = |outcome: &mut Outcome| first(outcome).storage.as_mut().expect("a storage").offset += 1;
            assert!(tensor.storage.is_none() || covered.is_found(moved) != geometry, "aliasing, {}", context());
            // Beyond every set but that of any element.
            let float = tensor.dtype.category() == Category::Floating;
            if float && tensor.shape.numel() > 0 && elements != Elements::Any && elements != Elements::Overflow {
                let wrong = tensor.scalars().into_iter().map(|element| match element {
                    Scalar::Float(value) if value.is_finite() && value.abs() < 1000.0 => Scalar::Float(value + 500.5),
                    Scalar::Float(value) if value.is_finite() => Scalar::Float(0.25),
                    _ => Scalar::Float(3.0),
                });
                let wrong = wrong.collect();
                assert!(covered.is_found(|outcome| set(first(outcome), wrong)), "values, {}", context());
            }
        }
    }
    let missing: Vec<&String> = counts.iter().filter(|(_, count)| **count == 0).map(|(name, _)| name).collect();
    assert!(missing.is_empty(), "no program is covered by {missing:?}");
}

fn loaded(program: &str) -> Program {
    broadcheck::case::load_program(std::path::Path::new("test.yaml"), program).expect("a program")
}

/// What is in the set is no difference, and what is next to it is one.
#[test]
fn sets_end_where_they_say() {
    let program = "{x: {values: [0.0, 3.0]}, y: {values: [-0.0, 1.0]}, r: {maximum: [x, y]}}";
    let program = loaded(program);
    let reply = Reference.run(&program);
    let freedom = freedoms(&program, &reply)[0];
    assert_eq!(freedom.elements, Elements::EitherZero);
    let covered = Covered { program, reply, at: 0, freedom };
    let with =
        |elements: [f64; 2]| covered.is_found(|outcome| set(first(outcome), elements.map(Scalar::Float).to_vec()));
    let zero = match covered.tensors()[0].scalars()[0] {
        Scalar::Float(zero) => zero,
        other => panic!("{other:?}"),
    };
    assert!(!with([-zero, 3.0]), "the other zero");
    assert!(with([1e-45, 3.0]), "no zero");
    assert!(with([zero, 3.0000002]), "another number");
}

/// A rejected step may have resized its `out=` tensor, so that the shape of what reads it next is open.
#[test]
fn a_tensor_of_an_unknown_shape_resizes_what_it_is_computed_into() {
    let program = "{x0: {shape: [3], dtype: complex64}, x1: {shape: [], dtype: complex64}, x2: {shape: [2]}, \
                   x3: {shape: [3], dtype: complex64}, r1: {amax: [x0], out: x3}, r2: {nextafter: [x3, x2], out: x1}}";
    let program = loaded(program);
    let reply = Reference.run(&program);
    assert_eq!(freedoms(&program, &reply)[1].elements, Elements::Any);
    assert_eq!(reply.inputs[1].shape.sizes(), [2], "the elements of x1 are new memory");
}

/// An angle is the exponent times the logarithm of the base: a small base turns as far as a large exponent does.
#[test]
fn a_power_turns_by_the_logarithm_of_its_base() {
    let elements = |base: &str| {
        let program = format!("{{x: {{values: {base}, dtype: float64}}, r: {{float_power: [x, 1.0+65504.0j]}}}}");
        let program = loaded(&program);
        freedoms(&program, &Reference.run(&program))[0].elements
    };
    assert_eq!(elements("5e-324"), Elements::Any);
    assert_eq!(elements("0.5"), Elements::Magnified);
    assert_eq!(elements("0.0"), Elements::Magnified, "0 has no logarithm, and its powers do not turn");
}

/// An adapter that tells no elements writes to views of what it made before.
#[test]
fn what_has_no_elements_is_overwritten_by_nothing() {
    let program = loaded("{x: {shape: [2, 3]}, y: {clone: [x]}, row: {index: [y, \"0\"]}, r: {add_: [y, 1]}}");
    let mut reply = Reference.run(&program);
    for step in &mut reply.steps {
        first(&mut step.outcome).data.clear();
    }
    assert_eq!(freedoms(&program, &reply).len(), 3);
}

/// A rejected `out=` may have resized what was kept for a gradient.
#[test]
fn a_gradient_of_what_may_have_been_resized_is_open() {
    let gradients = |out: &str| {
        let program = format!(
            "{{x: {{shape: [1, 1], requires_grad: true}}, y: {{shape: [1]}}, z: {{shape: [1]}}, m: {{mv: [x, y]}}, \
             r: {{bitwise_and: [x, x], out: {out}}}, b: {{backward: [m]}}}}"
        );
        let program = loaded(&program);
        freedoms(&program, &Reference.run(&program))[2].outcome
    };
    assert!(gradients("y") && !gradients("z"));
}

/// What a step may have written before it was rejected is not used again, and what it cannot have written is.
#[test]
fn a_rejected_step_leaves_open_what_it_may_have_written() {
    let options = Options::comparable(&Reference.hello());
    let allowed = |text: &str| generate::allows(&options, &loaded(text));
    // The target would have to grow. The result is a float32, which it would hold as a float64.
    let rejected = "x: {shape: [], dtype: float64}, y: {shape: [2]}, r: {atan2_: [x, y]}";
    assert!(allowed(&format!("{{{rejected}, s: {{add: [x, x]}}}}")));
    // It has grown.
    let grown = "x: {shape: [2]}, o: {shape: [1], dtype: int32}, r: {div: [x, x], out: o}";
    assert!(allowed(&format!("{{{grown}}}")) && !allowed(&format!("{{{grown}, s: {{add: [o, o]}}}}")));
    let (mut state, abandoned) = (1, LeftOut::Excluded(Exclusion::AbandonedOperands));
    let mut left_out = || {
        let bytes: Vec<u8> = (0..480).map(|_| random(&mut state) as u8).collect();
        generate::program_with_reasons(&bytes, &options).2
    };
    assert!((0..100).any(|_| left_out().contains(&abandoned)), "`broadcheck coverage` would not count it");
}
