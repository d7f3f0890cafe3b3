//! The requirements in a wheel's METADATA, and which of them brings a CUDA library. PyTorch names its CUDA wheels
//! directly (`nvidia-cuda-runtime-cu12==12.8.90`) or through extras of `cuda-toolkit`, whose own METADATA then names
//! them. Text in, data out: it must not know how a wheel is fetched.

use super::elf;

/// One `Requires-Dist` entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Requirement {
    /// The package, in lower case.
    pub name: String,
    pub extras: Vec<String>,
    /// The version part, such as `==13.0.96.*`; empty for any version.
    pub version: String,
    /// The condition, as written.
    marker: String,
}

impl Requirement {
    /// As pip takes it, without extras and condition.
    pub(super) fn spec(&self) -> String {
        format!("{}{}", self.name, self.version)
    }

    /// Returns whether a wheel of that name and version satisfies it; only exact versions (`==`) are ever said to.
    pub(super) fn satisfied_by(&self, wheel_file: &str) -> bool {
        let mut parts = wheel_file.split('-');
        let (Some(name), Some(version)) = (parts.next(), parts.next()) else { return false };
        let Some(wanted) = self.version.strip_prefix("==") else { return false };
        let wanted = wanted.strip_suffix(".*").unwrap_or(wanted);
        let rest = version.strip_prefix(wanted);
        name.replace('_', "-").eq_ignore_ascii_case(&self.name)
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Returns whether its condition holds here, with the given extra asked for.
    ///
    /// Not a full evaluator: for each variable, one of the values that the condition compares it with by `==` has to
    /// be ours. That reads every condition that PyTorch and NVIDIA write, which only ever join such comparisons.
    fn applies(&self, extra: &str) -> bool {
        let ours =
            [("platform_system", "Linux"), ("sys_platform", "linux"), ("platform_machine", "x86_64"), ("extra", extra)];
        ours.iter().all(|(variable, value)| {
            let values = compared_values(&self.marker, variable);
            values.is_empty() || values.contains(value)
        })
    }
}

/// All requirements of a METADATA text, in order.
pub(super) fn parse(metadata: &str) -> Vec<Requirement> {
    let headers = metadata.lines().take_while(|line| !line.is_empty());
    headers.filter_map(|line| line.strip_prefix("Requires-Dist:")).filter_map(parse_one).collect()
}

/// The source of a CUDA library.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Supplier {
    /// In this package.
    Package(Requirement),
    /// In the package that `toolkit` requires for its extra.
    ThroughToolkit { toolkit: Requirement, extra: &'static str },
}

/// Finds in PyTorch's requirements the one that brings the library.
pub(super) fn supplier(soname: &str, requirements: &[Requirement]) -> Option<Supplier> {
    let library = library(soname)?;
    let here = || requirements.iter().filter(|requirement| requirement.applies(""));
    if let Some(direct) = here().find(|requirement| library.is_in(&requirement.name)) {
        return Some(Supplier::Package(direct.clone()));
    }
    let has_extra = |requirement: &&Requirement| requirement.extras.iter().any(|extra| extra == library.extra);
    let toolkit = here().filter(|requirement| requirement.name == "cuda-toolkit").find(has_extra)?;
    Some(Supplier::ThroughToolkit { toolkit: toolkit.clone(), extra: library.extra })
}

/// Finds in the toolkit's requirements the one that brings the library when `extra` is asked for.
pub(super) fn supplier_in_toolkit(soname: &str, extra: &str, requirements: &[Requirement]) -> Option<Requirement> {
    let library = library(soname)?;
    let mut here = requirements.iter().filter(|requirement| requirement.applies(extra));
    here.find(|requirement| library.is_in(&requirement.name)).cloned()
}

/// A library that NVIDIA's wheels hold.
struct Library {
    /// The stem of its file name.
    stem: &'static str,
    /// Its package, less `nvidia-` and the CUDA version.
    package: &'static str,
    /// The toolkit's extra that brings it.
    extra: &'static str,
}

impl Library {
    fn is_in(&self, package: &str) -> bool {
        let rest = package.strip_prefix("nvidia-").and_then(|rest| rest.strip_prefix(self.package));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-cu"))
    }
}

fn library(soname: &str) -> Option<&'static Library> {
    LIBRARIES.iter().find(|library| library.stem == elf::stem(soname))
}

const LIBRARIES: [Library; 14] = [
    Library { stem: "libcudart", package: "cuda-runtime", extra: "cudart" },
    Library { stem: "libcupti", package: "cuda-cupti", extra: "cupti" },
    Library { stem: "libnvrtc", package: "cuda-nvrtc", extra: "nvrtc" },
    Library { stem: "libnvToolsExt", package: "nvtx", extra: "nvtx" },
    Library { stem: "libcublas", package: "cublas", extra: "cublas" },
    Library { stem: "libcublasLt", package: "cublas", extra: "cublas" },
    Library { stem: "libcufft", package: "cufft", extra: "cufft" },
    Library { stem: "libcufile", package: "cufile", extra: "cufile" },
    Library { stem: "libcurand", package: "curand", extra: "curand" },
    Library { stem: "libcusolver", package: "cusolver", extra: "cusolver" },
    Library { stem: "libcusparse", package: "cusparse", extra: "cusparse" },
    Library { stem: "libnvJitLink", package: "nvjitlink", extra: "nvjitlink" },
    Library { stem: "libcudnn", package: "cudnn", extra: "" },
    Library { stem: "libnccl", package: "nccl", extra: "" },
];

