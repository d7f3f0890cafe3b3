//! The program does no harm: to a terminal, to the files that it is pointed to, and to readers of its reports.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use broadcheck::case::load;
use broadcheck::escape::is_hidden;
use broadcheck::report::columns::bytes;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// The program in a folder, with the arguments of a command.
fn broadcheck(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
    command.args(words).current_dir(folder).env("BROADCHECK_SOURCE", env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    command
}

/// The exit code, and what was written to both outputs.
fn said(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it writes text");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn run(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    said(&broadcheck(folder, words).output().unwrap())
}

fn shell(folder: &Path, script: &str) -> (Option<i32>, String, String) {
    let mut sh = Command::new("sh");
    sh.args(["-c", script, env!("CARGO_BIN_EXE_broadcheck")]).current_dir(folder);
    said(&sh.env("BROADCHECK_SOURCE", env!("CARGO_MANIFEST_DIR")).output().unwrap())
}

fn faulty(fault: &str) -> String {
    format!("'{}' {fault}", common::faulty_binary().display())
}

/// Four cases: one that fails, with its control, one that breaks the adapter, one that it does not support.
const CASES: [&str; 8] = [
    "--case",
    "arithmetic/add-in-place-would-grow",
    "--case",
    "arithmetic/add-in-place",
    "--case",
    "arithmetic/div-in-place",
    "--case",
    "arithmetic/mul-in-place",
];

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = TempDir::new().unwrap();
    let adapter = faulty("honest");
    assert_eq!(
        run(folder.path(), &["check", "--impl", "reference", "--case", "einsum/", "--events", "e.jsonl"]).0,
        Some(0)
    );
    let commands = [
        "--help",
        "--version",
        "check --help",
        "--version --verbose",
        "ops",
        "ops --format json",
        "explain 2,1 3",
        "impl list",
        "libtorch list",
        "new-adapter mylib --lang python",
        &format!("validate-adapter -- {adapter}"),
        "report --events e.jsonl --out site",
        "show arithmetic/add-in-place --events e.jsonl",
    ];
    for words in commands {
        let (code, _, error) = shell(folder.path(), &format!("\"$0\" {words} > /dev/full"));
        assert_eq!(code, Some(2), "{words}: {error}");
        assert!(error.contains("cannot write to standard output"), "{words}: {error}");
        fs::remove_dir_all(folder.path().join("mylib")).unwrap_or_default();
        // A reader that has seen enough is no error, and neither is one of the other output that is gone.
        let (code, _, error) = shell(folder.path(), &format!("{{ \"$0\" {words}; echo $? > code; }} | true"));
        assert_eq!((code, fs::read_to_string(folder.path().join("code")).unwrap().trim()), (Some(0), "0"), "{error}");
        fs::remove_dir_all(folder.path().join("mylib")).unwrap_or_default();
    }
    assert_eq!(shell(folder.path(), "\"$0\" show nothing 2> /dev/full").0, Some(2));
}

#[test]
fn reports_go_into_what_is_there() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert_eq!(
        run(folder.path(), &["check", "--impl", "reference", "--case", "einsum/", "--events", "e.jsonl"]).0,
        Some(0)
    );
    fs::create_dir(at("site")).unwrap();
    symlink("/dev/null", at("site/badge.svg")).unwrap();
    symlink("../page.html", at("site/index.html")).unwrap();
    fs::write(at("site/matrix.md"), "old").unwrap();
    fs::set_permissions(at("site/matrix.md"), fs::Permissions::from_mode(0o604)).unwrap();
    let report = "umask 027; \"$0\" report --events e.jsonl --out site";
    assert_eq!(shell(folder.path(), report).0, Some(0));
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(at("site/badge.svg").is_symlink() && at("site/index.html").is_symlink());
    assert!(fs::read_to_string(at("page.html")).unwrap().starts_with("<!doctype html>"));
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("site/matrix.md"), mode("site/documentation.md"), mode("page.html")), (0o604, 0o640, 0o640));
    // What cannot be written leaves the old file as it was.
    fs::remove_file(at("site/badge.svg")).unwrap();
    symlink("/dev/full", at("site/badge.svg")).unwrap();
    let (code, _, error) = shell(folder.path(), report);
    assert_eq!(code, Some(2));
    assert!(error.contains("site/badge.svg: No space left on device"), "{error}");
}

