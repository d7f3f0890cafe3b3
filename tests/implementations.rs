//! Other libraries, one in Python, one in Rust and one for Node, as `--impl` has them: installed from their pins into the
//! cache, then against the whole specification. What they do otherwise is in their `divergences.yaml`, exactly so, and
//! snippets in their own language show it. And the skeletons that `new-adapter` writes, the package for Python, the tutorial.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use broadcheck::adapter::{CommandLine, Implementation, Limits, unsupported_by};
use broadcheck::case::load_program;
use broadcheck::harness::model::divergence::{self, Divergence, Source};
use broadcheck::harness::model::finding::{Finding, Oracle};
use broadcheck::harness::mutation::wrong_replies;
use broadcheck::harness::oracles::comparison::{Side, from_reference};
use broadcheck::harness::runner::Start;
use broadcheck::program::{Program, Reply};
use broadcheck::reference::Reference;
use common::SPECIFICATION;
use serde_json::Value;

mod common;

fn broadcheck(args: &[&str], folder: &Path) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_broadcheck")).args(args).current_dir(folder).output().unwrap();
    assert_ne!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The cases that ended so.
fn ended(report: &Value, how: &str) -> Vec<String> {
    let cases = report["cases"].as_array().expect("cases");
    let of = |case: &&Value| {
        let ran = case["implementations"].as_object().expect("implementations").values().next().expect("one");
        ran["verdict"]["is"] == how
    };
    cases.iter().filter(of).map(|case| case["id"].as_str().expect("an id").to_owned()).collect()
}

/// Runs the specification on a library, which may be wrong as it is known to be, and in no other way.
fn differs_only_where_it_is_known_to(name: &str, least: usize) {
    let output = broadcheck(&["check", "--impl", name, "--format", "json"], here());
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    for how in ["broken", "failed", "uncontrolled"] {
        assert_eq!(ended(&report, how), [""; 0], "{name}: {how}");
    }
    let (passed, pinned) = (ended(&report, "passed").len(), ended(&report, "diverges").len());
    assert!(passed > least && pinned > 100, "{passed} passed, {pinned} diverge");
    assert_eq!(output.status.code(), Some(0), "{name}");
}

#[test]
fn numpy_differs_only_where_it_is_known_to() {
    differs_only_where_it_is_known_to("numpy", 1000);
}

#[test]
fn campaigns_know_the_causes_of_numpy() {
    campaigns_know_the_causes_of("numpy");
}

#[test]
fn campaigns_know_the_causes_of_array_api_strict() {
    campaigns_know_the_causes_of("array-api-strict");
}

