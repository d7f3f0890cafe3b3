//! `about` of a statement changes no verdict: each case has on each release the verdict that it had before statements
//! said what they are about (commit 7f48aeb), or a stricter one, with its reason here.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use broadcheck::harness::model::event::file;
use broadcheck::harness::model::event::{Event, Verdict};
use flate2::read::GzDecoder;

/// Releases of which the first ten have no modulus in `take_along_dim`.
const OLDER: &[&str] = RELEASES.split_at(10).0;
const NEWER: &[&str] = RELEASES.split_at(10).1;

/// What libtorch divides by the size.
const DIVIDED: &str = "diverges:taken-indices-are-divided-by-the-size";

/// Negative indices, which libtorch rejected.
const NEGATIVE: &str = "diverges:take-along-dim-counts-from-the-end";

/// Cases whose verdict on some releases is another one now: the case, the releases, the verdict, why.
const CHANGED: &[(&str, &[&str], &str, &str)] = &[
    ("arithmetic/divisor-of-the-least-int32", &RELEASES, "diverges:greatest-divisor-of-the-least-integer", POSITIVE),
    ("arithmetic/divisor-of-the-least-int64", &RELEASES, "diverges:greatest-divisor-of-the-least-integer", POSITIVE),
    ("own-rules/heaviside-of-nan", &RELEASES, "diverges:heaviside-of-nan-is-zero", "NumPy, IEEE 754: NaN is handed on"),
    ("indexing/of-no-elements-beside-a-bad-index", &RELEASES, "diverges:indices-of-nothing-have-no-range", RANGE),
    ("gather/take-by-index-minus-one", OLDER, NEGATIVE, "the cause has another name"),
    ("gather/take-gradient-of-a-tensor-that-broadcasts", OLDER, NEGATIVE, "the cause has another name"),
    ("gather/take-by-index-one-too-far", NEWER, DIVIDED, RANGE),
    ("gather/take-by-index-one-too-far", OLDER, "passed", RANGE),
    ("gather/take-by-index-far-beyond", NEWER, DIVIDED, RANGE),
    ("gather/take-by-index-far-beyond", OLDER, "passed", RANGE),
    ("gather/take-by-index-far-before", NEWER, DIVIDED, RANGE),
    ("gather/take-by-index-far-before", OLDER, "passed", RANGE),
    ("gather/take-from-a-dimension-of-size-0", NEWER, DIVIDED, RANGE),
    ("gather/take-from-a-dimension-of-size-0", OLDER, "passed", RANGE),
];

const POSITIVE: &str = "by definition a greatest common divisor is positive";
const RANGE: &str = "NumPy and sibling operations raise for an index that is out of range";

/// By case, by release, the verdict if it was not `passed`. A line is `CASE = VERDICT RELEASES; VERDICT RELEASES`.
fn before(releases: &[String]) -> BTreeMap<String, BTreeMap<String, String>> {
    let packed = include_bytes!("fixtures/verdicts-7f48aeb.txt.gz");
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("the fixture is text");
    let of = |line: &str| {
        let (case, rest) = line.split_once(" = ").unwrap_or((line, ""));
        let mut verdicts = BTreeMap::new();
        for part in rest.split("; ").filter(|part| !part.is_empty()) {
            let (verdict, named) = part.rsplit_once(' ').expect("a verdict and releases");
            let named: Vec<&str> = match named {
                "all" => releases.iter().map(String::as_str).collect(),
                some => some.split(',').collect(),
            };
            verdicts.extend(named.into_iter().map(|release| (release.to_owned(), verdict.to_owned())));
        }
        (case.to_owned(), verdicts)
    };
    text.lines().map(of).collect()
}

fn name(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Diverges { divergence, .. } => format!("diverges:{divergence}"),
        other => other.name().to_owned(),
    }
}

/// The releases that were judged then.
const RELEASES: [&str; 16] = [
    "2.0.1", "2.1.2", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.1", "2.10.0", "2.11.0",
    "2.12.1", "2.13.0", "2.14.1", "2.15.0",
];

#[test]
fn verdicts_are_what_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/events");
    let mut now: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let paths: Vec<PathBuf> =
        RELEASES.iter().map(|release| folder.join(format!("libtorch-{release}.jsonl.gz"))).collect();
    for (release, file) in RELEASES.iter().zip(file::read_all(&paths).unwrap_or_else(|error| panic!("{error}"))) {
        let verdicts = now.entry((*release).to_owned()).or_default();
        for event in file.events {
            if let Event::Judged(judged) = event {
                verdicts.insert(judged.case.clone(), name(&judged.verdict));
            }
        }
    }
    let releases: Vec<String> = now.keys().cloned().collect();
    let before = before(&releases);
    assert_eq!(before.len(), 3198);
    let mut compared = 0;
    for (case, verdicts) in &before {
        for (release, judged) in &now {
            let was = verdicts.get(release).map_or("passed", String::as_str);
            let is = judged.get(case).map_or("not run", String::as_str);
            let changed = CHANGED.iter().find(|(id, of, ..)| id == case && of.contains(&release.as_str()));
            let expected = changed.map_or(was, |(.., verdict, _)| verdict);
            assert_eq!(is, expected, "{case} on libtorch {release}, which was {was}");
            compared += 1;
        }
    }
    assert!(compared >= 16 * 3198, "{compared}");
}
