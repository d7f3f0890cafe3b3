//! Results at the edges of what a function is defined for, or of what a format holds.

use super::{Arg, DType, Op, Scalar, judged, of_step, said, step};
use super::{Form, Input, Outcome, Program, Reply, Shape, Step, StepOutcome, StorageRef, TensorValue, Value, ValueRef};
use super::{input, judge, shaped, tensor, value};

fn number(value: f64) -> Arg {
    Arg::Number(Scalar::Float(value))
}

fn text(value: &str) -> Arg {
    Arg::Text(value.to_owned())
}

/// What is said of the gradient by an operand of a function of two or three, which is `result` there.
fn gradient(op: Op, operands: &[f64], by: usize, rest: Vec<Arg>, result: f64, gradient: f64) -> Option<String> {
    let inputs: Vec<(&[i64], &[f64], bool)> =
        (0..operands.len()).map(|at| (&[1i64][..], &operands[at..=at], at == by)).collect();
    let uses: Vec<usize> = (0..operands.len()).collect();
    let steps = vec![
        step("r", op, &uses, rest),
        step("back", Op::Backward, &[operands.len()], vec![Arg::Nothing]),
        step("g", Op::Grad, &[by], vec![]),
    ];
    judged(&inputs, steps, &[Some((&[1], &[result])), None, Some((&[1], &[gradient]))])
}

/// 0 times a logarithm is 0, whatever the logarithm is of, and so does not change with it.
#[test]
fn what_is_constant_has_a_derivative_of_zero() {
    for (op, other) in [(Op::Xlogy, 0.0), (Op::SpecialXlog1py, -1.0)] {
        assert_eq!(gradient(op, &[0.0, other], 1, vec![], 0.0, 0.0), None);
        assert!(gradient(op, &[0.0, other], 1, vec![], 0.0, f64::NAN).unwrap().contains("the derivative of"));
        assert_eq!(gradient(op, &[0.0, other], 0, vec![], 0.0, f64::NEG_INFINITY), None, "open");
    }
    assert_eq!(gradient(Op::Xlogy, &[2.0, 4.0], 1, vec![], 2.0 * 4f64.ln(), 0.5), None);
}

/// At an end of the numbers that a power is defined for the derivative is that from within.
#[test]
fn derivatives_at_an_end_are_those_from_within() {
    assert_eq!(gradient(Op::Pow, &[0.0, 2.5], 0, vec![], 0.0, 0.0), None);
    assert!(gradient(Op::Pow, &[0.0, 2.5], 0, vec![], 0.0, f64::NAN).is_some());
    assert_eq!(gradient(Op::Pow, &[0.0, 0.5], 0, vec![], 0.0, f64::INFINITY), None, "infinite");
    // x x^(x - 1) is 1 for an x that is next to nothing.
    let tiny = f64::MIN_POSITIVE;
    assert_eq!(gradient(Op::FloatPower, &[tiny, tiny], 0, vec![], 1.0, 1.0), None);
    assert!(gradient(Op::FloatPower, &[tiny, tiny], 0, vec![], 1.0, 0.0).unwrap().contains("float_power"));
}

#[test]
fn derivatives_of_incomplete_gamma_functions_are_densities() {
    let density = |op: Op, a: f64, x: f64, result: f64, slope: f64| gradient(op, &[a, x], 1, vec![], result, slope);
    assert_eq!(density(Op::Igamma, 1.0, 0.0, 0.0, 1.0), None);
    assert_eq!(density(Op::Igammac, 1.0, 0.0, 1.0, -1.0), None);
    assert_eq!(density(Op::Igamma, 2.0, 3.0, 1.0 - 4.0 * (-3f64).exp(), 3.0 * (-3f64).exp()), None);
    assert_eq!(density(Op::Igamma, 2.0, f64::INFINITY, 1.0, 0.0), None);
    for x in [0.0, f64::INFINITY] {
        assert!(density(Op::Igamma, 1.0, x, 1.0, f64::NAN).unwrap().contains("the derivative of igamma"), "{x}");
    }
    assert!(density(Op::Igamma, 2.0, 3.0, 1.0 - 4.0 * (-3f64).exp(), 3.0).is_some());
}