/// In a campaign, a library's answer to a witness of a cause is of that cause, or of an earlier one. What goes wrong in
/// another way is not known, and neither is a fault that the library does not have.
fn campaigns_know_the_causes_of(name: &str) {
    let start = CommandLine::new(python_with(name)).arg(here().join("adapters").join(name).join("adapter.py"));
    let mut runner = Start::Adapter(start).runner(&Limits::default()).unwrap();
    let hello = runner.hello();
    let divergences = divergence::load(&Source::Own, &hello, &SPECIFICATION).unwrap();
    let finding = |program: &Program, reply: &Reply| {
        let (reference, wanted) = (Reference.hello(), Reference.run(program));
        let sides = [Side { hello: &reference, reply: &wanted }, Side { hello: &hello, reply }];
        Finding::of_differences(Oracle::Reference, program, from_reference(program, sides[0], sides[1]))
    };
    let known = |finding: &Finding| divergence::known(&divergences, finding, &hello).map(|known| known.id.clone());

    let (mut all, mut new, mut unmet) = (0, Vec::new(), Vec::new());
    for divergence in divergences.iter().filter(|divergence| !divergence.signature.is_empty()) {
        let programs = programs_of(divergence).filter(|program| unsupported_by(&hello, program).is_none());
        let programs: Vec<&Program> = programs.collect();
        let (mut met, mut recognised) = (0, 0);
        runner.run_each(&programs, |at, reply| {
            let Some(mut finding) = finding(programs[at], &reply.unwrap()) else { return };
            met += 1;
            match known(&finding) {
                Some(_) => recognised += 1,
                None => new.push(format!("{}: {}", divergence.id, finding.signature)),
            }
            finding.signature.kind = "strides".to_owned();
            assert_eq!(known(&finding), None, "{} in another way", divergence.id);
        });
        if met > 0 && recognised == 0 {
            unmet.push(&divergence.id);
        }
        all += met;
    }
    assert!(unmet.is_empty(), "of these no witness is recognised: {unmet:?}\nnew:\n{}", new.join("\n"));
    assert!(all > 200 && new.len() * 20 < all, "{} of {all} are new:\n{}", new.len(), new.join("\n"));

    for call in ["add: [x, y]", "sub: [x, y]", "where: [m, x, y]", "maximum: [x, y]", "sum: [x]", "matmul: [x, y]"] {
        let inputs = "x: {values: [[1.0, 2.0], [3.0, 4.0]]}, y: {values: [[5.0], [7.0]]}, m: {values: [[true, false]]}";
        let program = load_program(Path::new("program"), &format!("{{{inputs}, r: {{{call}}}}}")).unwrap();
        for lie in [wrong_replies::wrong_value, wrong_replies::wrong_shape, wrong_replies::wrong_dtype] {
            let finding = finding(&program, &lie(&program)).expect("it lies");
            assert_eq!(known(&finding), None, "{call}: {}", finding.signature);
        }
    }
}

/// The programs of the cases that show a divergence.
fn programs_of(divergence: &Divergence) -> impl Iterator<Item = &'static Program> {
    let is_witness = |id: &str| divergence.witnesses.iter().any(|witness| witness.case == id);
    SPECIFICATION.cases.iter().filter(move |case| is_witness(&case.id)).map(|case| &case.program)
}

#[test]
fn ndarray_differs_only_where_it_is_known_to() {
    differs_only_where_it_is_known_to("ndarray", 100);
}

#[test]
fn tfjs_differs_only_where_it_is_known_to() {
    differs_only_where_it_is_known_to("tfjs", 400);
}

#[test]
fn snippets_print_what_they_say() {
    let mut python = Command::new(std::env::var_os("BROADCHECK_PYTHON").unwrap_or_else(|| "python3".into()));
    python.arg(here().join("adapters").join("snippets.py"));
    let output =
        python.args(["--broadcheck", env!("CARGO_BIN_EXE_broadcheck"), "numpy", "ndarray", "tfjs"]).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("numpy: 73 snippets, 0 faults"), "{said}");
}

/// The answers of an adapter in Python to these lines. It is the program after the path of the shared package.
#[cfg(unix)]
fn answers(program: &str, lines: &[&str]) -> Output {
    let python = std::env::var_os("BROADCHECK_PYTHON").unwrap_or_else(|| "python3".into());
    let mut command = Command::new(python);
    command.args(["-c", program]).env("PYTHONPATH", here().join("adapters/python"));
    let mut process =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("Python starts");
    process.stdin.take().expect("a pipe").write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    process.wait_with_output().unwrap()
}

/// A library of three operations: `add` gives the number of the process, `mul` makes everything fail from then on, as an
/// assertion on a GPU does, and `div` ends the process.
#[cfg(unix)]
const DEVICE: &str = r#"
import os, sys
from broadcheck_adapter import Library, Reply, quiet
from broadcheck_adapter.worker import CannotRun, Lost, serve_by_worker

works = True

def of_device(function):
    def call(form, out, *operands):
        global works
        if not works:
            raise Lost("the device is of no use")
        return function(*operands)
    return call

def mul(*operands):
    global works
    works = False
    raise Lost("an index is out of bounds")

