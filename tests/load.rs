//! Reading the specification: every planted fault is found where it is, and what is rendered loads to the same thing.

#[path = "load/keys.rs"]
mod keys;
#[path = "load/rendered.rs"]
mod rendered;

use std::path::{Path, PathBuf};

use broadcheck::case::{Case, Expectation, LoadError, Specification, load, load_files, load_program, render};
use broadcheck::ops::{Form, Op, ParamDefault, ParamKind, REDUCTIONS};
use broadcheck::program::{Arg, Input, Program, ShapeArg, Step, ValueRef};
use broadcheck::tensor::{Buffer, DType, IndexItem, Layout, Scalar, ScalarType, Shape};
use proptest::prelude::*;

const DOCUMENTS: &str = "- {id: notes, title: Notes, code: true}\n";

const CLAUSES: &str = "\
- id: equal-sizes
  statement: Equal sizes broadcast.
  shows: [accept, reject]
  sources: [{doc: notes, section: Rules}]
";

/// Two sound cases, so that a fault in a third one is the only fault.
const CASES: &str = "\
- id: add-rows/equal
  clause: [equal-sizes]
  source: {doc: notes, section: Rules}
  program: {x: {shape: [2]}, r: {add: [x, x]}}
  expect: {r: {shape: [2]}}
- id: add-rows/unequal
  clause: [equal-sizes]
  source: {doc: notes, section: Rules, example: 1}
  control: add-rows/equal
  program: {x: {shape: [2]}, y: {shape: [3]}, r: {add: [x, y]}}
  expect: {r: {rejected: size-mismatch, message: differ}}
";

/// The beginning of a third case, up to its program.
const HEAD: &str = "\
- id: add-rows/third
  clause: [equal-sizes]
  source: {doc: notes, section: Rules}
";

fn read(documents: &str, clauses: &str, cases: &str) -> Result<Specification, LoadError> {
    let files = [("documents.yaml", documents), ("clauses.yaml", clauses), ("add_rows.yaml", cases)];
    load_files(&files.map(|(name, text)| (PathBuf::from(name), text.to_owned())))
}

/// A third case from its `program`, `expect` and so on.
fn third(rest: &str) -> String {
    format!("{CASES}{HEAD}{rest}\n")
}

/// A third case whose program has these entries, after two inputs of its own.
fn program(entries: &str) -> String {
    third(&format!(
        "  program:\n    x: {{shape: [2, 3]}}\n    y: {{shape: [3]}}\n    {entries}\n  expect: {{x: unchanged}}"
    ))
}

/// A third case that expects this of a program which has each kind of value.
fn expect(entries: &str) -> String {
    third(&format!(
        "  program:
    x: {{shape: [2, 3]}}
    y: {{shape: [3]}}
    r: {{add: [x, y]}}
    b: {{broadcast_tensors: [x, y]}}
    s: {{broadcast_shapes: [2, [3, 1]]}}
    n: {{item: [x]}}
    w: {{backcompat.broadcast_warning: [true]}}
  expect:
    {entries}"
    ))
}

/// Checks that a text with one fault, marked by `»` where it is, has that fault and no other.
fn check(documents: &str, clauses: &str, cases: &str, words: &[&str]) {
    let texts = [("documents.yaml", documents), ("clauses.yaml", clauses), ("add_rows.yaml", cases)];
    let (name, marked) = texts.into_iter().find(|(_, text)| text.contains('»')).expect("one text has the mark");
    let before = marked.split('»').next().unwrap();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let [documents, clauses, cases] = texts.map(|(_, text)| text.replace('»', ""));
    let error = read(&documents, &clauses, &cases).expect_err(marked);
    let [fault] = &error.faults[..] else { panic!("not one fault:\n{error}\nin\n{marked}") };
    let found = (fault.location.file.to_str().unwrap(), fault.location.line, fault.location.column);
    assert_eq!(found, (name, line, column), "{error}\nin\n{marked}");
    for word in words {
        assert!(fault.message.contains(word), "no {word:?} in {:?}", fault.message);
    }
    assert_eq!(error.to_string(), format!("{name}:{line}:{column}: {}", fault.message));
}

#[test]
fn the_sound_sample_loads() {
    let specification = read(DOCUMENTS, CLAUSES, CASES).unwrap();
    assert_eq!(specification.cases.len(), 2);
    assert_eq!(specification.cases[1].location.line, 6);
    assert_eq!(specification.cases[1].source.example, Some(1));
}

