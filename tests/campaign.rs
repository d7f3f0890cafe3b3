//! Campaigns against `adapters/faulty`: what is found, and that no kill loses any of it.
//!
//! Nothing here depends on how fast the machine is: kills come whenever they come, and the end is always the same.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

#[cfg(target_os = "linux")]
use broadcheck::adapter::watch;
use broadcheck::adapter::{CommandLine, Limits};
use broadcheck::harness::campaign::cases::{self, Shard};
use broadcheck::harness::campaign::summary::Summary;
use broadcheck::harness::campaign::{Setup, options, run};
use broadcheck::harness::campaign::{counts::Counts, tally::Tally};
use broadcheck::harness::campaign::{
    journal::{self, Journal},
    record::{Configuration, Header, Identity, Machine},
};
use broadcheck::harness::model::finding::{Oracle, UNTOLD};
use broadcheck::harness::runner::Start;
use broadcheck::ops::Op;
use serde_json::Value;
use tempfile::TempDir;

/// Operations with short programs. Fewer of them are shrunk sooner.
const OPS: &str = "add,mul,lerp,where,transpose,expand,sum";

#[test]
fn an_honest_adapter_has_no_violations() {
    let dir = TempDir::new().unwrap();
    let ran = fuzz("honest", dir.path(), &["--cases", "200", "--format", "json"]);
    assert_eq!(ran.code(), 0, "{}", ran.stderr);
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&summary["cases"], &summary["findings"]), (&200.into(), &Value::Array(Vec::new())), "{summary}");
    assert!(summary["steps"]["accepted"].as_u64() > Some(50), "{summary}");
    assert!(summary["steps"]["rejected"].as_u64() > Some(50), "{summary}");
    assert!(summary["operations"]["mul"]["accepted"].as_u64() > Some(5), "{summary}");
    assert_eq!(summary["never"], Value::Array(Vec::new()), "{summary}");
}

