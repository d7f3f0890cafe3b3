//! Compiles the shim against the headers of the libtorch that `torch-sys` links, or of the one that LIBTORCH names where
//! the adapter is built without `tch`, and lets the programs find that libtorch without LD_LIBRARY_PATH.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for file in ["src/shim.cpp", "src/shim.h"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let with_tch = env::var_os("CARGO_FEATURE_TCH").is_some();
    let lib = if with_tch {
        // torch-sys has found libtorch, and passes its path to the packages that depend on it directly.
        PathBuf::from(env::var_os("DEP_TCH_LIBTORCH_LIB").expect("torch-sys says where libtorch lies"))
    } else {
        PathBuf::from(variable("LIBTORCH").expect("without tch, LIBTORCH has to name an unpacked libtorch")).join("lib")
    };
    println!("cargo::rustc-link-arg=-Wl,-rpath,{}", lib.display());

    // LIBTORCH_INCLUDE means the folder that holds `include`, as it does for torch-sys.
    let root = variable("LIBTORCH_INCLUDE").map(PathBuf::from).unwrap_or_else(|| parent(&lib));
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        // Thin wrappers around what takes the time, libtorch itself; the compiler is done in half of it.
        .opt_level(1)
        .include(root.join("include"))
        .include(root.join("include/torch/csrc/api/include"))
        .define("_GLIBCXX_USE_CXX11_ABI", cxx11_abi().as_str())
        .define("GLOG_USE_GLOG_EXPORT", None)
        // libtorch's headers are not free of warnings, and they are not ours to fix.
        .warnings(false)
        .flag_if_supported("-Wno-deprecated-declarations")
        .file("src/shim.cpp")
        .compile("broadcheck_shim");
    if !with_tch {
        println!("cargo::rustc-link-search=native={}", lib.display());
        println!("cargo::rustc-link-lib=torch_cpu");
        println!("cargo::rustc-link-lib=c10");
    }
}

/// True if libtorch was built with the C++11 ABI of libstdc++, found as torch-sys finds it.
fn cxx11_abi() -> String {
    if variable("LIBTORCH_USE_PYTORCH").is_some() {
        let python = if env::var_os("VIRTUAL_ENV").is_some() { "python" } else { "python3" };
        let output = Command::new(python)
            .args(["-c", "import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))"])
            .output()
            .unwrap_or_else(|error| panic!("running {python}: {error}"));
        return String::from_utf8_lossy(&output.stdout).trim().to_owned();
    }
    variable("LIBTORCH_CXX11_ABI").unwrap_or_else(|| "1".to_owned())
}

fn variable(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok()
}

fn parent(folder: &Path) -> PathBuf {
    folder.parent().expect("libtorch's lib folder lies in a folder").to_owned()
}
