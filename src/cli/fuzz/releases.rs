//! `broadcheck fuzz --releases`: the same campaign on several releases of libtorch, with what is new in one table.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Fuzz, Judge};
use crate::cli::campaign::run::write_row;
use crate::cli::campaign::{self, Format};
use crate::cli::runner::releases;
use crate::cli::{Ending, Failure, print, tell};
use crate::escape::visible;
use crate::harness::campaign::groups::{CauseGroup, Line, groups};
use crate::harness::campaign::summary::Summary;
use crate::harness::model::finding::Signature;
use crate::install::{Installer, Progress};
use crate::report::history::ranges;
use crate::report::thousands as number;

/// A release, and what its campaign came to.
#[derive(Serialize)]
struct Release {
    version: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    /// Why there is no verdict on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// All releases, and what is new in any of them.
#[derive(Serialize)]
struct Table {
    releases: Vec<Release>,
    /// By cause, over all releases.
    groups: Vec<CauseGroup>,
    /// The releases that have a signature, by its text.
    found_in: BTreeMap<String, Vec<String>>,
}

/// Runs the campaign of `fuzz` on each of its releases.
pub fn run(fuzz: &Fuzz) -> Result<Ending, Failure> {
    let installer = Installer::from_env()?;
    let versions = releases(&fuzz.releases, &installer)?;
    let mut table = Table { releases: Vec::new(), groups: Vec::new(), found_in: BTreeMap::new() };
    let mut interrupted = false;
    for (at, version) in versions.iter().enumerate() {
        tell(&format!("libtorch {version}, {} of {}\n", at + 1, versions.len()));
        let before = at.checked_sub(1).map(|at| versions[at].as_str());
        let (release, stopped) = match one(fuzz, version, before, &installer) {
            Ok(ran) => ran,
            Err(error) => (Release { version: version.clone(), summary: None, fault: Some(error.to_string()) }, false),
        };
        if matches!(fuzz.printed.format, Format::Text) {
            print(&visible(&line(&release)))?;
        }
        table.releases.push(release);
        if stopped {
            interrupted = true;
            break;
        }
    }
    table.sum_up();
    print(&match fuzz.printed.format {
        Format::Text => visible(&table.text(fuzz)).into_owned(),
        Format::Json => campaign::json(&table),
    })?;
    if interrupted {
        return Ok(Ending::Interrupted);
    }
    let faults = table.releases.iter().filter(|release| release.fault.is_some()).count();
    if faults > 0 {
        return Err(format!("{faults} of {} releases have no verdict", table.releases.len()).into());
    }
    Ok(if table.groups.iter().any(|group| !group.disputed) { Ending::Differs } else { Ending::Conforms })
}

/// The campaign on one release, and whether a signal stopped it.
fn one(fuzz: &Fuzz, version: &str, before: Option<&str>, installer: &Installer) -> Result<(Release, bool), Failure> {
    let progress = Progress::auto();
    let was_there = installer.find(Some(version)).is_ok();
    installer.libtorch(Some(version), &progress)?;
    let out = fuzz.out.join(version);
    let mut own = Fuzz {
        releases: Vec::new(),
        keep: false,
        implementation: Some(format!("libtorch@{version}")),
        resume: fuzz.resume && out.exists(),
        out,
        ..fuzz.clone()
    };
    let is_release = |judge: &Judge| matches!(judge, Judge::Release);
    if own.oracle.as_ref().is_some_and(|judges| judges.iter().any(is_release)) {
        own.against = before.map(|before| format!("libtorch@{before}"));
        // The first of the releases has none before it: the others judge it, or those that judge without --oracle.
        if own.against.is_none() {
            own.oracle.iter_mut().for_each(|judges| judges.retain(|judge| !is_release(judge)));
            own.oracle = own.oracle.filter(|judges| !judges.is_empty());
        }
    }
    let ready = own.prepare()?;
    let ran = own.campaign(&ready).carry_out(ready.configuration, ready.begun.as_ref(), ready.subject, ready.other)?;
    if !(was_there || fuzz.keep) {
        installer.remove(version, &progress)?;
    }
    let interrupted = ran.was_interrupted();
    if let Some(file) = fuzz.row.as_ref().filter(|_| !interrupted) {
        write_row(file, &ran.summary)?;
    }
    let fault = ran.fault().filter(|_| !interrupted);
    Ok((Release { version: version.to_owned(), summary: Some(ran.summary), fault }, interrupted))
}

impl Table {
    /// Puts together what is new in the releases. The example of a signature is that of the oldest of them.
    fn sum_up(&mut self) {
        let mut all: BTreeMap<&Signature, Line> = BTreeMap::new();
        for release in &self.releases {
            let findings = release.summary.iter().flat_map(|summary| &summary.findings);
            for line in findings.filter(|line| line.known.is_none()) {
                all.entry(&line.signature)
                    .and_modify(|known| known.count += line.count)
                    .or_insert_with(|| line.clone());
                self.found_in.entry(line.signature.to_string()).or_default().push(release.version.clone());
            }
        }
        let lines: Vec<Line> = all.into_values().collect();
        self.groups = groups(&lines);
    }

