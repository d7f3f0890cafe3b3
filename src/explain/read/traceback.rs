//! The frames of a traceback, as CPython and IPython print them.

use std::ops::Range;

/// A frame of a traceback: a line of source that was being executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The file, or what stands for it: `<stdin>`, `Cell In[5]`.
    pub file: String,
    /// The number of the line in the file.
    pub line: Option<u32>,
    /// The function.
    pub function: Option<String>,
    /// The source, if the traceback has it.
    pub source: Option<String>,
    /// The place of the source in the text, in bytes; of the frame's first line, if it has no source.
    pub span: Range<usize>,
    /// True of code of PyTorch, of Python itself, and of other installed packages.
    pub library: bool,
}

/// Where the traceback begins and its frames, the one that raised last.
pub fn frames(text: &str) -> (Option<usize>, Vec<Frame>) {
    let lines = lines(text);
    let mut start = None;
    let mut frames = Vec::new();
    let mut notebook: Option<Frame> = None;
    let mut at = 0;
    while let Some(&(place, line)) = lines.get(at) {
        at += 1;
        if line.contains("Traceback (most recent call last)") {
            start = start.or(Some(place));
        } else if let Some(mut frame) = python_frame(line, place) {
            let prefix = line.split("File \"").next().unwrap_or_default().trim();
            let inner = line.find("File \"").unwrap_or_default();
            let source = lines.get(at..).unwrap_or_default().iter().map_while(|&(place, next)| {
                let rest = next.trim_start().strip_prefix(prefix)?;
                let blank = next.len() - rest.trim_start().len();
                let ended = rest.trim().is_empty() || blank <= inner || python_frame(next, place).is_some();
                (!ended).then_some((place + blank, rest.trim()))
            });
            let source: Vec<(usize, &str)> = source.collect();
            at += source.len();
            let own = |(_, line): &&(usize, &str)| !is_underline(line) && !line.starts_with("[Previous line");
            let own: Vec<&(usize, &str)> = source.iter().filter(own).collect();
            if let (Some((from, _)), Some((to, last))) = (own.first(), own.last()) {
                frame.span = *from..to + last.len();
                frame.source = Some(own.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n"));
            }
            start = start.or(Some(place));
            frames.push(frame);
        } else if let Some((number, source)) = arrow(line) {
            let mut frame = notebook.take().unwrap_or_else(|| frame_of("<notebook>", place..place + line.len()));
            frame.line = frame.line.or(number);
            if !source.trim().is_empty() {
                let from = place + line.len() - source.trim_start().len();
                frame.span = from..from + source.trim().len();
                frame.source = Some(source.trim().to_owned());
            }
            start = start.or(Some(place));
            frames.push(frame);
        } else if let Some(frame) = notebook_frame(line, place) {
            notebook = Some(frame);
        }
    }
    (start, frames)
}

/// The lines of a text, each with its place.
pub fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let line = |line: &'_ str| {
        let place = at;
        at += line.len();
        place
    };
    let places: Vec<usize> = text.split_inclusive('\n').map(line).collect();
    places.into_iter().zip(text.split_inclusive('\n').map(|line| line.trim_end_matches(['\n', '\r']))).collect()
}

