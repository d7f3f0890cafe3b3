//! The installer against planted faults, without the network: a stand-in for Python that serves tiny wheels or fails
//! as pip does, a stand-in for cargo, and libraries that are nothing but a list of what they need.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "install/stage.rs"]
mod stage;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use broadcheck::install::{External, InstallError, Origin, Progress};
use stage::{FIRST, OLD, Stage, TORCH, hash, installer, library, sink};

#[test]
fn a_release_is_fetched_unpacked_and_its_adapter_built_once() {
    let stage = Stage::new();
    let installer = stage.installer();
    let installed = installer.libtorch(None, &Progress::silent()).unwrap();
    assert_eq!((installed.version.as_str(), installed.origin), ("2.13.0", Origin::Cache));
    assert_eq!(fs::read_to_string(installed.root.join("include/torch/x.h")).unwrap(), "header");
    let libraries = ["libtorch_cpu.so", "libc10.so", "libgomp-1.so.1", "libcudart.so.13", "libcupti.so.13"];
    for library in libraries {
        assert!(installed.root.join("lib").join(library).is_file(), "{library}");
    }
    // Not what was not needed, and under the names that the linker asks for.
    assert!(!installed.root.join("lib/libtorch_cuda.so").exists());
    assert!(!installed.root.join("torch").exists());
    assert_eq!(fs::read_link(installed.root.join("lib/libtorch.so")).unwrap(), Path::new("libtorch_cpu.so"));
    assert_eq!(fs::read_link(installed.root.join("lib/libgomp.so")).unwrap(), Path::new("libgomp-1.so.1"));
    assert!(Command::new(&installed.adapter).status().unwrap().success());
    assert!(!stage.cache().join("downloads/2.13.0").exists(), "the wheels are not kept");

    let record = fs::read_to_string(installed.root.join("install.json")).unwrap();
    assert!(record.contains(&stage.torch_hash()) && record.contains("nvidia_cuda_runtime-13.0.96"), "{record}");

    let before = stage.calls();
    let cargo: Vec<&str> = before.iter().filter_map(|call| call.strip_prefix("cargo ")?.split(' ').next()).collect();
    assert_eq!(cargo, ["--version", "clean", "rustc"], "a check and a build: {before:?}");
    assert_eq!(installer.libtorch(None, &Progress::silent()).unwrap(), installed);
    assert_eq!(stage.calls(), before, "the second time no program is run");

    stage.write("source/src/protocol/lib.rs", "// changed");
    installer.libtorch(None, &Progress::silent()).unwrap();
    let new: Vec<String> = stage.calls().split_off(before.len());
    assert!(new.iter().any(|call| call.contains("cargo rustc")), "a changed source is built: {new:?}");
    assert!(!new.iter().any(|call| call.contains("pip")), "and nothing fetched: {new:?}");
}

#[test]
fn packages_named_directly_are_found_too() {
    let stage = Stage::new();
    stage.torch_wheel(&["libc10.so", "libcudart.so.12", "libc.so.6"], "nvidia-cuda-runtime-cu12==12.8.90");
    stage.wheel("nvidia_cuda_runtime_cu12-12.8.90-py3-none-any.whl", &[("nvidia/lib/libcudart.so.12", library(&[]))]);
    let libraries = stage.installer().libraries(None, &Progress::silent()).unwrap();
    assert!(libraries.root.join("lib/libcudart.so.12").is_file());
}

#[test]
fn pip_is_asked_for_the_release_s_platform_whatever_python_runs_it() {
    let stage = Stage::new();
    stage.installer().libraries(None, &Progress::silent()).unwrap();
    let calls = stage.calls();
    let torch = calls.iter().find(|call| call.ends_with("torch==2.13.0")).unwrap();
    for part in ["-m pip download", "--no-deps", "--only-binary=:all:", "--python-version 3.12", "--platform tag_x"] {
        assert!(torch.contains(part), "{part}: {torch}");
    }
    assert!(!torch.contains("index-url"), "the user's own configuration holds: {torch}");
}

#[test]
fn errors_of_pip_become_one_clear_sentence() {
    let complaints = [
        ("/usr/bin/python3: No module named pip", "has no pip", "ensurepip"),
        ("NewConnectionError: [Errno -3] Temporary failure in name resolution", "cannot reach", "check the network"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "no space left", "BROADCHECK_CACHE"),
        ("ERROR: No matching distribution found for torch==2.13.0", "has no wheel for torch==2.13.0", "pip config"),
        ("ERROR: HTTP error 403 while getting it", "HTTP error 403", "pip download"),
    ];
    for (said, problem, remedy) in complaints {
        let stage = Stage::new();
        stage.script("python3", &format!("echo '{said}' >&2; exit 1"));
        let text = stage.installer().libtorch(None, &Progress::silent()).unwrap_err().to_string();
        assert!(text.contains(problem) && text.contains(remedy), "{said}: {text}");
        assert!(!text.contains('\n'), "{text}");
        assert!(!stage.cache().join("libtorch/2.13.0").exists(), "nothing half done is left");
    }
}

