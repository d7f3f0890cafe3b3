//! One text may stand for several cases.

use super::*;

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