/// `File "train.py", line 12, in forward`
fn python_frame(line: &str, place: usize) -> Option<Frame> {
    let (_, rest) = line.split_once("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(digits);
    let function = rest.strip_prefix(", in ").map(|name| name.trim().to_owned());
    Some(Frame { line: number.parse().ok(), function, ..frame_of(file, place..place + line.len()) })
}

/// `File ~/train.py:12, in forward(x)`, `Cell In[5], line 3`, `Input In [5], in <module>`,
/// `<ipython-input-5-c0ffee> in <module>`, `/opt/module.py in forward(self, x)`
fn notebook_frame(line: &str, place: usize) -> Option<Frame> {
    let line = line.trim_end();
    let span = place..place + line.len();
    if let Some(rest) = line.strip_prefix("File ") {
        let (file, rest) = rest.split_once(':')?;
        let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
        let function = Some(function.to_owned()).filter(|function| !function.is_empty());
        return Some(Frame { line: number.trim().parse().ok(), function, ..frame_of(file, span) });
    }
    if line.starts_with("Cell In") || line.starts_with("Input In") {
        let (file, rest) = line.split_once("], ").unwrap_or((line, ""));
        let number = rest.strip_prefix("line ").map(|rest| rest.trim().trim_end_matches(':'));
        return Some(Frame { line: number.and_then(|number| number.parse().ok()), ..frame_of(file, span) });
    }
    let (file, function) = line.split_once(" in ")?;
    let is_file = file.ends_with(".py") || file.starts_with("<ipython-input") || file.starts_with("/tmp/ipykernel");
    (is_file && !file.contains(' ')).then(|| Frame { function: Some(function.to_owned()), ..frame_of(file, span) })
}

/// `----> 3 x + y`: the number and the source.
fn arrow(line: &str) -> Option<(Option<u32>, &str)> {
    let rest = line.trim_start().strip_prefix("--")?.trim_start_matches('-').strip_prefix('>')?.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, source) = rest.split_at(digits);
    (digits > 0).then(|| (number.parse().ok(), source))
}

fn frame_of(file: &str, span: Range<usize>) -> Frame {
    let installed = ["site-packages", "dist-packages", "/torch/", "\\torch\\", "/lib/python3", "\\lib\\", "<frozen "];
    let library = installed.iter().any(|part| file.contains(part));
    Frame { file: file.to_owned(), line: None, function: None, source: None, span, library }
}

/// True of the line below a source line, which underlines a part of it.
fn is_underline(line: &str) -> bool {
    line.chars().all(|c| matches!(c, '^' | '~' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_prints_the_source_below_the_frame() {
        let text = "[rank0]: Traceback (most recent call last):\n\
                    [rank0]:   File \"/opt/me/train.py\", line 12, in <module>\n\
                    [rank0]:     y = net(\n\
                    [rank0]:         x, mask)\n\
                    [rank0]:     ~~~^^^^^^^^\n\
                    [rank0]:   File \"/opt/site-packages/torch/nn/module.py\", line 7, in f\n\
                    [rank0]:   File \"<stdin>\", line 1, in <module>\n\
                    [rank0]: RuntimeError: no\n";
        let (start, frames) = frames(text);
        assert_eq!((start, frames.len()), (Some(0), 3));
        assert_eq!(frames[0].source.as_deref(), Some("y = net(\nx, mask)"));
        assert!(text[frames[0].span.clone()].starts_with("y = net("));
        assert!(text[frames[0].span.clone()].ends_with("x, mask)"));
        assert_eq!((frames[0].line, frames[0].function.as_deref()), (Some(12), Some("<module>")));
        assert_eq!(frames.iter().map(|frame| frame.library).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(frames[1].source, None);
    }

    #[test]
    fn notebooks_mark_the_line_with_an_arrow() {
        for (head, file, number) in [
            ("Cell In[5], line 3", "Cell In[5", Some(3)),
            ("<ipython-input-5-c0ffee> in <module>", "<ipython-input-5-c0ffee>", Some(9)),
            ("File ~/train.py:12, in forward(x)", "~/train.py", Some(12)),
            ("/opt/conda/lib/python3.7/site-packages/torch/module.py in f(self)", "/opt/conda", Some(9)),
        ] {
            let text = format!("{head}\n      8 a = 1\n----> 9 b = x + y\n     10 c = 1\n");
            let (_, frames) = frames(&text);
            assert_eq!(frames.len(), 1, "{head}");
            assert!(frames[0].file.starts_with(file), "{head}");
            assert_eq!((frames[0].line, frames[0].source.as_deref()), (number, Some("b = x + y")), "{head}");
            assert_eq!(&text[frames[0].span.clone()], "b = x + y");
            assert_eq!(frames[0].library, head.contains("site-packages"));
        }
    }
}
