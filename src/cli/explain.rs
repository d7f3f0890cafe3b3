//! `broadcheck explain`: why shapes broadcast, or do not, and what to write instead.

use std::fmt::Write;
use std::io::Read;

use anstyle::{AnsiColor, Style};
use broadcheck_explain::drawing::{Cell, Drawing, Mark, Row};
use broadcheck_explain::{Answer, Options, Verdict};
use clap::{Args, ValueEnum};

use super::{Ending, Failure, print};
use crate::escape;

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const LOOK: Style = AnsiColor::Yellow.on_default().bold();
const FAINT: Style = Style::new().dimmed();
const CODE: Style = Style::new().bold();

/// The most bytes of a pasted text.
const MOST_INPUT: u64 = 1 << 20;

/// Explain why shapes broadcast, or do not, and what to write instead.
///
/// It takes shapes, a line of Python with the shapes of its names, or an error message or traceback of PyTorch. Nothing is
/// computed but shapes, so they may be of any size. Rejections have libtorch's own text, and every proposed change was
/// tried: it works, and gives the shape that stands behind it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  broadcheck explain 5,1,4,1 3,1,1
  broadcheck explain 1,3,1 3,1,7 --op add_       in place: the first shape may not grow
  broadcheck explain 32,8,128,64 32,8,64,128 --op matmul
  broadcheck explain 'x / x.sum(1)' x=32,10      Python, and the shapes of its names
  broadcheck explain 'q @ k.mT' q=B,T,D k=B,S,D     sizes may be names
  broadcheck explain 2,3 4,3 --op cat --arg dim=0
  broadcheck explain 'mat1 and mat2 shapes cannot be multiplied (32x100 and 784x10)'
  python train.py 2>&1 | broadcheck explain -    a traceback

Exit codes: 0 accepted, 1 rejected, 2 the question is not understood.")]
pub struct Explain {
    /// Shapes (5,3 or (5, 3) or torch.Size([5, 3]) or 5x3 or B,T,C), names with shapes (x=5,3), Python, or a message; - reads
    /// standard input.
    #[arg(required = true, value_name = "SHAPE|NAME=SHAPE|PYTHON|MESSAGE", allow_negative_numbers = true)]
    ask: Vec<String>,
    /// The operation on the shapes: a name, an alias, an operator (+, @), with torch. or without; a trailing _ means in place
    /// [default: add, or broadcast_tensors for more than two shapes].
    #[arg(long, value_name = "NAME")]
    op: Option<String>,
    /// The shape of the tensor that out= names.
    #[arg(long, value_name = "SHAPE")]
    out: Option<String>,
    /// The dtype of the tensors, or NAME=DTYPE for one of them [default: one that the operation takes].
    #[arg(long, value_name = "DTYPE")]
    dtype: Vec<String>,
    /// Another argument of the operation, such as dim=1.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    arguments: Vec<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Explain {
    pub fn run(&self) -> Result<Ending, Failure> {
        let mut ask = Vec::new();
        for argument in &self.ask {
            ask.push(if argument == "-" { standard_input()? } else { argument.clone() });
        }
        let options = Options {
            op: self.op.clone(),
            out: self.out.clone(),
            dtypes: self.dtype.clone(),
            arguments: self.arguments.clone(),
        };
        let answer = broadcheck_explain::explain(&ask, &options)
            .map_err(|error| escape::visible(&error.to_string()).into_owned())?;
        match self.format {
            Format::Text => print(&text(&answer))?,
            Format::Json => print(&format!("{}\n", serde_json::to_string_pretty(&answer)?))?,
        }
        Ok(match answer.verdict {
            Verdict::Accepted | Verdict::Conditional | Verdict::Unknown => Ending::Conforms,
            Verdict::Rejected | Verdict::Reported => Ending::Differs,
        })
    }
}

fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().take(MOST_INPUT).read_to_string(&mut text)?;
    Ok(text)
}

/// The answer for a terminal.
fn text(answer: &Answer) -> String {
    let mut text = String::new();
    if let Some(meaning) = &answer.reported {
        let _ = writeln!(
            text,
            "{BAD}{}{BAD:#}  {}",
            meaning.exception.as_deref().unwrap_or("message"),
            escape::visible(&meaning.message)
        );
        if let Some(line) = &meaning.line {
            let _ = writeln!(text, "{FAINT}raised by{FAINT:#}  {}", escape::visible(line));
        }
        let _ = writeln!(text, "\n{}.", escape::visible(&meaning.says));
        for look in &meaning.look {
            let _ = writeln!(text, "{LOOK}look at{LOOK:#}  {}", escape::visible(look));
        }
        if answer.verdict == Verdict::Reported {
            return text;
        }
        text.push('\n');
    }
    if let Some(drawing) = &answer.drawing {
        draw(drawing, &mut text);
    }
    verdict(answer, &mut text);
    for caution in &answer.cautions {
        let _ = writeln!(text, "{LOOK}look at{LOOK:#}   {}", escape::visible(caution));
    }
    for warning in &answer.warnings {
        let _ = writeln!(text, "{LOOK}warning{LOOK:#}   {}", escape::visible(warning));
    }
    for gradient in &answer.gradients {
        let _ = writeln!(text, "{FAINT}backward  {}{FAINT:#}", escape::visible(gradient));
    }
    if !answer.fixes.is_empty() {
        let head = if answer.is_rejected() { "These work:" } else { "If another result is meant:" };
        let _ = writeln!(text, "\n{head}");
        let width = answer.fixes.iter().map(|fix| fix.code.chars().count()).max().unwrap_or(0).min(60);
        let results = answer.fixes.iter().map(|fix| fix.result.chars().count()).max().unwrap_or(0);
        for fix in &answer.fixes {
            let (code, result, why) = (escape::visible(&fix.code), &fix.result, escape::visible(&fix.why));
            let _ = writeln!(
                text,
                "  {CODE}{code:<width$}{CODE:#}  {GOOD}{result:<results$}{GOOD:#}  {FAINT}{why}{FAINT:#}"
            );
        }
    }
    text
}

