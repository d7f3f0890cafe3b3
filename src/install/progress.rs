//! Shows how far an installation is: bars on a terminal, plain lines elsewhere, or nothing. It writes to standard
//! error, so that standard output carries results only, and it must not know what the phases do.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};

/// The output on which progress is shown, and its form.
pub struct Progress {
    form: Form,
}

enum Form {
    Silent,
    Bars,
    Lines { sink: Mutex<Box<dyn Write + Send>>, every: Duration },
}

/// The interval at which a long phase says in plain lines that it is alive: often enough that a
/// continuous-integration service does not think it hangs, seldom enough that its log stays readable.
const LINE_INTERVAL: Duration = Duration::from_secs(15);

impl Progress {
    /// Bars when standard error is a terminal, plain lines otherwise.
    pub fn auto() -> Progress {
        let plain = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if io::stderr().is_terminal() && !plain {
            Progress { form: Form::Bars }
        } else {
            Progress::lines(Box::new(io::stderr()), LINE_INTERVAL)
        }
    }

    /// Shows nothing.
    pub fn silent() -> Progress {
        Progress { form: Form::Silent }
    }

    /// Plain lines to `sink`: one for each phase, and one more each time `every` has passed within it.
    pub fn lines(sink: Box<dyn Write + Send>, every: Duration) -> Progress {
        Progress { form: Form::Lines { sink: Mutex::new(sink), every } }
    }

    /// Begins a phase, which lasts until the value is dropped. `total` is its size in bytes, where it has one.
    pub(crate) fn phase(&self, title: impl Into<String>, total: Option<u64>) -> Phase<'_> {
        let title = title.into();
        let size = total.map(|bytes| format!(" ({})", HumanBytes(bytes))).unwrap_or_default();
        self.line(&format!("{title}{size}"));
        let bar = matches!(self.form, Form::Bars).then(|| new_bar(&title, total));
        let now = Instant::now();
        Phase { progress: self, bar, title, total, bytes: 0, detail: String::new(), started: now, spoke: now }
    }

    /// Says something that is worth a line also where there are bars.
    pub(super) fn note(&self, text: &str) {
        match &self.form {
            Form::Silent => {}
            Form::Bars => eprintln!("{text}"),
            Form::Lines { .. } => self.line(text),
        }
    }

    /// A plain line; nothing in the other forms, where the bar says it.
    fn line(&self, text: &str) {
        if let Form::Lines { sink, .. } = &self.form {
            // Progress that cannot be shown is no reason to stop installing.
            let mut sink = sink.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let _ = writeln!(sink, "{text}").and_then(|()| sink.flush());
        }
    }
}

/// A phase in progress.
pub(crate) struct Phase<'a> {
    progress: &'a Progress,
    bar: Option<ProgressBar>,
    title: String,
    total: Option<u64>,
    bytes: u64,
    detail: String,
    started: Instant,
    spoke: Instant,
}

impl Phase<'_> {
    /// So many bytes are done.
    pub(super) fn at(&mut self, bytes: u64) {
        self.bytes = bytes;
        if let Some(bar) = &self.bar {
            bar.set_position(bytes.min(self.total.unwrap_or(bytes)));
        }
        self.tick();
    }

    /// So many more bytes are done.
    pub(super) fn add(&mut self, bytes: u64) {
        self.at(self.bytes + bytes);
    }

    /// Reports the exact step that is under way.
    pub(crate) fn detail(&mut self, text: impl Into<String>) {
        self.detail = text.into();
        if let Some(bar) = &self.bar {
            bar.set_message(self.detail.clone());
        }
        self.tick();
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self) {
        let Form::Lines { every, .. } = &self.progress.form else { return };
        if self.spoke.elapsed() < *every {
            return;
        }
        self.spoke = Instant::now();
        let done = match self.total {
            Some(total) => format!(": {} of {}", HumanBytes(self.bytes), HumanBytes(total)),
            None if self.detail.is_empty() => String::new(),
            None => format!(": {}", self.detail),
        };
        let seconds = self.started.elapsed().as_secs();
        self.progress.line(&format!("  {}{done}, {}:{:02} so far", self.title, seconds / 60, seconds % 60));
    }
}

impl Drop for Phase<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(title: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (ProgressBar::new(total), "{prefix} [{bar:30}] {bytes} of {total_bytes}, {eta} left"),
        None => (ProgressBar::new_spinner(), "{spinner} {prefix}, {elapsed} so far {wide_msg}"),
    };
    let style = ProgressStyle::with_template(template).expect("the templates above are well formed");
    bar.set_style(style.progress_chars("=> "));
    bar.set_prefix(title.to_string());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn shown(every: Duration) -> String {
        let sink = Sink::default();
        let progress = Progress::lines(Box::new(sink.clone()), every);
        let mut phase = progress.phase("fetching", Some(2048));
        phase.at(1024);
        phase.add(512);
        drop(phase);
        String::from_utf8(sink.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn a_short_phase_is_one_line() {
        assert_eq!(shown(LINE_INTERVAL), "fetching (2.00 KiB)\n");
    }

    #[test]
    fn a_long_phase_says_how_far_it_is() {
        let text = shown(Duration::ZERO);
        assert!(text.contains("1.00 KiB of 2.00 KiB") && text.contains("1.50 KiB of 2.00 KiB"), "{text}");
    }
}