/// `name[extra,extra]version; marker`, the version possibly in parentheses, as older wheels write it.
fn parse_one(text: &str) -> Option<Requirement> {
    let (text, marker) = text.split_once(';').unwrap_or((text, ""));
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c))).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let (extras, version) = match rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((extras, version)) => (extras.split(',').map(|extra| extra.trim().to_string()).collect(), version),
        None => (Vec::new(), rest),
    };
    let version = version.trim().trim_start_matches('(').trim_end_matches(')');
    (!name.is_empty()).then(|| Requirement {
        name: name.to_lowercase().replace('_', "-"),
        extras,
        version: version.split_whitespace().collect(),
        marker: marker.trim().to_string(),
    })
}

/// The quoted values that a marker compares a variable with by `==`.
fn compared_values<'a>(marker: &'a str, variable: &str) -> Vec<&'a str> {
    let after = marker.match_indices(variable).map(|(at, _)| marker[at + variable.len()..].trim_start());
    let value = |rest: &'a str| {
        let rest = rest.strip_prefix("==")?.trim_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        rest[1..].split_once(quote).map(|(value, _)| value)
    };
    after.filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIRECT: &str = "\
Name: torch
Requires-Dist: filelock
Requires-Dist: nvidia-cuda-runtime-cu12==12.8.90; platform_system == \"Windows\"
Requires-Dist: nvidia-cuda-runtime-cu12==12.8.93; platform_system == \"Linux\" and platform_machine == \"x86_64\"
Requires-Dist: nvidia-cuda-cupti-cu11 (==11.7.101) ; platform_system == \"Linux\"

Requires-Dist: nvidia-cublas-cu12==1.0
";

    const TORCH: &str =
        "Requires-Dist: cuda-toolkit[cublas,cudart,cupti]==13.0.3; platform_system == \"Linux\"\nRequires-Dist: a";

    const TOOLKIT: &str = "\
Requires-Dist: nvidia-cuda-runtime==13.0.96.*; (sys_platform == 'win32') and extra == 'cudart'
Requires-Dist: nvidia-cuda-runtime==13.0.97.*; (sys_platform == 'linux' and platform_machine == 'x86_64' or \
sys_platform == 'win32' and platform_machine == 'AMD64') and extra == 'cudart'
Requires-Dist: nvidia-cuda-cupti==13.0.85.*; sys_platform == 'linux' and extra == 'cupti'
";

    fn direct(soname: &str) -> Option<String> {
        match supplier(soname, &parse(DIRECT))? {
            Supplier::Package(requirement) => Some(requirement.spec()),
            Supplier::ThroughToolkit { .. } => None,
        }
    }

    #[test]
    fn packages_named_directly_are_found_for_this_platform_only() {
        assert_eq!(direct("libcudart.so.12").unwrap(), "nvidia-cuda-runtime-cu12==12.8.93");
        assert_eq!(direct("libcupti.so.11.7").unwrap(), "nvidia-cuda-cupti-cu11==11.7.101");
        assert_eq!(direct("libcublas.so.12"), None, "what stands after the headers is description");
        assert_eq!(direct("libunheard.so.1"), None);
    }

    #[test]
    fn packages_behind_the_toolkit_are_found_in_two_steps() {
        let Some(Supplier::ThroughToolkit { toolkit, extra }) = supplier("libcudart.so.13", &parse(TORCH)) else {
            panic!("the toolkit was expected");
        };
        assert_eq!((toolkit.spec().as_str(), extra), ("cuda-toolkit==13.0.3", "cudart"));
        let found = supplier_in_toolkit("libcudart.so.13", extra, &parse(TOOLKIT)).unwrap();
        assert_eq!(found.spec(), "nvidia-cuda-runtime==13.0.97.*");
        assert_eq!(supplier_in_toolkit("libcupti.so.13", "cudart", &parse(TOOLKIT)), None, "the extra counts");
        assert_eq!(supplier("libcufft.so.12", &parse(TORCH)), None, "an extra that is not asked for");
    }

    #[test]
    fn a_wheel_satisfies_exactly_its_own_requirement() {
        let requirement = parse("Requires-Dist: nvidia-cuda-runtime==13.0.96.*").remove(0);
        assert!(requirement.satisfied_by("nvidia_cuda_runtime-13.0.96-py3-none-any.whl"));
        assert!(requirement.satisfied_by("nvidia_cuda_runtime-13.0.96.1-py3-none-any.whl"));
        assert!(!requirement.satisfied_by("nvidia_cuda_runtime-13.0.961-py3-none-any.whl"));
        assert!(!requirement.satisfied_by("nvidia_cuda_cupti-13.0.96-py3-none-any.whl"));
        let open = parse("Requires-Dist: nvidia-nvjitlink<14,>=13.0.88").remove(0);
        assert!(!open.satisfied_by("nvidia_nvjitlink-13.0.88-py3-none-any.whl"));
    }
}