#[test]
fn faults_of_documents_and_clauses() {
    let documents: &[(&str, &[&str])] = &[
        ("- {id: notes, title: Notes}\n- {id: »Other Notes, title: N}", &["`Other Notes`", "lower-case words"]),
        ("- {id: notes, title: Notes}\n- {id: »notes, title: N}", &["twice", "documents.yaml:1:8"]),
        ("- {id: notes, title: »3}", &["the title", "the integer 3"]),
        ("- {id: notes, title: Notes, »»url: x}", &["no key `url`", "id, title"]),
        ("- {id: notes, title: Notes}\n- »{id: more}", &["lacks the key `title`"]),
        ("- {id: notes, title: Notes}\n- »plain", &["a document: a mapping", "the text \"plain\""]),
        ("»id: notes", &["a list of documents", "a mapping"]),
    ];
    for (text, words) in documents {
        check(&text.replace("»»", "»"), CLAUSES, CASES, words);
    }
    let clauses: &[(&str, &[&str])] = &[
        ("  shows: [»acept, reject]", &["unknown kind of case `acept`", "did you mean `accept`?"]),
        ("  shows: »[]", &["kinds of case", "empty"]),
        ("  »show: [accept]", &["no key `show`", "did you mean `shows`?"]),
        ("  shows: [accept]\n  sources: [{doc: »note, section: Rules}]", &["there is no document `note`", "`notes`?"]),
        ("  shows: [accept]\n  sources: [»{doc: notes}]", &["a source lacks the key `section`"]),
    ];
    for (rest, words) in clauses {
        let sources = if rest.contains("sources") { "" } else { "  sources: [{doc: notes, section: Rules}]\n" };
        let text = format!("{CLAUSES}- id: second\n  statement: S.\n{sources}{rest}\n");
        check(DOCUMENTS, &text, CASES, words);
    }
}

#[test]
fn faults_of_yaml() {
    check(DOCUMENTS, CLAUSES, &third("  note: [1, 2\n  why»: x"), &["this is not valid YAML", "',' or ']'"]);
    check(DOCUMENTS, CLAUSES, &third("  note: a\n  »note: b"), &["`note` occurs twice", "line 15, column 3"]);
    check(DOCUMENTS, CLAUSES, &program("r: {add: [x, y], »add: [y, x]}"), &["`add` occurs twice", "line 18, column 9"]);
    check(DOCUMENTS, CLAUSES, &program("»x: {shape: [1]}"), &["`x` occurs twice", "line 16"]);
    check(DOCUMENTS, CLAUSES, "»", &["a list of cases", "nothing"]);
}

#[test]
fn faults_of_cases() {
    let sound = "  program: {x: {shape: [2]}, r: {add: [x, x]}}\n";
    let check = |text: &str, words: &[&str]| check(DOCUMENTS, CLAUSES, text, words);
    let rest = format!("{sound}  expect: {{r: {{shape: [2]}}}}\n");
    let third_with = |from: &str, to: &str| {
        third(&rest).replace(&format!("{HEAD}{rest}"), &format!("{HEAD}{rest}").replace(from, to))
    };

    check(&third_with("add-rows/third", "»add_rows/third"), &["must begin with `add-rows/`"]);
    check(&third_with("add-rows/third", "»add-rows/Third"), &["`add-rows/Third`", "lower-case words"]);
    check(&third_with("add-rows/third", "»third"), &["must be `add-rows/` and"]);
    check(
        &third_with("add-rows/third", "»add-rows/equal"),
        &["case `add-rows/equal` is defined twice", "add_rows.yaml:1:7"],
    );
    check(
        &third_with("[equal-sizes]", "[»equal-size]"),
        &["there is no clause `equal-size`", "did you mean `equal-sizes`?"],
    );
    check(&third_with("[equal-sizes]", "[equal-sizes, »equal-sizes]"), &["named twice"]);
    check(&third_with("[equal-sizes]", "»equal-sizes"), &["the clauses that it tests: a list"]);
    check(&third_with("doc: notes", "doc: »other"), &["there is no document `other`"]);
    check(&third_with("Rules}", "Rules, example: »0}"), &["counted from 1", "the integer 0"]);
    check(&third_with("Rules}", "Rules, example: »4294967296}"), &["counted from 1", "4294967296"]);
    check(&third_with("Rules}", "Rules, »page: 2}"), &["a source has no key `page`", "doc, section, example"]);
    check(&third_with("  program", "  »progam"), &["no key `progam`", "did you mean `program`?"]);
    check(&third_with("- id: add-rows/third\n  ", "- »"), &["lacks the key `id`"]);
    check(&third(&format!("{rest}  »control: add-rows/equal")), &["only for a case that expects a rejection"]);
    check(&third(&format!("{rest}  »documented: {{r: {{shape: [3]}}}}")), &["without `why`"]);
    check(&third(&format!("{rest}  »why: Nobody knows.")), &["without `documented`"]);
    check(&third(&format!("{rest}  documented: {{»q: {{shape: [3]}}}}\n  why: x")), &["`q` is neither"]);
    check(&third(&format!("{sound}  expect: »{{}}")), &["at least one expectation"]);

    let rejects = "  expect: {r: {rejected: dtype, message: m}}\n";
    let no_control = third(&format!("{sound}{rejects}")).replace("- id: add-rows/third", "- »id: add-rows/third");
    check(&no_control, &["needs a `control`"]);
    check(&third(&format!("{sound}{rejects}  control: »add-rows/equl")), &["there is no case", "`add-rows/equal`?"]);
    check(&third(&format!("{sound}{rejects}  control: »add-rows/unequal")), &["expects a rejection itself"]);
}

