//! Evasions: what an adapter says of itself so that less is judged, and how its process ends.

use std::io::{self, BufRead, Write};

use broadcheck::adapter::{Capability, Hello, Implementation, UnsupportedCall, serve as answer};
use broadcheck::ops::Op;
use broadcheck::program::{Outcome, Program, Reply, TensorValue, Value};
use broadcheck::reference::Reference;

/// The text of an excuse.
const EXCUSE: &str = "not today";

/// One way to have less judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evasion {
    /// Says `no_values`, and sends zeros.
    ZerosAsNoValues,
    /// Says `no_values`, and sends no elements.
    NoValues,
    /// Has the name of the reference.
    NamedReference,
    /// Declares one operation.
    OneOperation,
    /// Lacks the operation that it gets wrong.
    LacksItsMistakes,
    /// An excuse that is bound to nothing.
    UnboundExcuse,
    /// An excuse that is bound to one operation, for all others.
    ExcuseOfAnother,
    /// An exit code at the end.
    FailsAtTheEnd,
    /// A signal at the end.
    CrashesAtTheEnd,
    /// Output at the end.
    SpeaksAtTheEnd,
    /// Texts that change how others are seen.
    HiddenText,
}

/// A text that reverses the direction, clears the screen, ends code in Markdown and HTML, and is not valid in XML.
const HIDDEN: &str = "\u{202e}\u{1b}[2J\r```</code>\u{fffe}\u{200b}";

/// Serves the reference, evasively.
pub fn serve(
    evasion: Evasion,
    struck: Op,
    hello: Hello,
    input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut evader = Evader { evasion, hello: declare(evasion, struck, hello), struck };
    answer(&mut evader, input, &mut output)?;
    match evasion {
        Evasion::FailsAtTheEnd => std::process::exit(3),
        Evasion::CrashesAtTheEnd => std::process::abort(),
        Evasion::SpeaksAtTheEnd => {
            writeln!(output, "goodbye")?;
            output.flush()
        }
        _ => Ok(()),
    }
}

fn declare(evasion: Evasion, struck: Op, hello: Hello) -> Hello {
    let bound = |ops: &[Op]| vec![UnsupportedCall::of(EXCUSE, ops)];
    let blind = || [hello.capabilities.clone(), vec![Capability::NoValues]].concat();
    match evasion {
        Evasion::ZerosAsNoValues | Evasion::NoValues => Hello { capabilities: blind(), ..hello },
        Evasion::NamedReference => Hello { name: "reference".to_owned(), ..hello },
        Evasion::OneOperation => Hello { ops: vec![struck], ..hello },
        Evasion::LacksItsMistakes => {
            let ops = hello.ops.iter().copied().filter(|op| *op != struck).collect();
            Hello { ops, ..hello }
        }
        Evasion::UnboundExcuse => Hello { unsupported: bound(&[]), ..hello },
        Evasion::ExcuseOfAnother => Hello { unsupported: bound(&[struck]), ..hello },
        Evasion::FailsAtTheEnd | Evasion::CrashesAtTheEnd | Evasion::SpeaksAtTheEnd => hello,
        Evasion::HiddenText => Hello {
            name: format!("faulty{HIDDEN}"),
            version: format!("1{HIDDEN}"),
            build: HIDDEN.to_owned(),
            unsupported: vec![UnsupportedCall::of(HIDDEN, &[struck])],
            ..hello
        },
    }
}

struct Evader {
    evasion: Evasion,
    hello: Hello,
    struck: Op,
}

impl Implementation for Evader {
    fn hello(&mut self) -> Hello {
        self.hello.clone()
    }

    fn run(&mut self, program: &Program) -> Reply {
        let mut reply = Reference.run(program);
        for (step, answer) in program.steps.iter().zip(&mut reply.steps) {
            match self.evasion {
                Evasion::UnboundExcuse | Evasion::ExcuseOfAnother => {
                    answer.outcome = Outcome::Unsupported(EXCUSE.to_owned());
                }
                Evasion::ZerosAsNoValues => of_tensors(&mut answer.outcome, |tensor| tensor.data.fill(0)),
                Evasion::NoValues => of_tensors(&mut answer.outcome, |tensor| tensor.data.clear()),
                Evasion::LacksItsMistakes if step.op == self.struck => {
                    of_tensors(&mut answer.outcome, |tensor| tensor.data.fill(0));
                }
                Evasion::HiddenText if step.op == self.struck => {
                    answer.outcome = Outcome::Unsupported(HIDDEN.to_owned());
                }
                Evasion::HiddenText => {
                    if step.op == Op::Div {
                        eprintln!("{HIDDEN}");
                        std::process::abort();
                    }
                    if let Outcome::Rejected(rejected) = &mut answer.outcome {
                        rejected.message += HIDDEN;
                    }
                    answer.warnings.push(HIDDEN.to_owned());
                }
                _ => {}
            }
        }
        match self.evasion {
            Evasion::ZerosAsNoValues => reply.inputs.iter_mut().for_each(|tensor| tensor.data.fill(0)),
            Evasion::NoValues => reply.inputs.iter_mut().for_each(|tensor| tensor.data.clear()),
            _ => {}
        }
        reply
    }
}

fn of_tensors(outcome: &mut Outcome, change: impl Fn(&mut TensorValue)) {
    match outcome {
        Outcome::Value(Value::Tensor(tensor)) => change(tensor),
        Outcome::Value(Value::Tensors(tensors)) => tensors.iter_mut().for_each(change),
        _ => {}
    }
}