#[test]
fn an_interrupted_campaign_says_so() {
    let folder = TempDir::new().unwrap();
    for (signal, fault) in [("INT", "wrong-message"), ("TERM", "honest")] {
        let out = folder.path().join(signal);
        let adapter = faulty(fault);
        let words = ["fuzz", "--impl", &adapter, "--cases", "1000000", "--out", signal];
        let campaign = broadcheck(folder.path(), &words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let begun = |out: &Path| {
            broadcheck::harness::campaign::journal::read(out).is_ok_and(|tally| tally.checkpoint.counts.cases > 0)
        };
        while !begun(&out) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(Command::new("kill").args(["-s", signal, &campaign.id().to_string()]).status().unwrap().success());
        let (code, text, error) = said(&campaign.wait_with_output().unwrap());
        assert_eq!(code, Some(130), "{error}");
        assert!(text.contains(" of 1,000,000 cases in "), "{text}");
    }
}

/// True if a text has invisible characters other than colours.
fn hides(text: &str) -> bool {
    let mut rest = text.to_owned();
    for colour in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"] {
        rest = rest.replace(colour, "");
    }
    rest.contains(is_hidden)
}

#[test]
fn texts_of_adapters_are_shown_as_they_are() {
    let folder = TempDir::new().unwrap();
    let adapter = faulty("hidden-text mul");
    let shown = |words: &[&str], codes: &[i32]| {
        let mut command = broadcheck(folder.path(), words);
        let (code, text, error) = said(&command.env("CLICOLOR_FORCE", "1").output().unwrap());
        assert!(codes.contains(&code.unwrap()), "{words:?}: {error}");
        assert!(!hides(&text) && !hides(&error), "{words:?}: {text:?} {error:?}");
        text + &error
    };
    let check = [&["check", "--impl", &adapter][..], &CASES].concat();
    let with = |more: &[&str]| shown(&[&check[..], more].concat(), &[1]);
    for format in [&["--format", "text"][..], &["--verbose"], &["--format", "junit"], &["--format", "markdown"]] {
        assert!(with(format).contains("\\u{202e}\\u{1b}[2J\\r```"), "{format:?}");
    }
    let markdown = with(&["--format", "markdown"]);
    assert!(markdown.contains(" ```` ") && markdown.contains("\\`\\`\\`\\</code>"), "{markdown}");
    let junit = with(&["--format", "junit"]);
    assert!(junit.contains("\\u{fffe}") && junit.contains("```&lt;/code&gt;"), "{junit}");

    // Programs get every text as it is.
    let json = [&check[..], &["--format", "json", "--events", "e.jsonl"]].concat();
    let (_, json, _) = run(folder.path(), &json);
    assert!(!json.contains(is_hidden) && json.contains("\\u202e\\u001b"), "{json}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let name = "faulty\u{202e}\u{1b}[2J\r```</code>\u{fffe}\u{200b}";
    assert_eq!(json["implementations"][0]["name"], name);

    for format in ["text", "markdown", "junit"] {
        assert!(shown(&["report", "--events", "e.jsonl", "--format", format], &[0]).contains("\\u{202e}"), "{format}");
    }
    // The page has the cases of libtorch.
    let libtorch = |lines: &str| {
        let line = |line: &str| match serde_json::from_str::<serde_json::Value>(line).unwrap() {
            mut ready if ready["ready"].is_object() => {
                ready["ready"]["name"] = "libtorch".into();
                ready.to_string()
            }
            _ => line.to_owned(),
        };
        lines.lines().map(line).collect::<Vec<_>>().join("\n")
    };
    let events = fs::read_to_string(folder.path().join("e.jsonl")).unwrap();
    fs::write(folder.path().join("libtorch.jsonl"), resealed(&events, libtorch)).unwrap();
    shown(&["report", "--events", "libtorch.jsonl", "--out", "site"], &[0]);
    for file in fs::read_dir(folder.path().join("site")).unwrap() {
        let (path, text) = file.map(|file| (file.path(), fs::read_to_string(file.path()).unwrap())).unwrap();
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        assert!(!text.contains(is_hidden), "{}", path.display());
        assert!(is_markdown || !text.contains("```</code>"), "{}", path.display());
    }
    let page = fs::read_to_string(folder.path().join("site/index.html")).unwrap();
    let (_, packed) = page.split_once("id=\"packed\">").unwrap();
    let mut json = String::new();
    let bytes = bytes(packed.split_once('<').unwrap().0).unwrap();
    GzDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
    // What is drawn from it is text, never markup.
    assert!(json.contains("\\\\u{202e}\\\\u{1b}[2J\\\\r```</code>\\\\u{fffe}") && !json.contains(is_hidden));
    assert!(!page.contains("innerHTML"));

    assert_eq!(
        run(folder.path(), &[&["check", "--impl", "reference", "--events", "r.jsonl"][..], &CASES].concat()).0,
        Some(0)
    );
    for format in ["text", "markdown"] {
        assert!(shown(&["diff", "r.jsonl", "e.jsonl", "--format", format], &[1]).contains("\\u{202e}"), "{format}");
    }
    let (_, exact, _) = run(folder.path(), &["diff", "r.jsonl", "e.jsonl", "--format", "json"]);
    assert!(exact.contains("\\u202e\\u001b") && !exact.contains(is_hidden), "{exact}");
    let show = ["show", "arithmetic/div-in-place", "--impl", &adapter, "--events", "e.jsonl"];
    assert!(shown(&show, &[0]).contains("\\u{202e}"));
    let command = format!("\"$0\" validate-adapter -- {adapter}");
    let (_, text, _) = shell(folder.path(), &command);
    assert!(text.contains("faulty\\u{202e}") && !text.contains(is_hidden), "{text}");
    let campaign = ["fuzz", "--impl", &adapter, "--ops", "add", "--cases", "40", "--out", "campaign"];
    assert!(shown(&campaign, &[1]).contains("faulty\\u{202e}"));
    for finding in fs::read_dir(folder.path().join("campaign/findings")).unwrap() {
        for file in fs::read_dir(finding.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains(is_hidden), "{}", path.display());
        }
    }
    // Before it is an adapter at all.
    let start = shown(&["check", "--impl", "sh -c 'printf \"\\033]0;title\\007\\r\\n\"'"], &[2]);
    assert!(start.contains("did not answer hello"), "{start}");
}

