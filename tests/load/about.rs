//! The fields of statements: the aspects that they are about, the values that witness them, their places.

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
