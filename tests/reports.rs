//! The reports of releases: those that are checked in come out of the event files that are checked in, and what they say
//! follows from the events.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use broadcheck::adapter::{Hello, Implementation};
use broadcheck::generate::bounded_exhaustive::World;
use broadcheck::harness::benchmark::Measured;
use broadcheck::harness::campaign::row::{CampaignRow, Rows};
use broadcheck::harness::campaign::summary::Summary;
use broadcheck::harness::check::seeded_programs;
use broadcheck::harness::check::{Selection, check};
use broadcheck::harness::model::divergence::{self, Divergence, Source};
use broadcheck::harness::model::event::file::{self, EventFile, Header, SUITE_FILE};
use broadcheck::harness::model::event::{Absent, Agreement, Came, Corpus, Event, Verdict};
use broadcheck::ops::Op;
use broadcheck::reference::Reference;
use broadcheck::report::changes::{Kind, between};
use broadcheck::report::columns::bytes;
use broadcheck::report::confirmed::{CONFIRMED, Confirmed};
use broadcheck::report::history::History;
use broadcheck::report::{self, benchmarks, diff};
use common::{SPECIFICATION, reference};
use flate2::read::GzDecoder;

fn reports() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("reports")
}

/// The checked-in event files, as `broadcheck report` takes them.
static KEPT: LazyLock<Vec<(String, EventFile)>> = LazyLock::new(|| {
    let folder = reports().join("events");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.ends_with(".jsonl.gz") && name != SUITE_FILE);
    names.sort();
    assert!(names.len() > 1, "there are no event files");
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    names.into_iter().zip(file::read_all(&paths).unwrap_or_else(|error| panic!("{error}"))).collect()
});

/// What they say together.
static HISTORY: LazyLock<History> = LazyLock::new(|| History::new(KEPT.clone()).unwrap());

/// The checked-in rows of campaigns, by name.
fn campaigns() -> Vec<CampaignRow> {
    Rows::read(&reports().join("campaigns.json")).unwrap().into_rows()
}