#[test]
fn a_wrong_reply_is_found_reduced_and_recorded() {
    let dir = TempDir::new().unwrap();
    let ran = fuzz("wrong-message", dir.path(), &["--cases", "100", "--oracle", "reference", "--verbose"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr);
    let tally = tally(dir.path());
    let (group, found) = tally.findings.first_key_value().expect("a finding");
    assert_eq!((group.signature.oracle, group.signature.kind.as_str()), (Oracle::Reference, "message"));
    let pursued = found.pursued.as_ref().expect("it was pursued");
    assert!(pursued.reproduced);
    assert!(pursued.simplest.program.len() <= found.examples[0].1.program.len());
    let text = fs::read_to_string(dir.path().join("findings").join(&pursued.folder).join("README.md")).unwrap();
    assert!(text.contains("\n## The program\n") && text.contains("\n  - expected: "), "{text}");
    assert!(ran.stdout.contains(&pursued.folder), "{}", ran.stdout);
}

#[test]
fn the_seed_makes_the_cases_whatever_the_number_of_jobs() {
    let dirs = [TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap()];
    for (dir, more) in dirs.iter().zip([["--jobs", "1"], ["--jobs", "3"], ["--seed", "2"]]) {
        fuzz("wrong-value", dir.path(), &[&["--cases", "300"], &more[..]].concat());
    }
    let [one, three, other] = dirs.map(|dir| outcome(&tally(dir.path())));
    assert!(!one.0.is_empty());
    assert_eq!(one, three);
    assert_ne!(one, other, "another seed makes other cases");
}

#[test]
fn shards_are_the_whole_and_merge_to_it() {
    let dir = TempDir::new().unwrap();
    let folder = |name: &str| dir.path().join(name);
    fuzz("wrong-value", &folder("whole"), &["--cases", "200"]);
    let shards = ["0/3", "1/3", "2/3"].map(|shard| {
        let part = folder(&shard[..1]);
        fuzz("wrong-value", &part, &["--cases", "200", "--shard", shard]);
        part
    });
    let tallies: Vec<Tally> = shards.iter().map(|shard| tally(shard)).collect();
    let whole = Summary::of(&tally(&folder("whole")));
    let merged = Summary::of_all(&tallies).unwrap();
    let counted = |summary: &Summary| (summary.cases, summary.operations.clone(), lines(summary));
    assert_eq!(counted(&whole), counted(&merged));

    let merge = |folders: &[&Path], out: &str| {
        broadcheck().arg("merge").args(folders).arg("--out").arg(folder(out)).stdin(Stdio::null()).output().unwrap()
    };
    let [a, b, c] = shards.each_ref().map(PathBuf::as_path);
    let all = merge(&[a, b, c], "all");
    assert_eq!(all.status.code(), Some(1), "{}", String::from_utf8_lossy(&all.stderr));
    let summary: Value = serde_json::from_slice(&fs::read(folder("all").join("summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["cases"], &summary["missing"]), (&200.into(), &Value::Array(Vec::new())));
    for finding in summary["findings"].as_array().unwrap() {
        assert!(folder("all").join("findings").join(finding["folder"].as_str().unwrap()).is_dir(), "{finding}");
    }
    let some = merge(&[a, c], "some");
    assert!(String::from_utf8_lossy(&some.stdout).contains("shard 1: missing"));
    let fails = |folders: &[&Path], why: &str| {
        let failed = merge(folders, "none");
        let said = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert_eq!((failed.status.code(), said.contains(why)), (Some(2), true), "{said}");
    };
    fails(&[a, a], "given twice");
    fuzz("wrong-value", &folder("other"), &["--cases", "200", "--shard", "1/3", "--seed", "2"]);
    fails(&[a, &folder("other")], "seed (2, not 1)");
    fails(&[a, &folder("nowhere")], "there is no campaign here");
}

/// The samples of PyTorch in `tests/fixtures/opinfo.jsonl`: `add`, `lerp` and `sum` in every form.
const SAMPLES: &str = "tests/fixtures/opinfo.jsonl";

#[test]
fn programs_of_a_file_are_judged() {
    let dir = TempDir::new().unwrap();
    let lines = fs::read_to_string(SAMPLES).unwrap().lines().count();
    let check = |adapter: &str, name: &str, corpus: &str| {
        let mut command = broadcheck();
        command.args(["check", "--impl", &self::adapter(adapter), "--corpus", corpus, "--out"]);
        ran(command.arg(dir.path().join(name)).args(["--format", "json"]))
    };
    let honest = check("honest", "honest", SAMPLES);
    assert_eq!(honest.code(), 0, "{}{}", honest.stdout, honest.stderr);
    let summary: Value = serde_json::from_str(&honest.stdout).unwrap();
    assert_eq!((&summary["cases"], &summary["findings"]), (&lines.into(), &Value::Array(Vec::new())), "{summary}");
    for op in ["add", "lerp", "sum", "backward", "grad"] {
        assert!(summary["operations"][op]["accepted"].as_u64() > Some(0), "{op}: {summary}");
    }
    assert!(summary["steps"]["rejected"].as_u64() > Some(0), "{summary}");

    let lying = check("wrong-value", "lying", SAMPLES);
    assert_eq!(lying.code(), 1, "{}{}", lying.stdout, lying.stderr);
    let tally = tally(&dir.path().join("lying"));
    let calls: Vec<&str> = tally.findings.keys().map(|group| group.signature.call.as_str()).collect();
    assert!(calls.iter().any(|call| call.starts_with("lerp")), "{calls:?}");

    // The same file goes on, and another one does not.
    let resumed = ran(broadcheck().args(["fuzz", "--resume", "--out"]).arg(dir.path().join("honest")));
    assert_eq!(resumed.code(), 0, "{}", resumed.stderr);
    let some = dir.path().join("some.jsonl");
    let text = fs::read_to_string(SAMPLES).unwrap();
    fs::write(&some, text.lines().next().unwrap()).unwrap();
    let other =
        ran(broadcheck().args(["fuzz", "--resume", "--corpus"]).arg(&some).arg("--out").arg(dir.path().join("honest")));
    assert_eq!(other.code(), 2, "{}", other.stderr);
    assert!(other.stderr.contains("was begun with other options"), "{}", other.stderr);
    let bad = dir.path().join("bad.jsonl");
    fs::write(&bad, text.replacen("\"op\":\"lerp\"", "\"op\":\"slerp\"", 1)).unwrap();
    let unread = check("honest", "bad", bad.to_str().unwrap());
    let at = 1 + text.lines().position(|line| line.contains("\"op\":\"lerp\"")).unwrap();
    assert_eq!(unread.code(), 2);
    assert!(
        unread.stderr.contains(&format!("bad.jsonl: line {at}: no operation is called \"slerp\"")),
        "{}",
        unread.stderr
    );
}

#[test]
fn programs_of_shards_are_those_of_the_whole() {
    let options = options(&hello("honest"), None, false);
    let digest = |seed| cases::digest((0..60).map(|case| cases::make(seed, case, &options).program));
    assert_eq!(digest(7), digest(7));
    assert_ne!(digest(7), digest(8));
    let made = |case| cases::make(7, case, &options);
    for index in 0..4 {
        let shard = Shard { index, of: 4 };
        for position in 0..shard.share(60) {
            let case = shard.case(position);
            // As text, in which NaN is equal to itself.
            assert_eq!(format!("{:?}", made(case)), format!("{:?}", made(position * 4 + index)));
            assert_eq!(made(case).case, case);
        }
    }
}

#[test]
fn crashes_and_hangs_are_findings() {
    let dir = TempDir::new().unwrap();
    let ran = fuzz("dies lerp", &dir.path().join("dies"), &["--cases", "60"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr);
    let tally = tally(&dir.path().join("dies"));
    let crash = tally.findings.iter().find(|(group, _)| group.signature.kind == "crash").expect("a crash");
    assert!(crash.0.signature.text.contains("SIGABRT"), "{}", crash.0.signature);
    let simplest = &crash.1.pursued.as_ref().expect("it was pursued").simplest;
    assert!(simplest.program.contains("lerp") && simplest.stderr.contains("faulty strikes"), "{simplest:?}");
    assert_eq!(tally.checkpoint.counts.cases, 60, "the campaign went on");
    assert!(tally.checkpoint.counts.restarts > 0);

    let out = dir.path().join("hangs");
    let ran = fuzz_ops("hangs mul", &out, "mul", &["--cases", "2", "--timeout", "1"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr);
    assert!(self::tally(&out).findings.keys().any(|group| group.signature.kind == "hang"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_adapter_that_takes_all_memory_is_a_finding() {
    let dir = TempDir::new().unwrap();
    let ran = fuzz_ops("greedy mul", dir.path(), "mul", &["--cases", "2", "--memory", "1"]);
    assert_eq!(ran.code(), 1, "{}", ran.stderr);
    let tally = tally(dir.path());
    let (group, found) = tally.findings.first_key_value().unwrap();
    assert_eq!(group.signature.kind, "crash");
    assert!(found.examples[0].1.stderr.contains("memory allocation"), "{:?}", found.examples[0]);
}

#[cfg(target_os = "linux")]
#[test]
fn killing_the_adapter_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let (calm, killed) = (dir.path().join("calm"), dir.path().join("killed"));
    let more = ["--cases", "2000", "--jobs", "2"];
    fuzz("swapped-operands", &calm, &more);
    let mut campaign = fuzz_command("swapped-operands", &killed, OPS, &more).spawn().unwrap();
    // Before that it is asked who it is, and one that cannot be asked is no campaign.
    while journal::read(&killed).is_err() && campaign.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(5));
    }
    let (mut kills, mut nap) = (0, Naps(1));
    let (length, mut before) = (|| fs::metadata(killed.join(journal::FILE)).map_or(0, |file| file.len()), 0);
    while campaign.try_wait().unwrap().is_none() && kills < 8 {
        thread::sleep(nap.next(60));
        // One program after the other is hit, not always the one that was under way.
        if length() <= before {
            continue;
        }
        before = length();
        let adapters = children_of(campaign.id());
        if let Some(adapter) = adapters.get(kills % adapters.len().max(1)) {
            kill(*adapter);
            kills += 1;
        }
    }
    assert_eq!(campaign.wait().unwrap().code(), Some(1));
    let (calm, killed) = (tally(&calm), tally(&killed));
    assert!(kills > 0 && killed.checkpoint.counts.restarts >= 1, "{kills} kills");
    assert_eq!(outcome(&calm), outcome(&killed));
    // A kill without a program in flight is reported as a kill.
    for group in killed.findings.keys().filter(|group| !calm.findings.contains_key(group)) {
        assert_eq!((group.signature.call.as_str(), group.signature.kind.as_str()), (UNTOLD, "crash"));
    }
}

#[cfg(unix)]
#[test]
fn killing_the_campaign_loses_nothing() {
    let dir = TempDir::new().unwrap();
    let (calm, killed) = (dir.path().join("calm"), dir.path().join("killed"));
    let more = ["--cases", "2000", "--jobs", "2"];
    fuzz("swapped-operands", &calm, &more);
    let mut command = fuzz_command("swapped-operands", &killed, OPS, &more);
    let mut nap = Naps(2);
    // A resumed campaign first tries the case that the kill has hit, which a second kill would accuse.
    let judged = || {
        let text = fs::read_to_string(killed.join(journal::FILE)).unwrap_or_default();
        ["{\"finding\":", "{\"checkpoint\":"].map(|line| text.matches(line).count()).iter().sum::<usize>()
    };
    let mut unfinished = 0;
    for _ in 0..4 {
        let before = judged();
        let mut campaign = command.spawn().unwrap();
        // It takes a while to begin; what counts is a kill while it is at work.
        while judged() <= before && campaign.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(nap.next(300));
        campaign.kill().unwrap();
        campaign.wait().unwrap();
        unfinished += usize::from(tally(&killed).complete() == Some(false));
        command = fuzz_command("swapped-operands", &killed, OPS, &["--resume", "--jobs", "2"]);
    }
    assert!(unfinished > 0, "it was never killed before its end");
    println!("killed {unfinished} times at work, the last time after {} cases", tally(&killed).checkpoint.counts.cases);
    assert_eq!(command.spawn().unwrap().wait().unwrap().code(), Some(1));
    assert_eq!(outcome(&tally(&calm)), outcome(&tally(&killed)));
    assert_eq!(tally(&killed).ended.as_deref(), Some("complete"));
    let pursued = |tally: &Tally| tally.findings.values().all(|found| found.pursued.is_some());
    assert!(pursued(&tally(&killed)), "every first finding was cut down in the end");
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_with_everything_saved() {
    let dir = TempDir::new().unwrap();
    let mut campaign = fuzz_command("swapped-operands", dir.path(), OPS, &["--cases", "1000000"]).spawn().unwrap();
    // Once it has begun to count it listens to signals.
    let is_at_work = |tally: Tally| tally.checkpoint.counts.cases > 0 && !tally.findings.is_empty();
    while !journal::read(dir.path()).is_ok_and(is_at_work) {
        thread::sleep(Duration::from_millis(20));
    }
    let signal = Command::new("kill").args(["-s", "INT", &campaign.id().to_string()]).status().unwrap();
    assert!(signal.success());
    assert_eq!(campaign.wait().unwrap().code(), Some(130));
    let tally = tally(dir.path());
    assert_eq!(tally.ended.as_deref(), Some("interrupted"));
    assert_eq!(tally.checkpoint.done.len(), tally.checkpoint.counts.cases);
}

#[test]
fn a_truncated_journal_is_resumed() {
    let dir = TempDir::new().unwrap();
    let whole = dir.path().join("whole");
    fuzz("wrong-message", &whole, &["--cases", "150"]);
    let (wanted, bytes) = (outcome(&tally(&whole)), fs::read(whole.join(journal::FILE)).unwrap());
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for (number, cut) in [header, header + 1, bytes.len() / 2, bytes.len() - 1].into_iter().enumerate() {
        let out = dir.path().join(number.to_string());
        fs::create_dir(&out).unwrap();
        fs::write(out.join(journal::FILE), &bytes[..cut]).unwrap();
        let ran = fuzz("wrong-message", &out, &["--resume"]);
        assert_eq!(ran.code(), 1, "{}", ran.stderr);
        assert_eq!(outcome(&tally(&out)), wanted, "cut at {cut} of {}", bytes.len());
    }
    // Damage anywhere else is no end of a line.
    let mut damaged = bytes.clone();
    damaged[header] = b'x';
    fs::write(whole.join(journal::FILE), &damaged).unwrap();
    let ran = fuzz("wrong-message", &whole, &["--resume"]);
    assert_eq!(ran.code(), 2);
    assert!(ran.stderr.contains("line 2"), "{}", ran.stderr);
}

#[test]
fn what_cannot_run_says_why() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("campaign");
    let fails = |adapter: &str, more: &[&str], why: &str| {
        let ran = fuzz(adapter, &out, more);
        assert_eq!((ran.code(), ran.stderr.contains(why)), (2, true), "{more:?}: {}", ran.stderr);
    };
    fails("honest", &["--resume"], "there is no campaign here");
    fails("dies-at-start", &[], "ended before it answered hello");
    fails("honest", &["--cases", "0"], "no step was judged");
    fs::remove_dir_all(&out).unwrap();
    assert_eq!(fuzz("honest", &out, &["--cases", "70"]).code(), 0);
    fails("honest", &["--cases", "70"], "has a campaign already: --resume goes on with it");
    fails("honest", &["--resume", "--seed", "2"], "seed (2, not 1)");
    fails("honest", &["--resume", "--cases", "80"], "cases (80, not 70)");
    fails("wrong-value", &["--resume"], "implementation");
    let _journal = Journal::resume(&out).unwrap();
    fails("honest", &["--resume"], "another process is at this campaign");
}

#[test]
fn known_divergences_are_counted_apart() {
    let dir = TempDir::new().unwrap();
    let mut setup = setup("wrong-message", 100);
    setup.known = Box::new(|finding| (finding.signature.kind == "message").then(|| "liar".to_owned()));
    let journal = Journal::create(dir.path(), header(&setup)).unwrap();
    let (journal, why) = run(&setup, journal, |_| {}).unwrap();
    let summary = Summary::of(journal.tally());
    assert_eq!((why, summary.new_findings().count()), ("complete", 0));
    assert!(!summary.findings.is_empty() && summary.findings.iter().all(|line| line.known.as_deref() == Some("liar")));
    assert!(journal.tally().findings.values().all(|found| found.pursued.is_none()), "they are not cut down");
}

/// With `--against`, the two implementations are compared and no other oracle judges, unless `--oracle` adds it.
#[test]
fn against_alone_compares_and_nothing_else_judges() {
    let dir = TempDir::new().unwrap();
    let oracles = |adapter: &str, against: &str, more: &[&str]| {
        let out = dir.path().join(format!("{adapter} {against} {}", more.concat()));
        let against = self::adapter(against);
        let ran = fuzz(adapter, &out, &[&["--cases", "100", "--against", &against], more].concat());
        let tally = tally(&out);
        let judges = &tally.header.configuration.oracles;
        let names: Vec<_> = judges.iter().map(|oracle| oracle.name()).collect();
        assert!(ran.stdout.contains(&format!(", judged by {}\n", names.join(", "))), "{}", ran.stdout);
        let found: BTreeSet<Oracle> = tally.findings.keys().map(|group| group.signature.oracle).collect();
        assert_eq!(ran.code(), i32::from(!found.is_empty()), "{}", ran.stdout);
        (judges.clone(), found.into_iter().collect::<Vec<_>>(), out)
    };
    let only = vec![Oracle::Release];
    // Whichever of the two is wrong, the comparison shows it.
    let (judges, found, _) = oracles("honest", "wrong-dtype", &[]);
    assert_eq!((&judges, &found), (&only, &only));
    let (judges, found, _) = oracles("wrong-dtype", "honest", &[]);
    assert_eq!((&judges, &found), (&only, &only));
    // Two that are wrong alike agree.
    let (judges, found, alone) = oracles("wrong-dtype", "wrong-dtype", &[]);
    assert_eq!((&judges, &found), (&only, &Vec::new()));
    let both = vec![Oracle::Reference, Oracle::Release];
    let (judges, found, added) = oracles("wrong-dtype", "wrong-dtype", &["--oracle", "reference"]);
    assert_eq!((&judges, &found), (&both, &vec![Oracle::Reference]));

    // A campaign that is resumed has the oracles that it was begun with.
    let resumed = |out: &Path, more: &[&str]| fuzz("wrong-dtype", out, &[&["--resume"], more].concat());
    assert_eq!(resumed(&alone, &[]).code(), 0);
    assert_eq!(resumed(&added, &[]).code(), 1);
    assert_eq!(resumed(&added, &["--oracle", "reference"]).code(), 1);
    let ran = resumed(&alone, &["--oracle", "reference"]);
    assert_eq!((ran.code(), ran.stderr.contains("other options: oracles")), (2, true), "{}", ran.stderr);

    // Shards that other oracles judge are not of one campaign.
    let shards = [("0/2", &[][..]), ("1/2", &["--oracle", "mathematics"])].map(|(shard, more)| {
        let more = [&["--shard", shard], more].concat();
        oracles("honest", "honest", &more).2
    });
    let merged = |other: &Path| {
        let out = other.with_extension("merged");
        self::ran(broadcheck().arg("merge").arg(&shards[0]).arg(other).arg("--out").arg(out))
    };
    let ran = merged(&shards[1]);
    assert_eq!((ran.code(), ran.stderr.contains("oracles")), (2, true), "{}", ran.stderr);
    let other = oracles("honest", "honest", &["--shard", "1/2"]).2;
    let ran = merged(&other);
    assert_eq!((ran.code(), ran.stdout.contains(", judged by release\n")), (0, true), "{}", ran.stderr);
}

/// The result of a campaign, without the effects of a kill from outside: counts, and the cases of each group.
fn outcome(tally: &Tally) -> (BTreeMap<String, Vec<u64>>, Counts) {
    let of_programs = tally.findings.iter().filter(|(group, _)| group.signature.call != UNTOLD);
    let found = of_programs.map(|(group, found)| (group.signature.to_string(), found.cases.iter().copied().collect()));
    (found.collect(), Counts { restarts: 0, ..tally.checkpoint.counts.clone() })
}

fn lines(summary: &Summary) -> Vec<(String, usize, u64)> {
    summary.findings.iter().map(|line| (line.signature.to_string(), line.count, line.first)).collect()
}

fn tally(folder: &Path) -> Tally {
    journal::read(folder).unwrap_or_else(|error| panic!("{error}"))
}

/// libtorch is installed by the tests that need it. Without its known differences it has findings.
#[test]
fn a_campaign_on_releases_is_one_table() {
    common::libtorch().unwrap_or_else(|error| panic!("{error}"));
    let folder = tempfile::tempdir().unwrap();
    let nothing_known = folder.path().join("nothing.yaml");
    fs::write(&nothing_known, "[]").unwrap();
    let on = |releases: &str, out: &str, more: &[&str]| {
        let out = folder.path().join(out);
        let mut command = broadcheck();
        command
            .args([
                "fuzz",
                "--releases",
                releases,
                "--cases",
                "300",
                "--ops",
                "hardtanh_backward,logit_backward,isin",
                "--keep",
                "--out",
            ])
            .arg(out);
        ran(command.args(more))
    };
    let release = broadcheck::install::DEFAULT_VERSION;

    let known = on(release, "known", &[]);
    assert_eq!(known.code(), 0, "{}{}", known.stdout, known.stderr);
    assert!(known.stdout.contains(&format!("libtorch {release}   300 cases: ")), "{}", known.stdout);
    assert!(known.stdout.ends_with("300 cases on 1 releases: 0 signatures in 0 groups are new\n"), "{}", known.stdout);

    // A release that does not exist has no verdict, and costs the others nothing.
    let given = ["--divergences", nothing_known.to_str().unwrap()];
    let found = on(&format!("0.0.1,{release}"), "found", &given);
    assert_eq!(found.code(), 2, "{}", found.stdout);
    assert!(found.stdout.contains("libtorch 0.0.1    no data: "), "{}", found.stdout);
    assert!(found.stdout.contains(&format!("in {release}; first in case ")), "{}", found.stdout);
    assert!(found.stderr.contains("1 of 2 releases have no verdict"), "{}", found.stderr);

    let again = on(release, "found", &["--resume", given[0], given[1]]);
    assert_eq!(again.code(), 1, "{}{}", again.stdout, again.stderr);
    let table: Vec<&str> = again.stdout.lines().filter(|line| line.contains(" × ")).collect();
    assert!(!table.is_empty() && table.iter().all(|line| found.stdout.contains(line)), "{}", again.stdout);
}

struct Ran {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn code(&self) -> i32 {
        self.status.code().expect("it was not killed")
    }
}

/// Runs a campaign to its end.
fn fuzz(adapter: &str, out: &Path, more: &[&str]) -> Ran {
    fuzz_ops(adapter, out, OPS, more)
}

fn fuzz_ops(adapter: &str, out: &Path, ops: &str, more: &[&str]) -> Ran {
    ran(&mut fuzz_command(adapter, out, ops, more))
}

/// Runs a command to its end.
fn ran(command: &mut Command) -> Ran {
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A resumed campaign is given no options but who is tested.
fn fuzz_command(adapter: &str, out: &Path, ops: &str, more: &[&str]) -> Command {
    let mut command = broadcheck();
    command.args(["fuzz", "--impl", &self::adapter(adapter), "--out"]).arg(out);
    if !more.contains(&"--resume") {
        command.args(["--ops", ops]);
    }
    command.args(more).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn broadcheck() -> Command {
    Command::new(env!("CARGO_BIN_EXE_broadcheck"))
}

fn adapter(args: &str) -> String {
    format!("'{}' {args}", common::faulty_binary().display())
}

fn start(args: &str) -> Start {
    let command = CommandLine::new(common::faulty_binary());
    Start::Adapter(args.split(' ').fold(command, |command, arg| command.arg(arg)))
}

fn hello(args: &str) -> broadcheck::adapter::Hello {
    start(args).runner(&Limits::default()).unwrap().hello()
}

/// The same without the command line.
fn setup(args: &str, cases: u64) -> Setup {
    Setup::new(&configuration(cases), (start(args), hello(args)), None)
}

fn configuration(cases: u64) -> Configuration {
    Configuration {
        seed: 1,
        cases: Some(cases),
        shard: Shard::WHOLE,
        ops: OPS.split(',').map(|name| Op::parse(name).unwrap().0).collect(),
        unrestricted: false,
        swarm: false,
        world: None,
        corpus: None,
        oracles: vec![Oracle::Reference],
        implementation: String::new(),
        against: None,
        divergences: None,
        timeout: 20,
        memory: 8,
    }
}

fn header(setup: &Setup) -> Header {
    Header {
        broadcheck: String::new(),
        suite: String::new(),
        programs: setup.sample(),
        implementation: Identity::of(&setup.subject.1),
        against: None,
        machine: Machine::here(),
        configuration: configuration(setup.configuration.cases.unwrap()),
    }
}

/// Naps of some length, always the same row of them.
struct Naps(u64);

impl Naps {
    fn next(&mut self, most: u64) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_millis(1 + (self.0 >> 33) % most)
    }
}

#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The name of the program, in parentheses, can have anything in it.
        let after = stat.rsplit(')').next().unwrap_or_default();
        after.split_whitespace().nth(1) == Some(&parent.to_string())
    };
    // What watches over the adapters is no adapter.
    let watches = |process: &u32| {
        fs::read_to_string(format!("/proc/{process}/cmdline")).is_ok_and(|words| words.contains(watch::NAME))
    };
    numbers.filter(is_child).filter(|process| !watches(process)).collect()
}

#[cfg(target_os = "linux")]
fn kill(process: u32) {
    // It may have ended by itself in the meantime.
    let _ = Command::new("kill").args(["-s", "KILL", &process.to_string()]).stderr(Stdio::null()).status();
}
