//! Measures by which the C++ of `tch` compiles against a libtorch that is newer than `tch`: a later C++ standard, and
//! stand-ins for functions that the release has removed. Both are derived from the errors of the compiler, so that no
//! list has to follow each release. Text in, data out: it must not know who compiles what.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// The measures that make it compile.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compat {
    /// The C++ standard that the headers ask for, such as 20, where they ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standard: Option<u32>,
    /// Functions that the release does not have any more, by namespace.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<String, Vec<String>>,
}

impl Compat {
    /// Learns from what the compiler said. Tells whether there was anything new in it: a build that failed is worth
    /// another try only then.
    pub(super) fn learn(&mut self, said: &[String]) -> bool {
        let before = self.clone();
        let errors = said.iter().filter_map(|line| line.split_once("error: ").map(|(_, text)| plain_quotes(text)));
        for error in errors {
            // Before the standard is right, everything else is only what follows from that.
            if let Some(standard) = wanted_standard(&error) {
                self.standard = self.standard.max(Some(standard));
            }
            if self.standard == before.standard
                && let Some((namespace, function)) = missing_function(&error)
            {
                let functions = self.removed.entry(namespace).or_default();
                if let Err(at) = functions.binary_search(&function) {
                    functions.insert(at, function);
                }
            }
        }
        if self.standard != before.standard {
            self.removed = before.removed.clone();
        }
        *self != before
    }

    /// Returns whether the release compiles as it is.
    pub fn is_empty(&self) -> bool {
        *self == Compat::default()
    }

    /// The names of the functions that it stands in for.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.removed.values().flatten().map(String::as_str)
    }

    /// Describes its measures in a few words.
    pub fn describe(&self) -> String {
        let standard = self.standard.map(|standard| format!("C++{standard}, as its headers require"));
        let functions: Vec<&str> = self.functions().collect();
        let removed = (!functions.is_empty())
            .then(|| format!("a header that stands in for its removed functions: {}", functions.join(", ")));
        standard.into_iter().chain(removed).collect::<Vec<_>>().join(", and ")
    }

    /// The header that is included before everything else.
    pub(super) fn header(&self, version: &str) -> String {
        let mut text = format!(
            "// Written by broadcheck from the compiler's errors. It stands in for functions that `tch`\n\
             // names and libtorch {version} does not have. A call of one of them raises an error that says so.\n\
             #pragma once\n\
             #include <ATen/core/Tensor.h>\n\
             #include <stdexcept>\n\
             #include <string>\n\
             #include <tuple>\n\
             namespace broadcheck_compat {{\n\
             // One tensor or several, whatever the caller takes it for.\n\
             struct Removed : std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> {{\n\
             \x20 operator at::Tensor() const {{ return {{}}; }}\n\
             }};\n\
             [[noreturn]] inline Removed removed(const char* name) {{\n\
             \x20 throw std::runtime_error(std::string(\"libtorch {version} has no \") + name);\n\
             }}\n\
             }}\n"
        );
        for (namespace, functions) in &self.removed {
            let _ = writeln!(text, "namespace {namespace} {{");
            for name in functions {
                let _ = writeln!(
                    text,
                    "template <class... Arguments> broadcheck_compat::Removed {name}(Arguments&&...) {{ return \
                     broadcheck_compat::removed(\"{name}\"); }}"
                );
            }
            text.push_str("}\n");
        }
        text
    }

    /// Returns the additional flags of the compiler, where `header` is the path of [`Compat::header`].
    pub(super) fn flags(&self, header: &str) -> Vec<String> {
        let standard = self.standard.map(|standard| format!("-std=c++{standard}"));
        let include = (!self.removed.is_empty()).then(|| ["-include".to_string(), header.to_string()]);
        standard.into_iter().chain(include.into_iter().flatten()).collect()
    }
}

/// `20` of "C++20 or later compatible compiler is required", which some headers say themselves, and of "only available
/// with '-std=c++20'", which the compiler says of others.
fn wanted_standard(error: &str) -> Option<u32> {
    let said = error.split_once(" or later").and_then(|(before, _)| before.rsplit_once("C++"));
    let only = error.split_once("only available with '-std=c++").map(|(_, after)| after);
    let number = |text: &str| text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    number(said.map(|(_, standard)| standard).or(only)?)
}