def describe():
    if "NO_DEVICE" in os.environ:
        raise CannotRun("this machine has no device")
    operations = {"add": lambda *_: os.getpid(), "mul": mul, "div": lambda *_: os.abort()}
    ops = {name: of_device(function) for name, function in operations.items()}
    make = lambda dtype, shape, data, _: (dtype, shape, data)
    return Library("device", "1", ["uint8"], ops, make, lambda it: Reply(*it), lambda it: isinstance(it, tuple))

serve_by_worker(describe, quiet())
"#;

#[cfg(unix)]
fn request(seq: usize, op: &str, form: &str) -> String {
    format!(
        r#"{{"run":{{"seq":{seq},"program":{{"inputs":[{{"name":"x","dtype":"uint8","shape":[1],"data":"Bw=="}}],"steps":[{{"name":"r","op":"{op}","form":"{form}","args":[{{"tensor":{{"value":0}}}}]}}]}}}}}}"#
    )
}

/// After a program that makes the library useless, the next one meets a new process, which the harness never sees; a
/// crash it does see.
#[cfg(unix)]
#[test]
fn a_program_that_loses_the_library_costs_no_other_one() {
    let programs = [
        ("add", "functional"),
        ("add", "functional"),
        ("mul", "in_place"),
        ("add", "functional"),
        ("div", "functional"),
    ];
    let mut lines = vec![r#"{"hello":{"protocol":1}}"#.to_owned()];
    lines.extend(programs.iter().enumerate().map(|(seq, (op, form))| request(seq, op, form)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let ended = answers(DEVICE, &lines);
    let answered: Vec<Value> =
        ended.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    assert_eq!(answered.len(), 5, "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(answered[0]["hello"]["hello"]["name"], "device");
    let reply = |seq: usize| &answered[seq + 1]["ran"]["reply"];
    let process = |seq: usize| reply(seq)["steps"][0]["outcome"]["value"]["number"]["int"].as_u64().expect("a number");
    assert_eq!(process(0), process(1));
    assert_ne!(process(1), process(3));
    assert_eq!(reply(2)["steps"][0]["outcome"]["failed"], "an index is out of bounds");
    assert_eq!(reply(2)["inputs"][0]["data"], "Bw==");
    let signal = std::os::unix::process::ExitStatusExt::signal(&ended.status);
    assert_eq!(signal, Some(6), "{}", ended.status);

    let whole = answers(DEVICE, &lines[..5]);
    assert!(whole.status.success(), "{}", whole.status);
    let without = answers(&format!("import os; os.environ['NO_DEVICE'] = '1'\n{DEVICE}"), &lines[..1]);
    let said = String::from_utf8_lossy(&without.stdout);
    assert_eq!(said.trim(), r#"{"error":{"message":"this machine has no device"}}"#);
    assert!(without.status.success(), "{}", without.status);
}

/// On the processor the mode for other devices is PyTorch itself, outcome by outcome. It takes a `BROADCHECK_PYTHON` with
/// PyTorch, which CI does not install.
#[test]
fn a_device_called_cpu_is_the_processor() {
    let Some(python) = python_with_torch() else {
        eprintln!("left out: BROADCHECK_PYTHON names no Python that has PyTorch");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, device: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
        command.args(["check", "--impl", name, "--python", &python, "--events"]).current_dir(here());
        command.arg(folder.path().join(name)).env("BROADCHECK_DEVICE", device).output().unwrap()
    };
    let (plain, device) = (check("pytorch", ""), check("pytorch-cuda", "cpu"));
    let last = |output: &Output| String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_owned);
    assert_eq!(last(&plain), last(&device), "{}", String::from_utf8_lossy(&device.stderr));
    let files = ["pytorch", "pytorch-cuda"].map(|name| folder.path().join(name).display().to_string());
    let differs = broadcheck(&["diff", &files[0], &files[1]], here());
    assert_eq!(differs.status.code(), Some(0), "{}", String::from_utf8_lossy(&differs.stdout));

    let nowhere = check("pytorch-cuda", "meta");
    let said = String::from_utf8_lossy(&nowhere.stderr);
    assert_eq!(nowhere.status.code(), Some(2), "{said}");
    let why = "cannot compute on the device `meta`: Tensor.item() cannot be called on meta tensors";
    assert!(said.contains("the adapter cannot run here: ") && said.contains(why), "{said}");
}

/// An exception is a rejection, unless nothing can be computed after it.
#[test]
fn a_device_on_which_nothing_succeeds_is_lost() {
    let Some(python) = python_with_torch() else {
        eprintln!("left out: BROADCHECK_PYTHON names no Python that has PyTorch");
        return;
    };
    let program = "import device, broadcheck_adapter\n\
        def fail(*_): raise RuntimeError('CUDA error: device-side assert triggered')\n\
        def raised():\n    try: here.guarded(fail)()\n    except BaseException as error: return type(error).__name__, str(error)\n\
        here = device.Device()\nprint(raised())\nhere.compute = fail\nprint(raised())";
    let shared = ["adapters/pytorch", "adapters/python"].map(|folder| here().join(folder));
    let mut command = Command::new(python);
    command.args(["-c", program]).env("PYTHONPATH", std::env::join_paths(shared).unwrap());
    let output = command.env("BROADCHECK_DEVICE", "cpu").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let error = "CUDA error: device-side assert triggered";
    let lost = format!("('Lost', 'no call succeeds on cpu after this: {error}')");
    assert_eq!(said, format!("('RuntimeError', '{error}')\n{lost}\n"), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The Python that `BROADCHECK_PYTHON` names, if it has PyTorch.
fn python_with_torch() -> Option<String> {
    let python = std::env::var("BROADCHECK_PYTHON").ok()?;
    let has = Command::new(&python).args(["-c", "import torch"]).output().is_ok_and(|output| output.status.success());
    has.then_some(python)
}

/// The Python of the environment that the pins of NumPy make.
fn python_with_numpy() -> PathBuf {
    python_with("numpy")
}

/// The same of any library in Python.
fn python_with(name: &str) -> PathBuf {
    let listed = String::from_utf8(broadcheck(&["impl", "install", "--quiet", name], here()).stdout).unwrap();
    let environment = listed.trim().strip_prefix(&format!("{name} is ready in ")).expect("a folder");
    Path::new(environment).join("bin").join("python")
}

/// A Python of the user's, after `--python` or around the program, is used as it is: the cache stays empty but for the copy
/// of the adapters, and no other Python is asked.
#[cfg(unix)]
#[test]
fn a_python_of_the_users_is_used_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let python = python_with_numpy();
    let folder = tempfile::tempdir().unwrap();
    let environment = folder.path().join("environment");
    std::fs::create_dir_all(environment.join("bin")).unwrap();
    std::fs::write(environment.join("pyvenv.cfg"), "").unwrap();
    std::fs::write(environment.join("bin/python"), format!("#!/bin/sh\nexec '{}' \"$@\"\n", python.display())).unwrap();
    std::fs::set_permissions(environment.join("bin/python"), std::fs::Permissions::from_mode(0o755)).unwrap();
    // A link to the program would be taken for the program itself.
    std::fs::hard_link(env!("CARGO_BIN_EXE_broadcheck"), environment.join("bin/broadcheck"))
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_broadcheck"), environment.join("bin/broadcheck")).map(drop))
        .unwrap();
    let run = |program: &Path, args: &[&str]| {
        let mut command = Command::new(program);
        command.args(["check", "--case", "broadcastable/", "--impl"]).args(args).current_dir(folder.path());
        command.env("BROADCHECK_CACHE", folder.path().join("cache")).env("BROADCHECK_PYTHON", "no-such-python");
        let output = command.env_remove("BROADCHECK_SOURCE").output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), said)
    };
    let outside = Path::new(env!("CARGO_BIN_EXE_broadcheck"));
    for (program, args) in [
        (outside, &["numpy", "--python", python.to_str().unwrap()][..]),
        (&environment.join("bin/broadcheck"), &["numpy"][..]),
    ] {
        let (code, said) = run(program, args);
        assert!(code == Some(0) && said.contains("· conforms"), "{said}");
    }
    assert!(!folder.path().join("cache/implementations").exists());
    let (code, said) = run(outside, &["numpy"]);
    assert!(code == Some(2) && said.contains("no-such-python"), "{said}");
    let (code, said) = run(outside, &["candle", "--python", python.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("candle is not written in Python"), "{said}");
}

#[test]
fn numpy_keeps_the_rules_of_the_protocol() {
    let python = python_with_numpy();
    let command = ["validate-adapter", "--", python.to_str().unwrap(), "adapters/numpy/adapter.py"];
    let output = broadcheck(&command, here());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("follows the rules"), "{said}");
}

/// The output of a program in this folder, with this standard input, without broadcheck's environment.
fn told(words: &[&str], folder: &Path, input: &str) -> String {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder).env_remove("PYTHONPATH").stdin(Stdio::piped()).stdout(Stdio::piped());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BROADCHECK_")) {
        command.env_remove(name);
    }
    let mut child = command.spawn().unwrap();
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

/// Untouched and in an empty folder outside of any checkout: each runs by itself, follows the rules, is green on a
/// screen, and shows what an adapter can say.
/// A finding in a library in Rust has a program in the library's calls, which compiles and prints what it says.
#[test]
#[ignore = "compiles the programs; .ci/run runs it"]
fn findings_in_ndarray_have_programs_that_print_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let nothing_known = folder.path().join("none.yaml");
    std::fs::write(&nothing_known, "[]").unwrap();
    let nothing_known = nothing_known.to_str().unwrap();
    broadcheck(&["impl", "install", "ndarray"], here());
    let options = ["--cases", "3000", "--seed", "1", "--divergences", nothing_known, "--no-bisect", "--out", "fuzz"];
    broadcheck(&[&["fuzz", "--impl", "ndarray"], &options[..]].concat(), folder.path());
    let findings = std::fs::read_dir(folder.path().join("fuzz/findings")).unwrap();
    let findings: Vec<PathBuf> = findings.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    assert!(findings.len() > 5, "{findings:?}");
    let mut python = Command::new("python3");
    python.arg(here().join("adapters").join("snippets.py")).args(["--broadcheck", env!("CARGO_BIN_EXE_broadcheck")]);
    let output = python.arg("--finding").args(&findings).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains(&format!("{} findings, 0 faults", findings.len())), "{said}");
}

