//! Keys with rules of their own: `about` and the places of statements, `each` for several cases of one text, `otherwise` for
//! other releases.

use super::*;

use broadcheck::case::Aspect;

#[test]
fn the_aspects_of_a_statement_are_expected_by_its_cases() {
    let about = |about: &str| CLAUSES.replace("  shows", &format!("  about: {about}\n  shows"));
    for (wrong, words) in [
        ("[»shapes]", &["unknown aspect `shapes`", "did you mean `shape`?"][..]),
        ("»[]", &["the aspects that the statement is about", "empty"]),
        ("[shape, »shape]", &["the aspect `shape` is named twice"]),
    ] {
        check(DOCUMENTS, &about(wrong), CASES, words);
    }
    let marked = |aspects: &str| about(aspects).replace("- id", "- »id");
    check(
        DOCUMENTS,
        &marked("[outcome, strides]"),
        CASES,
        &["is about strides, and no case of it expects any strides"],
    );
    // The accepting case says nothing of a message, so it cannot contradict a statement about one.
    let cases = CASES.replacen("- id: add-rows/equal", "- »id: add-rows/equal", 1);
    check(DOCUMENTS, &about("[message]"), &cases, &["cannot contradict the clause `equal-sizes`", "about message"]);
    let specification = read(DOCUMENTS, &about("[outcome, class, message]"), CASES).unwrap();
    assert_eq!(specification.clauses[0].about, [Aspect::Outcome, Aspect::Class, Aspect::Message]);
    let plain = read(DOCUMENTS, CLAUSES, CASES).unwrap();
    assert_eq!(plain.clauses[0].about, Aspect::OF_A_STATEMENT);
}

#[test]
fn a_case_names_the_values_that_witness_a_clause() {
    let tested = |clause: &str| CASES.replacen("[equal-sizes]", clause, 1);
    for clause in ["{equal-sizes: [r]}", "[{equal-sizes: [r, x]}]"] {
        let specification = read(DOCUMENTS, CLAUSES, &tested(clause)).unwrap_or_else(|error| panic!("{error}"));
        let case = &specification.cases[0];
        let witnessed = [1, 0].map(|value| case.witnesses("equal-sizes", ValueRef { value, part: None }));
        assert_eq!(witnessed, [true, clause.contains('x')], "{clause}");
    }
    for (clause, words) in [
        ("{equal-sizes: [»q]}", &["`q` is neither an input nor a step"][..]),
        ("{equal-sizes: »[]}", &["the values that witness the clause", "empty"]),
        ("{»equal-size: [r]}", &["there is no clause `equal-size`", "did you mean `equal-sizes`?"]),
        ("[equal-sizes, {»equal-sizes: [r]}]", &["is named twice"]),
        ("»{}", &["the clauses that it tests", "empty"]),
    ] {
        let marked = clause.replace("»equal-sizes: [r]}]", "equal-sizes: »[r]}]");
        check(DOCUMENTS, CLAUSES, &tested(&marked), words);
    }
}

#[test]
fn sentences_of_documents_have_a_place_and_may_be_corrected() {
    let documents = DOCUMENTS.replace(", code: true", "");
    let placed = CLAUSES.replace("section: Rules}", "section: Rules, at: paragraph 2}");
    let corrected = placed.replace("  shows", "  correction: Equal sizes always broadcast.\n  shows");
    assert!(read(&documents, &corrected, CASES).is_ok());
    let marked = |clauses: &str| clauses.replace("- id", "- »id");
    check(&documents, &marked(CLAUSES), CASES, &["lacks its place in \"Rules\" of notes: add `at`"]);
    check(DOCUMENTS, &marked(&placed), CASES, &["has a place `at` in code"]);
    let code = CLAUSES.replace("  shows", "  correction: Equal sizes always broadcast.\n  shows");
    check(DOCUMENTS, &marked(&code), CASES, &["has a `correction`, but no document as its source"]);
}

#[test]
fn clauses_that_cannot_be_shown_have_no_case() {
    let reason = "  cannot_be_shown: It was before the first release.\n  shows";
    let unshown = CLAUSES.replace("equal-sizes", "once").replace("  shows", reason);
    let both = format!("{CLAUSES}{unshown}");
    assert!(read(DOCUMENTS, &both, CASES).is_ok());
    let marked = format!("{CLAUSES}- »{}", &unshown[2..]);
    let named = CASES.replacen("[equal-sizes]", "[equal-sizes, once]", 1);
    check(
        DOCUMENTS,
        &marked,
        &named,
        &["`once` is marked as one that cannot be shown, but the case `add-rows/equal` names it"],
    );
    let judged = both.replace("  cannot_be_shown", "  »about: [shape]\n  cannot_be_shown");
    check(DOCUMENTS, &judged, CASES, &["is not judged, so it has no `about`"]);
}