#[test]
fn a_missing_program_is_named_before_anything_is_fetched() {
    let stage = Stage::new();
    let mut installer = stage.installer();
    installer.tools.cxx = "no-such-compiler --fast".into();
    let text = installer.libtorch(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("`no-such-compiler --fast`") && text.contains("CXX"), "{text}");

    let mut installer = stage.installer();
    installer.tools.cargo = "no-such-cargo".into();
    let text = installer.libtorch(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("`no-such-cargo`") && text.contains("install Rust"), "{text}");

    let mut installer = stage.installer();
    installer.source = None;
    let text = installer.libtorch(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("the adapters were not found") && text.contains("BROADCHECK_SOURCE"), "{text}");
    assert!(!stage.calls().iter().any(|call| call.contains("pip")));

    let mut installer = stage.installer();
    installer.python = "no-such-python".into();
    let text = installer.libtorch(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("`no-such-python`") && text.contains("BROADCHECK_PYTHON"), "{text}");
}

#[test]
fn a_wheel_with_the_wrong_hash_is_deleted_and_fetched_anew() {
    let stage = Stage::new();
    let installer = stage.installer();
    let good = fs::read(stage.torch_path()).unwrap();
    fs::write(stage.torch_path(), "tampered with").unwrap();
    let error = installer.libraries(None, &Progress::silent()).unwrap_err();
    let InstallError::WrongHash { expected, got, .. } = &error else { panic!("{error}") };
    assert_eq!((expected, got), (&hash(&good), &hash(b"tampered with")));
    fs::write(stage.torch_path(), good).unwrap();
    installer.libraries(None, &Progress::silent()).unwrap();
}

#[test]
fn a_cuda_wheel_with_the_wrong_hash_is_rejected() {
    let stage = Stage::new();
    let mut installer = stage.installer();
    installer.catalog = stage.catalog(&format!(
        "[[release.also]]\nfile = \"nvidia_cuda_runtime-13.0.96-py3-none-any.whl\"\nsize = 1\nsha256 = \"{}\"\n",
        hash(b"another")
    ));
    let error = installer.libraries(None, &Progress::silent()).unwrap_err();
    assert!(matches!(&error, InstallError::WrongHash { file, .. } if file.starts_with("nvidia")), "{error}");
}

#[test]
fn a_missing_library_is_named_with_the_one_that_needs_it() {
    let stage = Stage::new();
    stage.torch_wheel(&["libc10.so", "libunheard-of.so.7", "libc.so.6"], "numpy");
    let text = stage.installer().libraries(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("`libunheard-of.so.7`") && text.contains("`libtorch_cpu.so`"), "{text}");
    assert!(!stage.cache().join("libtorch/2.13.0").exists());
}

#[test]
fn an_invalid_wheel_is_deleted_and_fetched_anew() {
    let stage = Stage::new();
    let path = stage.path("index/nvidia_cuda_runtime-13.0.96-py3-none-any.whl");
    let good = fs::read(&path).unwrap();
    fs::write(&path, &good[..good.len() / 2]).unwrap();
    let error = stage.installer().libraries(None, &Progress::silent()).unwrap_err();
    assert!(matches!(error, InstallError::BadWheel { .. }), "{error}");
    fs::write(&path, good).unwrap();
    stage.installer().libraries(None, &Progress::silent()).unwrap();
}

