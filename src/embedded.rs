//! The copy of the specification and of the adapters that the program has in it. Adapters in Rust are built from it, so it
//! has their sources, and of the library's what they are built with.
//!
//! `cargo package` leaves out each folder with a `Cargo.toml`, so `packaged/` has the files of those adapters by symbolic
//! links, and their manifests by another name.

use broadcheck::assets::Embedded;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "spec/"]
struct Specification;

#[derive(RustEmbed)]
#[folder = "adapters/"]
#[exclude = "burn/*"]
#[exclude = "candle/*"]
#[exclude = "faulty/*"]
#[exclude = "ferrotorch/*"]
#[exclude = "libtorch/*"]
#[exclude = "ndarray/*"]
#[exclude = "*.pyc"]
#[exclude = "*/node_modules/*"]
#[exclude = "*/target/*"]
struct Adapters;

#[derive(RustEmbed)]
#[folder = "packaged/"]
struct InRust;

/// The library as adapters use it, without its features.
#[derive(RustEmbed)]
#[folder = "src/"]
#[exclude = "assets.rs"]
#[exclude = "case/*"]
#[exclude = "cli/*"]
#[exclude = "embedded.rs"]
#[exclude = "generate/*"]
#[exclude = "harness/*"]
#[exclude = "implementations/*"]
#[exclude = "install/*"]
#[exclude = "main.rs"]
#[exclude = "reference/*"]
#[exclude = "report/*"]
struct Sources;

/// How the manifest of an adapter is called in `packaged/`.
const MANIFEST: &str = "manifest.toml";

/// Every file, below the root that [`broadcheck::assets`] tells of.
pub fn files() -> Vec<Embedded> {
    let manifest = broadcheck::assets::library_manifest(include_str!("../Cargo.toml"));
    let mut files = vec![("Cargo.toml".to_owned(), manifest.into_bytes().into())];
    files.extend(all::<Specification>("spec"));
    files.extend(all::<Adapters>("adapters"));
    files.extend(all::<InRust>("adapters").map(|(path, contents)| match path.strip_suffix(MANIFEST) {
        Some(folder) => (format!("{folder}Cargo.toml"), contents),
        None => (path, contents),
    }));
    files.extend(all::<Sources>("src"));
    files
}

fn all<E: RustEmbed>(folder: &'static str) -> impl Iterator<Item = Embedded> {
    E::iter().map(move |path| {
        let file = E::get(&path).expect("what is listed is there");
        (format!("{folder}/{path}"), file.data)
    })
}