#[test]
fn clauses_without_their_cases() {
    let (accepting, rejecting) = CASES.split_at(CASES.find("- id: add-rows/unequal").unwrap());
    let marked = CLAUSES.replace("- id", "- »id");
    check(DOCUMENTS, &marked, accepting, &["`equal-sizes` has no case that expects a rejection"]);
    let unused = format!("{CLAUSES}- »{}", &CLAUSES.replace("equal-sizes", "unused")[2..]);
    check(DOCUMENTS, &unused, CASES, &["no case names the clause `unused`"]);
    let claim = CLAUSES.replace("[accept, reject]", "[claim]");
    assert!(read(DOCUMENTS, &claim, accepting).is_ok());

    let other = CLAUSES.replace("equal-sizes", "other").replace("[accept, reject]", "[accept]");
    let clauses = format!("{marked}{other}");
    let cases = format!("{}{rejecting}", accepting.replace("[equal-sizes]", "[other]"));
    check(DOCUMENTS, &clauses, &cases, &["`equal-sizes` has no case that accepts"]);
}

#[test]
fn faults_of_inputs() {
    let faults: &[(&str, &[&str])] = &[
        ("z: {»shpae: [2]}", &["unknown operation `shpae`", "did you mean `shape`?"]),
        ("z: »{dtype: int64}", &["neither an input", "nor a step"]),
        ("z: »[1, 2]", &["an input (with `shape` or `values`) or a step", "a list"]),
        ("z: {shape: [2], »fil: zeros}", &["an input has no key `fil`", "did you mean `fill`?"]),
        ("z: {shape: [2], fill: »random}", &["unknown fill `random`", "distinct, zeros, ones"]),
        ("z: {shape: [2], »values: [1, 2]}", &["either `shape` or `values`"]),
        ("z: {values: [1, 2], »fill: ones}", &["`fill` goes with `shape`"]),
        ("z: {shape: »[2, -1]}", &["no tensor has this shape", "size -1 in dimension 1 is negative"]),
        ("z: {shape: »[4294967296, 4294967296]}", &["no tensor has this shape", "64 bits"]),
        ("z: {shape: »[2048, 1024]}", &["2097152 elements are too many", "at most 1048576"]),
        ("z: {shape: [2, »x]}", &["a list of sizes", "the text \"x\""]),
        ("z: {shape: [2], dtype: »flaot32}", &["unknown dtype `flaot32`", "did you mean `float32`?"]),
        ("z: {values: [[1, 2], »[3]]}", &["ragged: 1 elements", "have 2"]),
        ("z: {values: [[1, 2], »3]}", &["ragged: a number where"]),
        ("z: {values: [1, »[2]]}", &["ragged: a list where"]),
        ("z: {values: [1, »one]}", &["expected a number", "the text \"one\""]),
        ("z: {values: [0, »0.5], dtype: int64}", &["0.5 is not a value of dtype int64"]),
        ("z: {values: [»300], dtype: uint8}", &["300 is not a value of dtype uint8"]),
        ("z: {values: [»9223372036854775808]}", &["does not fit into 64 bits with a sign"]),
        ("z: {shape: [2], dtype: int32, »requires_grad: true}", &["can require gradients, not int32"]),
        ("z: {values: [1, 2], »requires_grad: true}", &["not int64"]),
        ("z: {shape: [2], requires_grad: »1}", &["true or false", "the integer 1"]),
        ("»z.0: {shape: [2]}", &["`z.0` is not a name"]),
        ("»3: {shape: [2]}", &["a key must be text", "the integer 3"]),
    ];
    for (entry, words) in faults {
        check(DOCUMENTS, CLAUSES, &program(entry), words);
    }
}