#[test]
fn an_interrupted_installation_continues_where_it_was() {
    let stage = Stage::new();
    let installer = stage.installer();
    // The CUDA wheel cannot be had at first: the large wheel stays.
    let (there, away) = (stage.path("index/nvidia_cuda_cupti-13.0.85-py3-none-any.whl"), stage.path("away"));
    fs::rename(&there, &away).unwrap();
    installer.libtorch(None, &Progress::silent()).unwrap_err();
    assert_eq!(stage.fetches("torch==2.13.0"), 1);
    fs::rename(&away, &there).unwrap();
    // A killed process leaves things behind.
    stage.write("cache/libtorch/.staging-2.13.0/lib/half", "");
    stage.write("cache/downloads/2.13.0/temporary/half", "");

    // Now the adapter fails to build: what is unpacked stays, and its wheels go.
    let cargo = fs::read_to_string(stage.path("bin/cargo")).unwrap();
    stage.script("cargo", "[ \"$1\" = --version ] && exit 0; echo 'error[E0308]: mismatched types' >&2; exit 101");
    let text = installer.libtorch(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("E0308") && text.contains("build.log"), "{text}");
    assert_eq!(stage.fetches("torch==2.13.0"), 1, "the large wheel was fetched once");
    assert_eq!(installer.list().unwrap().iter().map(|entry| entry.adapter.is_some()).collect::<Vec<_>>(), [false]);

    fs::write(stage.path("bin/cargo"), cargo).unwrap();
    let before = stage.calls().len();
    let installed = installer.libtorch(None, &Progress::silent()).unwrap();
    assert!(!installed.root.join("lib/half").exists());
    assert!(stage.calls()[before..].iter().all(|call| call.contains("cargo")), "only the build was left");
}

#[test]
fn a_cached_wheel_that_was_corrupted_is_not_used() {
    let stage = Stage::new();
    stage.write(&format!("cache/downloads/2.13.0/{TORCH}"), "spoilt");
    stage.installer().libraries(None, &Progress::silent()).unwrap();
    assert_eq!(stage.fetches("torch==2.13.0"), 1);
}

#[test]
fn processes_at_once_do_the_work_once() {
    let stage = Stage::new();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "one_process_of_several", "--ignored", "--nocapture"]);
        command.env("INSTALL_STAGE", stage.folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(|_| start()).collect();
    let mut waited = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        waited += usize::from(text.contains("waiting: another process is installing libtorch 2.13.0"));
    }
    assert_eq!(stage.fetches("torch==2.13.0"), 1);
    assert_eq!(stage.calls().iter().filter(|call| call.contains("cargo rustc")).count(), 1);
    assert_eq!(waited, 2, "whoever waits says so");
}

/// Not a test: what `processes_at_once_do_the_work_once` starts.
#[test]
#[ignore = "run by another test, as a process of its own"]
fn one_process_of_several() {
    let Some(folder) = std::env::var_os("INSTALL_STAGE") else { return };
    let progress = Progress::lines(Box::new(std::io::stderr()), Duration::from_secs(60));
    let installed = installer(Path::new(&folder)).libtorch(None, &progress).unwrap();
    assert!(installed.adapter.is_file() && installed.root.join("lib/libtorch.so").exists());
}

#[test]
fn threads_at_once_do_the_work_once() {
    let stage = Stage::new();
    let installer = stage.installer();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| installer.libtorch(None, &Progress::silent()).unwrap());
        }
    });
    assert_eq!(stage.fetches("torch==2.13.0"), 1);
}

#[test]
fn an_outer_cargo_does_not_reach_the_build() {
    // This test runs under a cargo that sets some of them.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let stage = Stage::new();
    let installed = stage.installer().libtorch(None, &Progress::silent()).unwrap();
    let environment = fs::read_to_string(stage.path("environment")).unwrap();
    let has = |line: &str| environment.lines().any(|found| found.starts_with(line));
    assert!(!has("CARGO_MANIFEST_DIR=") && !has("CARGO_PKG_NAME=") && !has("CARGO_TARGET_DIR="), "{environment}");
    assert!(has(&format!("LIBTORCH={}", installed.root.display())) && has("LIBTORCH_CXX11_ABI=1"), "{environment}");
    assert!(!has("LIBTORCH_BYPASS_VERSION_CHECK"), "the version that tch expects is checked");
    let calls = stage.calls();
    let build = calls.iter().find(|call| call.contains("cargo rustc")).unwrap();
    assert!(build.contains("--locked") && build.ends_with("-rpath,$ORIGIN/../lib"), "{build}");
}

#[test]
fn a_libtorch_that_the_user_points_to_is_used_as_it_is() {
    let stage = Stage::new();
    stage.write("own/include/torch/headeronly/version.h", "#define TORCH_VERSION \\\n \"2.11.0\"\n");
    stage.write("own/lib/libtorch_cpu.so", "");
    let mut installer = stage.installer();
    installer.external = Some(External::Folder(stage.path("own")));
    let installed = installer.libtorch(None, &Progress::silent()).unwrap();
    let root = fs::canonicalize(stage.path("own")).unwrap();
    assert_eq!((installed.version.as_str(), installed.origin, &installed.root), ("2.11.0", Origin::Folder, &root));
    assert!(installed.adapter.starts_with(stage.cache()), "it is not written to");
    assert_eq!(stage.fetches("torch==2.13.0"), 0);
    let environment = fs::read_to_string(stage.path("environment")).unwrap();
    assert!(environment.contains("LIBTORCH_BYPASS_VERSION_CHECK=1"), "another version than tch expects");

    // The same folder with another libtorch in it is another libtorch.
    let before = stage.calls().len();
    installer.libtorch(None, &Progress::silent()).unwrap();
    assert_eq!(stage.calls().len(), before);
    stage.write("own/lib/libtorch_cpu.so", "another");
    installer.libtorch(None, &Progress::silent()).unwrap();
    assert!(stage.calls().len() > before);

    // A version asked for by name comes from the cache all the same.
    assert_eq!(installer.libtorch(Some("2.13.0"), &Progress::silent()).unwrap().origin, Origin::Cache);
    let origins: Vec<Origin> = installer.list().unwrap().iter().map(|entry| entry.origin).collect();
    assert_eq!(origins, [Origin::Cache, Origin::Folder]);
}

