//! `action.yml`, the workflows and `.ci/release`: their scripts are taken out of the YAML and run as a runner runs them.
//!
//! The parts that only a runner has (the actions of others, its machines) are not tested here; the rest is.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_yaml::Value;
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn actions_are_pinned_by_commit_with_their_version() {
    let mut commits = BTreeMap::new();
    let mut pinned = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for used in uses(&text) {
            let Some(commit) = pin(used) else { panic!("{}: {used} is not pinned by a commit", path.display()) };
            if let Some((action, commit)) = commit {
                // A part of an action, such as the one that only saves, is in the same repository.
                let repository: Vec<&str> = action.split('/').take(2).collect();
                let first = *commits.entry(repository.join("/")).or_insert(commit.to_owned()) == commit;
                assert!(first, "{}: {used} is of another commit than elsewhere", path.display());
                pinned += 1;
            }
        }
    }
    assert!(pinned > 10, "{pinned}");
    assert_eq!(pin("./"), Some(None), "one of this repository");
    let commit = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(pin(&format!("a/b/c@{commit} # v1.2.3")), Some(Some(("a/b/c", commit))));
    for wrong in ["a/b@v4", "a/b@0123456 # v1.2.3", &format!("a/b@{commit}"), &format!("a/b@{commit} # newest")] {
        assert_eq!(pin(wrong), None, "{wrong}");
    }
}

/// A value that a script gets by its environment is data; one that is written into it is code.
#[test]
fn no_script_has_an_expression_in_it() {
    let scripts: Vec<String> = documents().iter().flat_map(|path| steps(&yaml(path))).filter_map(script).collect();
    assert!(scripts.len() > 15, "{}", scripts.len());
    for script in scripts {
        assert!(!script.contains("${{"), "{script}");
    }
}

/// The whole repository is read-only to workflows, and only the jobs that publish a release or the page may write.
#[test]
fn workflows_may_read_and_jobs_that_publish_may_write() {
    for path in documents().iter().filter(|path| path.parent().unwrap().ends_with("workflows")) {
        let workflow = yaml(path);
        assert_eq!(workflow["permissions"], serde_yaml::from_str::<Value>("contents: read").unwrap(), "{path:?}");
        for (name, job) in workflow["jobs"].as_mapping().unwrap() {
            let writes = job.get("permissions").is_some();
            let publishes = (path.ends_with("release.yml") || path.ends_with("pages.yml")) && name == "publish";
            assert_eq!(writes, publishes, "{path:?}: {name:?}");
        }
    }
}

#[test]
fn the_cache_key_covers_the_sources_and_the_tested_implementation() {
    let action = Sources::new();
    let first = action.key("reference");
    assert_eq!(first, action.key("reference"), "the same is the same");
    for (key, prefix) in [
        "python3 my adapter.py, --fast",
        "A=x,y libtorch@2.13.0",
        "a/b",
        "a\nb",
        "$(touch made)`touch made`\"'\\",
        "日本",
        &"x".repeat(2000),
        "",
    ]
    .map(|implementation| action.key(implementation))
    {
        assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c)), "{key}");
        assert!(key.starts_with(&prefix) && key.len() < 300 && prefix.ends_with('-'), "{key} {prefix}");
        assert_ne!((&key, &prefix), (&first.0, &first.1));
    }
    assert!(!action.path("made").exists(), "what is tested is no code");
    assert_ne!(action.key("a,b"), action.key("a b"), "they are not the same, whatever is left of them");
    // Which release is the latest one changes.
    let (latest, prefix) = action.key("libtorch@latest");
    let (fixed, _) = action.key("libtorch@2.13.0");
    assert_eq!(latest[prefix.len()..].matches('-').count(), 2, "the week: {latest}");
    assert!(!fixed[prefix.len()..].contains('-'), "{fixed}");

    for file in ["Cargo.lock", "src/main.rs", "spec/cases.yaml", "adapters/numpy/adapter.py", "packaged/link.rs"] {
        let before = action.key("reference");
        action.write(file, "changed");
        let after = action.key("reference");
        assert!(after.0 != before.0 && after.1 == before.1, "{file}: {before:?} {after:?}");
    }
    let before = action.key("reference");
    action.write("src/new.rs", "");
    let after = action.key("reference");
    assert_ne!(before, after, "a new file");
    action.write("adapters/ndarray/target/built", "");
    action.write("adapters/tfjs/node_modules/fetched.js", "");
    action.write("reports/page.html", "");
    assert_eq!(after, action.key("reference"), "what is built, and what the program is not made of");
}

