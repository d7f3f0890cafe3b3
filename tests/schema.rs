//! `adapters/protocol.schema.json` against what is really sent: every request of the specification, every answer of the
//! reference, every line of `adapters/README.md`; and lines that are wrong, which it has to refuse.
#![cfg(feature = "cli")]

use std::borrow::Cow;
use std::path::Path;

use broadcheck::adapter::protocol::{Encoding, Request, Response, VERSION};
use broadcheck::adapter::{Hello, Implementation, Lack, UnsupportedCall};
use broadcheck::case;
use broadcheck::error::Class;
use broadcheck::ops::{Form, Op};
use broadcheck::reference::Reference;
use broadcheck::tensor::DType;
use serde::Serialize;
use serde_json::{Value, json};

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path)
}

fn schema() -> Value {
    serde_json::from_str(&read("adapters/protocol.schema.json")).expect("the schema is JSON")
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&schema()).expect("the schema is one")
}

#[test]
fn everything_that_is_sent_fits() {
    let validator = validator();
    let fits = |what: &str, sent: &dyn erased::Sent| {
        let line = sent.json();
        if let Some(error) = validator.iter_errors(&line).next() {
            panic!("{what}: {error} at {}: {line}", error.instance_path());
        }
    };
    let lack = Lack { op: Some("add".to_owned()), why: "none".to_owned(), ..Lack::default() };
    let unsupported = UnsupportedCall {
        forms: vec![Form::Out],
        dtypes: vec!["bool".to_owned()],
        ..UnsupportedCall::of("none", &[Op::Add])
    };
    let name = "all".to_owned();
    let hello = Hello { name, lacks: vec![lack], unsupported: vec![unsupported], ..Reference.hello() };
    fits("hello", &Request::Hello { protocol: VERSION });
    fits("hello", &Response::Hello { protocol: VERSION, encodings: vec![Encoding::MessagePack], hello });
    let specification =
        case::load(&broadcheck::assets::specification().expect("the specification")).expect("the specification");
    assert!(specification.cases.len() > 1000);
    for case in &specification.cases {
        fits(&case.id, &Request::Run { seq: 1, program: Cow::Borrowed(&case.program) });
        fits(&case.id, &Response::Ran { seq: 1, reply: Reference.run(&case.program) });
    }
}

#[test]
fn the_examples_of_the_readme_fit() {
    let validator = validator();
    let readme = read("adapters/README.md");
    let lines: Vec<Value> =
        readme.lines().filter(|line| line.starts_with("{\"")).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 10, "{}", lines.len());
    for line in lines {
        assert!(validator.is_valid(&line), "{line}");
    }
}

#[test]
fn lists_are_those_of_the_tables() {
    let schema = schema();
    let names = |what: &str| schema["$defs"][what]["enum"].clone();
    assert_eq!(names("dtype"), json!(DType::ALL.iter().map(|dtype| dtype.name()).collect::<Vec<_>>()));
    assert_eq!(names("class"), json!(Class::ALL.iter().map(|class| class.name()).collect::<Vec<_>>()));
}

#[test]
fn what_is_wrong_is_refused() {
    let validator = validator();
    let tensor = json!({"dtype": "float32", "shape": [1], "data": "AAAAAA=="});
    let ran = |outcome: Value| json!({"ran": {"seq": 1, "reply": {"steps": [{"outcome": outcome}]}}});
    assert!(validator.is_valid(&ran(json!({"value": {"tensor": tensor.clone()}}))));
    let with = |field: &str, value: Value| {
        let mut tensor = tensor.clone();
        tensor[field] = value;
        ran(json!({"value": {"tensor": tensor}}))
    };
    let hello = |fields: Value| {
        let mut hello = json!({"name": "a", "version": "1", "ops": [], "dtypes": []});
        hello.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"hello": {"protocol": 1, "hello": hello}})
    };
    assert!(validator.is_valid(&hello(json!({"unsupported": [{"what": "none", "dtypes": ["bool"]}]}))));
    assert!(validator.is_valid(&ran(json!({"rejected": {"message": "no", "raises": "RuntimeError"}}))));
    for wrong in [
        with("dtype", json!("float99")),
        with("shape", json!([-1])),
        with("data", json!([0, 0])),
        with("more", json!(1)),
        ran(json!({"value": {"number": {"float": 0.5}}})),
        ran(json!({"rejected": "no"})),
        ran(json!({"rejected": {"message": "no", "class": "whim"}})),
        hello(json!({"unsupported": ["none"]})),
        hello(json!({"unsupported": [{"what": "none"}]})),
        hello(json!({"unsupported": [{"what": "none", "forms": ["out"]}]})),
        hello(json!({"unsupported": [{"what": "none", "ops": []}]})),
        hello(json!({"name": "reference"})),
        json!({"ran": {"reply": {"steps": []}}}),
        json!({"hello": {"protocol": 2, "hello": {"name": "a", "version": "1", "ops": [], "dtypes": []}}}),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

mod erased {
    use super::{Serialize, Value};

    /// Anything that is sent.
    pub trait Sent {
        fn json(&self) -> Value;
    }

    impl<T: Serialize> Sent for T {
        fn json(&self) -> Value {
            serde_json::to_value(self).expect("messages are JSON")
        }
    }
}
