//! Folders of findings without a campaign.
//!
//! ```text
//! cargo run --release --example findings -- ADAPTER FOLDER PROGRAMS.yaml
//! ```
//!
//! The reference and the definition judge each program of a list, and each finding gets a folder below FOLDER, as in a
//! campaign: that is how a program that a user has reported becomes a finding.

use std::path::Path;
use std::process::ExitCode;

use broadcheck::adapter::{CommandLine, Halt, Hello, Limits};
use broadcheck::case::{load, load_program};
use broadcheck::harness::campaign::cases::Shard;
use broadcheck::harness::campaign::executor::Bench;
use broadcheck::harness::campaign::record::Configuration;
use broadcheck::harness::campaign::{Setup, report};
use broadcheck::harness::model::finding::Oracle;
use broadcheck::harness::runner::Start;

const ORACLES: [Oracle; 2] = [Oracle::Reference, Oracle::Definition];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [adapter, folder, programs] = args.as_slice() else {
        eprintln!("usage: findings ADAPTER FOLDER PROGRAMS.yaml");
        return ExitCode::from(2);
    };
    let (folder, programs) = (Path::new(folder), Path::new(programs));
    let setup = match setup(adapter) {
        Ok(setup) => setup,
        Err(error) => {
            eprintln!("findings: {error}");
            return ExitCode::from(2);
        }
    };
    let written = Bench::new(&setup, Halt::default())
        .map_err(String::from)
        .and_then(|mut bench| from_programs(&setup, &mut bench, programs, folder));
    match written {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("findings: {error}");
            ExitCode::from(2)
        }
    }
}

/// The setup of a bench; no programs are made.
fn setup(adapter: &str) -> Result<Setup, String> {
    let start = Start::Adapter(CommandLine::new(adapter));
    let hello: Hello = start.runner(&Limits::default()).map_err(|error| format!("{adapter}: {error}"))?.hello();
    let configuration = Configuration {
        seed: 0,
        cases: None,
        shard: Shard::WHOLE,
        ops: Vec::new(),
        unrestricted: true,
        world: None,
        corpus: None,
        oracles: ORACLES.to_vec(),
        implementation: adapter.to_owned(),
        against: None,
        timeout: 20,
        memory: 8,
        divergences: None,
    };
    let specification =
        load(&broadcheck::assets::specification().expect("the specification")).map_err(|error| error.to_string())?;
    Ok(Setup { specification, ..Setup::new(&configuration, (start, hello), None) })
}

/// Writes a folder for all that is found in each program of a file. Whether something was found in each.
fn from_programs(setup: &Setup, bench: &mut Bench, file: &Path, folder: &Path) -> Result<bool, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let list: Vec<serde_yaml::Value> =
        serde_yaml::from_str(&text).map_err(|error| format!("{}: no list of programs: {error}", file.display()))?;
    let mut all = true;
    for (number, program) in list.iter().enumerate() {
        let text = serde_yaml::to_string(program).map_err(|error| format!("{}: {error}", file.display()))?;
        let program = load_program(file, &text).map_err(|error| error.to_string())?;
        let mut findings = bench.findings(&program, &ORACLES)?;
        // Several programs that mean the same may show the same.
        findings.sort_by(|a, b| a.signature.cmp(&b.signature));
        findings.dedup_by(|a, b| a.signature == b.signature);
        println!("program {}: {} found", number + 1, findings.len());
        all &= !findings.is_empty();
        for finding in findings {
            let name = report(setup, bench, &finding, folder)?;
            println!("  {}\n    {}", finding.signature, folder.join(name).display());
        }
    }
    Ok(all)
}