#[test]
fn a_toolchain_that_is_too_old_is_an_error_that_says_what_to_do() {
    let action = Sources::new();
    action.write("Cargo.toml", "[package]\nversion = \"0.1.0\"\nrust-version = \"9.99\"\n");
    let ran = action.run_key("reference");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.said.contains("::error") && ran.said.contains("Rust 9.99 or newer"), "{ran:?}");
    assert!(ran.said.contains("rustup update stable"), "{ran:?}");
    action.write("Cargo.toml", "[package]\nversion = \"0.1.0\"\nrust-version = \"1.9\"\n");
    assert_eq!(action.run_key("reference").code, 0, "1.9 is older than 1.89");
    let manifest: toml::Table = fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).unwrap().parse().unwrap();
    let text = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let needed = manifest["package"]["rust-version"].as_str().unwrap();
    assert!(text.contains(&format!("Rust {needed} or newer")), "README.md says which Rust is needed");
}

/// The steps of the action in their order, with the program that is there as what an earlier run has built.
#[test]
fn the_action_checks_and_reports() {
    let runner = Runner::new();
    let ran = runner.action(&[("impl", "reference"), ("case", "einsum/"), ("corpus", "5")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.outputs["conforms"], "true");
    let report = Path::new(&ran.outputs["report"]);
    for file in ["summary.md", "events.jsonl.gz", "index.html", "junit.xml"] {
        assert!(report.join(file).metadata().is_ok_and(|file| file.len() > 0), "{file}");
    }
    assert_eq!(runner.summary(), fs::read_to_string(report.join("summary.md")).unwrap());
    let again = runner.action(&[("impl", "reference"), ("case", "einsum/"), ("corpus", "5")]);
    assert_ne!(again.outputs["report"], ran.outputs["report"], "twice in one job");

    let liar = format!("'{}' wrong-message", common::faulty_binary().display());
    let lies = [("impl", liar.as_str()), ("case", "einsum/"), ("corpus", "5")];
    let ran = runner.action(&lies);
    assert_eq!((ran.code, ran.outputs["conforms"].as_str()), (1, "false"), "{ran:?}");
    let ran = runner.action(&[&lies[..], &[("fail", "false")]].concat());
    assert_eq!((ran.code, ran.outputs["conforms"].as_str()), (0, "false"), "{ran:?}");
    assert!(Path::new(&ran.outputs["report"]).join("index.html").exists());
}

#[test]
fn what_cannot_run_fails_whatever_was_asked_for() {
    let runner = Runner::new();
    let reference = [("impl", "reference"), ("case", "einsum/"), ("corpus", "0"), ("fail", "false")];
    let with = |name, value| runner.action(&[&reference[..], &[(name, value)]].concat());
    let cases = [
        ("impl", "libtorch@", Some("the release after the @ is missing")),
        ("divergences", "no-such-file.yaml", Some("--divergences")),
        ("case", "no-such-case/", None),
        ("require-like", "no-such-events.jsonl.gz", None),
        ("clause", "$(touch made)", None),
        ("corpus", "1; touch made", None),
    ];
    for (name, value, word) in cases {
        let ran = with(name, value);
        assert_eq!((ran.code, ran.outputs["conforms"].as_str()), (2, "false"), "{name}: {ran:?}");
        assert!(word.is_some_and(|word| ran.said.contains(word)) || ran.said.contains(value), "{name}: {ran:?}");
        assert!(ran.said.contains("::error"), "{name}: {ran:?}");
        assert_eq!(ran.outputs["ran"], "false", "nothing is kept for the next time: {ran:?}");
    }
    assert!(!runner.path("made").exists(), "inputs are no code");
}

/// The shards of a night, and what is made of them.
#[test]
fn the_shards_of_a_night_have_one_result() {
    for (adapter, found) in [("honest", false), ("wrong-message", true)] {
        let runner = Runner::new();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_broadcheck"), runner.path("broadcheck")).unwrap();
        let night = yaml(&Path::new(ROOT).join(".github/workflows/nightly.yml"));
        let campaign = step(&night["jobs"]["campaign"], "Campaign");
        let merge = step(&night["jobs"]["merge"], "Merge");
        for shard in ["0", "1"] {
            let implementation = format!("'{}' {adapter}", common::faulty_binary().display());
            let given = [
                ("IMPL", implementation.as_str()),
                ("OPERATIONS", "add,lerp,where,transpose,expand,sum"),
                ("SEED", "7"),
                ("TIME", "3"),
                ("SHARD", shard),
                ("SHARDS", "2"),
            ];
            let ran = runner.run(&script(campaign.clone()).unwrap(), &given);
            assert_eq!(ran.code, 0, "findings are for the merge to judge: {ran:?}");
            fs::create_dir_all(runner.path("shards")).unwrap();
            fs::rename(runner.path("campaign"), runner.path(&format!("shards/shard-{shard}"))).unwrap();
        }
        let ran = runner.run(&script(merge.clone()).unwrap(), &[]);
        assert_eq!(ran.code, i32::from(found), "{adapter}: {ran:?}");
        assert!(runner.path("campaign/summary.json").exists() && runner.path("campaign/summary.txt").exists());
        let summary = runner.summary();
        assert!(summary.starts_with("<pre>") && summary.contains("shard 1: "), "{summary}");
        assert_eq!(runner.path("campaign/findings").is_dir(), found, "{summary}");

        fs::remove_dir_all(runner.path("campaign")).unwrap();
        fs::remove_dir_all(runner.path("shards/shard-0")).unwrap();
        fs::create_dir(runner.path("shards/shard-0")).unwrap();
        assert_eq!(runner.run(&script(merge).unwrap(), &[]).code, 2, "a shard that left nothing is no shard");
    }
}

/// Of the packages that a release has.
const MANIFESTS: [&str; 7] = [
    "Cargo.toml",
    "src/adapter/Cargo.toml",
    "src/explain/Cargo.toml",
    "src/harness/Cargo.toml",
    "src/oracles/Cargo.toml",
    "src/protocol/Cargo.toml",
    "src/reference/Cargo.toml",
];

#[test]
fn a_release_has_the_version_and_the_place_that_it_is_of() {
    let folder = TempDir::new().unwrap();
    let copy = |name: &&str| {
        let to = folder.path().join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(Path::new(ROOT).join(name), to).unwrap();
    };
    [".ci/release", "CHANGELOG.md"].iter().chain(&MANIFESTS).for_each(copy);
    let release = |arguments: &[&str]| {
        let output = Command::new(folder.path().join(".ci/release")).args(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    };
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap().parse::<toml::Table>().unwrap();
    let manifest = || read("Cargo.toml");
    let version = manifest()["package"]["version"].as_str().unwrap().to_owned();

    let (code, said) = release(&["notes", "v99.0.0"]);
    assert!(code == 2 && said.contains(&format!("has to be v{version}")), "{said}");
    let tag = format!("v{version}");
    let (code, said) = release(&["notes", &tag]);
    assert!(code == 2 && said.contains(&format!("no section \"## {version}\"")), "{said}");
    let changes = fs::read_to_string(folder.path().join("CHANGELOG.md")).unwrap();
    let changes = changes.replace("## Unreleased", &format!("## {version}\n\n- One.\n\n## 0.0.1"));
    fs::write(folder.path().join("CHANGELOG.md"), changes).unwrap();
    assert_eq!(release(&["notes", &tag]), (0, "\n- One.\n".to_owned()));

    assert!(manifest()["package"].get("repository").is_none(), "nothing is said of a place that is not known");
    let place = "https://host.example/some/where";
    for wrong in ["", "some/where", "https://host.example/a b", "https://host.example/\"\nname = \"x"] {
        let (code, said) = release(&["place", wrong]);
        assert!(code != 0 && !said.is_empty(), "{wrong}: {said}");
    }
    assert_eq!(release(&["place", place]), (0, String::new()));
    for name in MANIFESTS {
        assert_eq!(read(name)["package"]["repository"].as_str(), Some(place), "{name}");
        assert_eq!(read(name)["package"]["version"].as_str(), Some(&*version), "{name}");
        for (of, dependency) in read(name)["dependencies"].as_table().unwrap() {
            if of.starts_with("broadcheck-") {
                assert_eq!(dependency["version"].as_str(), Some(&*version), "{name}, which depends on {of}");
            }
        }
    }
    assert_eq!(release(&["place", place]).0, 2, "it has one already");

    // What `cargo binstall` looks for is what there is.
    let binstall = &manifest()["package"]["metadata"]["binstall"];
    let workflow = yaml(&Path::new(ROOT).join(".github/workflows/release.yml"));
    let targets = workflow["jobs"]["programs"]["strategy"]["matrix"]["include"].as_sequence().unwrap().clone();
    assert!(targets.len() > 1);
    for target in targets {
        let target = target["target"].as_str().unwrap();
        let name = release(&["name", target]).1.trim().to_owned();
        let filled = |key: &str| {
            let values = [("repo", place), ("version", &version), ("name", "broadcheck"), ("bin", "broadcheck")];
            let rest = [("target", target), ("binary-ext", "")];
            let template = binstall[key].as_str().unwrap().to_owned();
            let fill = |text: String, (key, value): &(&str, &str)| text.replace(&format!("{{ {key} }}"), value);
            values.iter().chain(&rest).fold(template, fill)
        };
        assert_eq!(filled("pkg-url"), format!("{place}/releases/download/v{version}/{name}.tar.gz"));
        assert_eq!(filled("bin-dir"), format!("{name}/broadcheck"));
    }
}

/// A folder like the action's own, small enough to be changed.
struct Sources {
    runner: Runner,
    script: String,
}

impl Sources {
    fn new() -> Sources {
        let runner = Runner::new();
        let script =
            script(step(&yaml(&Path::new(ROOT).join("action.yml"))["runs"], "Toolchain and cache key")).unwrap();
        let sources = Sources { runner, script };
        sources.write("Cargo.toml", "[package]\nname = \"broadcheck\"\nversion = \"0.1.0\"\nrust-version = \"1.89\"\n");
        for file in ["Cargo.lock", "src/main.rs", "src/a file.rs", "spec/cases.yaml", "adapters/numpy/adapter.py"] {
            sources.write(file, file);
        }
        sources.write("packaged/readme", "");
        std::os::unix::fs::symlink("../src/main.rs", sources.path("packaged/main.rs")).unwrap();
        std::os::unix::fs::symlink("../adapters/numpy", sources.path("packaged/numpy")).unwrap();
        sources
    }

    fn path(&self, name: &str) -> PathBuf {
        self.runner.path("action").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn run_key(&self, implementation: &str) -> Ran {
        // As the runner names the folder of `uses: ./`.
        let folder = format!("{}/./", self.path("").display());
        self.runner.run(&self.script, &[("GITHUB_ACTION_PATH", &folder), ("IMPL", implementation)])
    }

    /// The key, and how those begin that may stand for it.
    fn key(&self, implementation: &str) -> (String, String) {
        let ran = self.run_key(implementation);
        assert_eq!(ran.code, 0, "{implementation}: {ran:?}");
        (ran.outputs["key"].clone(), ran.outputs["restore"].clone())
    }
}

/// The folders and variables of a job.
struct Runner {
    folder: TempDir,
}

/// The result of a script.
#[derive(Debug)]
struct Ran {
    code: i32,
    said: String,
    outputs: BTreeMap<String, String>,
}

impl Runner {
    fn new() -> Runner {
        let runner = Runner { folder: TempDir::new().unwrap() };
        fs::create_dir(runner.path("temp")).unwrap();
        runner
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn summary(&self) -> String {
        fs::read_to_string(self.path("summary")).unwrap()
    }

    /// Runs one script. Its summary and its outputs are its own.
    fn run(&self, script: &str, environment: &[(&str, &str)]) -> Ran {
        for file in ["summary", "outputs"] {
            fs::write(self.path(file), "").unwrap();
        }
        fs::write(self.path("script.sh"), script).unwrap();
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail"])
            .arg(self.path("script.sh"))
            .current_dir(self.folder.path())
            .env_remove("BROADCHECK_SOURCE")
            .env("GITHUB_OUTPUT", self.path("outputs"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("RUNNER_TEMP", self.path("temp"))
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            .envs(environment.iter().copied())
            .output()
            .unwrap();
        let outputs = fs::read_to_string(self.path("outputs")).unwrap();
        let outputs = outputs.lines().map(|line| line.split_once('=').unwrap_or_else(|| panic!("{line}")));
        Ran {
            code: output.status.code().unwrap(),
            said: String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
            outputs: outputs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        }
    }

    /// Runs the steps of the action that have a script, with these inputs and the defaults of the others. What it would
    /// build is there.
    fn action(&self, given: &[(&str, &str)]) -> Ran {
        let action = yaml(&Path::new(ROOT).join("action.yml"));
        let built = self.path("temp/broadcheck/target/release");
        if !built.exists() {
            fs::create_dir_all(&built).unwrap();
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_broadcheck"), built.join("broadcheck")).unwrap();
        }
        let defaults = action["inputs"].as_mapping().unwrap().iter();
        let mut inputs: BTreeMap<&str, &str> =
            defaults.map(|(name, input)| (name.as_str().unwrap(), input["default"].as_str().unwrap())).collect();
        for (name, value) in given {
            assert!(inputs.insert(name, value).is_some(), "there is no input {name}");
        }
        let mut last = None;
        for step in steps(&action) {
            let conditional = step.get("if").is_some();
            let Some(script) = script(step.clone()).filter(|_| !conditional) else { continue };
            let mut environment = vec![("GITHUB_ACTION_PATH".to_owned(), format!("{ROOT}/./"))];
            for (name, value) in step["env"].as_mapping().unwrap() {
                let value = value.as_str().unwrap();
                let input = value.strip_prefix("${{ inputs.").and_then(|value| value.strip_suffix(" }}"));
                let value = inputs[input.unwrap_or_else(|| panic!("{value}"))];
                environment.push((name.as_str().unwrap().to_owned(), value.to_owned()));
            }
            let environment: Vec<(&str, &str)> = environment.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            let ran = self.run(&script, &environment);
            let goes_on = ran.code == 0;
            last = Some(ran);
            if !goes_on {
                break;
            }
        }
        last.expect("a step")
    }
}

/// The action and the workflows.
fn documents() -> Vec<PathBuf> {
    let workflows = fs::read_dir(Path::new(ROOT).join(".github/workflows")).unwrap();
    let mut found: Vec<PathBuf> = workflows.map(|file| file.unwrap().path()).collect();
    found.push(Path::new(ROOT).join("action.yml"));
    found.sort();
    assert!(found.len() > 4, "{found:?}");
    found
}

fn yaml(path: &Path) -> Value {
    serde_yaml::from_str(&fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The steps of an action, or of all jobs of a workflow.
fn steps(document: &Value) -> Vec<Value> {
    let jobs = document.get("jobs").and_then(Value::as_mapping).into_iter().flat_map(|jobs| jobs.values());
    let all = jobs.chain(document.get("runs"));
    all.flat_map(|job| job["steps"].as_sequence().expect("steps").clone()).collect()
}

/// The step of a job that is called so.
fn step(job: &Value, name: &str) -> Value {
    let steps = job["steps"].as_sequence().expect("steps");
    steps.iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("there is no step {name:?}")).clone()
}

fn script(step: Value) -> Option<String> {
    Some(step.get("run")?.as_str().expect("a script").to_owned())
}

/// The text after `uses:` in each step, with the comment.
fn uses(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("uses: "))
}

/// The action and the commit that it is pinned by, if it is; nothing but that it is, if it is one of this repository.
fn pin(used: &str) -> Option<Option<(&str, &str)>> {
    if used.starts_with("./") {
        return Some(None);
    }
    let (action, rest) = used.split_once('@')?;
    let (commit, version) = rest.split_once(" # v")?;
    let hexadecimal = commit.len() == 40 && commit.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    let numbers = version.split('.').count() == 3 && version.split('.').all(|part| part.parse::<u32>().is_ok());
    (hexadecimal && numbers).then_some(Some((action, commit)))
}
