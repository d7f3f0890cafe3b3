//! All that an installer meets in these tests: an index of wheels, programs that pretend to be pip and cargo, sources,
//! a cache, and a sink of progress.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use broadcheck::install::{Catalog, Installer, Progress, Tools};
use sha2::{Digest, Sha256};

/// A sink of progress, as plain lines.
#[derive(Clone, Default)]
pub struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn sink() -> (Sink, Progress) {
    let sink = Sink::default();
    (sink.clone(), Progress::lines(Box::new(sink), Duration::from_secs(60)))
}

/// A catalogue with an old release only, for what comes after it.
pub const FIRST: (&str, &str) = ("version = \"2.13.0\"", "version = \"2.0.1\"");

/// A catalogue with a release that has no `tch`.
pub const OLD: (&str, &str) = ("tch = \"0.26.0\"\n", "");

/// The wheel of PyTorch in these tests.
pub const TORCH: &str = "torch-2.13.0-cp312-cp312-tag_x.whl";

/// A folder with all that an installer meets: an index of wheels, programs, sources, a cache.
pub struct Stage {
    pub folder: tempfile::TempDir,
}

impl Stage {
    /// The release of today: CUDA libraries through the toolkit package.
    pub fn new() -> Stage {
        let stage = Stage { folder: tempfile::tempdir().unwrap() };
        let needs = ["libc10.so", "libcudart.so.13", "libgomp-1.so.1", "libc.so.6"];
        stage.torch_wheel(&needs, "cuda-toolkit[cublas,cudart,cupti]==13.0.3; platform_system == \"Linux\"");
        let toolkit = "Requires-Dist: nvidia-cuda-runtime==13.0.96.*; sys_platform == 'linux' and extra == 'cudart'\n\
                       Requires-Dist: nvidia-cuda-cupti==13.0.85.*; sys_platform == 'linux' and extra == 'cupti'\n";
        let metadata = ("cuda_toolkit-13.0.3.0.dist-info/METADATA", toolkit.into());
        stage.wheel("cuda_toolkit-13.0.3.0-py2.py3-none-any.whl", &[metadata]);
        // One CUDA library needs the other, so that needs are followed beyond PyTorch's wheel.
        let runtime = ("nvidia/cu13/lib/libcudart.so.13", library(&["libcupti.so.13", "libdl.so.2"]));
        stage.wheel("nvidia_cuda_runtime-13.0.96-py3-none-any.whl", &[runtime]);
        let cupti = ("nvidia/cu13/lib/libcupti.so.13", library(&[]));
        stage.wheel("nvidia_cuda_cupti-13.0.85-py3-none-any.whl", &[cupti]);

        stage.write("source/src/protocol/Cargo.toml", "[package]");
        stage.write("source/src/protocol/lib.rs", "");
        let manifest = "[dependencies]\nbroadcheck = { path = \"../..\" }\n\
                        tch = { version = \"=0.26.0\" }\ntorch-sys = { version = \"=0.26.0\" }\n";
        stage.write("source/adapters/libtorch/Cargo.toml", manifest);
        stage.write("source/adapters/libtorch/build.rs", "");
        stage.write("source/adapters/libtorch/src/main.rs", "");
        let index = stage.path("index");
        stage.script(
            "python3",
            &format!(
                "for word; do [ \"$last\" = --dest ] && dest=$word; last=$word; done\n\
                 name=$(printf %s \"${{last%%=*}}\" | tr - _)\n\
                 for wheel in {}/$name-*.whl; do [ -e \"$wheel\" ] && cp \"$wheel\" \"$dest\" && exit 0; done\n\
                 echo \"ERROR: No matching distribution found for $last\" >&2; exit 1",
                index.display()
            ),
        );
        stage.script(
            "cargo",
            &format!(
                "[ \"$1\" = --version ] && exit 0\n[ \"$1\" = clean ] && exit 0\n\
                 for word; do [ \"$last\" = --target-dir ] && out=$word; last=$word; done\n\
                 env > {}\necho '   Compiling one v1.0.0' >&2; sleep 0.5\nmkdir -p $out/release\n\
                 printf '#!/bin/sh\\nexit 0\\n' > $out/release/broadcheck-libtorch\n\
                 chmod +x $out/release/broadcheck-libtorch",
                stage.path("environment").display()
            ),
        );
        stage
    }

    pub fn installer(&self) -> Installer {
        installer(self.folder.path())
    }

    /// With another catalogue: [`FIRST`], or [`OLD`].
    pub fn installer_for(&self, change: (&str, &str)) -> Installer {
        let text = self.installer().catalog.to_toml().replace(change.0, change.1);
        Installer { catalog: Catalog::parse(&text).unwrap(), ..self.installer() }
    }