/// The namespace and the name of a function that is not there, as g++ or clang says it.
fn missing_function(error: &str) -> Option<(String, String)> {
    let mut quoted = error.split('\'').skip(1).step_by(2);
    let (first, second) = (quoted.next()?, quoted.next()?);
    let gcc = error.contains("' is not a member of '");
    let clang = error.starts_with("no member named '") && error.contains("' in namespace '");
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // What is missing elsewhere, in the standard library say, is nothing that a release of libtorch has removed.
    let ours = ["torch", "at"].contains(&second);
    ((gcc || clang) && ours && is_name(first)).then(|| (second.to_string(), first.to_string()))
}

/// Compilers quote as the locale has it.
fn plain_quotes(text: &str) -> String {
    text.replace(['\u{2018}', '\u{2019}'], "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(String::from).collect()
    }

    /// The errors of g++ for `tch` 0.26 and libtorch 2.15.0, shortened.
    const STANDARD: &str = "\
warning: torch-sys@0.26.0: include/ATen/ATen.h:9:2: error: #error C++20 or later compatible compiler is required to use ATen.
warning: torch-sys@0.26.0: c10/core/DispatchKeySet.h:445:38: error: 'bit_width' is not a member of 'std'
warning: torch-sys@0.26.0: x.cpp:1:1: error: 'add' is not a member of 'torch'";
    const REMOVED: &str = "\
warning: torch-sys@0.26.0: a.cpp:5848:29: error: 'qr' is not a member of 'torch'
warning: torch-sys@0.26.0: a.cpp:5869:29: error: \u{2018}cholesky_out\u{2019} is not a member of \u{2018}torch\u{2019}; did you mean \u{2018}x\u{2019}?
  cargo:warning=a.cpp:5848:29: error: 'qr' is not a member of 'torch'
a.cpp:1:2: error: no member named 'cholesky' in namespace 'torch'";

    #[test]
    fn the_standard_comes_first_and_what_follows_from_it_is_not_believed() {
        let mut compat = Compat::default();
        assert!(compat.learn(&lines(STANDARD)));
        assert_eq!((compat.standard, compat.removed.is_empty()), (Some(20), true));
        assert_eq!(compat.flags("h"), ["-std=c++20"]);
        assert!(compat.learn(&lines(REMOVED)));
        assert_eq!(compat.removed["torch"], ["cholesky", "cholesky_out", "qr"]);
        assert_eq!(compat.flags("h"), ["-std=c++20", "-include", "h"]);
        assert_eq!(
            compat.describe(),
            "C++20, as its headers require, and a header that stands in for its removed functions: cholesky, cholesky_out, qr"
        );
        assert!(!compat.learn(&lines(REMOVED)), "the same error again is no reason to retry");
    }

    #[test]
    fn the_standard_is_known_from_what_the_compiler_says_by_itself_too() {
        let mut compat = Compat::default();
        let said =
            "a.h:66:8: error: defaulted 'bool f(const G&) const' only available with '-std=c++20' or '-std=gnu++20'";
        assert!(compat.learn(&lines(said)));
        assert_eq!(compat.standard, Some(20));
    }

    #[test]
    fn errors_that_no_header_fixes_are_no_reason_to_retry() {
        let mut compat = Compat::default();
        for complaint in [
            "a.cpp:1:1: error: 'class at::Tensor' has no member named 'qr'",
            "a.cpp:1:1: error: 'bit_width' is not a member of 'std'",
            "error[E0308]: mismatched types",
            "error: linking with `cc` failed",
        ] {
            assert!(!compat.learn(&lines(complaint)), "{complaint}");
        }
        assert!(compat.is_empty() && compat.describe().is_empty());
    }

    #[test]
    fn the_header_has_each_function_in_its_namespace() {
        let mut compat = Compat::default();
        compat.learn(&lines(REMOVED));
        let header = compat.header("2.15.0");
        let (_, body) = header.split_once("namespace torch {\n").unwrap();
        assert_eq!(body.matches("broadcheck_compat::Removed ").count(), 3, "{header}");
        assert!(body.contains(" qr(Arguments&&...)") && header.contains("libtorch 2.15.0 has no "), "{header}");
    }
}
