//! Corpora: programs in a file, a line of JSON each, with where each comes from. A file that ends in `.gz` is compressed.
//!
//! What is in a file comes from outside, so every program is checked against the operation table before it is run. Nothing
//! here knows what any program should do.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::ops::{Form, Param, ParamDefault, ParamKind, REDUCTIONS};
use crate::program::{Arg, Program, Step, ValueRef};
use crate::tensor::Scalar;

/// The most bytes of a line.
const MAX_LINE: u64 = 64 << 20;

/// A program of a corpus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The program.
    pub program: Program,
    /// The sample that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Origin>,
}

/// The sample of an OpInfo that a program was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The name of the OpInfo.
    pub opinfo: String,
    /// The name of its variant; empty for the only one.
    pub variant: String,
    /// The dtype that the samples were asked for; error inputs have none.
    pub dtype: Option<String>,
    /// The list of samples.
    pub kind: Samples,
    /// The number of the sample in its list.
    pub sample: u64,
    /// The form that the sample's call was given.
    pub form: SampleForm,
}

/// A list of samples of an OpInfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Samples {
    /// Its reference inputs, which include its sample inputs.
    Reference,
    /// Its sample inputs of a dtype that it does not list.
    Unlisted,
    /// Its error inputs.
    Error,
}

/// The form that a sample's call was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleForm {
    /// As it is.
    Functional,
    /// In place.
    InPlace,
    /// With `out=` of the right shape and dtype.
    Out,
    /// With `out=` of the right shape and permuted strides.
    OutStrides,
    /// With `out=` of another shape.
    OutShape,
    /// With `out=` of a dtype that does not hold the result.
    OutDtype,
    /// With `out=` of a wider dtype.
    OutWider,
    /// Followed by the gradients of its inputs.
    Gradient,
}

impl SampleForm {
    /// All of them.
    pub const ALL: [SampleForm; 8] = [
        SampleForm::Functional,
        SampleForm::InPlace,
        SampleForm::Out,
        SampleForm::OutStrides,
        SampleForm::OutShape,
        SampleForm::OutDtype,
        SampleForm::OutWider,
        SampleForm::Gradient,
    ];

    /// The title of its column.
    pub fn title(self) -> &'static str {
        match self {
            SampleForm::Functional => "functional",
            SampleForm::InPlace => "in place",
            SampleForm::Out => "out=",
            SampleForm::OutStrides => "strides",
            SampleForm::OutShape => "shape",
            SampleForm::OutDtype => "dtype",
            SampleForm::OutWider => "wider",
            SampleForm::Gradient => "gradient",
        }
    }
}

/// A line of the script that makes programs of samples.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    LeftOut(LeftOut),
    Done(Done),
}

/// Samples that are no programs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    op: String,
    why: String,
    count: u64,
    of: String,
}

/// The last line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Done {
    torch: String,
}

/// The programs of a corpus in the making, and the counts that are printed of it.
#[derive(Debug, Default)]
pub struct Collection {
    seen: HashSet<[u8; 32]>,
    lines: u64,
    /// How many programs there are of each operation and form.
    pub programs: BTreeMap<String, BTreeMap<SampleForm, u64>>,
    /// How many programs were there already.
    pub duplicates: u64,
    /// How many samples of an operation are no programs, by the reason; and what is counted.
    pub left_out: BTreeMap<(String, String, String), u64>,
    /// The release of PyTorch, once the last line was read.
    pub torch: Option<String>,
}