    /// PyTorch's wheel, with a main library of these needs and a METADATA of this requirement.
    pub fn torch_wheel(&self, needs: &[&str], requirement: &str) {
        let metadata = format!("Name: torch\nRequires-Dist: filelock\nRequires-Dist: {requirement}\n\nProse.\n");
        self.wheel(
            TORCH,
            &[
                ("torch/include/torch/x.h", "header".into()),
                ("torch/lib/libtorch_cpu.so", library(needs)),
                ("torch/lib/libtorch_cuda.so", library(&["libcudart.so.13"])),
                ("torch/lib/libtorch.so", library(&["libtorch_cuda.so"])),
                ("torch/lib/libc10.so", library(&["libstdc++.so.6"])),
                ("torch.libs/libgomp-1.so.1", library(&[])),
                ("torch-2.13.0.dist-info/METADATA", metadata.into()),
            ],
        );
    }

    pub fn wheel(&self, name: &str, files: &[(&str, Vec<u8>)]) {
        let path = self.path("index").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut archive = zip::ZipWriter::new(fs::File::create(path).unwrap());
        for (name, contents) in files {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(contents).unwrap();
        }
        archive.finish().unwrap();
    }

    /// A program that notes how it is called.
    pub fn script(&self, name: &str, body: &str) {
        let calls = self.path("calls");
        self.write(&format!("bin/{name}"), &format!("#!/bin/sh\necho {name} \"$@\" >> {}\n{body}\n", calls.display()));
        fs::set_permissions(self.path("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn write(&self, name: &str, contents: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    pub fn torch_path(&self) -> PathBuf {
        self.path("index").join(TORCH)
    }

    pub fn torch_hash(&self) -> String {
        hash(&fs::read(self.torch_path()).unwrap())
    }

    /// The commands of all programs so far.
    pub fn calls(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        text.lines().map(String::from).collect()
    }

    /// The number of downloads of a package.
    pub fn fetches(&self, spec: &str) -> usize {
        self.calls().iter().filter(|call| call.ends_with(spec)).count()
    }

    pub fn catalog(&self, more: &str) -> Catalog {
        catalog(self.folder.path(), more)
    }
}

pub fn installer(folder: &Path) -> Installer {
    Installer {
        cache: folder.join("cache"),
        python: folder.join("bin/python3").into(),
        tools: Tools { cargo: folder.join("bin/cargo").into(), cxx: "true".into() },
        source: Some(folder.join("source")),
        external: None,
        catalog: catalog(folder, ""),
    }
}

pub fn catalog(folder: &Path, more: &str) -> Catalog {
    // Some tests take the wheel away.
    let wheel = fs::read(folder.join("index").join(TORCH)).unwrap_or_default();
    let (size, sha256) = (wheel.len(), hash(&wheel));
    let text = format!(
        "[[release]]\nversion = \"2.13.0\"\ntch = \"0.26.0\"\ntarget = \"linux-x86_64\"\nwheel = \"{TORCH}\"\n\
         python = \"3.12\"\nplatform = \"tag_x\"\nsize = {size}\nunpacked = 1000\nsha256 = \"{sha256}\"\n\
         cxx11_abi = true\n{more}"
    );
    Catalog::parse(&text).unwrap()
}

pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The smallest shared library that needs these, and the C library: a header, a dynamic table with its strings, and
/// the table of sections that leads to them.
pub fn library(needs: &[&str]) -> Vec<u8> {
    let (mut strings, mut dynamic) = (vec![0_u8], Vec::new());
    for name in needs.iter().chain(&["libc.so.6"]) {
        dynamic.extend([1_u64.to_le_bytes(), (strings.len() as u64).to_le_bytes()].concat());
        strings.extend(name.bytes().chain([0]));
    }
    dynamic.extend([0; 16]);
    strings.resize(strings.len().next_multiple_of(8), 0);
    let (strings_at, dynamic_at) = (64, 64 + strings.len());
    let sections_at = dynamic_at + dynamic.len();

    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([3_u16.to_le_bytes(), 62_u16.to_le_bytes()].concat()); // shared object, x86-64
    file.extend(1_u32.to_le_bytes());
    for word in [0, 0, sections_at as u64] {
        file.extend(word.to_le_bytes()); // entry, program headers, section headers
    }
    file.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, 0, 64, 3, 1] {
        file.extend(half.to_le_bytes()); // sizes and counts; section 1 names the sections
    }
    file.extend(&strings);
    file.extend(&dynamic);
    let mut section = |kind: u32, at: usize, size: usize, link: u32, entry: u64| {
        file.extend([0_u32.to_le_bytes(), kind.to_le_bytes()].concat());
        for word in [0_u64, 0, at as u64, size as u64] {
            file.extend(word.to_le_bytes());
        }
        file.extend([link.to_le_bytes(), 0_u32.to_le_bytes()].concat());
        file.extend([8_u64.to_le_bytes(), entry.to_le_bytes()].concat());
    };
    section(0, 0, 0, 0, 0);
    section(3, strings_at, strings.len(), 0, 0);
    section(6, dynamic_at, dynamic.len(), 1, 16);
    file
}