#[test]
fn faults_of_steps() {
    let faults: &[(&str, &[&str])] = &[
        ("r: {»ad: [x, y]}", &["unknown operation `ad`", "did you mean `add`?"]),
        ("r: {»convolve: [x, y]}", &["unknown operation `convolve`", "`broadcheck ops` lists them"]),
        ("r: {»add__: [x, y]}", &["unknown operation `add__`", "did you mean `add_`?"]),
        ("r: {»expand_: [x, [2]]}", &["`expand` has no in-place form `expand_`"]),
        ("r: {add: [x, y], »mul: [x, y]}", &["one operation, not `add` and `mul`"]),
        ("r: »{alpha: 2}", &["a step without an operation"]),
        ("r: {add: »x}", &["positional arguments of `add`: a list", "the text \"x\""]),
        ("r: {»add: [x]}", &["`add` takes (self, other, alpha)", "`other` is missing"]),
        ("r: {mul: [x, y, »2]}", &["`mul` takes at most 2 arguments (self, other), found 3"]),
        ("r: {add: [x, y], »alhpa: 2}", &["`add` has no parameter `alhpa`", "self, other, alpha, out", "`alpha`?"]),
        ("r: {add: [x, y, 1], »alpha: 2}", &["by position and by keyword"]),
        ("r: {add: [x, y], alpha: »two}", &["`alpha` of `add`: a number", "the text \"two\""]),
        ("r: {einsum: [\"ij,j\", x, y], »out: x}", &["`einsum` has no `out` form"]),
        ("r: {add_: [x, y], »out: x}", &["writes to its first argument"]),
        ("r: {add: [x, y], out: »3}", &["`out` of `add`: the name of a tensor", "the integer 3"]),
        ("r: {add: [x, »qq]}", &["`qq` is neither an input nor a step"]),
        ("second: {add: [x, y]}\n    r: {add: [x, »secnd]}", &["`secnd`", "did you mean `second`?"]),
        ("r: {add: [x, »z]}\n    z: {add: [x, y]}", &["`z` is used before it is defined, on line 19"]),
        ("r: {add: [x, »r]}", &["`r` is used before it is defined"]),
        ("r: {add: [x, »y.0]}", &["single result", "write `y`, not `y.0`"]),
        ("b: {broadcast_tensors: [x, y]}\n    r: {add: [x, »b]}", &["`b` has 2 results", "`b.0`"]),
        ("b: {broadcast_tensors: [x, y]}\n    r: {add: [x, »b.2]}", &["`b` has 2 results", "no `b.2`"]),
        ("s: {broadcast_shapes: [2]}\n    r: {add: [x, »s]}", &["`s` is a shape, not a tensor"]),
        ("n: {item: [x]}\n    r: {matmul: [x, »n]}", &["`n` is a number, not a tensor"]),
        ("r: {matmul: [x, »2]}", &["`other` of `matmul`: the name of a tensor", "the integer 2"]),
        ("r: {add_: [»2, x]}", &["`self` of `add_`: the name of a tensor to write to"]),
        ("r: {add: [x, »[y]]}", &["`other` of `add`: the name of a tensor, or a number", "a list"]),
        ("r: {expand: [x, »3]}", &["`size` of `expand`: a list of integers", "the integer 3"]),
        ("r: {expand: [x, [2, »3.5]]}", &["`size` of `expand`", "the number 3.5"]),
        ("r: {unsqueeze: [x, »[0]]}", &["`dim` of `unsqueeze`: an integer", "a list"]),
        ("r: {sum: [x], dim: »all}", &["an integer or a list of integers", "the text \"all\""]),
        ("r: {sum: [x], keepdim: »1}", &["`keepdim` of `sum`: true or false", "the integer 1"]),
        ("r: {einsum: [»1, x]}", &["`equation` of `einsum`: text", "the integer 1"]),
        ("r: {index: [x, »\"1, x\"]}", &["index item \"x\"", "start:stop:step"]),
        ("r: {broadcast_shapes: [[1, 2], »x]}", &["a list of sizes or a single size", "the text \"x\""]),
        ("r: {backcompat.broadcast_warning: [»1]}", &["`enabled` of `backcompat.broadcast_warning`: true or false"]),
    ];
    for (entry, words) in faults {
        check(DOCUMENTS, CLAUSES, &program(entry), words);
    }
}

