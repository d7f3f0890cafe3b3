//! Event files, by the names that command lines use.

use std::path::{Path, PathBuf};

use super::Failure;
use crate::assets::{self, Origin};
use crate::escape;
use crate::harness::campaign::row::{CampaignRow, Rows};
use crate::harness::campaign::summary::Summary;
use crate::harness::model::event::file::{self, EventFile, SUITE_FILE};

/// The folder of event files if no other is named: in a checkout, else below the working folder.
pub fn default_folder() -> Result<PathBuf, Failure> {
    let below = Path::new("reports/events");
    Ok(match assets::found()? {
        (_, Origin::Program) => below.to_owned(),
        _ => assets::path("reports/events")?,
    })
}

/// Every event file of a folder, or the one file that is named instead, with how to call it.
pub fn all(path: &Path) -> Result<Vec<(String, EventFile)>, Failure> {
    let paths =
        if path.is_dir() { names(path)?.iter().map(|name| path.join(name)).collect() } else { vec![path.to_owned()] };
    if paths.is_empty() {
        return Err(format!("{} has no event files; `broadcheck matrix` writes them", path.display()).into());
    }
    let names = paths.iter().map(|path| path.display().to_string());
    Ok(names.zip(file::read_all(&paths)?).collect())
}

/// The same files for people: control characters are made visible.
pub fn visible(files: Vec<(String, EventFile)>) -> Vec<(String, EventFile)> {
    files.into_iter().map(|(name, file)| (escape::visible(&name).into_owned(), file.visible())).collect()
}

/// The event file of a release or of another implementation: a path, or the file of that name in a folder.
pub fn one(given: &str, folder: &Path) -> Result<(String, EventFile), Failure> {
    let path = Path::new(given);
    if path.is_file() {
        return Ok((given.to_owned(), file::read(path)?));
    }
    let plain = given.replace(['@', ' '], "-");
    let tried = [format!("libtorch-{plain}.jsonl.gz"), format!("{plain}.jsonl.gz"), format!("{plain}.jsonl")];
    let names = if folder.is_dir() { names(folder)? } else { Vec::new() };
    match tried.iter().find(|name| names.contains(name)) {
        Some(name) => {
            let path = folder.join(name);
            Ok((path.display().to_string(), file::read(&path)?))
        }
        None => {
            let there: Vec<&str> = names.iter().map(|name| stem(name)).collect();
            let there = if there.is_empty() { "nothing".to_owned() } else { there.join(", ") };
            Err(format!(
                "{given} is not an event file, and {} has none of that name, only {there}; `broadcheck matrix --releases \
                 {given}` or `broadcheck check --events FILE` writes one",
                folder.display()
            )
            .into())
        }
    }
}

/// The results of `broadcheck exhaust`, from the folder `exhaustive` next to that of the event files, by name.
pub fn exhaustive(events: &Path) -> Result<Vec<Summary>, Failure> {
    Ok(next_to(events, "exhaustive")?.iter().map(|path| Summary::read(path)).collect::<Result<_, _>>()?)
}

/// The rows of campaigns, from the file `campaigns.json` next to the folder of the event files, by name; none if there is no
/// such file.
pub fn campaigns(events: &Path) -> Result<Vec<CampaignRow>, Failure> {
    let file = events.with_file_name("campaigns.json");
    if !events.is_dir() || !file.is_file() {
        return Ok(Vec::new());
    }
    Ok(Rows::read(&file)?.into_rows().iter().map(escape::visible_in).collect())
}

/// The JSON files of a folder next to that of the event files, by name; none if there is no such folder.
fn next_to(events: &Path, folder: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = events.with_file_name(folder);
    if !events.is_dir() || !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = entries.map_err(|error| format!("{}: {error}", folder.display()))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    Ok(paths)
}

/// The names of the event files of a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| {
        format!("{}: {error}; `broadcheck matrix` writes the event files of the releases", folder.display())
    })?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if (name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")) && name != SUITE_FILE {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".jsonl").unwrap_or(name);
    name.strip_prefix("libtorch-").unwrap_or(name)
}