#[test]
fn the_checked_in_reports_come_out_of_the_checked_in_events() {
    let history = &*HISTORY;
    let mut written = report::files(history, &campaigns(), false);
    assert!(written.len() > 4);
    let divergences = divergence::all_of("libtorch", &SPECIFICATION).unwrap();
    let confirmed = Confirmed::read(&reports().join(CONFIRMED)).unwrap();
    written.push(("causes.md", report::causes::render(history, &divergences, &confirmed)));
    for (name, text) in written {
        let place = |text: &str| text.contains("/tmp/") || text.contains(concat!("/ro", "ot/"));
        // The page and the badge are published and not kept.
        if name == "index.html" {
            assert!(text.len() < 800_000, "index.html has {} bytes", text.len());
            assert!(!place(&packed(&text)), "index.html names a place of one machine");
            continue;
        }
        assert!(!place(&text), "{name} names a place of one machine");
        if name == "badge.svg" {
            continue;
        }
        let there = std::fs::read_to_string(reports().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let differing = there.lines().zip(text.lines()).position(|(there, text)| there != text);
        let line = differing.map_or("its end".to_owned(), |line| format!("line {}", line + 1));
        assert!(there == text, "reports/{name} differs at {line}: `broadcheck report` writes it anew");
    }
}

/// The results of `exhaust` are in the checked-in files, from which the report is written; and as many calls are
/// accepted as the definition of broadcasting says, counted by a formula.
#[test]
fn the_exhaustive_report_is_complete() {
    let folder = reports().join("exhaustive");
    let worlds = ["layouts.json", "shapes.json"].map(|name| Summary::read(&folder.join(name)).unwrap());
    let there = std::fs::read_to_string(reports().join("exhaustive.md")).unwrap();
    assert!(there == report::exhaustive::render(&worlds), "`broadcheck report` writes reports/exhaustive.md anew");
    // Its table of worlds has the calls in the fourth column.
    let readme = std::fs::read_to_string(reports().join("../README.md")).unwrap();
    for row in there.lines().filter(|line| line.starts_with("| libtorch ")) {
        let calls = row.split('|').nth(4).unwrap().trim();
        assert!(readme.contains(&format!("{calls} calls")) || readme.contains(&format!("{calls} more")), "{calls}");
    }
    for world in &worlds {
        assert_eq!(Some(world.cases), world.configuration.cases);
        assert!(world.missing.is_empty() && world.new_findings().count() == 0);
        let bounds = world.configuration.world.as_ref().unwrap();
        let all = World::new(bounds, &world.configuration.ops);
        let (pairs, triples) = (all.sizes()[0], all.sizes()[1]);
        assert_eq!((world.cases, all.len()), (pairs + triples, world.cases));
        for op in Op::ALL.iter().filter(|op| World::takes(**op)) {
            assert!(world.configuration.ops.contains(op), "{op} is not in it");
        }
        for (call, checked) in &world.calls {
            // A crash leaves nothing to compare; each that is left is of a known cause.
            let op = call.split_once('(').unwrap().0;
            let crashes =
                world.findings.iter().filter(|line| line.signature.call == op && line.signature.kind == "crash");
            let broken = crashes.map(|line| line.count as u64).sum();
            assert_eq!((checked.broken, checked.differing, checked.unsupported), (broken, 0, 0), "{call}");
        }
    }
    let [_, shapes] = worlds;
    let bounds = shapes.configuration.world.as_ref().unwrap();
    assert_eq!((bounds.rank, &bounds.sizes[..]), (4, &[0, 1, 2, 3][..]));
    // Of shapes of ranks r and s, min(r, s) dimensions meet: 10 of the 16 pairs of sizes are equal or have a 1. In 7 the
    // second gives way to the first. The other dimensions are free, 4 sizes each.
    let count = |ways: u64, wanted: fn(u32, u32) -> bool| -> u64 {
        let ranks = (0..=4u32).flat_map(|r| (0..=4u32).map(move |s| (r, s)));
        let ranks = ranks.filter(|(r, s)| wanted(*r, *s));
        ranks.map(|(r, s)| 4u64.pow(r.abs_diff(s)) * ways.pow(r.min(s))).sum()
    };
    let (both, one) = (count(10, |_, _| true), count(7, |r, s| r >= s));
    for (call, accepted) in
        [("add(self, other)", both), ("eq(self, other)", both), ("add_(self, other)", one), ("copy_(self, src)", one)]
    {
        let checked = shapes.calls[call];
        assert_eq!((checked.accepted, checked.cases()), (accepted, 116_281), "{call}");
    }
    assert_eq!(shapes.calls["expand(self, size)"].accepted, one);
    assert_eq!(shapes.calls["where(condition, self, other)"].cases(), 9_261);
}

/// Changes that campaigns on old releases meet, and the few programs that every release runs do not.
const NOT_AMONG_THE_PROGRAMS: &[&str] = &[
    "addbmm-converted-its-summand",
    "addcmul-in-16-bits",
    "allocator-lines",
    "aminmax-had-no-gradient",
    "aminmax-of-one-complex-number",
    "anomaly-hint",
    "argmin-checks-its-out-first",
    "attention-asks-its-mask-for-a-dtype-first",
    "attention-before-2-1",
    "attention-in-float16",
    "attention-keeps-every-operand",
    "attention-of-complex-numbers-is-rejected-first",
    "attention-of-complex-numbers-without-keys",
    "attention-of-nothing-was-a-softmax",
    "backward-of-a-complex-number",
    "batches-of-attention",
    "batches-of-complex-products-warned",
    "bcomplex32-lacks-kernels",
    "bfloat16-beside-a-complex-number",
    "bilinear-asks-for-sizes-in-another-order",
    "bilinear-kept-every-operand",
    "bilinear-of-float16",
    "bitwise-out-and-gradients",
    "bounds-beyond-the-dtype",
    "bounds-of-clamp-are-float-first",
    "clamp-converted-complex-bounds-to-the-dtype",
    "complex-orders-of-norms",
    "complex-to-real-warned",
    "copies-of-nothing-into-16-bits-crash",
    "cosine-order-of-faults",
    "cosine-similarity-of-a-scalar",
    "cross-entropies-looked-at-all-inputs-first",
    "cross-entropy-gradients-of-16-bits",
    "dropout-beyond-its-dtype",
    "eps-of-cosine-similarity",
    "eps-of-cosine-similarity-had-to-fit",
    "fill-with-a-tensor",
    "fractional-corrections",
    "gather-words",
    "gradient-of-a-running-product-in-another-dtype",
    "gradient-of-ldexp-was-that-of-a-product",
    "gradient-of-nextafter",
    "gradients-of-short-vectors-of-a-cosine",
    "gradients-of-squares-promote",
    "gradients-through-integers",
    "index-add-of-a-source-without-dimensions",
    "index-add-words",
    "index-select-words",
    "inner-asks-its-out-for-a-dtype-first",
    "kernels-of-16-bits-are-named-first",
    "largest-distance-of-nothing",
    "layer-norm-asks-for-bfloat16",
    "layer-norm-of-equal-elements",
    "layer-norm-of-float16",
    "ldexp-names-its-out",
    "ldexp-was-a-product",
    "lerp-weights",
    "linear-multiplied-first",
    "linear-of-a-view-names-its-factors",
    "linear-of-batches-is-one-product",
    "lines-of-assertions",
    "logsumexp-of-complex-numbers",
    "masks-of-attention-in-integers",
    "masks-of-bytes-in-2-0",
    "matmul-of-a-vector-by-a-batch",
    "matmul-out-words",
    "mean-kept-its-operand",
    "more-informations",
    "mse-loss-of-several-dtypes",
    "mse-warning",
    "nansum-of-integers",
    "negative-sizes-words",
    "norms-of-16-bits-in-16-bits",
    "numbers-are-filled-into-their-part",
    "offsets-of-as-strided",
    "order-of-faults-in-where",
    "orders-of-dist",
    "overflow-words",
    "products-of-several-dtypes-in-2-0",
    "promotion-of-float8-read-beyond-the-table",
    "ranks-of-quantiles-in-double",
    "roundings-of-another-build",
    "routes-of-matmul",
    "running-extremes-of-a-scalar",
    "samples-of-nothing",
    "scatter-reduce-in-beta",
    "singular-or-next-to-it",
    "singular-values-of-nan",
    "sizes-of-vectors-with-out",
    "slices-of-what-has-no-dimensions",
    "strides-of-attention-without-queries",
    "strides-of-einsum-of-three",
    "strides-of-matmul",
    "sums-along-a-dimension-did-not-warn",
    "take-along-dim-counts-from-the-end",
    "take-along-dim-kept-its-indices",
    "targets-of-cross-entropy",
    "tensordot-into-out",
    "tensordot-of-integers",
    "tensors-are-printed-in-other-columns",
    "texts-of-attention",
    "ties-of-clamp",
    "ties-of-fmax-and-fmin",
    "two-to-the-63-overflows",
    "two-to-the-63-overflows-in-part",
    "vector-sizes-words",
    "views-of-leaves",
    "views-of-leaves-as-targets",
    "where-converted-its-number-first",
    "where-of-bfloat16-and-a-complex-number",
];

/// Every difference of other releases that is explained is there, in the cases and, where a signature says so, in generated
/// programs: an explanation of nothing is out of date.
#[test]
fn differences_of_other_releases_are_in_their_events() {
    let hello = Hello { name: "libtorch".to_owned(), ..Reference.hello() };
    let changes = divergence::load(&Source::Own, &hello, &SPECIFICATION).unwrap();
    let (mut in_cases, mut in_programs) = (BTreeSet::new(), BTreeSet::new());
    for (_, file) in &*KEPT {
        for event in &file.events {
            match event {
                Event::Judged(judged) => {
                    if let Verdict::Diverges { divergence, .. } = &judged.verdict {
                        in_cases.insert(divergence.clone());
                    }
                }
                Event::Generated(generated) => {
                    if let Agreement::Known { divergence } = &generated.verdict {
                        in_programs.insert(divergence.clone());
                    }
                }
                _ => {}
            }
        }
    }
    let changes: Vec<_> = changes.iter().filter(|divergence| divergence.kind == divergence::Kind::Changed).collect();
    assert!(changes.len() > 50, "{}", changes.len());
    for Divergence { id, signature, witnesses, .. } in changes {
        assert!(witnesses.is_empty() || in_cases.contains(id), "{id} is seen in no case");
        let in_programs = in_programs.contains(id) || NOT_AMONG_THE_PROGRAMS.contains(&id.as_str());
        assert!(signature.is_empty() || in_programs, "{id} is seen in no generated program");
    }
}

/// A sentence of a document that is false in a release comes with the sentence that would be true.
#[test]
fn every_false_sentence_of_a_document_has_its_correction() {
    let history = &*HISTORY;
    let documentation = std::fs::read_to_string(reports().join("documentation.md")).unwrap();
    let documented = |column: usize| {
        history.truth(column).into_iter().filter(|truth| history.is_documented(truth.clause)).collect::<Vec<_>>()
    };
    let releases: Vec<_> = history.releases().into_iter().flat_map(documented).collect();
    let shown: BTreeSet<_> =
        releases.iter().filter(|truth| truth.holds().is_some()).map(|truth| truth.clause.id.clone()).collect();
    // PyTorch itself is asked where no release of libtorch shows a statement.
    let pytorch = history.columns.iter().position(|column| column.name == "pytorch").expect("its events are kept");
    let of_pytorch = documented(pytorch).into_iter().filter(|truth| !shown.contains(&truth.clause.id));
    let mut corrected = BTreeSet::new();
    for truth in releases.into_iter().chain(of_pytorch).filter(|truth| truth.holds() == Some(false)) {
        let correction = truth.clause.correction.as_ref();
        assert!(correction.is_some(), "{} is false in a document, and has no correction", truth.clause.id);
        corrected.insert(truth.clause.id.clone());
    }
    assert!(corrected.len() > 10, "{corrected:?}");
    let told = documentation.matches("**Correction to propose:**").count();
    assert_eq!(told, corrected.len(), "each stands once in documentation.md");
}

/// A change of the reference may change what the generator makes. Then `broadcheck matrix` runs those programs.
#[test]
fn the_checked_in_programs_are_those_of_the_generator() {
    let mut digests: BTreeMap<(u64, u64), String> = BTreeMap::new();
    let mut seen = 0;
    for (path, EventFile { events, .. }) in &*KEPT {
        let made = events.iter().find_map(|event| match event {
            Event::Started(started) => started.corpus,
            _ => None,
        });
        let Some(corpus) = made else { continue };
        let digest = digests.entry((corpus.seed, corpus.programs)).or_insert_with(|| seeded_programs::digest(corpus));
        let Some(Event::Finished(totals)) = events.last() else { panic!("{path:?} has no end") };
        for tally in totals.implementations.iter().filter_map(|tally| tally.corpus.as_ref()) {
            assert_eq!(
                tally.digest, *digest,
                "{path:?} has other programs: `broadcheck matrix --corpus {}`",
                corpus.programs
            );
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn checked_in_events_are_small_enough() {
    let mut whole = 0;
    for entry in std::fs::read_dir(reports().join("events")).unwrap() {
        let (entry, limit) = (entry.unwrap(), 360_000);
        let size = entry.metadata().unwrap().len();
        whole += size;
        assert!(size <= limit, "{} has {size} bytes", entry.path().display());
    }
    assert!(whole > 0);
}

/// A run of the reference that says that it is a release, changed by a function.
fn release(version: &str, change: impl Fn(&mut Event)) -> (String, EventFile) {
    static RUN: LazyLock<Vec<Event>> = LazyLock::new(|| {
        let cases = ["in-place/", "broadcastable/", "errors/"].map(str::to_owned).to_vec();
        let selection = Selection { cases, corpus: Some(Corpus { seed: 5, programs: 20 }), ..Selection::default() };
        let mut events = Vec::new();
        check(&SPECIFICATION, &SPECIFICATION.digest, &selection, &mut [reference()], |event| {
            events.push(event.clone())
        });
        events
    });
    let mut events = RUN.clone();
    for event in &mut events {
        if let Event::Implementation(ready) = event {
            ready.name = "libtorch".to_owned();
            ready.version = version.to_owned();
            ready.label = format!("libtorch {version}");
        }
        if let Event::Judged(judged) = event {
            judged.implementation = format!("libtorch {version}");
        }
        change(event);
    }
    let header = Header { date: "2026-01-02T03:04:05Z".to_owned(), ..Header::now(&SPECIFICATION.digest) };
    (format!("{version}.jsonl"), EventFile { header, events, stale: 0, hides: true })
}

/// Another text of the rejection that README.md shows, which its statement's document would have right.
fn older(event: &mut Event) {
    let Event::Judged(judged) = event else { return };
    if judged.case == "in-place/shape-would-change" {
        judged.documented = Some(Vec::new());
        for exact in &mut judged.exact {
            if let Came::Rejected { message, .. } = &mut exact.is {
                *message = "The expanded size | of the tensor <b>".to_owned();
            }
        }
    }
}

fn absent(version: &str) -> (String, EventFile) {
    let (name, mut file) = release(version, |_| {});
    file.events = vec![Event::Absent(Absent {
        label: format!("libtorch {version}"),
        given: format!("libtorch@{version}"),
        name: "libtorch".to_owned(),
        version: version.to_owned(),
        reason: "it | does not <build>".to_owned(),
    })];
    (name, file)
}

fn page<'a>(written: &'a [(&str, String)], name: &str) -> &'a str {
    &written.iter().find(|(file, _)| *file == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// The data that the script of the page draws, as JSON.
fn packed(html: &str) -> String {
    let (_, packed) = html.split_once("id=\"packed\">").expect("there is no packed data");
    let bytes = bytes(packed.split_once('<').unwrap().0).unwrap();
    let mut json = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut json).unwrap();
    json
}

#[test]
fn releases_are_in_order_and_changes_are_dated() {
    // Not in the order of their names, nor in that of their numbers.
    let files = vec![release("2.10.0", |_| {}), absent("2.3.0"), release("2.9.1", older), release("2.2.0", older)];
    let history = History::new(files).unwrap();
    let versions: Vec<&str> = history.columns.iter().map(|column| column.version.as_str()).collect();
    assert_eq!(versions, ["2.2.0", "2.3.0", "2.9.1", "2.10.0"]);
    let written = report::files(&history, &[], false);
    let documentation = page(&written, "documentation.md");
    assert!(documentation.contains("## True in some releases"), "{documentation}");
    assert!(
        documentation.contains("false since 2.10.0") || documentation.contains("false in 2.10.0"),
        "{documentation}"
    );
    assert!(documentation.contains("No data for 2.3.0"));
    let matrix = page(&written, "matrix.md");
    assert!(matrix.contains("no data: it \\| does not \\<build>"), "a row is dropped, or its reason is markup");
    assert!(!matrix.contains("(0.0 %)"), "nothing is not 0 %");
    assert!(
        matrix.contains("### libtorch 2.9.1 → libtorch 2.10.0")
            && matrix.contains("### libtorch 2.2.0 → libtorch 2.9.1")
    );
    let html = page(&written, "index.html");
    assert!(!html.contains("The expanded size | of the tensor <b>"), "an outcome is markup");
    assert!(packed(html).contains("The expanded size | of the tensor <b>"), "an outcome is missing");
    assert!(html.contains("no data: it | does not &lt;build&gt;"));
    assert!(page(&written, "badge.svg").contains("3/4 libtorch releases conform in what they support"));
}

#[test]
fn the_page_says_which_release_changed_something_last() {
    let html = |files| page(&report::files(&History::new(files).unwrap(), &[], false), "index.html").to_owned();
    let same = |version| release(version, |_| {});
    let changed = html(vec![release("2.9.1", older), same("2.10.0")]);
    assert!(changed.contains("What changed in libtorch 2.10.0") && !changed.contains("Nothing changed"));
    assert!(changed.contains("The expanded size | of the tensor &lt;b&gt;"), "the outcome before is missing");
    assert!(changed.contains("true before, now"), "a statement that became false is missing");
    let quiet = html(vec![release("2.9.1", older), same("2.10.0"), same("2.11.0")]);
    assert!(quiet.contains("Nothing changed in libtorch 2.11.0. libtorch 2.10.0 is the newest release that changed"));
    let row = |version: &str| quiet.find(&format!("<th scope=\"row\">libtorch {version}<")).unwrap();
    assert!(row("2.11.0") < row("2.10.0") && row("2.10.0") < row("2.9.1"), "the newest release is not the first");
    assert!(html(vec![same("2.10.0")]).contains("there is one release, so there is nothing to compare"));
    assert!(html(vec![same("2.9.1"), same("2.10.0")]).contains("no release changed an outcome"));
}

/// A library that could not be run has a row with the reason, and nothing is said of where it differs.
#[test]
fn a_library_that_was_not_run_is_not_reported_as_equal() {
    let named = |(file, mut run): (String, EventFile), name: &str| {
        for event in &mut run.events {
            let (own, label) = match event {
                Event::Implementation(ready) => (&mut ready.name, &mut ready.label),
                Event::Absent(absent) => (&mut absent.name, &mut absent.label),
                Event::Judged(judged) => {
                    judged.implementation = name.to_owned();
                    continue;
                }
                _ => continue,
            };
            (*own, *label) = (name.to_owned(), name.to_owned());
        }
        (format!("{name}-{file}"), run)
    };
    let files =
        vec![release("2.9.1", |_| {}), named(release("1.0", |_| {}), "there"), named(absent("1.0"), "nowhere-here")];
    let written = report::files(&History::new(files).unwrap(), &[], false);
    let others = page(&written, "implementations.md");
    assert!(others.contains("### there\n\nNowhere."), "{others}");
    assert!(others.contains("| nowhere-here | 2026-01-02 | no data: it \\| does not \\<build>"), "{others}");
    assert!(!others.contains("### nowhere-here"), "{others}");
}

#[test]
fn a_change_is_found_and_the_same_is_the_same() {
    let history = History::new(vec![release("2.9.1", older), release("2.10.0", |_| {})]).unwrap();
    let changes = between((&history, 0), (&history, 1), &[]);
    assert_eq!((changes.differing, changes.generated, changes.generated_differing), (1, 20, 0));
    assert_eq!(changes.kinds, [(Kind::Message, 1)].into());
    let [group] = &changes.groups[..] else { panic!("{:?}", changes.groups) };
    assert_eq!((group.clause.as_str(), group.call.as_str()), ("in-place-message", "add_"));
    assert!(diff::markdown(&changes).contains("`rejected: The expanded size \\| of the tensor <b>`"));
    assert!(diff::summary(&changes).starts_with("1 of "), "{}", diff::summary(&changes));

    // Each group has the program of its first case.
    assert!(diff::text(&changes).contains("| r: {add_: [x, y]}") || diff::text(&changes).contains("add_"));
    let ignored = between((&history, 0), (&history, 1), &[Kind::Message]);
    assert_eq!((ignored.differing, ignored.cases), (0, changes.cases));
    assert!(diff::text(&ignored).contains("ignored: message"), "what was ignored is said");

    let same = between((&history, 1), (&history, 1), &[]);
    assert_eq!((same.differing, same.groups.len()), (0, 0));
    assert!(same.cases > 20);
    assert!(diff::summary(&same).starts_with("no difference in "));
}

#[test]
fn a_crash_and_an_acceptance_are_changes() {
    let broken = |event: &mut Event| match event {
        Event::Judged(judged) if judged.case == "in-place/shape-stays" => {
            judged.verdict = Verdict::Broken { fault: "SIGSEGV".to_owned(), stderr: String::new() };
            (judged.exact, judged.outcome) = (Vec::new(), Vec::new());
        }
        Event::Generated(generated) if generated.program == 3 => generated.digest = "another".to_owned(),
        _ => {}
    };
    let history = History::new(vec![release("2.0.0", |_| {}), release("2.1.0", broken)]).unwrap();
    let changes = between((&history, 0), (&history, 1), &[]);
    assert_eq!(changes.kinds, [(Kind::Breaks, 1)].into());
    assert_eq!(changes.generated_differing, 1);
    assert_eq!(changes.programs[0].programs, [3]);
    let back = between((&history, 1), (&history, 0), &[]);
    assert_eq!(back.kinds, [(Kind::Works, 1)].into());
}

/// One case that has changed is not run where the file is older; all others of that file still count.
#[test]
fn a_file_stays_valid_for_the_cases_that_are_the_same() {
    let changed = "in-place/shape-stays";
    let older = release("2.1.0", |event| match event {
        Event::Judged(judged) if judged.case == changed => judged.digest.expected = "another".to_owned(),
        _ => {}
    });
    let (name, mut newer) = release("2.2.0", |_| {});
    newer.header.date = "2026-02-02T03:04:05Z".to_owned();
    let history = History::new(vec![older, (name, newer)]).unwrap();
    let tallies: Vec<_> = history.columns.iter().map(|column| column.came.clone().unwrap()).collect();
    assert_eq!((tallies[0].not_run, tallies[1].not_run), (1, 0));
    assert_eq!(tallies[0].executed() + 1, tallies[1].executed());
    assert!(history.judged(0, changed).is_none() && history.judged(1, changed).is_some());
}

#[test]
fn unrelated_event_files_are_rejected() {
    let rejected = |files| History::new(files).unwrap_err();
    assert!(rejected(Vec::new()).contains("broadcheck matrix"));
    let other = release("2.1.0", |event| {
        if let Event::Judged(judged) = event {
            judged.digest.program = "another".to_owned();
        }
    });
    let told = rejected(vec![other, release("2.0.0", |_| {})]);
    assert!(told.contains("2.1.0.jsonl has judged no case as "), "{told}");
    let told = rejected(vec![release("2.0.0", |_| {}), release("2.0.0", |_| {})]);
    assert!(told.contains("libtorch 2.0.0"), "{told}");
    let mut unfinished = release("2.1.0", |_| {});
    unfinished.1.events.pop();
    let told = rejected(vec![unfinished]);
    assert!(told.contains("did not end"), "{told}");
}

#[test]
fn the_checked_in_benchmarks_come_out_of_what_was_measured() {
    let read =
        |name: &str| std::fs::read_to_string(reports().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let measured: Measured = serde_json::from_str(&read("benchmarks.json")).unwrap();
    assert!(measured.sets.len() > 4);
    assert!(
        read("benchmarks.md") == benchmarks::render(&measured),
        "reports/benchmarks.md is not what `broadcheck report` writes from benchmarks.json"
    );
}
