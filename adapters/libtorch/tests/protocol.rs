//! The binary over its pipes.

mod common;

use std::borrow::Cow;
use std::io::Write;
use std::process::{Command, Stdio};

use broadcheck_protocol::adapter::protocol::{Request, Response, VERSION};
use broadcheck_protocol::ops::Op;
use common::*;

#[test]
fn requests_are_answered_in_order_one_line_each() {
    let mut draft = Draft::default();
    let (x, y) = (draft.counting(&[2, 1]), draft.counting(&[3]));
    draft.step(Op::Add, [tensor(x), tensor(y), int(1)]);
    let mut input = String::new();
    for request in [
        Request::Hello { protocol: VERSION },
        Request::Run { seq: 7, program: Cow::Borrowed(&draft.0) },
        Request::Run { seq: 8, program: Default::default() },
    ] {
        input += &serde_json::to_string(&request).unwrap();
        input += "\n";
    }
    input += "nonsense\n";
    let (stdout, _) = serve(&input);
    let answers: Vec<Response> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [Response::Hello { protocol, hello, .. }, Response::Ran { seq: 7, reply }, Response::Ran { seq: 8, .. }, last] =
        &answers[..]
    else {
        panic!("{stdout}")
    };
    assert_eq!((*protocol, hello.name.as_str()), (VERSION, "libtorch"));
    assert_eq!(*reply, draft.run(), "the same as in process");
    assert!(matches!(last, Response::Error { .. }));
}

/// A block of `adapters/README.md` is a request and the answer to it. What libtorch says differs from release to
/// release, so the answers are compared for the release that they came from.
#[test]
fn the_examples_of_the_protocol_are_what_the_binary_answers() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let lines: Vec<&str> = text.split("```json\n").skip(1).flat_map(|block| block.lines().take(2)).collect();
    let (requests, wanted): (Vec<&str>, Vec<&str>) = lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
    assert!(requests.len() > 3, "{text}");
    let (stdout, _) = serve(&(requests.join("\n") + "\n"));
    let parse = |line: &str| serde_json::from_str::<Response>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let (answers, wanted): (Vec<Response>, Vec<Response>) =
        (stdout.lines().map(parse).collect(), wanted.into_iter().map(parse).collect());
    let (Response::Hello { hello, .. }, Response::Hello { hello: printed, .. }) = (&answers[0], &wanted[0]) else {
        panic!("{stdout}")
    };
    // The table grows; the example need not grow with it.
    assert!(printed.ops.iter().all(|op| hello.ops.contains(op)), "{printed:?}");
    assert_eq!((&hello.dtypes, &hello.capabilities), (&printed.dtypes, &printed.capabilities));
    if hello.version == printed.version {
        assert_eq!(answers[1..], wanted[1..]);
    }
}

#[test]
fn the_command_line_is_small() {
    let version = program().arg("--version").output().unwrap();
    assert!(version.status.success());
    assert!(String::from_utf8_lossy(&version.stdout).contains("libtorch 2."), "{version:?}");
    let wrong = program().arg("--nothing").output().unwrap();
    assert!(!wrong.status.success());
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--help"), "{wrong:?}");
}

fn serve(input: &str) -> (String, String) {
    let mut child = program()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // Small enough for the pipe's buffer, so writing all of it first cannot block.
    child.stdin.take().expect("piped").write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Without LD_LIBRARY_PATH: the program must find libtorch by itself.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck-libtorch"));
    command.env_remove("LD_LIBRARY_PATH");
    command
}