#[test]
fn faults_of_expectations() {
    let faults: &[(&str, &[&str])] = &[
        ("»q: {shape: [2]}", &["`q` is neither an input nor a step"]),
        ("»b.2: {shape: [2]}", &["`b` has 2 results", "no `b.2`"]),
        ("b: {»shape: [2]}", &["`b` has 2 results", "`b.0`"]),
        ("r: »unchanged", &["only an input can be `unchanged`"]),
        ("r: »nothing", &["`r` is a tensor, never `nothing`"]),
        ("r: »accepted", &["a mapping of shape, dtype", "the text \"accepted\""]),
        ("r: »{}", &["states something"]),
        ("r: {»shap: [2]}", &["an expectation has no key `shap`", "did you mean `shape`?"]),
        ("r: {values: »[[1, 2], [3, 4]], shape: [2, 3]}", &["that of a shape [2, 2], not [2, 3]"]),
        ("r: {values: [[1], »[2, 3]]}", &["ragged: 2 elements"]),
        ("r: {dtype: int64, values: [1, »2.5]}", &["2.5 is not a value of dtype int64"]),
        ("r: {shape: [2], »decimals: 4}", &["`decimals`", "there are none"]),
        ("r: {values: [1.5], decimals: »40}", &["from 0 to 17"]),
        ("r: {strides: »[3], shape: [2, 3]}", &["1 strides for a shape of 2 dimensions"]),
        ("r: {view_of: »z}", &["`z` is neither"]),
        ("r: {view_of: »r}", &["the value itself"]),
        ("r: {fresh: »false}", &["expected true"]),
        ("r: {»number: 3}", &["`r` is a tensor, which has no `number`"]),
        ("n: {»shape: []}", &["`n` is a number, which has no `shape`"]),
        ("s: {»dtype: int64}", &["`s` is a shape, which has no `dtype`"]),
        ("w: {»shape: []}", &["`w` is nothing, which has no `shape`"]),
        ("x: {»warnings: []}", &["only steps give warnings"]),
        ("b.0: {»warnings: []}", &["expect them of `b`"]),
        ("r: {warnings: [»3]}", &["the text of a warning", "the integer 3"]),
        ("r: »{rejected: dtype}", &["lacks the key `message`"]),
        ("r: »{message: m}", &["lacks the key `rejected`"]),
        ("r: {rejected: »size-mismach, message: m}", &["unknown rejection class", "output-shape", "`size-mismatch`?"]),
        ("r: {rejected: »any, message: m}", &["unknown rejection class `any`"]),
        ("r: {»shape: [2], rejected: dtype, message: m}", &["`shape` of a value that is rejected"]),
        ("»x: {rejected: dtype, message: m}", &["`x` is an input, which nothing can reject"]),
        ("»b.1: {rejected: dtype, message: m}", &["rejected as a whole", "`b`"]),
    ];
    for (entry, words) in faults {
        check(DOCUMENTS, CLAUSES, &expect(entry), words);
    }
}

#[test]
fn all_faults_are_reported_in_the_order_of_the_text() {
    let text = "\
- id: add-rows/first
  clause: [equal-sizes]
  source: {doc: nowhere, section: Rules}
  program: {x: {shape: [-2]}, r: {add: [x, z]}}
  expect: {q: unchanged}
";
    let error = read(DOCUMENTS, CLAUSES, text).unwrap_err();
    let places: Vec<_> = error.faults.iter().map(|fault| (fault.location.line, fault.location.column)).collect();
    assert_eq!(places, [(3, 17), (4, 24), (4, 44), (5, 12)], "{error}");
    assert_eq!(error.to_string().lines().count(), 4);
}