#[test]
#[ignore = "builds and installs packages; .ci/run runs it"]
fn skeletons_pass_what_they_declare() {
    let root = tempfile::tempdir().unwrap();
    for (name, lang, program) in [
        ("snake", "python", "python3 snake/adapter.py"),
        ("crab", "rust", "crab/target/release/broadcheck-crab"),
        ("node", "js", "node node/adapter.mjs"),
    ] {
        broadcheck(&["new-adapter", name, "--lang", lang], root.path());
        if lang == "rust" {
            let mut cargo = Command::new("cargo");
            cargo.args(["build", "--quiet", "--release", "--target-dir", "crab/target"]);
            cargo.args(["--manifest-path", "crab/Cargo.toml"]).current_dir(root.path());
            assert!(cargo.status().unwrap().success());
        }
        let words: Vec<&str> = program.split(' ').collect();
        let hello = told(&words, root.path(), "{\"hello\":{\"protocol\":1}}\n");
        let hello: Value = serde_json::from_str(&hello).expect("one answer");
        let hello = &hello["hello"]["hello"];
        assert_eq!(hello["capabilities"], serde_json::json!(["in_place", "out"]), "{name}");
        assert!(hello["ops"].as_array().unwrap().contains(&"broadcast_tensors".into()), "{name}: a list of tensors");
        let lacks = |field: &str| hello["lacks"].as_array().unwrap().iter().any(|lack| lack.get(field).is_some());
        assert!(["form", "argument", "dtype"].into_iter().all(lacks), "{name}: {hello}");
        // In Rust, also numbers without a tensor.
        let texts = if lang == "rust" { 2 } else { 1 };
        assert_eq!(hello["unsupported"].as_array().unwrap().len(), texts, "{name}");

        let output = broadcheck(&[&["validate-adapter", "--"], words.as_slice()].concat(), root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("follows the rules"), "{said}");
        let output = broadcheck(&["check", "--impl", program], root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.lines().count() < 60, "{said}");
        // A form each, a list of tensors, a number, and rejections.
        let shown = [
            "broadcastable/same-shapes",
            "in-place/shape-stays",
            "in-place/shape-would-change",
            "out/resized-with-a-warning",
            "expand/broadcast-tensors-of-nothing",
            "arithmetic/maximum-and-nan",
            "errors/documented-mismatch",
        ];
        let cases = shown.iter().flat_map(|case| ["--case", case]);
        let arguments: Vec<&str> = ["check", "--impl", program, "--format", "json"].into_iter().chain(cases).collect();
        let output = broadcheck(&arguments, root.path());
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let passed = ended(&report, "passed");
        let missing: Vec<&&str> = shown.iter().filter(|case| !passed.iter().any(|each| each == *case)).collect();
        assert!(missing.is_empty(), "{name} does not pass {missing:?}");
    }
}