fn verdict(answer: &Answer, text: &mut String) {
    let call = escape::visible(if answer.source.contains('\n') { &answer.call } else { &answer.source });
    match answer.verdict {
        Verdict::Accepted | Verdict::Conditional => {
            let word = if answer.verdict == Verdict::Accepted { "accepted" } else { "depends" };
            let style = if answer.verdict == Verdict::Accepted { GOOD } else { LOOK };
            let _ = write!(text, "{style}{word:<8}{style:#}  {call}");
            if let Some(result) = &answer.result {
                let dtype = if ["float32", ""].contains(&result.dtype.as_str()) {
                    String::new()
                } else {
                    format!(" of {}", result.dtype)
                };
                let memory = answer.memory.as_ref().map(|memory| format!(", {memory}")).unwrap_or_default();
                let _ = write!(text, " gives shape {}{dtype}{memory}", result.shape);
            }
            text.push('\n');
            for (at, condition) in answer.conditions.iter().enumerate() {
                let word = if at == 0 { "if" } else { "or if" };
                let _ = writeln!(text, "          {word} {}", escape::visible(condition));
            }
        }
        Verdict::Rejected => {
            // Of several steps, the call that is rejected.
            let call = if answer.call == answer.source { call } else { escape::visible(&answer.call) };
            let _ = writeln!(text, "{BAD}rejected{BAD:#}  {call}");
            let _ = writeln!(text, "          {}", escape::visible(answer.message.as_deref().unwrap_or_default()));
        }
        Verdict::Unknown => {
            let what = answer.message.as_deref().unwrap_or_default();
            let _ = writeln!(text, "{LOOK}depends{LOOK:#}   {call}\n          on elements: {}", escape::visible(what));
        }
        Verdict::Reported => {}
    }
}

/// A column for each dimension, a row for each shape, the result below, then the rules in words.
fn draw(drawing: &Drawing, text: &mut String) {
    if drawing.columns.is_empty() && drawing.rules.is_empty() {
        text.push_str("no shape has a dimension, so there is nothing to line up\n\n");
        return;
    }
    let width = drawing.width();
    let names = drawing.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(10);
    if !drawing.columns.is_empty() {
        let numbered = drawing.columns.iter().all(|column| column.chars().all(|c| c.is_ascii_digit()));
        let _ = write!(text, "{FAINT}{:<names$}", if numbered { "dimension" } else { "" });
        for column in &drawing.columns {
            let _ = write!(text, "  {column:>width$}");
        }
        let _ = writeln!(text, "{FAINT:#}");
        let (results, operands): (Vec<&Row>, Vec<&Row>) = drawing.rows.iter().partition(|row| row.result);
        for row in operands {
            draw_row(row, (names, width), text);
            let _ = writeln!(text, "   {FAINT}{}{FAINT:#}", row.shape);
        }
        let _ = writeln!(text, "{:<names$}{}", "", "─".repeat((width + 2) * drawing.columns.len()));
        for row in results {
            draw_row(row, (names, width), text);
            text.push('\n');
        }
        text.push('\n');
    }
    for rule in &drawing.rules {
        let mark = if rule.holds { format!("{GOOD}✓{GOOD:#}") } else { format!("{BAD}✗{BAD:#}") };
        let _ = writeln!(text, "{mark} {}", escape::visible(&rule.text));
    }
    text.push('\n');
}

fn draw_row(row: &Row, (names, width): (usize, usize), text: &mut String) {
    let _ = write!(text, "{:<names$}", escape::visible(&row.name));
    // Nothing is printed behind the last size of the result, which ends its line.
    let shown = |cell: &Cell| !(row.result && cell.mark == Mark::Empty);
    let count = row.cells.iter().rposition(shown).map_or(0, |last| last + 1);
    for cell in &row.cells[..count] {
        let Cell { text: size, mark } = cell;
        let (style, size) = match mark {
            Mark::Conflict => (BAD, size.as_str()),
            Mark::Missing => (FAINT, "·"),
            Mark::Empty => (FAINT, ""),
            Mark::Expanded | Mark::Reduced => (LOOK, size.as_str()),
            Mark::Plain if row.result => (GOOD, size.as_str()),
            Mark::Plain => (Style::new(), size.as_str()),
        };
        let _ = write!(text, "  {style}{size:>width$}{style:#}");
    }
}
