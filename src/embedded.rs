//! The copy of the specification and of the adapters in the program. Adapters in Rust are built from it, so it has their
//! sources, and the crate `broadcheck-protocol` that they depend on.
//!
//! `cargo package` leaves out each folder with a `Cargo.toml`, so `packaged/` has the files of those packages by symbolic
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
#[exclude = "rust/*"]
#[exclude = "*.pyc"]
#[exclude = "*/node_modules/*"]
#[exclude = "*/target/*"]
struct Adapters;

#[derive(RustEmbed)]
#[folder = "packaged/"]
struct InRust;

/// The name of a manifest in `packaged/`.
const MANIFEST: &str = "manifest.toml";

/// Every file, below the root that [`broadcheck::assets`] finds.
pub fn files() -> Vec<Embedded> {
    let mut files: Vec<Embedded> = all::<Specification>("spec/").collect();
    files.extend(all::<Adapters>("adapters/"));
    files.extend(all::<InRust>("").map(|(path, contents)| match path.strip_suffix(MANIFEST) {
        Some(folder) => (format!("{folder}Cargo.toml"), contents),
        None => (path, contents),
    }));
    files
}

fn all<E: RustEmbed>(folder: &'static str) -> impl Iterator<Item = Embedded> {
    E::iter().map(move |path| {
        let file = E::get(&path).expect("what is listed is there");
        (format!("{folder}{path}"), file.data)
    })
}
