use broadcheck_protocol::adapter::library::elements;
use broadcheck_protocol::ops::{Form, Op};
use broadcheck_protocol::program::{Arg, Rejected};
use broadcheck_protocol::tensor::{Scalar, Shape};

use super::*;

/// A library with functions of the kinds that the adapters have.
struct Toy;

impl Language for Toy {
    const MANIFEST: &'static str = "[dependencies]\nbroadcheck-protocol = { path = \"\" }\ntoy-core = \"1\"\nunused = \"2\"\n\n[profile.release]\n";
    const USES: &'static [(&'static str, &'static str)] =
        &[("toy_core::Array", "Array::"), ("toy_core::Axis", "Axis(")];
    const RETURNS: &'static str = "toy_core::Result<()>";
    const RESULTS: bool = true;
    const ALIASES: &'static [(&'static str, &'static str)] = &[("Floats", "Array")];

    fn input(&self, input: &Input) -> String {
        format!("Array::new({}, &[{}])?", vector(input.dtype, &input.data), list(input.shape.sizes()))
    }

    fn parts(&self, name: &str, _value: &TensorValue) -> (String, String) {
        (format!("{name}.sizes()"), format!("{name}.elements()"))
    }

    fn helper(&self, function: &str, arguments: &[Bound], _dtype: Option<DType>) -> Option<String> {
        match (function, arguments) {
            ("Dim", [Bound::Int(dim)]) => Some(format!("Axis({dim})")),
            ("some", [value]) => Some(format!("{}.unwrap()", value.text()?)),
            ("over", [Bound::Ints(dims)]) => Some(format!("({})", list(dims))),
            _ => None,
        }
    }
}

fn tensor(name: &str, dtype: DType) -> Bound {
    let value =
        TensorValue { dtype, shape: Shape::new(vec![2]).unwrap(), data: Vec::new(), strides: None, storage: None };
    Bound::Tensor(Rc::new(Tensor { name: name.to_owned(), value }))
}

fn rewritten(pattern: &str, answer: &str, arguments: Vec<Bound>) -> Result<Written, Unwritable> {
    let pattern = syn::Pat::parse_multi.parse_str(pattern).unwrap();
    rewrite::rewrite(&Toy, &pattern, syn::parse_str(answer).unwrap(), arguments, None)
}

#[track_caller]
fn shows(pattern: &str, answer: &str, arguments: Vec<Bound>, call: &str) {
    let written = rewritten(pattern, answer, arguments).unwrap();
    let mut text = written.before.join(" ");
    text += written.value.as_deref().or(written.alias.as_deref()).unwrap_or_default();
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(plain(&text), plain(call));
}

#[test]
fn an_answer_becomes_the_call_of_the_library() {
    let x = || tensor("x", DType::Float32);
    let y = || tensor("y", DType::Float32);
    let dim = "[T(a), Int(dim) | Ints(&[dim]), ..]";
    shows(dim, "one(a.squeeze(Dim(dim)))", vec![x(), Bound::Ints(vec![-1])], "x.squeeze(Axis(-1))");
    shows(dim, "one(a.squeeze(dim as isize))", vec![x(), Bound::Int(-1), Bound::Nothing], "x.squeeze(-1)");
    shows("[T(a), T(b)]", "one(Floats::add(a, b))", vec![x(), y()], "Array::add(&x, &y)");
    shows("[T(a), Number(n)]", "one(a + real(n)?)", vec![x(), Bound::Number(Scalar::Int(2))], "&x + 2.0");
    let sizes = Bound::Ints(vec![2, 3]);
    shows("[T(a), Ints(of)]", "one(a.expand(&naturals(of)?))", vec![x(), sizes.clone()], "x.expand(&[2, 3])");
    shows("[T(a), Ints(of)]", "one(over!(of, of => a.sum(of)))", vec![x(), sizes], "x.sum((2, 3))");
    let flag = |flag| vec![x(), Bound::Flag(flag)];
    let either = "if kept { Err(unsupported(KEPT)) } else { one(a.all()) }";
    shows("[T(a), Flag(kept)]", either, flag(false), "x.all()");
    assert!(rewritten("[T(a), Flag(kept)]", either, flag(true)).is_err_and(|error| error == Unwritable::NoCall));
}

