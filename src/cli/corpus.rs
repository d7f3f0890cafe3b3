//! `broadcheck corpus`: programs that others have written samples of, as a file.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};

use super::campaign::named;
use super::{Ending, Failure, print, tell};
use crate::assets;
use crate::escape::{markdown_code, markdown_prose, visible};
use crate::harness::corpus::{Collection, SampleForm, Writer};
use crate::implementations;
use crate::install::Progress;
use crate::output;
use crate::report::thousands;

/// Turn the samples of others into programs.
#[derive(Debug, Args)]
pub struct Corpus {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Opinfo(Opinfo),
}

/// Turn PyTorch's own samples into programs: its OpInfo database and the error inputs in it.
///
/// Each sample of an operation of the table is a program: functional, in place, with `out=` of the right shape and dtype, of
/// permuted strides, of another shape, of a dtype that does not hold the result and of a wider one, and with the gradients
/// of its inputs. `broadcheck check --corpus FILE` runs them.
///
/// PyTorch's tests need a package besides PyTorch; an error names the command that installs it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck corpus opinfo --out opinfo.jsonl.gz
  broadcheck corpus opinfo --python venv/bin/python --out opinfo.jsonl.gz --table opinfo.md
  broadcheck corpus opinfo --ops add,lerp --limit 3 --out some.jsonl
  broadcheck check --impl libtorch --corpus opinfo.jsonl.gz

Exit codes: 0 the programs are written, 2 they are not.")]
struct Opinfo {
    /// The file to be written: a program a line, as JSON. One that ends in .gz is compressed.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// A Python that has PyTorch and what its tests need [default: the one that `--impl pytorch` runs on].
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only samples of these operations.
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    ops: Vec<String>,
    /// At most so many samples of each OpInfo, dtype and kind.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Also write what was turned and what was not, as Markdown.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

impl Corpus {
    pub fn run(&self) -> Result<Ending, Failure> {
        let Command::Opinfo(opinfo) = &self.command;
        opinfo.run()
    }
}

/// How often there is a line of progress.
const NOW_AND_THEN: Duration = Duration::from_secs(10);

/// The lines of the script's errors that are repeated.
const LAST: usize = 8;

impl Opinfo {
    fn run(&self) -> Result<Ending, Failure> {
        self.ops.iter().try_for_each(|name| named(name).map(drop))?;
        let ready = implementations::ready("pytorch", self.python.as_deref(), &Progress::auto())?;
        let mut command = Process::new(&ready.program);
        command.arg(assets::root()?.join("adapters/pytorch/opinfo.py"));
        if !self.ops.is_empty() {
            command.arg("--ops").arg(self.ops.join(","));
        }
        if let Some(limit) = self.limit {
            command.arg("--limit").arg(limit.to_string());
        }
        let mut writer = Writer::create(&self.out).map_err(|error| format!("--out {}: {error}", self.out.display()))?;
        let collection = collect(command, &ready.program, &mut writer, &self.out)?;
        if collection.is_empty() {
            return Err("no sample became a program".into());
        }
        writer.finish().map_err(|error| unwritten(&self.out, &error))?;
        print(&visible(&text(&collection, &self.out)))?;
        if let Some(path) = &self.table {
            output::write_named(path, markdown(&collection))?;
        }
        Ok(Ending::Conforms)
    }
}

/// Runs the script and writes the programs as they come.
fn collect(mut command: Process, python: &Path, writer: &mut Writer, out: &Path) -> Result<Collection, Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", python.display());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let said = child.stderr.take().map(|stderr| thread::spawn(move || last_lines(stderr)));
    let stdout = child.stdout.take().ok_or("the script has no output")?;
    let mut collection = Collection::default();
    let taken = take_lines(stdout, &mut collection, writer, out);
    if taken.is_err() {
        // It writes to nobody any more.
        let _ = child.kill();
    }
    let status = child.wait().map_err(failed)?;
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    taken?;
    if !status.success() {
        return Err(format!("the samples of PyTorch were not all made ({status}):\n{said}").into());
    }
    if collection.torch.is_none() {
        return Err("the samples of PyTorch end without a last line".into());
    }
    Ok(collection)
}

