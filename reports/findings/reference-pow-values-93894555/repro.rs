//! reference · pow · values
//!
//! Exits with 1 if the difference is there, with 0 if it is not, with 2 if tch cannot show it. In a new package:
//!
//! ```toml
//! [dependencies]
//! tch = "0.26"       # for libtorch 2.13; LIBTORCH names the folder of another one
//! ```

// Not every finding needs all of what follows.
#![allow(unused)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use tch::{Device, Kind, TchError, Tensor};

/// What came of a step.
enum Seen {
    Tensors(Vec<Tensor>),
    Truth(bool),
    Nothing,
    Refused(String),
}

impl From<Tensor> for Seen {
    fn from(tensor: Tensor) -> Seen {
        if tensor.defined() { Seen::Tensors(vec![tensor]) } else { Seen::Nothing }
    }
}

impl From<(Tensor, Tensor)> for Seen {
    fn from((first, second): (Tensor, Tensor)) -> Seen {
        Seen::Tensors(vec![first, second])
    }
}

impl From<Vec<Tensor>> for Seen {
    fn from(tensors: Vec<Tensor>) -> Seen {
        Seen::Tensors(tensors)
    }
}

impl From<bool> for Seen {
    fn from(truth: bool) -> Seen {
        Seen::Truth(truth)
    }
}

impl From<()> for Seen {
    fn from((): ()) -> Seen {
        Seen::Nothing
    }
}

impl Seen {
    /// One of the tensors; a step that needs one that is not there ends in a panic, which is a refusal.
    fn tensor(&self, part: usize) -> &Tensor {
        match self {
            Seen::Tensors(tensors) => &tensors[part],
            _ => panic!("not run, for a value is missing"),
        }
    }
}

/// The result of a call, or what libtorch said without the place that it said it in. Where tch panics over an error,
/// its text is libtorch's too.
fn attempt<T: Into<Seen>>(call: impl FnOnce() -> Result<T, TchError>) -> Seen {
    let text = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(result)) => return result.into(),
        Ok(Err(TchError::Torch(text))) => text,
        Ok(Err(error)) => error.to_string(),
        Err(panic) => match panic.downcast::<String>() {
            Ok(text) => *text,
            Err(panic) => panic.downcast_ref::<&str>().unwrap_or(&"a panic").to_string(),
        },
    };
    let text = text.split("\nException raised from ").next().unwrap_or_default();
    Seen::Refused(text.trim_end().to_owned())
}

/// A value as it is now, for it may be written to later.
struct Held {
    seen: String,
    tensors: Vec<(Kind, Vec<i64>, Vec<i64>, Vec<f64>, Vec<i64>)>,
    refused: bool,
}

fn held(seen: &Seen) -> Held {
    let tensors: Vec<_> = match seen {
        Seen::Tensors(tensors) => tensors.iter().map(elements).collect(),
        _ => Vec::new(),
    };
    let text = match seen {
        Seen::Tensors(_) => {
            let text = |(kind, size, _, reals, integers): &(Kind, Vec<i64>, Vec<i64>, Vec<f64>, Vec<i64>)| {
                if reals.is_empty() { format!("{kind:?} {size:?} {integers:?}") } else { format!("{kind:?} {size:?} {reals:?}") }
            };
            tensors.iter().map(text).collect::<Vec<_>>().join("; ")
        }
        Seen::Truth(truth) => truth.to_string(),
        Seen::Nothing => "nothing".to_owned(),
        Seen::Refused(text) => format!("refused: {text}"),
    };
    Held { seen: text, tensors, refused: matches!(seen, Seen::Refused(_)) }
}

/// Kind, sizes, strides, and the elements: those of floats as f64, both parts of complex ones, and integers as i64.
fn elements(tensor: &Tensor) -> (Kind, Vec<i64>, Vec<i64>, Vec<f64>, Vec<i64>) {
    let kind = tensor.kind();
    let (size, stride) = (tensor.size(), tensor.stride());
    let flat = tensor.detach().reshape([-1]);
    let (mut reals, mut integers) = (Vec::new(), Vec::new());
    match kind {
        Kind::ComplexFloat | Kind::ComplexDouble => {
            reals = Vec::try_from(flat.view_as_real().to_kind(Kind::Double).reshape([-1])).expect("numbers");
        }
        Kind::Half | Kind::BFloat16 | Kind::Float | Kind::Double => {
            reals = Vec::try_from(flat.to_kind(Kind::Double)).expect("numbers");
        }
        _ => integers = Vec::try_from(flat.to_kind(Kind::Int64)).expect("numbers"),
    }
    (kind, size, stride, reals, integers)
}

/// The same bits, any NaN being any other; or, with some slack, no farther apart than it.
fn near(wanted: &[f64], got: &[f64], slack: f64) -> bool {
    let close = |a: &f64, b: &f64| slack > 0.0 && (a - b).abs() <= slack;
    let one = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) || close(a, b);
    wanted.len() == got.len() && wanted.iter().zip(got).all(one)
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("two digits")).collect()
}

fn expect(name: &str, what: &str, wanted: &str, got: &str, same: bool) -> bool {
    println!("{name}, {what}\n  expected: {wanted}\n  observed: {got}");
    same
}

#[rustfmt::skip]
fn program() -> Vec<(&'static str, Held)> {
    let mut seen = Vec::new();
    let x = Seen::from(Tensor::from_slice(&[-1.0f32]).reshape([1]));
    let r = attempt(|| x.tensor(0).f_pow_tensor_scalar(16777217.0f64));
    seen.push(("r", held(&r)));
    seen.push(("x after", held(&x)));
    seen
}

fn main() -> ExitCode {
    // As it was found: with more, the order of sums may be another.
    tch::set_num_threads(1);
    let seen = program();
    let at = |seen: &[(&str, Held)], name: &str| seen.iter().rposition(|(own, _)| *own == name).expect("a value");
    let mut same = true;
    let got = &seen[at(&seen, "r")].1;
    same &= expect("r", "values", "float32 [1] [1.0]", &got.seen, got.tensors.get(0).is_some_and(|tensor| near(&[1.0f64], &tensor.3, 1.0) && tensor.4 == [] as [i64; 0]));
    if same { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
