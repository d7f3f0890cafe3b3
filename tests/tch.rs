//! The list of `tch`'s functions that programs of findings call, against the sources of the `tch` that the libtorch adapter
//! is built with. Its lines follow from them and from the operation table.
//!
//! `BROADCHECK_WRITE=1 cargo test --test tch` writes it anew; read the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use broadcheck::ops::Op;

/// The list.
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/harness/triage/tch.txt");

#[test]
fn the_list_is_what_tch_has() {
    let package = |name: &str| -> (String, PathBuf) { source(name).unwrap_or_else(|error| panic!("{error}")) };
    let ((version, tch), (_, sys)) = (package("tch"), package("torch-sys"));
    let read = |path: PathBuf| std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let rust = read(tch.join("src/wrappers/tensor_fallible_generated.rs"));
    let cpp = read(sys.join("libtch/torch_api_generated.cpp"));
    let wanted = derived(&rust, &cpp);
    assert!(wanted.len() > 500, "only {} functions were found in the sources of tch", wanted.len());
    let text = read(LIST.into());
    let (comments, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    if std::env::var_os("BROADCHECK_WRITE").is_some() {
        let all: Vec<&str> = comments.into_iter().chain(wanted.iter().map(String::as_str)).collect();
        std::fs::write(LIST, all.join("\n") + "\n").expect("the list can be written");
        return;
    }
    assert!(comments[0].contains(&format!("tch {version} ")), "it is said to be of another tch than {version}");
    let (have, want): (BTreeSet<&str>, BTreeSet<&str>) =
        (lines.into_iter().collect(), wanted.iter().map(String::as_str).collect());
    let (missing, left): (Vec<_>, Vec<_>) = (want.difference(&have).collect(), have.difference(&want).collect());
    let how = "BROADCHECK_WRITE=1 cargo test --test tch writes the list anew";
    assert!(missing.is_empty() && left.is_empty(), "missing: {missing:#?}\nnot in tch: {left:#?}\n{how}");
}

/// The version of a package that the libtorch adapter is built with, and where its sources are.
fn source(name: &str) -> Result<(String, PathBuf), String> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/adapters/libtorch/Cargo.toml");
    let ran = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest])
        .output()
        .map_err(|error| format!("cargo metadata: {error}"))?;
    if !ran.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&ran.stdout).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata has no packages")?;
    let package =
        packages.iter().find(|package| package["name"] == name).ok_or(format!("there is no package {name}"))?;
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let folder = PathBuf::from(text("manifest_path")).parent().map(PathBuf::from).ok_or("no folder")?;
    Ok((text("version"), folder))
}

/// The lines for the operations of the table.
fn derived(rust: &str, cpp: &str) -> Vec<String> {
    let operations: BTreeSet<&str> = Op::ALL
        .iter()
        .map(|op| op.info().schema)
        .map(|schema| schema.split_once('.').map_or(schema, |(name, _)| name))
        .collect();
    let called = called(cpp);
    let mut lines = Vec::new();
    for function in rust.split("\n    pub fn f_").skip(1) {
        let Some((head, body)) = function.split_once(" {\n") else { continue };
        let Some((name, generics, params, result)) = signature(head) else { continue };
        let Some(own) = between(body, "atg_", "(") else { continue };
        let libtorch = called.get(own).copied().unwrap_or(own);
        let plain = libtorch.strip_suffix("_out").unwrap_or(libtorch);
        let plain = if plain.starts_with("__") { plain } else { plain.trim_end_matches('_') };
        if operations.contains(plain) {
            lines.push(format!("{libtorch} {name}({}) -> {result}", inlined(&params, generics)));
        }
    }
    lines
}

/// By function of the C interface, the function of libtorch that it calls.
fn called(cpp: &str) -> BTreeMap<&str, &str> {
    let functions = cpp.split("atg_").skip(1).filter_map(|function| {
        let (head, body) = function.split_once(") {\n")?;
        let (name, _) = head.split_once('(')?;
        let body = body.split_once("\n}").map_or(body, |(body, _)| body);
        let places = ["torch::", "self->"].into_iter().filter_map(|before| {
            // `torch::Tensor` is a type, and no call.
            body.match_indices(before).find_map(|(at, _)| {
                let rest = &body[at + before.len()..];
                let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
                rest[end..].starts_with('(').then_some((at, &rest[..end]))
            })
        });
        Some((name, places.min()?.1))
    });
    functions.collect()
}

/// The name, the generics, the parameters in one line, and the result.
fn signature(head: &str) -> Option<(&str, &str, String, &str)> {
    let start = head.find(['<', '('])?;
    let (name, rest) = head.split_at(start);
    let (generics, rest) = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once(">(")?,
        None => ("", rest.strip_prefix('(')?),
    };
    let (params, rest) = rest.rsplit_once(") -> Result<")?;
    let params = params.split_whitespace().collect::<Vec<_>>().join(" ");
    let params = params.trim().trim_end_matches(',').to_owned();
    Some((name, generics, params, rest.strip_suffix(", TchError>")?))
}

/// Parameters with the bounds of their types in place of their letters.
fn inlined(params: &str, generics: &str) -> String {
    let mut params = format!(", {params}");
    for bound in generics.split(", ").filter(|bound| !bound.is_empty()) {
        let Some((letter, bound)) = bound.split_once(": ") else { continue };
        for (before, after) in [(": ", ""), (": Option<", ">")] {
            let (from, to) = (format!("{before}{letter}{after}"), format!("{before}{bound}{after}"));
            let ends = |rest: &str| rest.is_empty() || rest.starts_with([',', ')']);
            let mut made = String::new();
            let mut left = params.as_str();
            while let Some(at) = left.find(&from) {
                let rest = &left[at + from.len()..];
                made.push_str(&left[..at]);
                made.push_str(if ends(rest) { &to } else { &from });
                left = rest;
            }
            params = made + left;
        }
    }
    params[2..].to_owned()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}