#[test]
fn python_s_own_torch_is_found_without_importing_it() {
    let stage = Stage::new();
    stage.write("site/torch/include/torch/headeronly/version.h", "#define TORCH_VERSION \"2.13.0\"\n");
    stage.write("site/torch/lib/libtorch_cpu.so", "");
    stage.script("python3", &format!("echo '{}'", stage.path("site/torch").display()));
    let mut installer = stage.installer();
    installer.external = Some(External::Python(installer.python.clone()));
    assert_eq!(installer.libtorch(None, &Progress::silent()).unwrap().origin, Origin::Python);
    stage.script("python3", "echo");
    let text = installer.libtorch(None, &Progress::silent()).unwrap_err().to_string();
    assert!(text.contains("has no torch package"), "{text}");
}

#[test]
fn an_unknown_release_gets_no_folder() {
    let stage = Stage::new();
    for version in ["1.13.1", "2.13", "../2.13.0", ""] {
        let error = stage.installer().libtorch(Some(version), &Progress::silent()).unwrap_err();
        assert!(matches!(error, InstallError::NoSuchRelease { .. }), "{version}: {error}");
    }
    let text = stage.installer().find(Some("2.13.0")).unwrap_err().to_string();
    assert!(text.contains("broadcheck libtorch install 2.13.0"), "{text}");
    assert!(stage.installer().list().unwrap().is_empty());
    assert!(!stage.cache().exists());
}

#[test]
fn an_unpinned_release_is_trusted_once_and_checked_afterwards() {
    let stage = Stage::new();
    let future = "torch-99.1.0-cp312-cp312-tag_x.whl";
    let wheel = stage.path("index").join(future);
    fs::rename(stage.torch_path(), &wheel).unwrap();
    let installer = stage.installer_for(FIRST);
    let (sink, progress) = sink();
    let installed = installer.libtorch(Some("99.1.0"), &progress).unwrap();
    assert_eq!(installed.version, "99.1.0");
    let said = sink.text();
    assert!(
        said.contains("99.1.0 is not in releases.toml") && said.contains("its first download is trusted"),
        "{said}"
    );
    let entry = installer.entry("99.1.0").unwrap();
    let good = fs::read(&wheel).unwrap();
    for part in [future, &hash(&good), "nvidia_cuda_runtime-13.0.96", "platform = \"tag_x\"", "tch = \"0.26.0\""] {
        assert!(entry.contains(part), "{part}: {entry}");
    }

    installer.remove("99.1.0", &progress).unwrap();
    assert!(!stage.cache().join("libtorch/99.1.0").exists());
    fs::write(&wheel, "tampered with").unwrap();
    let error = installer.libraries(Some("99.1.0"), &progress).unwrap_err();
    assert!(matches!(&error, InstallError::WrongHash { expected, .. } if *expected == hash(&good)), "{error}");
}

#[test]
fn the_wheel_from_pip_has_to_be_the_requested_release() {
    let stage = Stage::new();
    let error = stage.installer_for(FIRST).libraries(Some("99.1.0"), &Progress::silent()).unwrap_err();
    assert!(error.to_string().contains("brought torch-2.13.0"), "{error}");
    assert!(!stage.cache().join("releases.toml").exists() && !stage.cache().join("libtorch/99.1.0").exists());
}