    fn text(&self, fuzz: &Fuzz) -> String {
        let mut text = String::new();
        for (title, disputed) in [("disputed: authorities differ", true), ("findings", false)] {
            let own: Vec<&CauseGroup> = self.groups.iter().filter(|group| group.disputed == disputed).collect();
            if !own.is_empty() {
                text.push_str(&format!("\n{title}\n"));
            }
            for group in own {
                text.push_str(&self.group(group, fuzz));
            }
        }
        let new = self.groups.iter().filter(|group| !group.disputed);
        let signatures: usize = new.clone().map(|group| group.signatures.len()).sum();
        let cases: u64 = self.releases.iter().filter_map(|release| Some(release.summary.as_ref()?.cases)).sum();
        text.push_str(&format!(
            "\n{} cases on {} releases: {} signatures in {} groups are new\n",
            number(cases),
            self.releases.len(),
            number(signatures as u64),
            number(new.count() as u64)
        ));
        text
    }

    /// A group, the releases that have it, and its smallest program, which is that of the oldest of them.
    fn group(&self, group: &CauseGroup, fuzz: &Fuzz) -> String {
        let versions: Vec<&str> = self.releases.iter().map(|release| release.version.as_str()).collect();
        let has = |signature: &Signature, version: &str| {
            let found = self.found_in.get(&signature.to_string());
            found.is_some_and(|found| found.iter().any(|one| one == version))
        };
        let within = ranges(&versions, |at| group.signatures.iter().any(|signature| has(signature, versions[at])));
        let of = |signature: &Signature| {
            self.releases.iter().filter_map(|release| Some((release, release.summary.as_ref()?))).find_map(
                |(release, summary)| {
                    let line = summary.findings.iter().find(|line| line.signature == *signature)?;
                    Some((release, summary, line))
                },
            )
        };
        let lines: Vec<&Line> = group.signatures.iter().filter_map(|signature| Some(of(signature)?.2)).collect();
        let place = |line: &Line| match of(&line.signature) {
            Some((release, summary, line)) => {
                let folder = fuzz.out.join(&release.version);
                format!("in {within}; {}", campaign::place(line, &summary.configuration, &folder))
            }
            None => format!("in {within}"),
        };
        campaign::grouped(group, &lines, &place, fuzz.printed.verbose)
    }
}

fn line(release: &Release) -> String {
    let label = format!("libtorch {}", release.version);
    let Some(summary) = &release.summary else {
        let fault = release.fault.as_deref().unwrap_or_default();
        return format!("{label:17} no data: {}\n", fault.lines().next().unwrap_or_default());
    };
    let count = |lines: &mut dyn Iterator<Item = &Line>| {
        let (signatures, findings) = lines.fold((0, 0), |(one, all), line| (one + 1, all + line.count as u64));
        format!("{} signatures in {}", number(signatures), number(findings))
    };
    let fault = release.fault.as_ref().map_or(String::new(), |fault| format!("; {fault}"));
    format!(
        "{label:17} {} cases: {} findings known, {} new{fault}\n",
        number(summary.cases),
        count(&mut summary.known()),
        count(&mut summary.new_findings()),
    )
}