/// Of the coordinates that tie for the largest difference any share of the gradient is right, but not each the whole.
#[test]
fn ties_share_a_gradient() {
    let ties = |slope: &[f64]| {
        let steps = vec![
            step("r", Op::Cdist, &[0, 1], vec![number(f64::INFINITY), Arg::Nothing]),
            step("back", Op::Backward, &[2], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        let rows: [(&[i64], &[f64], bool); 2] =
            [(&[1, 3], &[0.0, 0.0, 0.0], true), (&[1, 3], &[1.0, -1.0, 0.5], false)];
        judged(&rows, steps, &[Some((&[1, 1], &[1.0])), None, Some((&[1, 3], slope))])
    };
    assert_eq!(ties(&[-1.0, 0.0, 0.0]), None);
    assert_eq!(ties(&[-0.5, 0.5, 0.0]), None);
    assert!(ties(&[-1.0, 1.0, 0.0]).unwrap().contains("share one subgradient"));
    assert!(ties(&[-0.5, 0.5, 0.5]).is_some(), "no tie");
    assert!(ties(&[1.0, 0.0, 0.0]).is_some(), "the other way");
}

/// The cross entropy of 1e-13 has a slope of -1e13; that of 0, of which nothing is, one of 1.
#[test]
fn a_cross_entropy_is_steep_next_to_zero_and_one() {
    let slope = |x: f64, target: f64, slope: f64| {
        let loss = -(target * x.ln().max(-100.0) + (1.0 - target) * (-x).ln_1p().max(-100.0));
        gradient(Op::BinaryCrossEntropy, &[x, target], 0, vec![Arg::Nothing, text("none")], loss, slope)
    };
    for (x, target, right, floored) in [
        (1e-13, 1.0, -1e13, -1e12),
        (1e-30, 1.0, -1e30, -1e12),
        (1e-30, 0.0, 1.0, 1e-18),
        (0.0, 0.0, 1.0, 0.0),
        (1.0, 1.0, -1.0, 0.0),
        (0.25, 0.5, -4.0 / 3.0, -1.0),
    ] {
        assert_eq!(slope(x, target, right), None, "{x} {target}");
        assert!(slope(x, target, floored).unwrap().contains("derivative of binary_cross_entropy"), "{x} {target}");
    }
    // Whether a gradient passes where the page cuts the logarithm off is open; by the target it is what it is cut to.
    assert_eq!((slope(0.0, 1.0, -1e12), slope(0.0, 1.0, 0.0)), (None, None));
    let by_target =
        |slope: f64| gradient(Op::BinaryCrossEntropy, &[1e-50, 1.0], 1, vec![Arg::Nothing, text("none")], 100.0, slope);
    assert_eq!(by_target(100.0), None);
    assert!(by_target(-1e-50f64.ln()).is_some(), "not cut off");
}

/// The loss of a logit is exp(-|x|) where it is right, and so is its slope; an infinite one costs nothing.
#[test]
fn logits_that_are_right_cost_little() {
    let rest = || vec![Arg::Nothing, Arg::Nothing, text("none")];
    let loss = |x: f64, target: f64, result: f64| {
        of_step(Op::BinaryCrossEntropyWithLogits, &[(&[1], &[x]), (&[1], &[target])], rest(), (&[1], &[result]))
    };
    let slope = |x: f64, target: f64, slope: f64| {
        let [one, other] = [-x, x].map(|x| x.max(0.0) + (-x.abs()).exp().ln_1p());
        let loss = target * one + (1.0 - target) * other;
        gradient(Op::BinaryCrossEntropyWithLogits, &[x, target], 0, rest(), loss, slope)
    };
    let tail = (-37.4f64).exp();
    assert_eq!((loss(37.4, 1.0, tail), loss(-37.4, 0.0, tail), slope(37.4, 1.0, -tail)), (None, None, None));
    assert!(loss(-37.4, 0.0, 0.0).unwrap().contains("BCEWithLogitsLoss"));
    assert!(slope(37.4, 1.0, 0.0).unwrap().contains("derivative of binary_cross_entropy_with_logits"));
    // What cancellation leaves of it.
    assert_eq!(slope(20.0, 1.0, 1.0 / (1.0 + (-20f64).exp()) - 1.0), None);
    assert_eq!((loss(0.0, 0.5, 2f64.ln()), slope(0.0, 0.5, 0.0)), (None, None));
    assert!(slope(0.0, 1.0, -0.4).is_some() && loss(1.0, 1.0, 0.5).is_some());
    let right = |x: f64, target: f64, result: f64| loss(x, target, result).is_none();
    let infinity = f64::INFINITY;
    assert!(right(-infinity, 0.0, 0.0) && right(infinity, 1.0, 0.0) && right(infinity, 0.0, infinity));
    assert!(!right(-infinity, 0.0, f64::NAN) && !right(infinity, 1.0, f64::NAN));
    let weighted = |positive: f64, result: f64| {
        let operands: [(&[i64], &[f64]); 3] = [(&[1], &[-1.0]), (&[1], &[1.0]), (&[1], &[positive])];
        let inputs = operands.map(|(sizes, values)| (sizes, values, false));
        let mut weighted = step("r", Op::BinaryCrossEntropyWithLogits, &[0, 1], rest());
        weighted.args[3] = Arg::Tensor(super::value(2));
        judged(&inputs, vec![weighted], &[Some((&[1], &[result]))])
    };
    assert_eq!(weighted(3.0, 3.0 * (1f64.exp() + 1.0).ln()), None);
    assert!(weighted(3.0, (1f64.exp() + 1.0).ln()).is_some());
}

/// Stirling's approximation is added for targets of more than 1 alone.
#[test]
fn a_target_of_zero_has_no_factorial() {
    let slope = |x: f64, target: f64, log_input: bool, slope: f64| {
        let rest = vec![Arg::Flag(log_input), Arg::Flag(true), number(1e-8), text("none")];
        gradient(Op::PoissonNllLoss, &[x, target], 1, rest, 1.0, slope)
    };
    assert_eq!((slope(2.0, 0.0, true, -2.0), slope(2.0, 0.0, false, -(2f64 + 1e-8).ln())), (None, None));
    assert!(slope(2.0, 0.0, true, f64::NAN).unwrap().contains("derivative of poisson_nll_loss"));
    assert!(slope(2.0, 0.0, false, f64::NAN).is_some());
    assert_eq!(slope(2.0, 3.0, true, 3f64.ln() + 1.0 / 6.0 - 2.0), None);
    assert_eq!(slope(2.0, 1.0, true, f64::NAN), None, "it jumps");
}

fn in_half(op: Op, values: &[f64], rest: Vec<Arg>, result: f64) -> Option<String> {
    let dtype = DType::Float16;
    let inputs = vec![super::input("a", dtype, values, false)];
    let (shape, data) = shaped(dtype, &[], &[result]);
    let storage = Some(StorageRef { id: 1, offset: 0 });
    let value = TensorValue { dtype, shape, data, strides: None, storage };
    let reply = Reply { steps: vec![StepOutcome::of(Outcome::Value(Value::Tensor(value)))], inputs: Vec::new() };
    judge(&Program { inputs, steps: vec![step("r", op, &[0], rest)] }, &reply).pop().map(|found| found.by)
}

/// A mean is at most the largest element, whatever the sum is.
#[test]
fn means_of_16_bits_do_not_overflow() {
    let mean = |op: Op, result: f64| {
        in_half(op, &[60000.0, 60000.0, 60000.0], vec![Arg::Nothing, Arg::Flag(false), Arg::Nothing], result)
    };
    for op in [Op::Mean, Op::Nanmean] {
        assert_eq!(mean(op, 60000.0), None);
        assert!(mean(op, f64::INFINITY).unwrap().contains("torch.nanmean is torch.mean"));
    }
}

/// So far out a derivative is 1, or 0.
#[test]
fn activations_are_linear_far_out() {
    let slope = |op: Op, at: f64, rest: Vec<Arg>, result: f64| {
        said(op, DType::Float32, &[3.0], &[at], rest, (DType::Float32, &[result]))
    };
    for mode in ["tanh", "none"] {
        assert_eq!(slope(Op::GeluBackward, f64::from(1e20f32), vec![text(mode)], 3.0), None);
        assert_eq!(slope(Op::GeluBackward, f64::from(-1e20f32), vec![text(mode)], 0.0), None);
        assert!(slope(Op::GeluBackward, f64::from(1e20f32), vec![text(mode)], f64::NAN).unwrap().contains("1 or 0"));
    }
    let softplus = |result: f64| slope(Op::SoftplusBackward, 100.0, vec![number(1.0), number(1000.0)], result);
    assert_eq!(softplus(3.0), None);
    assert!(softplus(f64::NAN).unwrap().contains("1 or 0") && softplus(0.0).is_some());
}

/// The square of a difference is by `beta`: neither it nor the quotient need be lost.
#[test]
fn a_smooth_loss_is_a_quotient() {
    let loss = |difference: f64, beta: f64, result: f64| {
        let rest = vec![text("none"), number(beta)];
        of_step(Op::SmoothL1Loss, &[(&[1], &[difference]), (&[1], &[0.0])], rest, (&[1], &[result]))
    };
    for (difference, beta, wrong) in [(1e-200, 1e-190, 0.0), (1e200, 1e210, f64::INFINITY), (1.0, 2.0, 0.5)] {
        assert_eq!(loss(difference, beta, 0.5 * difference * (difference / beta)), None, "{difference}");
        assert!(loss(difference, beta, wrong).unwrap().contains("documented formula"), "{difference}");
    }
    assert_eq!(loss(1e-170, 1e-10, 0.0), None, "a result that underflows");
}

/// A variance that overflows may be infinite, which leaves zeros, but not NaN.
#[test]
fn a_row_whose_squares_overflow_is_no_nan() {
    let row = |result: &[f64]| {
        let rest = vec![Arg::Ints(vec![2]), Arg::Nothing, Arg::Nothing, number(1e-5)];
        of_step(Op::LayerNorm, &[(&[2], &[3e155, -1e155])], rest, (&[2], result))
    };
    assert_eq!((row(&[1.0, -1.0]), row(&[0.0, 0.0])), (None, None));
    assert!(row(&[f64::NAN, f64::NAN]).unwrap().contains("overflows") && row(&[-1.0, 1.0]).is_some());
}

/// A cosine does not depend on the lengths of the vectors.
#[test]
fn short_vectors_have_a_direction() {
    let loss = |length: f64, target: f64, result: f64| {
        let vectors: [(&[i64], &[f64]); 3] =
            [(&[1, 2], &[length, 0.0]), (&[1, 2], &[length, length]), (&[1], &[target])];
        of_step(Op::CosineEmbeddingLoss, &vectors, vec![number(0.25), text("mean")], (&[], &[result]))
    };
    let cosine = 0.5f64.sqrt();
    for length in [1.0, 1e-7] {
        assert_eq!((loss(length, 1.0, 1.0 - cosine), loss(length, -1.0, cosine - 0.25)), (None, None));
        assert!(loss(length, 1.0, 0.99).unwrap().contains("CosineEmbeddingLoss"));
    }
    assert_eq!(loss(0.0, 1.0, 1.0), None, "no direction");
    assert!(loss(1.0, -1.0, cosine).is_some(), "without the margin");
}

/// 5 is not 261, although a conversion to uint8 makes it so.
#[test]
fn numbers_are_compared_by_their_values() {
    let compared = |op: Op, number: i64, result: f64| {
        let inputs = vec![super::input("a", DType::Uint8, &[5.0], false)];
        let steps = vec![step("r", op, &[0], vec![Arg::Number(Scalar::Int(number))])];
        let reply = Reply { steps: vec![super::tensor(DType::Bool, &[result], 1)], inputs: Vec::new() };
        judge(&Program { inputs, steps }, &reply).pop().map(|found| found.by)
    };
    assert_eq!((compared(Op::Eq, 261, 0.0), compared(Op::Lt, 261, 1.0), compared(Op::Gt, -1, 1.0)), (None, None, None));
    for (op, number, wrong) in [(Op::Eq, 261, 1.0), (Op::Lt, 261, 0.0), (Op::Gt, -1, 0.0)] {
        assert!(compared(op, number, wrong).unwrap().starts_with("disputed"), "{op:?}");
    }
    assert!(!compared(Op::Eq, 5, 0.0).unwrap().starts_with("disputed"));
}

/// 1e-45 is 1.4e-45 in float32, and 372 times either is right.
#[test]
fn a_number_below_the_normal_ones_is_rounded_or_not() {
    let slope = |result: f64| {
        let inputs = vec![super::input("a", DType::Float32, &[0.0], true)];
        let operand = Arg::Tensor(ValueRef { value: 0, part: None });
        let rest = vec![number(1e-45), number(186.0), number(2.0), Arg::Flag(false), operand];
        let steps = vec![
            step("r", Op::EluBackward, &[0], rest),
            step("back", Op::Backward, &[1], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        let nothing = StepOutcome::of(Outcome::Value(Value::Nothing));
        let outcomes =
            vec![super::tensor(DType::Float32, &[0.0], 1), nothing, super::tensor(DType::Float32, &[result], 2)];
        judge(&Program { inputs, steps }, &Reply { steps: outcomes, inputs: Vec::new() }).pop().map(|found| found.by)
    };
    assert_eq!((slope(372.0 * f64::from(1e-45f32)), slope(3.72e-43)), (None, None));
    assert!(slope(7.5e-43).unwrap().contains("the derivative of elu_backward"));
}

/// Next to infinity a derivative is near to its limit, and is no NaN.
#[test]
fn derivatives_have_limits_at_infinity() {
    let infinite = f64::INFINITY;
    for (op, operands, by, result, slope) in [
        (Op::Copysign, [infinite, -1.0], 0, -infinite, -1.0),
        (Op::Hypot, [-infinite, 1.0], 0, infinite, -1.0),
        (Op::Hypot, [infinite, 1.0], 1, infinite, 0.0),
        (Op::Atan2, [1.0, infinite], 0, 0.0, 0.0),
        (Op::Logaddexp, [infinite, 1.0], 0, infinite, 1.0),
        (Op::Logaddexp2, [-infinite, -infinite], 1, -infinite, 0.25),
    ] {
        assert_eq!(gradient(op, &operands, by, vec![], result, slope), None, "{op}");
        assert!(gradient(op, &operands, by, vec![], result, f64::NAN).unwrap().contains("derivative"), "{op}");
        assert!(gradient(op, &operands, by, vec![], result, 2.0).is_some(), "{op}");
    }
    // At 0 there is a kink.
    assert_eq!(gradient(Op::Copysign, &[0.0, -infinite], 0, vec![], -0.0, 0.0), None);
    assert!(gradient(Op::Copysign, &[0.0, -infinite], 0, vec![], -0.0, f64::NAN).is_some());
    let shares = |values: &[f64; 2], result: f64, slopes: &[f64; 2]| {
        let steps = vec![
            step("r", Op::Logsumexp, &[0], vec![Arg::Ints(vec![0]), Arg::Flag(false)]),
            step("back", Op::Backward, &[1], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        judged(&[(&[2], values, true)], steps, &[Some((&[], &[result])), None, Some((&[2], slopes))])
    };
    let quarter = [0.0, 3f64.ln()];
    assert_eq!(shares(&quarter, 4f64.ln(), &[0.25, 0.75]), None);
    assert!(shares(&quarter, 4f64.ln(), &[0.75, 0.25]).unwrap().contains("derivative of logsumexp"));
    assert_eq!(shares(&[-infinite, -infinite], -infinite, &[0.5, 0.5]), None);
    assert_eq!(shares(&[1.0, infinite], infinite, &[0.0, 1.0]), None);
    assert!(shares(&[1.0, infinite], infinite, &[0.0, f64::NAN]).is_some());
}

/// 1 is 9 times the number next to 0.1, and a rest; the quotient is 10 once it is rounded.
#[test]
fn a_remainder_has_the_quotient_for_a_slope() {
    for op in [Op::Fmod, Op::Remainder] {
        let rest = 1.0 % 0.1;
        assert_eq!(gradient(op, &[1.0, 0.1], 1, vec![], rest, -9.0), None);
        assert!(gradient(op, &[1.0, 0.1], 1, vec![], rest, -10.0).unwrap().contains("derivative"), "{op}");
    }
}

/// 1 + 2^-11 is between two numbers of float16, and a little more is nearer to the larger one.
#[test]
fn a_conversion_rounds_once() {
    let copied = |result: f64| {
        let more = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        let inputs =
            vec![super::input("a", DType::Float16, &[0.0], false), super::input("b", DType::Float64, &[more], false)];
        let mut copy = step("r", Op::Copy, &[0, 1], vec![Arg::Flag(false)]);
        copy.form = super::Form::InPlace;
        let reply = Reply { steps: vec![super::tensor(DType::Float16, &[result], 0)], inputs: Vec::new() };
        judge(&Program { inputs, steps: vec![copy] }, &reply).pop().map(|found| found.by)
    };
    assert_eq!(copied(1.0 + 2f64.powi(-10)), None);
    assert!(copied(1.0).unwrap().contains("rounds once"));
}

#[test]
fn nan_is_a_distance_and_a_degree() {
    let distance = |order: f64, result: f64| {
        let rows: [(&[i64], &[f64]); 2] = [(&[1, 2], &[f64::NAN, 1.0]), (&[1, 2], &[1.0, 1.0])];
        of_step(Op::Cdist, &rows, vec![number(order), Arg::Nothing], (&[1, 1], &[result]))
    };
    for order in [1.0, f64::INFINITY] {
        assert_eq!(distance(order, f64::NAN), None);
        assert!(distance(order, 0.0).unwrap().contains("6.2"), "{order}");
    }
    assert_eq!(distance(0.0, 1.0), None, "the number of those that are not 0");
    let chebyshev = |result: f64| {
        let of = (DType::Float64, &[result][..]);
        said(Op::SpecialChebyshevPolynomialT, DType::Float64, &[0.5], &[f64::NAN], vec![], of)
    };
    assert_eq!(chebyshev(f64::NAN), None);
    assert!(chebyshev(0.0).unwrap().contains("a degree that is NaN"));
}

/// 4 / 2 + 3 / 2 is 3.5, and no truncated half is it.
#[test]
fn factors_of_integers_are_integers() {
    let product = |result: f64| {
        let input = |name: &str, sizes: &[i64], value: f64| {
            let (shape, data) = shaped(DType::Int64, sizes, &[value]);
            super::Input { name: name.to_owned(), dtype: DType::Int64, shape, data, requires_grad: false }
        };
        let inputs = vec![input("a", &[1], 4.0), input("b", &[1, 1], 1.0), input("c", &[1], 1.0)];
        let steps = vec![step("r", Op::Addmv, &[0, 1, 2], vec![number(0.5), number(1.5)])];
        let reply = Reply { steps: vec![super::tensor(DType::Int64, &[result], 3)], inputs: Vec::new() };
        judge(&Program { inputs, steps }, &reply).pop().map(|found| found.by)
    };
    assert_eq!((product(3.0), product(4.0)), (None, None));
    assert!(product(1.0).unwrap().contains("should be integers"));
}

/// 0.5 (ln 0.5 - ln 0.25) is half of ln 2, by a target that is a probability or its logarithm.
#[test]
fn a_divergence_is_of_logarithms() {
    let (input, half) = (0.25f64.ln(), 0.5 * 2f64.ln());
    for (target, log_target) in [(0.5, false), (0.5f64.ln(), true)] {
        let rest = || vec![text("none"), Arg::Flag(log_target)];
        let loss = |result: f64| of_step(Op::KlDiv, &[(&[1], &[input]), (&[1], &[target])], rest(), (&[1], &[result]));
        assert_eq!(loss(half), None);
        assert!(loss(2.0 * half).unwrap().contains("documented formula of the loss"), "{log_target}");
        let slope = |which: usize, slope: f64| gradient(Op::KlDiv, &[input, target], which, rest(), half, slope);
        let by_target = (2f64.ln() + 1.0) * if log_target { 0.5 } else { 1.0 };
        assert_eq!((slope(0, -0.5), slope(1, by_target)), (None, None));
        assert!(slope(0, 0.5).is_some() && slope(1, 2f64.ln()).is_some(), "{log_target}");
    }
    let none =
        of_step(Op::KlDiv, &[(&[1], &[-1.0]), (&[1], &[0.0])], vec![text("sum"), Arg::Flag(false)], (&[], &[1.0]));
    assert!(none.is_some(), "a target of 0 adds nothing");
}

/// A cosine does not depend on the lengths, be their squares beyond the format.
#[test]
fn long_vectors_have_a_direction() {
    let similarity = |length: f64, result: f64| {
        let vectors: [(&[i64], &[f64]); 2] = [(&[1, 2], &[length, 0.0]), (&[2], &[1.0, 1.0])];
        of_step(Op::CosineSimilarity, &vectors, vec![Arg::Int(1), number(1e-8)], (&[1], &[result]))
    };
    for length in [1.0, 1e200] {
        assert_eq!(similarity(length, 0.5f64.sqrt()), None, "{length}");
        assert!(similarity(length, 0.0).unwrap().contains("cosine_similarity"), "{length}");
    }
    assert_eq!(similarity(1e-9, 0.1), None, "shorter than eps");
}

/// The distance of two tensors that broadcast is that of all their pairs.
#[test]
fn tensors_have_a_distance() {
    let distance = |order: f64, result: f64| {
        let operands: [(&[i64], &[f64]); 2] = [(&[2, 1], &[0.0, 3.0]), (&[2], &[0.0, 4.0])];
        of_step(Op::Dist, &operands, vec![number(order)], (&[], &[result]))
    };
    for (order, right) in [(1.0, 8.0), (2.0, 26f64.sqrt()), (f64::INFINITY, 4.0), (0.0, 3.0)] {
        assert_eq!(distance(order, right), None, "{order}");
        assert!(distance(order, right + 1.0).unwrap().contains("p-norm"), "{order}");
    }
}

/// A real operand x and a complex one w: of r = f(x, w) with an upstream gradient g, w gets g times the conjugated derivative,
/// and x the real part of that.
#[test]
fn gradients_flow_through_complex_numbers() {
    let data = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let input = |name: &str, dtype: DType, values: &[f64], requires_grad: bool| {
        let shape = shaped(DType::Float64, &[1], &[0.0]).0;
        super::Input { name: name.to_owned(), dtype, shape, data: data(values), requires_grad }
    };
    let result = |dtype: DType, values: &[f64], storage: usize| {
        let shape = shaped(DType::Float64, &[1], &[0.0]).0;
        let storage = Some(StorageRef { id: storage, offset: 0 });
        let tensor = TensorValue { dtype, shape, data: data(values), strides: Some(vec![1]), storage };
        StepOutcome::of(Outcome::Value(Value::Tensor(tensor)))
    };
    let (real, complex) = (DType::Float64, DType::Complex128);
    let said = |op: Op, operands: [usize; 2], by: usize, product: &[f64], gradient: &[f64]| {
        let inputs = vec![
            input("x", real, &[2.0], by == 0),
            input("w", complex, &[3.0, 4.0], by == 1),
            input("g", complex, &[0.5, 1.0], false),
        ];
        let upstream = Arg::Tensor(ValueRef { value: 2, part: None });
        let steps = vec![
            step("r", op, &operands, vec![]),
            step("back", Op::Backward, &[3], vec![upstream]),
            step("d", Op::Grad, &[by], vec![]),
        ];
        let nothing = StepOutcome::of(Outcome::Value(Value::Nothing));
        let own = if by == 0 { real } else { complex };
        let reply =
            Reply { steps: vec![result(complex, product, 3), nothing, result(own, gradient, 4)], inputs: vec![] };
        judge(&Program { inputs, steps }, &reply).pop().map(|found| found.by)
    };
    // (0.5 + 1i)(3 - 4i) = 5.5 + 1i, of which x has the real part; (0.5 + 1i) 2 = 1 + 2i.
    let product = |by: usize, gradient: &[f64]| said(Op::Mul, [0, 1], by, &[6.0, 8.0], gradient);
    assert_eq!((product(0, &[5.5]), product(1, &[1.0, 2.0])), (None, None));
    assert_eq!(product(0, &[-2.5]).as_deref(), Some("mathematics: the derivative of mul"), "not conjugated");
    assert!(product(1, &[1.0, -2.0]).is_some(), "conjugated");
    assert!(product(1, &[1.0, 0.0]).is_some(), "the imaginary part is lost");
    // Vdot has the conjugate of its first operand, which is w here: (0.5 - 1i) 2 = 1 - 2i.
    let dot = |gradient: &[f64]| said(Op::Vdot, [1, 0], 1, &[6.0, -8.0], gradient);
    assert_eq!(dot(&[1.0, -2.0]), None);
    assert!(dot(&[1.0, 2.0]).is_some(), "not conjugated");
}

/// Next to 1 the square of the result of `tanh` may be rounded before it is subtracted, or not.
#[test]
fn the_square_in_a_slope_may_be_rounded() {
    let at = 1.0 - 21.0 * f64::EPSILON / 2.0;
    let slope = |result: f64| of_step(Op::TanhBackward, &[(&[1], &[1.0]), (&[1], &[at])], vec![], (&[1], &[result]));
    let (rounded, fused) = (1.0 - at * at, (-at).mul_add(at, 1.0));
    assert_ne!(rounded, fused);
    assert_eq!([slope(rounded), slope(fused)], [None, None]);
    assert!(slope(rounded + f64::EPSILON).is_some() && slope(fused - f64::EPSILON).is_some());
}

/// A sum of one element without the one that was there may begin with a zero.
#[test]
fn a_sum_of_a_negative_zero_alone_is_either_zero() {
    let scattered = |source: f64, included: bool, result: f64| {
        let dtype = DType::Float32;
        let mut inputs = vec![input("x", dtype, &[17.0], false), input("v", dtype, &[source], false)];
        let shape = Shape::new(vec![1]).unwrap();
        inputs.push(Input { name: "i".to_owned(), dtype: DType::Int64, shape, data: vec![0; 8], requires_grad: false });
        let [own, source, index] = [0, 1, 2].map(|at| Arg::Tensor(value(at)));
        let args = vec![own, Arg::Int(0), index, source, Arg::Text("sum".to_owned()), Arg::Flag(included)];
        let steps = vec![Step { name: "r".to_owned(), op: Op::ScatterReduce, form: Form::Functional, args, out: None }];
        let reply = Reply { steps: vec![tensor(dtype, &[result], 3)], inputs: Vec::new() };
        judge(&Program { inputs, steps }, &reply).pop().map(|difference| difference.by)
    };
    assert_eq!([scattered(-0.0, false, 0.0), scattered(-0.0, false, -0.0)], [None, None]);
    assert_eq!([scattered(0.1f32.into(), false, 0.1f32.into()), scattered(2.0, true, 19.0)], [None, None]);
    assert!(scattered(0.1f32.into(), false, 0.1f32.next_up().into()).is_some());
    assert!(scattered(2.0, true, 2.0).is_some() && scattered(2.0, false, 19.0).is_some());
}

/// The mean of nothing but NaN is NaN, whatever the operand, and has no derivative.
#[test]
fn a_mean_of_nothing_has_no_derivative() {
    let slope = |at: f64, slope: f64| {
        gradient(Op::Nanmean, &[at], 0, vec![Arg::Nothing, Arg::Flag(true), Arg::Nothing], at, slope)
    };
    assert_eq!([slope(f64::NAN, f64::NAN), slope(f64::NAN, 0.0), slope(2.0, 1.0)], [None, None, None]);
    assert!(slope(2.0, f64::NAN).unwrap().contains("the derivative of nanmean"));
}

/// The magnitude of the smallest complex numbers is rounded to one of few, and so their direction is coarse.
#[test]
fn directions_of_the_smallest_complex_numbers_are_coarse() {
    let shape = || Shape::new(vec![1]).unwrap();
    let data = |parts: &[f64]| parts.iter().flat_map(|part| (*part as f32).to_le_bytes()).collect::<Vec<u8>>();
    let made = |dtype: DType, parts: &[f64], id: usize| {
        let storage = Some(StorageRef { id, offset: 0 });
        let tensor = TensorValue { dtype, shape: shape(), data: data(parts), strides: Some(vec![1]), storage };
        StepOutcome::of(Outcome::Value(Value::Tensor(tensor)))
    };
    let direction = |parts: [f64; 2], size: f64, slope: [f64; 2]| {
        let dtype = DType::Complex64;
        let inputs =
            vec![Input { name: "z".to_owned(), dtype, shape: shape(), data: data(&parts), requires_grad: true }];
        let steps = vec![
            step("r", Op::Abs, &[0], vec![]),
            step("back", Op::Backward, &[1], vec![Arg::Nothing]),
            step("g", Op::Grad, &[0], vec![]),
        ];
        let nothing = StepOutcome::of(Outcome::Value(Value::Nothing));
        let outcomes = vec![made(DType::Float32, &[size], 1), nothing, made(dtype, &slope, 2)];
        judge(&Program { inputs, steps }, &Reply { steps: outcomes, inputs: Vec::new() }).pop().map(|found| found.by)
    };
    let least = f64::from(f32::from_bits(1));
    assert_eq!(direction([least, least], least, [1.0, 1.0]), None);
    assert!(direction([least, least], least, [f64::NAN, 1.0]).unwrap().contains("the derivative of abs"));
    assert!(direction([least, least], least, [-1.0, 1.0]).is_some());
    assert!(direction([3.0, 4.0], 5.0, [1.0, 1.0]).is_some());
}