#[test]
fn one_text_stands_for_a_case_of_each_entry() {
    let with = |entries: &str| {
        third(&format!(
            "  program: {{x: {{values: <x>}}, r: {{<op>: [x, 2]}}}}\n  expect: {{x: unchanged}}\n  note: \"of <x>, \
             <op>\"\n  each: [{entries}]"
        ))
        .replace("third", "<op>-<kind>")
    };
    let sound = with("{op: mul, kind: int, x: [1, 2]}, {op: add, kind: bool, x: [true]}");
    let specification = read(DOCUMENTS, CLAUSES, &sound).expect("sound");
    let ids: Vec<&str> = specification.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["add-rows/equal", "add-rows/unequal", "add-rows/mul-int", "add-rows/add-bool"]);
    let last = &specification.cases[3];
    assert_eq!(last.program.steps[0].op, Op::Add);
    assert_eq!(last.program.inputs[0].dtype, DType::Bool);
    assert_eq!(last.note.as_deref(), Some("of [true], add"));

    let first = "{op: mul, kind: int, x: [1, 2]}";
    let check = |entries: &str, words: &[&str]| check(DOCUMENTS, CLAUSES, &with(entries), words);
    check("»{op: mul, kind: int, x: [1], more: 2}", &["`<more>` does not occur"]);
    check(&format!("{first}, »{{op: add, kind: int}}"), &["lacks `x`"]);
    check(&format!("{first}, »{{op: add, kind: int, x: [1], more: 2}}"), &["the first entry lacks `more`"]);
    check(&format!("{first}, »7"), &["expected a mapping from names"]);
    check("{op: mul, kind: int, x: [[1, 2], »7]}", &["ragged"]);
}

/// A few lines can stand for more than memory holds: by many entries, by long values, and by values that name others.
#[test]
fn the_expansion_of_a_case_is_limited() {
    let fails = |each: &str, program: &str, why: &str| {
        let cases =
            format!("{CASES}{HEAD}  each: {each}\n  note: 'a <n>'\n  program: {program}\n  expect: {{r: unchanged}}\n");
        let error = read(DOCUMENTS, CLAUSES, &cases).unwrap_err().to_string();
        assert!(error.starts_with("add_rows.yaml:15:"), "{}", &error[..error.len().min(300)]);
        assert!(error.contains(why), "{}", &error[..error.len().min(300)]);
    };
    fails(&format!("[{}]", "{n: 1}, ".repeat(10_001)), "{}", "10001 entries are too many: `each` may have 10000");
    let long = format!("[{}]", format!("{{n: {}}}, ", "x".repeat(10_000)).repeat(200));
    fails(&long, &format!("{{t: \"{}\"}}", "<n>".repeat(1000)), "add up to more than 67108864 bytes, the limit");
    let chain: Vec<String> = (0..60).map(|at| format!("n{at}: '<n{0}><n{0}>'", at + 1)).collect();
    let chain = format!("[{{n: '<n0>', {}, n60: x}}]", chain.join(", "));
    fails(&chain, "{}", "add up to more than 67108864 bytes");
}

#[test]
fn faults_of_other_releases() {
    let rest = "  program: {x: {shape: [2]}, r: {add: [x, x]}}\n  expect: {r: {shape: [2]}}\n";
    let check = |entry: &str, words: &[&str]| {
        super::check(DOCUMENTS, CLAUSES, &third(&format!("{rest}  otherwise: {entry}")), words);
    };
    check("»[]", &["ranges of releases: a list", "empty"]);
    check("[{releases: »since 2.6, expect: {r: {shape: [3]}}}]", &["`since 2.6` is not a range of releases"]);
    check("[{releases: 2.6.0, expect: »{x: unchanged}}]", &["for which the case itself expects nothing"]);
    check("[{releases: 2.6.0, »because: x, expect: {r: {shape: [3]}}}]", &["no key `because`"]);
}

#[test]
fn the_first_range_that_has_a_release_decides() {
    let rest = "  program: {x: {shape: [2]}, r: {add: [x, x]}}\n  expect: {r: {shape: [2]}, x: unchanged}\n";
    let ranges = "[{releases: '<2.4', expect: {r: {shape: [3]}}}, {releases: '<2.6', expect: {r: {shape: [4]}}}]";
    let cases = third(&format!("{rest}  otherwise: {ranges}"));
    let specification = read(DOCUMENTS, CLAUSES, &cases).unwrap_or_else(|error| panic!("{error}"));
    let case = &specification.cases[2];
    let shape = |release| match case.expected_in(release)[..] {
        [(_, Expectation::Value(value)), (_, Expectation::Unchanged)] => value.shape.as_ref().unwrap().sizes()[0],
        ref other => panic!("{other:?}"),
    };
    let seen = [Some("2.3.1"), Some("2.5.1+cpu"), Some("2.6.0"), Some("unknown"), None].map(shape);
    assert_eq!(seen, [3, 4, 2, 2, 2]);
}