#[test]
fn macros_for_types_and_blocks_disappear() {
    let of = |dtype| vec![tensor("x", dtype), tensor("y", dtype)];
    let typed = "typed!((a, b) float => one(a.mul(b)), int => one(a.times(b)))";
    shows("[T(a), T(b)]", typed, of(DType::Float64), "x.mul(&y)");
    shows("[T(a), T(b)]", typed, of(DType::Int32), "x.times(&y)");
    assert!(rewritten("[T(a), T(b)]", typed, of(DType::Bool)).is_err());
    let zipped = "with_element!(all a.dtype, A => {
        let (a, b) = (a.get::<A>()?, b.get::<A>()?);
        let less = |a: &A, b: &A| a < b;
        new(Zip::from(&*a).and(&*b).map(less))
    })";
    let call = "let less = |a: &f64, b: &f64| a < b; Zip::from(&x).and(&y).map(less)";
    shows("[T(a), T(b)]", zipped, of(DType::Float64), call);
    let written = "with_element!(all a.dtype, A => { *a.get_mut::<A>()? += &*b.get::<A>()?; same(a) })";
    shows("[T(a), T(b)]", written, of(DType::Float32), "x += &y; x");
    let view = "{ let array = &*a.get::<A>()?; a.view(some(array.broadcast(naturals(of)?))?) }";
    let sizes = Bound::Ints(vec![3]);
    shows("[T(a), Ints(of)]", view, vec![tensor("x", DType::Bool), sizes], "x.broadcast(vec![3]).unwrap().to_owned()");
    shows("[T(a), T(b)]", "one(a.add_(b).cloned())", of(DType::Float32), "x.add_(&y)?; x");
}

fn outcome(dtype: DType, data: Vec<u8>) -> Outcome {
    let shape = Shape::new(vec![data.len() as i64 / dtype.size() as i64]).unwrap();
    Outcome::Value(Value::Tensor(TensorValue { dtype, shape, data, strides: None, storage: None }))
}

/// Records a program of negations, which the arms make, with their outcomes. Returns the file, if there is one.
fn recorded(steps: &[(Arm, Outcome, bool)]) -> Option<String> {
    let folder = std::env::temp_dir().join(format!(
        "broadcheck-recording-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("program");
    let mut recording = Recording { file: file.clone(), ..Recording::new(Toy) };
    let input = Input {
        name: "loop".to_owned(),
        dtype: DType::Int16,
        shape: Shape::new(vec![2]).unwrap(),
        data: vec![3, 0, 4, 0],
        requires_grad: false,
    };
    recording.begin(&Program { inputs: vec![input], steps: Vec::new() });
    for (at, (arm, outcome, panicked)) in steps.iter().enumerate() {
        let args = vec![Arg::Tensor(ValueRef { value: 0, part: None })];
        let step = Step { name: format!("r{at}"), op: Op::Neg, form: Form::Functional, args, out: None };
        recording.call(&step, *arm);
        recording.end(outcome, *panicked);
    }
    recording.finish();
    let text = std::fs::read_to_string(&file).ok();
    let _ = std::fs::remove_dir_all(&folder);
    text
}

const NEG: Arm = Arm { arguments: "[T(a)]", answer: "one(a.neg())" };

#[test]
fn a_program_makes_its_inputs_and_prints_its_results() {
    let rejected = |message: &str| {
        Outcome::Rejected(Rejected { class: None, message: message.to_owned(), origin: None, raises: None })
    };
    let steps = [
        (NEG, outcome(DType::Int16, vec![253, 255, 252, 255]), false),
        (NEG, rejected("no negation"), false),
        (NEG, rejected("index out of bounds"), true),
    ];
    assert_eq!(elements::<i16>(&[253, 255, 252, 255]), [-3, -4]);
    let expected = r#"rust
// With these dependencies in Cargo.toml:
// toy-core = "1"
use toy_core::Array;

fn main() -> toy_core::Result<()> {
    let loop_ = Array::new(vec![3i16, 4], &[2])?;
    let r0 = loop_.neg()?;
    println!("r0: {:?} {:?}", r0.sizes(), r0.elements());
    let r1 = loop_.neg().unwrap_err();
    println!("r1: {r1}");
    let r2 = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| { loop_.neg() }));
    println!("r2 panics: {}", r2.is_err());
    Ok(())
}
// panics: index out of bounds
// prints: r0: [2] [-3, -4]
// r1: no negation
// r2 panics: true
"#;
    assert_eq!(recorded(&steps).as_deref(), Some(expected));
}

#[test]
fn what_cannot_be_written_leaves_no_program() {
    let unknown = Arm { arguments: "[T(a)]", answer: "mystery(a)" };
    let result = || outcome(DType::Int16, vec![0, 0]);
    assert_eq!(recorded(&[(NEG, result(), false), (unknown, result(), false)]), None);
    let failed = Outcome::Failed("no shape".to_owned());
    assert_eq!(recorded(&[(NEG, result(), false), (unknown, failed, false)]), None);
    assert_eq!(recorded(&[(NEG, Outcome::Unsupported("no neg".to_owned()), false)]), None);
    assert!(recorded(&[(unknown, Outcome::Unsupported("no neg".to_owned()), false), (NEG, result(), false)]).is_some());
}