#[test]
fn the_latest_release_is_the_one_that_the_index_says() {
    let stage = Stage::new();
    let python = fs::read_to_string(stage.path("bin/python3")).unwrap();
    let (_, serving) = python.split_once('\n').unwrap().1.split_once('\n').unwrap();
    let answer = "[ \"$3\" = index ] && { echo 'torch (2.13.0)'; echo 'Available versions: 2.13.0, 2.12.1'; exit 0; }";
    stage.script("python3", &format!("{answer}\n{serving}"));
    assert_eq!(stage.installer().libtorch(Some("latest"), &Progress::silent()).unwrap().version, "2.13.0");

    stage.script("python3", "echo 'ERROR: Temporary failure in name resolution' >&2; exit 1");
    let error = stage.installer().libtorch(Some("latest"), &Progress::silent()).unwrap_err();
    assert!(matches!(error, InstallError::NoNetwork { .. }), "{error}");
}

#[test]
fn a_release_older_than_tch_is_built_without_it() {
    let stage = Stage::new();
    let installed = stage.installer_for(OLD).libtorch(None, &Progress::silent()).unwrap();
    assert!(!installed.built.tch);
    let calls = stage.calls();
    let build = calls.iter().find(|call| call.contains("cargo rustc")).unwrap();
    assert!(build.contains("--no-default-features"), "{build}");
}

#[test]
fn a_newer_release_that_tch_does_not_compile_against_is_built_without_it() {
    let stage = Stage::new();
    let future = "torch-99.1.0-cp312-cp312-tag_x.whl";
    fs::rename(stage.torch_path(), stage.path("index").join(future)).unwrap();
    let cargo = fs::read_to_string(stage.path("bin/cargo")).unwrap();
    let building = cargo.split_once('\n').unwrap().1.split_once('\n').unwrap().1;
    let complaint = "a.cpp:1:1: error: 'class at::Tensor' has no member named 'qr'";
    stage.script(
        "cargo",
        &format!(
            "[ \"$1\" = rustc ] && case \"$*\" in *--no-default-features*) ;; *) echo \"{complaint}\" >&2; exit 101;; esac\n\
             {building}"
        ),
    );
    let (sink, progress) = sink();
    let installed = stage.installer_for(FIRST).libtorch(Some("99.1.0"), &progress).unwrap();
    assert!(!installed.built.tch);
    assert!(sink.text().contains("retrying with no tch"), "{}", sink.text());
}

#[test]
fn missing_functions_of_a_newer_release_are_replaced_and_reported() {
    let stage = Stage::new();
    let cargo = fs::read_to_string(stage.path("bin/cargo")).unwrap();
    let building = cargo.split_once('\n').unwrap().1.split_once('\n').unwrap().1;
    stage.script(
        "cargo",
        &format!(
            "[ \"$1\" = --version ] && exit 0\n[ \"$1\" = clean ] && exit 0\n\
             case \"$CXXFLAGS\" in\n\
             *-std=c++20*) ;;\n\
             *) echo 'a.h:9:2: error: #error C++20 or later compatible compiler is required' >&2; exit 101;;\n\
             esac\n\
             case \"$CXXFLAGS\" in\n\
             *compat.h*) ;;\n\
             *) echo \"a.cpp:1:1: error: 'qr' is not a member of 'torch'\" >&2; exit 101;;\n\
             esac\n{building}"
        ),
    );
    let (sink, progress) = sink();
    let installed = stage.installer().libtorch(None, &progress).unwrap();
    assert_eq!(
        (installed.built.compat.standard, installed.built.compat.functions().collect::<Vec<_>>()),
        (Some(20), vec!["qr"])
    );
    assert!(fs::read_to_string(installed.root.join("compat.h")).unwrap().contains(" qr(Arguments&&...)"));
    let said = sink.text();
    assert!(
        said.contains("does not compile against libtorch 2.13.0") && said.contains("C++20") && said.contains("qr"),
        "{said}"
    );
    let builds = || stage.calls().iter().filter(|call| call.contains("cargo rustc")).count();
    assert_eq!(builds(), 3);

    // The next build begins with what was learnt, and what cannot be learnt ends it.
    stage.write("source/src/protocol/lib.rs", "// changed");
    stage.installer().libtorch(None, &progress).unwrap();
    assert_eq!(builds(), 4);
    stage.write("source/src/protocol/lib.rs", "// changed again");
    stage.script("cargo", "[ \"$1\" = rustc ] || exit 0; echo \"x.cpp:1:1: error: no member 'y'\" >&2; exit 101");
    let error = stage.installer().libtorch(None, &progress).unwrap_err();
    assert!(matches!(error, InstallError::AdapterBuild { .. }), "{error}");
    assert_eq!(builds(), 5);
}

#[test]
fn each_phase_is_one_line_where_there_is_no_terminal() {
    let (sink, progress) = sink();
    Stage::new().installer().libtorch(None, &progress).unwrap();
    let text = sink.text();
    let first: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(first, ["fetching", "unpacking", "fetching", "fetching", "fetching", "building"], "{text}");
}
