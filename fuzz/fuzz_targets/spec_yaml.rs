//! The loader of the specification on any text: it never panics, and whatever it finds wrong it finds at a place.

#![no_main]

use std::path::{Path, PathBuf};

use broadcheck_harness::case::{LoadError, load_files, load_program, render};
use broadcheck_protocol::program::Program;
use libfuzzer_sys::fuzz_target;

/// Stands between the files of a specification.
const SEPARATOR: &str = "\n---\n";

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match load_program(Path::new("program.yaml"), text) {
        // What loads can be written, and loads to the same thing again.
        Ok(program) => {
            let written = render::program(&program);
            let again = load_program(Path::new("written.yaml"), &written);
            // As text, because a NaN is not equal to itself.
            let text = |program: &Program| format!("{program:?}");
            assert_eq!(again.as_ref().map(text).map_err(ToString::to_string), Ok(text(&program)), "{written}");
        }
        Err(error) => check(&error),
    }
    let names = ["documents.yaml", "clauses.yaml", "cases.yaml"];
    let files = names.iter().map(PathBuf::from).zip(text.splitn(names.len(), SEPARATOR).map(str::to_owned));
    if let Err(error) = load_files(&files.collect::<Vec<_>>()) {
        check(&error);
    }
});

fn check(error: &LoadError) {
    assert!(!error.faults.is_empty(), "an error without a fault");
    for fault in &error.faults {
        assert!(fault.location.line > 0 && fault.location.column > 0, "no place: {fault}");
        assert!(!fault.message.is_empty(), "no message at {:?}", fault.location);
    }
}
