//! An adapter that is wrong on purpose: it tests the harness.
//!
//! `faulty FAULT [OPERATION]` answers as the reference does, except for one fault. A fault of the process or of the
//! stream strikes each program that uses OPERATION (`mul` unless given), so that a program can be blamed for it; a lie
//! about results applies wherever there is a result that it fits. `faulty --list` lists them; `faulty honest` has
//! none.

mod evasion;
mod stream;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use broadcheck::adapter::{Hello, Implementation, serve};
use broadcheck::harness::mutation::wrong_replies;
use broadcheck::ops::Op;
use broadcheck::program::{Program, Reply};
use broadcheck::reference::Reference;

use evasion::Evasion;
use stream::Strike;

/// One way to be wrong.
struct Fault {
    name: &'static str,
    what: &'static str,
    /// The programs in which it shows.
    shows: &'static str,
    how: How,
}

/// The part that is wrong.
enum How {
    /// The reply, well-formed but wrong.
    Lie(wrong_replies::Lie),
    /// The process or the stream.
    Strike(Strike),
    /// Its `hello`, so that less is judged, or the end of its process.
    Evade(Evasion),
}

macro_rules! faults {
    ($($kind:ident $name:literal $what:literal in $shows:literal => $how:expr;)+) => {
        &[$(Fault { name: $name, what: $what, shows: $shows, how: How::$kind($how) }),+]
    };
}