impl Collection {
    /// Takes a line of the script: the program to be written, if it is a new one.
    ///
    /// # Errors
    /// When the line is none of the script's, or its program is not well formed.
    pub fn take(&mut self, line: &str) -> Result<Option<Entry>, String> {
        self.lines += 1;
        let at = self.lines;
        let wrong = |error: String| format!("line {at}: {error}");
        if self.torch.is_some() {
            return Err(wrong("there is more after the last line".to_owned()));
        }
        if !line.starts_with("{\"program\"") {
            match serde_json::from_str(line).map_err(|error| wrong(error.to_string()))? {
                Line::LeftOut(LeftOut { op, why, count, of }) => {
                    *self.left_out.entry((op, why, of)).or_default() += count;
                }
                Line::Done(done) => self.torch = Some(done.torch),
            }
            return Ok(None);
        }
        let entry = entry(line).map_err(wrong)?;
        let Some(from) = &entry.from else {
            return Err(wrong("it does not say where the program comes from".to_owned()));
        };
        let bytes = serde_json::to_vec(&entry.program).expect("programs have only text for keys");
        if !self.seen.insert(Sha256::digest(bytes).into()) {
            self.duplicates += 1;
            return Ok(None);
        }
        let op = sampled(&entry.program).map_or("none", |step| step.op.name()).to_owned();
        *self.programs.entry(op).or_default().entry(from.form).or_default() += 1;
        Ok(Some(entry))
    }

    /// The number of programs.
    pub fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Returns whether there is no program.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}

/// The step that is the sample's call: those before it lay out tensors, those after it ask for gradients.
fn sampled(program: &Program) -> Option<&Step> {
    program.steps.iter().rev().find(|step| step.name == "r").or(program.steps.last())
}

/// Reads the programs of a file. What is twice in it is judged twice.
///
/// # Errors
/// When it cannot be read, or a line of it is no program; the error names the line.
pub fn read(path: &Path) -> Result<Vec<Program>, String> {
    let named = |error: String| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| named(error.to_string()))?;
    let mut buffered = BufReader::new(file);
    let packed = buffered.fill_buf().map_err(|error| named(error.to_string()))?.starts_with(&[0x1f, 0x8b]);
    let programs =
        if packed { parse(BufReader::new(GzDecoder::new(buffered))) } else { parse(buffered) }.map_err(named)?;
    if programs.is_empty() { Err(named("there is no program in it".to_owned())) } else { Ok(programs) }
}

fn parse(mut from: impl BufRead) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    let mut line = String::new();
    for at in 1_u64.. {
        line.clear();
        let read = from.by_ref().take(MAX_LINE).read_line(&mut line).map_err(|error| format!("line {at}: {error}"))?;
        if read == 0 {
            break;
        }
        if read as u64 == MAX_LINE {
            return Err(format!("line {at}: it has more than {MAX_LINE} bytes"));
        }
        programs.push(entry(&line).map_err(|error| format!("line {at}: {error}"))?.program);
    }
    Ok(programs)
}

fn entry(line: &str) -> Result<Entry, String> {
    let entry: Entry = serde_json::from_str(line).map_err(|error| error.to_string())?;
    well_formed(&entry.program)?;
    Ok(entry)
}

/// A corpus that is being written. It is at its place once it is whole, and not before.
pub struct Writer {
    path: PathBuf,
    file: GzOrPlain,
}

/// The two ways of writing a file.
enum GzOrPlain {
    Plain(BufWriter<NamedTempFile>),
    Packed(Box<GzEncoder<BufWriter<NamedTempFile>>>),
}