#[test]
fn programs_become_what_they_say() {
    let text = "\
x: {shape: [2, 2], requires_grad: true}
y: {values: [[0, 255]], dtype: uint8}
z: {values: [.nan, .inf, -.inf, -0.0, 0.1]}
c: {values: 1.5-infj}
e: {shape: [0, 3], fill: ones, dtype: bool}
add: {add: [x, 2.5], alpha: 2}
out: {mul: [1, y], out: x}
sum: {sum: [x], dim: 1, keepdim: true}
parts: {broadcast_tensors: [x, y]}
last: {einsum: [\"ij,j->i\", parts.0, y]}
shapes: {broadcast_shapes: [[3, 1], 5]}
index: {index: [x, 0]}
all: {all: [x]}
";
    let program = load_program(Path::new("p.yaml"), text).unwrap();
    let scalars = |input: usize| {
        let Input { dtype, data, .. } = &program.inputs[input];
        Buffer::from_bytes(*dtype, data).unwrap().scalars()
    };
    assert_eq!(program.inputs[0].dtype, DType::Float32);
    assert_eq!(scalars(0), [1.0, 2.0, 3.0, 4.0].map(Scalar::Float));
    assert_eq!(scalars(1), [0, 255].map(Scalar::Int));
    assert_eq!(program.inputs[2].dtype, DType::Float32);
    let specials: Vec<u32> =
        program.inputs[2].data.chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert!(f32::from_bits(specials[0]).is_nan());
    assert_eq!(specials[1..], [f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.1].map(f32::to_bits));
    assert_eq!(program.inputs[3].dtype, DType::Complex64);
    assert_eq!((program.inputs[4].shape.sizes(), program.inputs[4].data.len()), (&[0, 3][..], 0));
    let value = |value| ValueRef { value, part: None };
    let args: Vec<_> = program.steps.iter().map(|step| step.args.clone()).collect();
    let number = |number| Arg::Number(Scalar::Int(number));
    assert_eq!(args[0], [Arg::Tensor(value(0)), Arg::Number(Scalar::Float(2.5)), number(2)]);
    assert_eq!(args[1], [number(1), Arg::Tensor(value(1))]);
    assert_eq!((program.steps[1].form, program.steps[1].out), (Form::Out, Some(value(0))));
    assert_eq!(args[2], [Arg::Tensor(value(0)), Arg::Int(1), Arg::Flag(true), Arg::Nothing]);
    let part = Arg::Tensors(vec![ValueRef { value: 8, part: Some(0) }, value(1)]);
    assert_eq!(args[4], [Arg::Text("ij,j->i".to_owned()), part]);
    assert_eq!(args[5], [Arg::Shapes(vec![ShapeArg::Sizes(vec![3, 1]), ShapeArg::Size(5)])]);
    assert_eq!(args[6], [Arg::Tensor(value(0)), Arg::Index(vec![IndexItem::At(0)])]);
    assert_eq!(args[7], [Arg::Tensor(value(0)), Arg::Nothing, Arg::Flag(false)]);
}

/// True if two cases are equal, NaN being equal to NaN.
fn same(a: &Case, b: &Case) -> bool {
    let parts = |case: &Case| {
        let Case {
            id,
            clauses,
            witnesses,
            source,
            note,
            program,
            expect,
            otherwise,
            documented,
            why,
            control,
            location: _,
        } = case.clone();
        format!("{:?}", (id, clauses, witnesses, source, note, program, expect, otherwise, documented, why, control))
    };
    parts(a) == parts(b)
}

/// Renders every case of a specification and reads it back.
fn round_trip(documents: &str, clauses: &str, specification: &Specification) {
    for case in &specification.cases {
        let text = render::case(case);
        let program = render::program(&case.program);
        let again = load_program(Path::new("program.yaml"), &program).unwrap_or_else(|e| panic!("{e}\n{program}"));
        assert_eq!(format!("{again:?}"), format!("{:?}", case.program), "{program}");
        assert!(text.lines().all(|line| line.starts_with("- ") || line.starts_with("  ")), "{text}");
    }
    let mut themes: Vec<(PathBuf, String)> =
        [("documents.yaml", documents), ("clauses.yaml", clauses)].map(|(n, t)| (n.into(), t.to_owned())).into();
    for case in &specification.cases {
        let path = PathBuf::from(format!("{}.yaml", case.theme()));
        match themes.iter_mut().find(|(other, _)| *other == path) {
            Some((_, text)) => text.push_str(&render::case(case)),
            None => themes.push((path, render::case(case))),
        }
    }
    let again = load_files(&themes).unwrap_or_else(|error| panic!("{error}"));
    for case in &specification.cases {
        let found = again.cases.iter().find(|other| other.id == case.id).expect("no case is lost");
        assert!(same(case, found), "{}\n{case:#?}\n{found:#?}", render::case(case));
    }
}

#[test]
fn every_kind_of_expectation_survives_rendering() {
    let cases = format!(
        "{CASES}- id: add-rows/everything
  clause: [equal-sizes]
  source: {{doc: notes, section: \"In-place: \\\"a\\\" # b\", example: 2}}
  note: 'true'
  control: add-rows/equal
  program:
    x: {{shape: [2, 3], dtype: bfloat16, requires_grad: true}}
    y: {{values: [[0.1, -0.0, .nan]]}}
    z: {{shape: [2, 0, 3]}}
    c: {{values: [1+2j, nan-infj]}}
    r: {{add_: [x, y], alpha: -.inf}}
    b: {{broadcast_tensors: [x, y]}}
    s: {{broadcast_shapes: []}}
    n: {{item: [y]}}
    g: {{grad: [x]}}
    i: {{index: [x, \"..., None, 1:2\"]}}
    o: {{mul: [x, b.1], out: x}}
    m: {{mean: [x], dim: [0, 1]}}
  expect:
    r: {{rejected: output-shape, message: \"a \\\\ \\\"b\\\"\\n\\u0007 é\"}}
    b.1: {{shape: [2, 3], dtype: float32, strides: [0, 1], view_of: y, values: [[0.1, 0, .nan], [1, 2, -.inf]], decimals: 4}}
    b: {{warnings: []}}
    s: {{shape: [0, 7]}}
    n: {{number: 1+2j}}
    g: nothing
    i: {{fresh: true, warnings: [\"a: b\", c]}}
    z: {{values: [[], []], shape: [2, 0, 3]}}
    x: unchanged
  otherwise:
    - {{releases: \"<2.4\", expect: {{r: {{shape: [2, 3]}}, x: {{values: [[1, 2, 3], [4, 5, 6]]}}}}}}
    - releases: \">=2.4, <2.6\"
      expect: {{g: {{rejected: autograd, message: m}}}}
  documented:
    r: {{message: \"{{}}\"}}
    o: {{rejected: any}}
    m: {{rejected: dtype}}
  why: \"It is: so.\"
"
    );
    let specification = read(DOCUMENTS, CLAUSES, &cases).unwrap_or_else(|error| panic!("{error}"));
    let everything = &specification.cases[2];
    assert_eq!(everything.note.as_deref(), Some("true"));
    let Expectation::Value(shape) = &everything.expect[7].1 else { panic!("{everything:?}") };
    assert_eq!(shape.shape, Some(Shape::new(vec![2, 0, 3]).unwrap()));
    assert!(render::case(everything).contains("\n    r: {add_: [x, y], alpha: -.inf}\n"));
    round_trip(DOCUMENTS, CLAUSES, &specification);
}

#[test]
fn the_specification_loads_and_survives_rendering() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec");
    let specification = load(&dir).unwrap_or_else(|error| panic!("{error}"));
    let documents = std::fs::read_to_string(dir.join("documents.yaml")).unwrap();
    let files = std::fs::read_dir(dir.join("clauses")).unwrap().map(|entry| entry.unwrap().path());
    let clauses: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    round_trip(&documents, &clauses, &specification);
}

#[test]
fn a_folder_is_read_with_its_regressions_and_missing_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = load(dir.path()).unwrap_err();
    let messages: Vec<_> = error.faults.iter().map(|fault| (fault.location.line, fault.message.as_str())).collect();
    assert_eq!(messages[0], (0, "is missing"), "{error}");
    assert!(error.to_string().contains("documents.yaml: is missing"), "{error}");

    std::fs::create_dir(dir.path().join("regressions")).unwrap();
    let found = CASES.replace("add-rows/", "found-once/");
    for (name, text) in [
        ("documents.yaml", DOCUMENTS),
        ("clauses.yaml", CLAUSES),
        ("add_rows.yaml", CASES),
        ("regressions/found_once.yaml", &found),
        ("README.md", "no YAML: ["),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    let specification = load(dir.path()).unwrap();
    let ids: Vec<_> = specification.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["add-rows/equal", "add-rows/unequal", "found-once/equal", "found-once/unequal"]);
    assert_eq!(specification.cases[2].location.file, dir.path().join("regressions/found_once.yaml"));
}