/// A file with other lines, and the footer that they should have.
fn resealed(text: &str, change: impl Fn(&str) -> String) -> String {
    let (lines, footer) = text.trim_end().rsplit_once('\n').unwrap();
    let lines = change(lines) + "\n";
    let mut footer: serde_json::Value = serde_json::from_str(footer).unwrap();
    let digest: String = Sha256::digest(&lines).iter().map(|byte| format!("{byte:02x}")).collect();
    footer["footer"]["sha256"] = digest.into();
    footer["footer"]["lines"] = lines.lines().count().into();
    footer["footer"]["judged"] = lines.lines().filter(|line| line.starts_with("{\"judged\"")).count().into();
    format!("{lines}{footer}\n")
}

#[test]
fn what_the_end_of_a_run_claims_is_counted_again() {
    let folder = TempDir::new().unwrap();
    let adapter = faulty("wrong-message");
    let check = [&["check", "--impl", &adapter, "--corpus", "20", "--events", "e.jsonl"][..], &CASES].concat();
    assert_eq!(run(folder.path(), &check).0, Some(1));
    let whole = fs::read_to_string(folder.path().join("e.jsonl")).unwrap();
    let rejected = |change: &dyn Fn(&str) -> String, why: &str| {
        fs::write(folder.path().join("forged.jsonl"), resealed(&whole, change)).unwrap();
        let commands: [&[&str]; 5] = [
            &["report", "--events", "forged.jsonl", "--format", "text"],
            &["report", "--events", "forged.jsonl", "--out", "site"],
            &["diff", "e.jsonl", "forged.jsonl"],
            &["show", "arithmetic/add-in-place", "--events", "forged.jsonl"],
            &["check", "--impl", "reference", "--case", "einsum/", "--require-like", "forged.jsonl"],
        ];
        for words in commands {
            let (code, _, error) = run(folder.path(), words);
            assert_eq!(code, Some(2), "{words:?}");
            assert!(error.contains(why) && error.contains("forged.jsonl:"), "{words:?}: {error}");
        }
    };
    // As it is it can be read.
    assert_eq!(run(folder.path(), &["report", "--events", "e.jsonl", "--format", "text"]).0, Some(0));
    let finished = |from: &'static str, to: &'static str| {
        move |lines: &str| {
            let (before, last) = lines.rsplit_once('\n').unwrap();
            assert!(last.contains("\"finished\"") && last.contains(from), "{last}");
            format!("{before}\n{}", last.replacen(from, to, 1))
        }
    };
    rejected(&finished("\"passed\":6", "\"passed\":7"), "faulty 0.1.0: it claims 7 passed, and 6 are in the file");
    rejected(&finished("\"failed\":3", "\"failed\":0"), "it claims 0 failed, and 3 are in the file");
    rejected(&finished("\"conforms\":false", "\"conforms\":true"), "by its own numbers it does not");
    rejected(&finished("\"agree\":", "\"agree\":1"), "generated programs that agree, and ");
    rejected(&finished("\"unexecuted_clauses\":[", "\"unexecuted_clauses\":[\"einsum-sums\""), "`einsum-sums`");
    let twice = |lines: &str| {
        let judged = lines.lines().find(|line| line.starts_with("{\"judged\"")).unwrap();
        lines.replacen(judged, &format!("{judged}\n{judged}"), 1)
    };
    rejected(&twice, "is judged twice");
    let without =
        |lines: &str| lines.lines().filter(|line| !line.starts_with("{\"ready\"")).collect::<Vec<_>>().join("\n");
    rejected(&without, "of no implementation");
}

