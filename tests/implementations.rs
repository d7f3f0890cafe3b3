//! Other libraries, one in Python, one in Rust and one for Node, as `--impl` has them: installed from their pins into the
//! cache, then against the whole specification. What they do otherwise is in their `divergences.yaml`, exactly so, and
//! snippets in their own language show it. And the skeletons that `new-adapter` writes, the package for Python, the tutorial.
#![cfg(feature = "cli")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

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
    assert!(output.status.success() && said.contains("numpy: 41 snippets, 0 faults"), "{said}");
}

/// The Python of the environment that the pins of NumPy make.
fn python_with_numpy() -> PathBuf {
    let listed = String::from_utf8(broadcheck(&["impl", "install", "--quiet", "numpy"], here()).stdout).unwrap();
    let environment = listed.trim().strip_prefix("numpy is ready in ").expect("a folder");
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
    assert!(output.status.success() && said.contains("keeps the rules"), "{said}");
}

/// What a program prints in this folder, told this on its standard input, without anything of broadcheck's around it.
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

/// Untouched and in an empty folder outside of any checkout: each runs by itself, keeps the rules, is green on a screen, and
/// shows what an adapter can say.
#[test]
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
        assert_eq!(hello["unsupported"].as_array().unwrap().len(), 1, "{name}");

        let output = broadcheck(&[&["validate-adapter", "--"], words.as_slice()].concat(), root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("keeps the rules"), "{said}");
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

/// Its version is that of the crate, the wheel of broadcheck carries it, and whoever checks types is told all of them.
#[test]
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
            bare = [each.arg for each in given if each and each.arg != "self" and each.annotation is None]
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

/// Its two adapters for NumPy give the failures that it shows, but for their numbers, and then fewer.
#[test]
fn the_tutorial_tells_what_happens() {
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
    let mut failures = Vec::new();
    for (adapter, shown) in [first, &second].into_iter().zip(&shown) {
        std::fs::write(root.path().join("mylib/adapter.py"), adapter).unwrap();
        let words: Vec<&str> = program.split(' ').collect();
        let output = broadcheck(&[&["validate-adapter", "--"], words.as_slice()].concat(), root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("keeps the rules"), "{said}");
        let output = broadcheck(&["check", "--impl", &program], root.path());
        let said = String::from_utf8_lossy(&output.stdout);
        let mut lines = said.lines();
        for line in shown.lines().skip(1).filter(|line| !matches!(*line, "" | "…")) {
            // Until here it is shown, and no further.
            let (line, rest) = line.strip_suffix('…').map_or((line, false), |line| (line, true));
            let wanted = digits(&plain(line));
            let fits = |printed: &str| match rest {
                true => digits(printed).starts_with(&wanted),
                false => digits(printed) == wanted,
            };
            assert!(lines.any(fits), "the tutorial shows {line:?}, which is not printed there:\n{said}");
        }
        let failed = said.split_once(" failed").expect("the totals").0.rsplit(' ').next().expect("a word");
        failures.push(failed.parse::<u32>().expect("a count"));
    }
    assert!(shown.len() == 2 && failures[1] < failures[0], "{failures:?}");
}