/// Its version is that of the crate, the wheel of broadcheck carries it, and a type checker finds all types.
#[test]
#[ignore = "builds and installs packages; .ci/run runs it"]
fn the_package_for_python_has_metadata_and_types() {
    let read = |path: &str| std::fs::read_to_string(here().join(path)).expect(path);
    let manifest = |path: &str| read(path).parse::<toml::Table>().expect(path);
    let (own, wheel) = (manifest("adapters/python/pyproject.toml"), manifest("pyproject.toml"));
    let maturin = &wheel["tool"]["maturin"];
    assert_eq!(maturin["python-source"].as_str(), Some("adapters/python"));
    assert_eq!(maturin["module-name"].as_str(), Some("broadcheck_adapter"));
    assert_eq!(own["project"]["requires-python"], wheel["project"]["requires-python"]);
    for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "broadcheck_adapter/py.typed"] {
        assert!(here().join("adapters/python").join(file).is_file(), "{file}");
    }
    let version = format!("__version__ = \"{}\"\n", env!("CARGO_PKG_VERSION"));
    assert!(read("adapters/python/broadcheck_adapter/__init__.py").contains(&version), "it has another version");

    let script = r#"
import ast, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
            bare = [each.arg for each in given if each and each.arg not in ("self", "cls") and each.annotation is None]
            if bare or node.returns is None:
                print(f"{path.name}:{node.lineno}: {node.name} has no type of {bare or 'its result'}")
    for node in [tree, *tree.body]:
        public = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and getattr(node, "name", "")[:1] != "_"
        if public and not ast.get_docstring(node):
            print(f"{path.name}: {getattr(node, 'name', 'the module')} has no docstring")
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
import broadcheck_adapter
for name in broadcheck_adapter.__all__:
    getattr(broadcheck_adapter, name)