impl Writer {
    /// Begins a file, compressed if that is how the path ends.
    ///
    /// # Errors
    /// When there can be no file in the folder.
    pub fn create(path: &Path) -> io::Result<Writer> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Of a new file the umask decides.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = BufWriter::new(builder.tempfile_in(folder)?);
        let packed = path.extension().is_some_and(|extension| extension == "gz");
        // Neither time nor name goes into it: the same programs make the same file.
        let file = match packed {
            true => GzOrPlain::Packed(Box::new(GzBuilder::new().write(file, Compression::default()))),
            false => GzOrPlain::Plain(file),
        };
        Ok(Writer { path: path.to_owned(), file })
    }

    /// Adds a program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        match &mut self.file {
            GzOrPlain::Plain(file) => file.write_all(&line),
            GzOrPlain::Packed(file) => file.write_all(&line),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> io::Result<()> {
        let file = match self.file {
            GzOrPlain::Plain(file) => file,
            GzOrPlain::Packed(file) => file.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)?.persist(self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Says in what a program is none that an adapter may be sent.
///
/// # Errors
/// When its values, forms, arguments or elements are not as the operation table has them.
pub fn well_formed(program: &Program) -> Result<(), String> {
    let mut names = HashSet::new();
    let all = program.inputs.iter().map(|input| &input.name).chain(program.steps.iter().map(|step| &step.name));
    for name in all {
        let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !plain {
            return Err(format!("{name:?} is no name of a value"));
        }
        if !names.insert(name) {
            return Err(format!("two values are called `{name}`"));
        }
    }
    for input in &program.inputs {
        let sizes = input.shape.sizes();
        let bytes =
            sizes.iter().try_fold(input.dtype.size(), |bytes, size| bytes.checked_mul(usize::try_from(*size).ok()?));
        if bytes != Some(input.data.len()) {
            let (name, found) = (&input.name, input.data.len());
            return Err(format!("`{name}` has {found} bytes, which is not what its shape and dtype take"));
        }
    }
    if program.steps.is_empty() {
        return Err("there is no step".to_owned());
    }
    for (values, step) in (program.inputs.len()..).zip(&program.steps) {
        check_step(step, values).map_err(|error| format!("`{}`: {error}", step.name))?;
    }
    Ok(())
}

fn check_step(step: &Step, values: usize) -> Result<(), String> {
    let info = step.op.info();
    if !info.forms.contains(&step.form) {
        return Err(format!("`{}` has no form {:?}", step.op, step.form));
    }
    if (step.form == Form::Out) != step.out.is_some() {
        return Err("`out` belongs to the form out, and to no other".to_owned());
    }
    if step.args.len() != info.arguments.len() {
        return Err(format!("`{}` takes {} arguments, not {}", step.op, info.arguments.len(), step.args.len()));
    }
    for (param, arg) in info.arguments.iter().zip(&step.args) {
        if !takes(param, arg) {
            return Err(format!("`{}` of `{}` is of another kind", param.name, step.op));
        }
    }
    if step.form == Form::InPlace && step.target().is_none() {
        return Err("the target is no tensor".to_owned());
    }
    match step.uses().find(|used: &ValueRef| used.value >= values) {
        Some(used) => Err(format!("value {} is not there before it", used.value)),
        None => Ok(()),
    }
}

/// Returns whether a parameter takes an argument of this kind.
fn takes(param: &Param, arg: &Arg) -> bool {
    match (param.kind, arg) {
        (_, Arg::Nothing) => matches!(param.default, Some(ParamDefault::Nothing)),
        (ParamKind::Tensor | ParamKind::Operand | ParamKind::Value, Arg::Tensor(_))
        | (ParamKind::Operand | ParamKind::Value | ParamKind::Number, Arg::Number(_))
        | (ParamKind::Real, Arg::Number(Scalar::Float(_) | Scalar::Int(_)))
        | (ParamKind::Tensors, Arg::Tensors(_))
        | (ParamKind::Indices, Arg::Indices(_))
        | (ParamKind::Shapes, Arg::Shapes(_))
        | (ParamKind::Int | ParamKind::Dims, Arg::Int(_))
        | (ParamKind::Ints | ParamKind::Dims, Arg::Ints(_))
        | (ParamKind::Flag, Arg::Flag(_))
        | (ParamKind::Dtype, Arg::Dtype(_))
        | (ParamKind::ScalarType, Arg::ScalarType(_))
        | (ParamKind::Text, Arg::Text(_))
        | (ParamKind::Index, Arg::Index(_)) => true,
        (ParamKind::Reduction, Arg::Text(text)) => REDUCTIONS.contains(&text.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = r#"{"program":{"inputs":[{"name":"x","dtype":"float32","shape":[1],"data":"AACAPw=="}],"steps":[{"name":"r","op":"add","form":"functional","args":[{"tensor":{"value":0}},{"tensor":{"value":0}},{"number":{"int":1}}]}]},"from":{"opinfo":"add","variant":"","dtype":"float32","kind":"reference","sample":3,"form":"functional"}}"#;

    #[test]
    fn programs_are_read_and_duplicates_counted() {
        let mut collection = Collection::default();
        assert!(collection.take(ADD).unwrap().is_some());
        // The same program of another sample.
        assert_eq!(collection.take(&ADD.replace("\"sample\":3", "\"sample\":4")), Ok(None));
        let left_out = r#"{"left_out":{"op":"add","why":"too large","count":2,"of":"samples"}}"#;
        assert_eq!(collection.take(left_out), Ok(None));
        assert_eq!(collection.take(left_out), Ok(None));
        assert_eq!((collection.len(), collection.duplicates), (1, 1));
        assert_eq!(collection.programs["add"][&SampleForm::Functional], 1);
        assert_eq!(collection.left_out.values().collect::<Vec<_>>(), [&4]);
        assert_eq!(collection.torch, None);
        assert_eq!(collection.take(r#"{"done":{"torch":"2.13.0"}}"#), Ok(None));
        assert_eq!(collection.torch.as_deref(), Some("2.13.0"));
        assert_eq!(collection.take(ADD), Err("line 6: there is more after the last line".to_owned()));
    }

    #[test]
    fn bad_lines_are_named_with_what_is_wrong() {
        let sound = || parse(format!("{ADD}\n{ADD}\n").as_bytes());
        assert_eq!(sound().unwrap().len(), 2);
        for (part, other, error) in [
            ("{\"program\"", "{\"programme\"", "unknown field `programme`"),
            ("\"op\":\"add\"", "\"op\":\"append\"", "no operation is called \"append\""),
            ("\"kind\":\"reference\"", "\"kind\":\"sideways\"", "unknown variant `sideways`"),
            ("AACAPw==", "AACAPwAAgD8=", "`x` has 8 bytes"),
            ("AACAPw==", "AACA", "`x` has 3 bytes"),
            ("\"shape\":[1]", "\"shape\":[2]", "`x` has 4 bytes"),
            ("\"name\":\"r\"", "\"name\":\"x\"", "two values are called `x`"),
            ("\"name\":\"r\"", "\"name\":\"a b\"", "\"a b\" is no name of a value"),
            (
                "{\"tensor\":{\"value\":0}},{\"number\"",
                "{\"tensor\":{\"value\":1}},{\"number\"",
                "value 1 is not there",
            ),
            (",{\"number\":{\"int\":1}}", "", "`add` takes 3 arguments, not 2"),
            ("{\"number\":{\"int\":1}}", "{\"flag\":true}", "`alpha` of `add` is of another kind"),
            ("{\"number\":{\"int\":1}}", "\"nothing\"", "`alpha` of `add` is of another kind"),
            ("\"form\":\"functional\"", "\"form\":\"out\"", "`out` belongs to the form out"),
        ] {
            assert!(ADD.contains(part), "{part}");
            let text = format!("{ADD}\n{}\n", ADD.replacen(part, other, 1));
            let found = parse(text.as_bytes()).unwrap_err();
            assert!(found.starts_with("line 2: ") && found.contains(error), "{error}: {found}");
        }
    }

    #[test]
    fn files_may_be_compressed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["plain.jsonl", "packed.jsonl.gz"] {
            let path = folder.path().join(name);
            let mut writer = Writer::create(&path).unwrap();
            writer.add(&entry(ADD).unwrap()).unwrap();
            writer.finish().unwrap();
            assert_eq!(read(&path).unwrap(), [entry(ADD).unwrap().program], "{name}");
        }
        let empty = folder.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        assert!(read(&empty).unwrap_err().ends_with("there is no program in it"));
    }
}
