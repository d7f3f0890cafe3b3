//! `adapters/protocol.schema.json` against what is really sent: every request of the specification, every answer of the
//! reference, every line of `adapters/README.md`; and lines that are wrong, which it has to reject.

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

/// A row for each class, in the order of the code, with a case that expects it; and the package for Python has the same.
#[test]
fn the_readme_lists_the_classes_of_rejections() {
    let readme = read("adapters/README.md");
    let rows: Vec<Vec<&str>> = readme
        .split_once("| class | what is rejected | example |")
        .expect("the table")
        .1
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    let names: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), names);
    let specification = case::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("spec")).expect("it loads");
    for (row, &class) in rows.iter().zip(Class::ALL) {
        let [_, meaning, example] = row[..] else { panic!("{row:?}") };
        assert!(meaning.len() > 10, "{row:?}");
        let case = specification.cases.iter().find(|case| case.id == example);
        let case = case.unwrap_or_else(|| panic!("there is no case {example}"));
        let rejects = case.expect.iter().any(|(_, expectation)| {
            matches!(expectation, case::Expectation::Rejected(rejected) if rejected.class == Some(class))
        });
        assert!(rejects, "{example} does not expect {}", row[0]);
    }
    assert_eq!(
        quoted(&read("adapters/python/broadcheck_adapter/rejection.py"), "RejectionClass = Literal[", "]"),
        names
    );
    let dtypes: Vec<&str> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    assert_eq!(quoted(&read("adapters/python/broadcheck_adapter/library.py"), "\nDTYPES = (", ")"), dtypes);
}

/// The texts between double quotes from one place of a source to another.
fn quoted<'t>(source: &'t str, from: &str, to: &str) -> Vec<&'t str> {
    let rest = source.split_once(from).expect("the list begins").1;
    let list = rest.split_once(to).expect("the list ends").0;
    list.split('"').skip(1).step_by(2).collect()
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
fn malformed_messages_are_rejected() {
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