"#;
    let package = here().join("adapters/python/broadcheck_adapter");
    let output = Command::new("python3").args(["-B", "-c", script]).arg(package).output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// The whole way of a library author: two adapters for NumPy with the failures that it shows, but for their numbers; then
/// what is left is pinned, CI is green, and a mistake in one operation turns it red.
#[test]
#[ignore = "builds and installs packages; .ci/run runs it"]
fn the_tutorial_shows_what_happens() {
    let tutorial = std::fs::read_to_string(here().join("adapters/TUTORIAL.md")).expect("the tutorial");
    let blocks = |language: &str| -> Vec<String> {
        let fence = format!("```{language}\n");
        tutorial
            .split(&fence)
            .skip(1)
            .map(|block| block.split("```").next().expect("a block ends").to_owned())
            .collect()
    };
    let python = blocks("python");
    let [first, better] = python.as_slice() else { panic!("{} blocks of Python", python.len()) };
    let classes = first.lines().find(|line| line.starts_with("CLASSES = ")).expect("a line");
    let second = first.replace(classes, better).replace("dtypes=[\"float32\", \"int64\"]", "dtypes=DTYPES");
    assert_ne!(first, &second);

    let root = tempfile::tempdir().unwrap();
    broadcheck(&["new-adapter", "mylib", "--lang", "python"], root.path());
    std::fs::remove_file(root.path().join("mylib/toy.py")).unwrap();
    let python = python_with_numpy();
    let program = format!("{} mylib/adapter.py", python.display());
    let plain = |line: &str| line.replace("python3 mylib", &format!("{} mylib", python.display()));
    let digits = |line: &str| line.chars().filter(|c| !c.is_ascii_digit() && *c != ',').collect::<String>();
    let shown: Vec<String> = blocks("text").into_iter().filter(|text| text.starts_with("$ broadcheck check")).collect();
    let [fails, better, pinned, green, red] = shown.as_slice() else { panic!("{} runs are shown", shown.len()) };
    // The adapter as it is at that point, what is shown of a run of it, and its exit code.
    let broken = second.replace("np.maximum", "np.minimum");
    let runs = [(first, fails, 1), (&second, better, 1), (&second, pinned, 0), (&second, green, 0), (&broken, red, 1)];
    let mut failures = Vec::new();
    for (adapter, shown, code) in runs {
        std::fs::write(root.path().join("mylib/adapter.py"), adapter).unwrap();
        let words: Vec<&str> = program.split(' ').collect();
        let output = broadcheck(&[&["validate-adapter", "--"], words.as_slice()].concat(), root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("follows the rules"), "{said}");
        let options = shown.lines().next().and_then(|command| command.split_once("adapter.py'")).expect("a command").1;
        let options: Vec<&str> = options.split_whitespace().collect();
        let output = broadcheck(&[&["check", "--impl", &program], options.as_slice()].concat(), root.path());
        let said = [&output.stderr, &output.stdout].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        assert_eq!(output.status.code(), Some(code), "{said}");
        let mut lines = said.lines();
        for line in shown.lines().skip(1).filter(|line| !matches!(*line, "" | "…")) {
            let wanted = digits(&plain(line));
            assert!(
                lines.any(|printed| is_shown(&digits(printed), &wanted)),
                "the tutorial shows {line:?}, which is not printed there:\n{said}"
            );
        }
        let failed = said.split_once(" failed").map_or("0", |(before, _)| before.rsplit(' ').next().expect("a word"));
        failures.push(failed.parse::<u32>().expect("a count"));
        if shown == pinned {
            give_reason(&root.path().join("known-differences.yaml"), &blocks("yaml"));
        }
        if shown == red {
            assert!(said.lines().take(24).any(|line| line.contains("values of maximum")), "the first screen: {said}");
        }
    }
    assert!(failures[1] < failures[0] && failures[2..4] == [0, 0] && failures[4] > 0, "{failures:?}");
}

/// True if a line matches one in which `…` stands for omitted text.
fn is_shown(printed: &str, wanted: &str) -> bool {
    let mut parts = wanted.split('…');
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty() || wanted.ends_with('…')
}

/// Puts an entry that the tutorial shows in the place of the one that `--pin` has written.
fn give_reason(known: &Path, shown: &[String]) {
    let [entry] = shown else { panic!("one entry is shown") };
    let text = std::fs::read_to_string(known).unwrap();
    let title = entry.lines().next().expect("an id");
    let open = format!("{title}\n  kind: bug\n  link: unreported\n  why: TODO\n");
    assert!(text.contains(&open), "{text}");
    std::fs::write(known, text.replace(&open, entry)).unwrap();
}