const FAULTS: &[Fault] = faults! {
    Lie "honest" "breaks nothing: the control" in "no program" => wrong_replies::honest;

    Lie "wrong-shape" "puts a 1 before the sizes of each tensor" in "programs with a tensor as result" => wrong_replies::wrong_shape;
    Lie "wrong-value" "changes one element of one result" in "programs with a tensor that has elements as result"
        => wrong_replies::wrong_value;
    Lie "wrong-dtype" "answers in float32, or in float64 where float32 is right"
        in "programs with a tensor as result" => wrong_replies::wrong_dtype;
    Lie "wrong-message" "changes a character of each message" in "programs with a rejection" => wrong_replies::wrong_message;
    Lie "swapped-operands" "swaps two tensor operands" in "programs with a functional sub, div or order comparison of \
        tensors that differ" => wrong_replies::swapped_operands;
    Lie "wrong-strides" "claims that every tensor is contiguous" in "programs with an expanded, transposed or sliced \
        tensor" => wrong_replies::wrong_strides;
    Lie "lost-alias" "claims that every view is a copy" in "programs with a view" => wrong_replies::lost_alias;
    Lie "changed-target" "changes the target before it rejects" in "programs with a rejected in-place step on an input \
        that has elements" => wrong_replies::changed_target;
    Lie "grows-target" "lets an in-place step change the shape of its target"
        in "programs with an in-place step rejected for its shape" => wrong_replies::grows_target;
    Lie "refuses-everything" "rejects each step with a plausible text" in "programs with any result"
        => wrong_replies::rejects_everything;
    Lie "accepts-everything" "turns each rejection into zeros" in "programs with a rejection"
        => wrong_replies::accepts_everything;
    Lie "wrong-gradient" "does not sum a gradient over the dimensions that were broadcast"
        in "programs with the gradient of an input that was broadcast" => wrong_replies::wrong_gradient;
    Lie "lost-warning" "keeps warnings to itself" in "programs with a warning" => wrong_replies::lost_warning;
    Lie "invented-warning" "warns in the first step" in "programs with a step" => wrong_replies::invented_warning;
    Lie "lost-nan" "puts 0 for NaN" in "programs with NaN in a result" => wrong_replies::lost_nan;
    Lie "lost-zero-sign" "puts 0 for -0" in "programs with -0 in a result" => wrong_replies::lost_zero_sign;

    Strike "dies" "aborts instead of answering" in "programs with OPERATION" => Strike::Dies;
    Strike "quits" "exits with status 0 instead of answering" in "programs with OPERATION" => Strike::Quits;
    Strike "greedy" "takes memory until it gets no more instead of answering" in "programs with OPERATION"
        => Strike::Greedy;
    Strike "hangs" "never answers" in "programs with OPERATION" => Strike::Hangs;
    Strike "rubbish" "writes a line that is no JSON instead of answering" in "programs with OPERATION"
        => Strike::Rubbish;
    Strike "banner" "writes a library's banner to standard output, then answers" in "programs with OPERATION"
        => Strike::Banner;
    Strike "blank-line" "writes an empty line, then answers" in "programs with OPERATION" => Strike::BlankLine;
    Strike "half-line" "writes half of the answer, then hangs" in "programs with OPERATION" => Strike::HalfLine;
    Strike "half-frame" "writes half of the answer as a frame, then hangs" in "programs with OPERATION" => Strike::HalfFrame;
    Strike "line-for-frame" "answers a frame by a line" in "programs with OPERATION" => Strike::LineForFrame;
    Strike "endless-line" "writes a line that does not end" in "programs with OPERATION" => Strike::EndlessLine;
    Strike "wrong-seq" "answers with another number" in "programs with OPERATION" => Strike::WrongSeq;
    Strike "short-data" "leaves a byte out of the data" in "programs with OPERATION that have a tensor with elements as \
        result" => Strike::ShortData;
    Strike "missing-step" "leaves the last outcome out" in "programs with OPERATION" => Strike::MissingStep;
    Strike "undeclared-unsupported" "calls unsupported what its hello declares" in "programs with OPERATION"
        => Strike::UndeclaredUnsupported;
    Strike "misunderstands" "answers that the request makes no sense" in "programs with OPERATION"
        => Strike::Misunderstands;
    Strike "dies-at-start" "exits with status 3 before its hello" in "no program: it does not start"
        => Strike::DiesAtStart;
    Strike "hangs-at-start" "never says hello" in "no program: it does not start" => Strike::HangsAtStart;
    Strike "rubbish-at-start" "writes a banner before its hello" in "no program: it does not start"
        => Strike::RubbishAtStart;
    Strike "old-protocol" "speaks protocol version 0" in "no program: it does not start" => Strike::OldProtocol;

    Evade "zeros-as-no-values" "says that it tells no elements, and sends zeros" in "programs with elements as result"
        => Evasion::ZerosAsNoValues;
    Evade "no-values" "tells no elements" in "no program: what it gets wrong is not seen" => Evasion::NoValues;
    Evade "named-reference" "calls itself `reference`" in "no program: it does not start" => Evasion::NamedReference;
    Evade "one-operation" "declares one operation" in "no program: the others are not sent" => Evasion::OneOperation;
    Evade "lacks-its-mistakes" "gets OPERATION wrong, and says that it lacks it" in "no program: it is not sent"
        => Evasion::LacksItsMistakes;
    Evade "unbound-excuse" "answers each step as unsupported, in a text of its hello that names no operation"
        in "programs with a step" => Evasion::UnboundExcuse;
    Evade "excuse-of-another" "answers each step as unsupported, in a text of its hello for OPERATION"
        in "programs with another operation" => Evasion::ExcuseOfAnother;
    Evade "fails-at-the-end" "exits with status 3 after its last answer" in "no program" => Evasion::FailsAtTheEnd;
    Evade "crashes-at-the-end" "aborts after its last answer" in "no program" => Evasion::CrashesAtTheEnd;
    Evade "speaks-at-the-end" "writes a line after its last answer" in "no program" => Evasion::SpeaksAtTheEnd;
    Evade "hidden-text" "has control and format characters in every text; aborts over div" in "programs with a rejection"
        => Evasion::HiddenText;
};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("faulty: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut args = std::env::args().skip(1);
    let name = args.next().ok_or("which fault? `faulty --list` lists them")?;
    if name == "--list" {
        return list().map_err(|error| error.to_string());
    }
    let fault = FAULTS.iter().find(|fault| fault.name == name);
    let fault = fault.ok_or_else(|| format!("no fault is called {name:?}; `faulty --list` lists them"))?;
    let struck = args.next().unwrap_or_else(|| Op::Mul.name().to_owned());
    let (struck, _) = Op::parse(&struck).ok_or_else(|| format!("no operation is called {struck:?}"))?;
    let (input, output) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    let served = match &fault.how {
        How::Lie(lie) => serve(&mut Liar { name: fault.name, lie: *lie }, input, output),
        How::Strike(strike) => stream::serve(*strike, struck, hello(fault.name), input, output),
        How::Evade(evasion) => evasion::serve(*evasion, struck, hello(fault.name), input, output),
    };
    served.map_err(|error| error.to_string())
}

/// The reference, with a lie in what it answers.
struct Liar {
    name: &'static str,
    lie: wrong_replies::Lie,
}

impl Implementation for Liar {
    fn hello(&mut self) -> Hello {
        hello(self.name)
    }

    fn run(&mut self, program: &Program) -> Reply {
        (self.lie)(program)
    }
}

/// It declares all that the reference has; `build` names the fault.
fn hello(fault: &str) -> Hello {
    Hello { name: "faulty".to_owned(), build: fault.to_owned(), ..reference().hello() }
}

fn reference() -> impl Implementation {
    Reference
}

fn list() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for Fault { name, what, shows, .. } in FAULTS {
        writeln!(output, "{name:<23} {what}\n{:<23} shows in {shows}", "")?;
    }
    Ok(())
}