fn take_lines(from: impl Read, collection: &mut Collection, writer: &mut Writer, out: &Path) -> Result<(), Failure> {
    let mut told = Instant::now();
    for line in BufReader::new(from).lines() {
        let line = line.map_err(|error| format!("the samples of PyTorch: {error}"))?;
        let entry = collection.take(&line).map_err(|error| format!("the samples of PyTorch: {error}"))?;
        if let Some(entry) = entry {
            writer.add(&entry).map_err(|error| unwritten(out, &error))?;
        }
        if told.elapsed() >= NOW_AND_THEN {
            told = Instant::now();
            let (programs, ops) = (thousands(collection.len()), collection.programs.len());
            tell(&format!("{programs} programs of {ops} operations\n"));
        }
    }
    Ok(())
}

fn unwritten(path: &Path, error: &std::io::Error) -> String {
    format!("--out {}: {error}", path.display())
}

/// The last lines of what the script says of its errors.
fn last_lines(stderr: impl Read) -> String {
    let mut last = VecDeque::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        last.push_back(line);
        if last.len() > LAST {
            last.pop_front();
        }
    }
    last.into_iter().collect::<Vec<_>>().join("\n")
}

/// The counts of each form, in the order of the columns, and their sum.
fn counts(forms: &BTreeMap<SampleForm, u64>) -> Vec<u64> {
    let mut counts: Vec<u64> =
        SampleForm::ALL.iter().map(|form| forms.get(form).copied().unwrap_or_default()).collect();
    counts.push(counts.iter().sum());
    counts
}

/// The rows of the table of programs, with their sum as the last.
fn rows(collection: &Collection) -> Vec<(String, Vec<u64>)> {
    let mut rows: Vec<(String, Vec<u64>)> =
        collection.programs.iter().map(|(op, forms)| (op.clone(), counts(forms))).collect();
    let mut all = counts(&BTreeMap::new());
    for (_, row) in &rows {
        all.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
    }
    rows.push(("all".to_owned(), all));
    rows
}

fn titles() -> Vec<&'static str> {
    SampleForm::ALL.iter().map(|form| form.title()).chain(["all"]).collect()
}

fn text(collection: &Collection, out: &Path) -> String {
    let mut text = format!("{:<40}", "programs");
    for title in titles() {
        let _ = write!(text, " {title:>10}");
    }
    text.push('\n');
    for (op, counts) in rows(collection) {
        let _ = write!(text, "{op:<40}");
        for count in counts {
            let _ = write!(text, " {:>10}", thousands(count));
        }
        text.push('\n');
    }
    if !collection.left_out.is_empty() {
        text.push_str("\nnot turned\n");
    }
    for ((op, why, of), count) in &collection.left_out {
        let _ = writeln!(text, "{:>8} {of} of {op}: {why}", thousands(*count));
    }
    let _ = writeln!(
        text,
        "\n{} programs of {} operations, from the samples of PyTorch {}, are in {}; {} more were there twice",
        thousands(collection.len()),
        collection.programs.len(),
        collection.torch.as_deref().unwrap_or_default(),
        out.display(),
        thousands(collection.duplicates)
    );
    text
}

fn markdown(collection: &Collection) -> String {
    let mut text = format!(
        "# PyTorch's own samples as programs\n\n\
         Written by `broadcheck corpus opinfo --out FILE --table reports/opinfo.md`, from the OpInfo database of PyTorch {}:\n\
         {} programs of {} operations, each different; {} more were there twice.\n\n\
         ## What was turned\n\n\
         The columns are the forms that a sample's call is given: as it is, in place, with `out=` of the right shape and\n\
         dtype, of permuted strides, of another shape, of a dtype that does not hold the result, of a wider dtype, and with\n\
         the gradients of its inputs. A sample with a tensor of more than 512 elements is functional alone.\n\n",
        markdown_prose(collection.torch.as_deref().unwrap_or_default()),
        thousands(collection.len()),
        collection.programs.len(),
        thousands(collection.duplicates)
    );
    let _ = writeln!(text, "| operation | {} |", titles().join(" | "));
    let _ = writeln!(text, "|---|{}", "---:|".repeat(titles().len()));
    for (op, counts) in rows(collection) {
        let counts: Vec<String> = counts.into_iter().map(thousands).collect();
        let _ = writeln!(text, "| {} | {} |", markdown_code(&op), counts.join(" | "));
    }
    text.push_str("\n## What was not\n\n| operation | number | of | reason |\n|---|---:|---|---|\n");
    for ((op, why, of), count) in &collection.left_out {
        let (op, why) = (markdown_code(op), markdown_prose(why));
        let _ = writeln!(text, "| {op} | {} | {of} | {why} |", thousands(*count));
    }
    text
}