#[test]
fn an_event_file_is_one_packed_file_of_a_bounded_size() {
    let folder = TempDir::new().unwrap();
    let check = ["check", "--impl", "reference", "--case", "einsum/", "--events", "e.jsonl.gz"];
    assert_eq!(run(folder.path(), &check).0, Some(0));
    let packed = fs::read(folder.path().join("e.jsonl.gz")).unwrap();
    let rejected = |bytes: &[u8], why: &str| {
        fs::write(folder.path().join("e.jsonl.gz"), bytes).unwrap();
        let (code, _, error) = run(folder.path(), &["report", "--events", "e.jsonl.gz", "--format", "text"]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(why), "{error}");
    };
    rejected(&[&packed[..], b"more"].concat(), "has 4 bytes behind the end of what was packed");
    rejected(&[&packed[..], &packed[..]].concat(), &format!("has {} bytes behind the end", packed.len()));
    // A thousand times smaller than what is in it, and what is in it is more than may be.
    let mut bomb = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0; 1 << 20];
    for _ in 0..1025 {
        bomb.write_all(&zeros).unwrap();
    }
    rejected(
        &bomb.finish().unwrap(),
        "has more than 1073741824 bytes when it is unpacked, the most that an event file may",
    );
}

#[test]
fn numbers_that_no_journal_has_are_errors() {
    let folder = TempDir::new().unwrap();
    let adapter = faulty("wrong-message");
    let words = ["fuzz", "--impl", &adapter, "--ops", "add,where", "--cases", "60", "--shard", "1/2", "--out", "part"];
    assert_eq!(run(folder.path(), &words).0, Some(1));
    let path = folder.path().join("part/journal.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let rejected = |from: &str, to: &str, why: &str| {
        assert!(whole.contains(from), "{from}");
        fs::write(&path, whole.replace(from, to)).unwrap();
        let commands: [&[&str]; 2] =
            [&["fuzz", "--impl", &adapter, "--resume", "--out", "part"], &["merge", "part", "--out", "whole"]];
        for words in commands {
            let (code, _, error) = run(folder.path(), words);
            assert_eq!(code, Some(2), "{words:?}: {error}");
            assert!(
                error.contains(why) && error.contains("journal.jsonl") && !error.contains("panicked"),
                "{words:?}: {error}"
            );
        }
        fs::write(&path, &whole).unwrap();
    };
    rejected("\"of\":2", "\"of\":0", "there is no part 1/0");
    rejected("\"index\":1", "\"index\":2", "there is no part 2/2");
    rejected("\"of\":2", "\"of\":18446744073709551615", "a campaign has 1000000 parts at most");
    rejected("\"timeout\":20", "\"timeout\":18446744073709551615", "a program may take from 1 to 86400 seconds");
    rejected("\"memory\":8", "\"memory\":18446744073709551615", "an adapter may take 1048576 GiB at most");
    rejected("\"done\":[[0,", "\"done\":[[18446744073709551615,", "is no range of positions");
    rejected("\"folder\":\"", "\"folder\":\"../../", "is no name of a folder");

    // Numbers that are possible alone, and too large together.
    let count = whole.lines().rfind(|line| line.starts_with("{\"checkpoint\"")).unwrap();
    let count = count.split("\"counts\":{\"cases\":").nth(1).unwrap().split(',').next().unwrap();
    let from = format!("\"counts\":{{\"cases\":{count},");
    fs::write(&path, whole.replace(&from, "\"counts\":{\"cases\":18446744073709551615,")).unwrap();
    fs::create_dir(folder.path().join("other")).unwrap();
    let other = fs::read_to_string(&path).unwrap().replace("\"index\":1", "\"index\":0");
    fs::write(folder.path().join("other/journal.jsonl"), other).unwrap();
    let (code, _, error) = run(folder.path(), &["merge", "part", "other", "--out", "whole"]);
    assert_eq!(code, Some(1), "{error}");
    // A line that never ends.
    let long = format!("{}{}\n", whole, "x".repeat((16 << 20) + 1));
    fs::write(&path, long).unwrap();
    let (code, _, error) = run(folder.path(), &["merge", "part", "--out", "again"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("bytes are more than a line of a journal has: at most 16777216"), "{error}");
    for command in ["check", "matrix", "fuzz", "exhaust"] {
        let (code, _, error) = run(folder.path(), &[command, "--timeout", "18446744073709551615"]);
        assert_eq!((code, error.contains("1..=86400")), (Some(2), true), "{command}: {error}");
    }
    for wrong in ["0/0", "3/2", "0/1000001"] {
        assert_eq!(run(folder.path(), &["fuzz", "--shard", wrong]).0, Some(2));
    }
}

#[test]
fn unexpected_files_of_a_specification_are_errors() {
    let folder = TempDir::new().unwrap();
    let spec = folder.path();
    fs::write(spec.join("documents.yaml"), "- {id: d, title: a document}\n").unwrap();
    fs::write(spec.join("clauses.yaml"), "[]\n").unwrap();
    for fine in ["README.md", ".DS_Store", ".gitattributes"] {
        fs::write(spec.join(fine), "text").unwrap();
    }
    fs::create_dir(spec.join("regressions")).unwrap();
    let faults = || load(spec).map_or_else(|error| error.to_string(), |_| String::new());
    assert_eq!(faults(), "");
    let complained = |name: &str, why: &str| {
        let error = faults();
        assert_eq!(error, format!("{}: {why}", spec.join(name).display()));
        let path = spec.join(name);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
        assert_eq!(faults(), "");
    };
    fs::write(spec.join("x.yml"), "[]").unwrap();
    complained("x.yml", "is not read: rename it to `.yaml`");
    fs::write(spec.join("regressions/x.json"), "[]").unwrap();
    complained("regressions/x.json", "is not read: a specification has files in `.yaml`, and texts in `.md`");
    fs::write(spec.join(".x.yml"), "[]").unwrap();
    complained(".x.yml", "is not read: rename it to `.yaml`");
    symlink("nowhere.yaml", spec.join("x.yaml")).unwrap();
    complained("x.yaml", "is a link without a target: No such file or directory (os error 2)");
    fs::create_dir(spec.join("more")).unwrap();
    complained(
        "more",
        "is a folder that is not read: cases are in the folder of the specification and in regressions/, clauses in \
         clauses/",
    );
    fs::create_dir(spec.join("regressions/x.yaml")).unwrap();
    complained(
        "regressions/x.yaml",
        "is a folder that is not read: cases are in the folder of the specification and in regressions/, clauses in \
         clauses/",
    );
    // Nothing writes into the pipe, so that a reader would wait for ever.
    assert!(Command::new("mkfifo").arg(spec.join("x.yaml")).status().unwrap().success());
    let begun = Instant::now();
    complained("x.yaml", "is neither a file nor a folder, so it cannot be read");
    assert!(begun.elapsed() < Duration::from_secs(60));
    symlink("/dev/zero", spec.join("x.yaml")).unwrap();
    complained("x.yaml", "is neither a file nor a folder, so it cannot be read");
    fs::write(spec.join("x.yaml"), " ".repeat((4 << 20) + 1)).unwrap();
    complained("x.yaml", "has more than 4194304 bytes, the limit of a file of a specification: divide it");
    fs::write(spec.join("clauses"), "").unwrap();
    assert!(faults().contains("clauses: "), "{}", faults());
}
