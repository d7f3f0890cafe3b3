//! Faults of the process and of the stream: what the harness alone may call a crash, a time-out or a protocol error.

use std::io::{self, BufRead, Read, Write};
use std::thread;

use broadcheck::adapter::protocol::{Encoding, Request, Response, VERSION};
use broadcheck::adapter::{Hello, Implementation};
use broadcheck::ops::Op;
use broadcheck::program::{Outcome, Program, Reply, Value};

/// The change of an answer. `main.rs` describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    Dies,
    Quits,
    Greedy,
    Hangs,
    Rubbish,
    Banner,
    BlankLine,
    HalfLine,
    HalfFrame,
    LineForFrame,
    EndlessLine,
    WrongSeq,
    ShortData,
    MissingStep,
    UndeclaredUnsupported,
    Misunderstands,
    DiesAtStart,
    HangsAtStart,
    RubbishAtStart,
    OldProtocol,
}

/// Answers requests until the input ends, honestly but for the programs that use `struck`.
pub fn serve(
    strike: Strike,
    struck: Op,
    hello: Hello,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    while let Some(message) = next(&mut input)? {
        let mut encoding = Encoding::of(&message);
        let response = match Request::parse(&message) {
            Err(message) => Response::Error { message },
            Ok(Request::Hello { .. }) => greet(strike, hello.clone(), &mut output)?,
            Ok(Request::Run { seq, program }) => {
                let reply = super::reference().run(&program);
                match program.steps.iter().any(|step| step.op == struck) {
                    true => {
                        if strike == Strike::LineForFrame {
                            encoding = Encoding::Json;
                        }
                        answer(strike, seq, &program, reply, &mut output)?
                    }
                    false => Response::Ran { seq, reply },
                }
            }
        };
        let mut answer = Vec::new();
        response.write(encoding, &mut answer);
        output.write_all(&answer)?;
        output.flush()?;
    }
    Ok(())
}

/// The next message, a line without its end or a frame.
fn next(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut message = Vec::new();
    if input.fill_buf()?.first() == Some(&0) {
        let mut header = [0; 5];
        input.read_exact(&mut header)?;
        let [_, length @ ..] = header;
        message.extend(header);
        input.take(u32::from_le_bytes(length).into()).read_to_end(&mut message)?;
    } else if input.read_until(b'\n', &mut message)? == 0 {
        return Ok(None);
    } else {
        message.pop();
    }
    Ok(Some(message))
}

fn greet(strike: Strike, hello: Hello, output: &mut impl Write) -> io::Result<Response> {
    match strike {
        Strike::DiesAtStart => {
            eprintln!("libfaulty.so.1: cannot open shared object file: No such file or directory");
            std::process::exit(3)
        }
        Strike::HangsAtStart => sleep_forever(),
        Strike::RubbishAtStart => writeln!(output, "Welcome to faulty!")?,
        _ => {}
    }
    let protocol = if strike == Strike::OldProtocol { 0 } else { VERSION };
    let frames = matches!(strike, Strike::HalfFrame | Strike::LineForFrame);
    let encodings = if frames { vec![Encoding::MessagePack] } else { Vec::new() };
    Ok(Response::Hello { protocol, encodings, hello })
}

fn answer(
    strike: Strike,
    mut seq: u64,
    program: &Program,
    mut reply: Reply,
    output: &mut impl Write,
) -> io::Result<Response> {
    // Only for the sake of what the harness shows along with a fault; it must not read anything into it.
    eprintln!("faulty strikes program {seq}");
    match strike {
        Strike::Dies => std::process::abort(),
        Strike::Quits => std::process::exit(0),
        Strike::Greedy => {
            // Address space only: what counts is what it asks for, and the machine is to stay usable.
            let mut taken: Vec<Vec<u8>> = Vec::new();
            loop {
                taken.push(Vec::with_capacity(1 << 28));
            }
        }
        Strike::Hangs => sleep_forever(),
        Strike::Rubbish => {
            writeln!(output, "assertion failed: it was fine yesterday")?;
            output.flush()?;
            sleep_forever()
        }
        Strike::Banner => writeln!(output, "faulty 1.0 is using 2 threads")?,
        Strike::BlankLine => writeln!(output)?,
        Strike::HalfLine => {
            let line = serde_json::to_string(&Response::Ran { seq, reply })?;
            output.write_all(&line.as_bytes()[..line.len() / 2])?;
            output.flush()?;
            sleep_forever()
        }
        Strike::HalfFrame => {
            let mut frame = Vec::new();
            Response::Ran { seq, reply }.write(Encoding::MessagePack, &mut frame);
            output.write_all(&frame[..frame.len() / 2])?;
            output.flush()?;
            sleep_forever()
        }
        Strike::EndlessLine => loop {
            output.write_all(&[b'x'; 1024])?;
        },
        Strike::WrongSeq => seq += 1,
        Strike::ShortData => shorten(&mut reply),
        Strike::MissingStep => drop(reply.steps.pop()),
        Strike::UndeclaredUnsupported => {
            reply.steps[0].outcome = Outcome::Unsupported(format!("{} on Sundays", program.steps[0].op));
        }
        Strike::Misunderstands => {
            return Ok(Response::Error { message: format!("unknown operation {}", program.steps[0].op) });
        }
        // Its answer is right; only that it is no frame is wrong.
        Strike::LineForFrame => {}
        Strike::DiesAtStart | Strike::HangsAtStart | Strike::RubbishAtStart | Strike::OldProtocol => {}
    }
    Ok(Response::Ran { seq, reply })
}

fn shorten(reply: &mut Reply) {
    for step in &mut reply.steps {
        if let Outcome::Value(Value::Tensor(tensor)) = &mut step.outcome
            && tensor.data.pop().is_some()
        {
            return;
        }
    }
}

fn sleep_forever() -> ! {
    loop {
        thread::park();
    }
}
