//! The harness against adapters that die, hang and lie (`adapters/faulty`): every fault is caught, named and put down
//! to the right program, and the other programs get their replies.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use broadcheck::adapter::validate::{Trial, validate};
use broadcheck::adapter::{
    CommandLine, Fault, FaultKind, Halt, Implementation, Limits, Process, StartError, unsupported_by,
};
use broadcheck::ops::{Form, Op};
use broadcheck::program::{Arg, Input, Program, Reply, Step, ValueRef};
use broadcheck::reference::Reference;
use broadcheck::tensor::{DType, Shape};

/// The programs of a batch that use the operation that `faulty` strikes.
const STRUCK: [usize; 2] = [7, 13];

#[test]
fn an_honest_adapter_gets_every_reply_through() {
    let (results, process) = run(&["honest"], limits());
    assert_right(&results, &[]);
    assert_eq!(process.hello().build, "honest");
    assert_eq!(process.restarts(), 0);
}

#[test]
fn crashes_are_attributed_to_the_program() {
    for (fault, name) in [("dies", "SIGABRT"), ("quits", "exit status: 0")] {
        let results = strike(fault, |kind| matches!(kind, FaultKind::Crashed { status } if status.contains(name)));
        let stderr = results[STRUCK[0]].as_ref().unwrap_err().stderr_lines(1);
        assert!(stderr[0].starts_with("faulty strikes program"), "{stderr:?}");
    }
}

#[test]
fn a_hang_is_attributed_to_the_program() {
    let after = limits().program;
    strike("hangs", |kind| *kind == FaultKind::TimedOut { after });
}

#[test]
fn half_a_message_is_a_protocol_fault_not_a_hang() {
    for fault in ["half-line", "half-frame"] {
        strike(fault, |kind| says(kind, "an unfinished message"));
    }
}

#[test]
fn invalid_answers_are_attributed_to_the_program_and_quoted() {
    for (fault, why, line) in [
        ("rubbish", "not JSON", "assertion failed: it was fine yesterday"),
        ("banner", "not JSON", "faulty 1.0 is using 2 threads"),
        ("blank-line", "a blank line", ""),
        ("endless-line", "a message is longer than 1048576 bytes", "xxxxxxxx"),
        ("wrong-seq", "the answer has `seq`", "{\"ran\":"),
        ("line-for-frame", "a JSON line instead of a MessagePack frame", "{\"ran\":"),
    ] {
        strike(fault, |kind| {
            says(kind, why) && matches!(kind, FaultKind::Protocol { line: quoted, .. } if quoted.starts_with(line))
        });
    }
}

#[test]
fn a_malformed_answer_costs_no_restart() {
    for (fault, why) in [
        ("short-data", "the result of step `r` (mul) has 11 bytes of data; float32 [3] takes 12 bytes"),
        ("missing-step", "the reply has 0 step outcomes, the program has 1 steps"),
        ("misunderstands", "the adapter could not parse the program: unknown operation mul"),
        ("undeclared-unsupported", "step `r` (mul) is answered as unsupported (mul on Sundays)"),
    ] {
        let (results, process) = run(&[fault], limits());
        assert_struck(&results, |kind| says(kind, why));
        assert_eq!(process.restarts(), 0, "{fault}");
    }
}

#[test]
fn an_adapter_that_does_not_start_differs_from_a_missing_one() {
    let text = |command| start(command, Limits { hello: Duration::from_millis(300), ..limits() }).err().unwrap();
    assert!(matches!(text(CommandLine::new("no-such-adapter")), StartError::NotFound { .. }));
    let dead = text(faulty(&["dies-at-start"]));
    assert!(matches!(&dead, StartError::Exited { status, .. } if status.contains('3')), "{dead}");
    assert!(dead.to_string().contains("cannot open shared object file"), "{dead}");
    let unknown = text(faulty(&["no-such-fault"]));
    assert!(unknown.to_string().contains("no fault is called"), "{unknown}");
    assert!(matches!(text(faulty(&["hangs-at-start"])), StartError::TimedOut { .. }));
    let rubbish = text(faulty(&["rubbish-at-start"]));
    assert!(matches!(&rubbish, StartError::Rubbish { line, .. } if line == "Welcome to faulty!"), "{rubbish}");
    let old = text(faulty(&["old-protocol"]));
    assert!(matches!(old, StartError::WrongProtocol { theirs: 0, .. }), "{old}");
}

/// Such as one for a GPU on a machine that has none.
#[cfg(unix)]
#[test]
fn an_adapter_may_say_why_it_cannot_run_here() {
    let command = CommandLine::new("sh")
        .arg("-c")
        .arg(r#"read -r hello; echo '{"error":{"message":"this machine has no GPU"}}'"#);
    let error = start(command.clone(), limits()).err().unwrap();
    assert!(matches!(&error, StartError::CannotRun { .. }), "{error}");
    assert_eq!(error.to_string(), "the adapter cannot run here: this machine has no GPU");
    let validated = validate(&command, &limits(), &[], None).unwrap();
    assert_eq!(validated.violations[0].what, error.to_string());
}

/// A library that ends its process is no fault of the adapter's, and not the end; an adapter that ends by itself is both.
#[test]
fn a_validation_continues_after_a_crash() {
    let batch = batch_of(20);
    let trials: Vec<Trial> = batch.iter().map(|program| ("one of a batch", program)).collect();
    let validated = |fault| validate(&faulty(&[fault]), &limits(), &trials, None).unwrap();
    let dies = validated("dies");
    assert_eq!((dies.programs, &dies.violations), (20, &Vec::new()));
    let place = |at: usize| format!("the answer to program {} (one of a batch)", at + 1);
    let struck = |(at, (named, status)): (usize, &(String, String))| *named == place(at) && status.contains("SIGABRT");
    assert_eq!(dies.ended.len(), STRUCK.len(), "{:?}", dies.ended);
    assert!(STRUCK.into_iter().zip(&dies.ended).all(struck), "{:?}", dies.ended);
    let quits = validated("quits");
    assert_eq!(
        (quits.programs, quits.ended.len(), quits.violations.len()),
        (STRUCK[0], 0, 1),
        "{:?}",
        quits.violations
    );
}

#[test]
fn a_validation_sends_lines_and_frames() {
    let batch = batch_of(20);
    let trials: Vec<Trial> = batch.iter().map(|program| ("one of a batch", program)).collect();
    let found = validate(&faulty(&["line-for-frame"]), &limits(), &trials, None).unwrap();
    // Of those that are struck, every other one is asked by a frame.
    let wanted = STRUCK.into_iter().filter(|at| at % 2 == 1).count();
    assert!(wanted > 0);
    let wrong = found.violations.iter().filter(|it| it.advice.contains("a frame by a frame")).count();
    assert_eq!((found.violations.len(), wrong), (wanted, wanted), "{:?}", found.violations);
    let honest = validate(&faulty(&["honest"]), &limits(), &trials, None).unwrap();
    assert_eq!((honest.programs, honest.violations), (20, Vec::new()));
}

#[test]
fn restarts_have_a_budget() {
    let mut process = start(faulty(&["dies", "add"]), Limits { restarts: 3, ..limits() }).unwrap();
    let batch: Vec<Program> = (0..10).map(|at| program(at, Op::Add)).collect();
    let results = process.run_all(&batch);
    let faults: Vec<&FaultKind> = results.iter().map(|result| &result.as_ref().unwrap_err().kind).collect();
    // The first restart finds the first culprit; each of the others finds one more.
    assert_eq!(faults.iter().filter(|kind| matches!(kind, FaultKind::Crashed { .. })).count(), 3);
    assert!(faults[3..].iter().all(|kind| **kind == FaultKind::BudgetSpent { restarts: 3 }), "{faults:?}");
    assert_eq!(process.restarts(), 3);
    assert!(process.id().is_none());
}

/// A hang would take ten minutes; the time to halt comes before that.
#[test]
fn a_busy_adapter_is_left_when_it_is_time_to_halt() {
    let limits = Limits { program: Duration::from_secs(600), ..limits() };
    let begun = Instant::now();
    let halt = Halt { deadline: begun.checked_add(Duration::from_secs(5)), ..Halt::default() };
    let mut process = Process::start_until(faulty(&["hangs"]), limits.clone(), halt).unwrap();
    let results = process.run_all(&batch_of(20));
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    let is_halted =
        |result: &Result<Reply, Fault>| matches!(result, Err(fault) if matches!(fault.kind, FaultKind::Halted { .. }));
    let answered = results.iter().position(is_halted).expect("it was time to halt");
    assert!(answered <= STRUCK[0] && results[answered..].iter().all(is_halted), "{results:?}");
    assert_right(&results, &(answered..20).collect::<Vec<_>>());
    assert!(process.id().is_none(), "it was killed");

    // Stopped by the callback of a reply.
    let mut process = start(faulty(&["hangs"]), limits).unwrap();
    let (leave, mut heard) = (process.leave(), 0);
    process.run_each(&batch_of(20), |_, result| {
        heard += usize::from(result.is_ok());
        leave.store(true, Ordering::Relaxed);
    });
    assert_eq!(heard, 1, "what comes after it is not run");
}

#[test]
fn without_restarts_nothing_is_confirmed() {
    let (results, _) = run(&["dies"], Limits { restarts: 0, ..limits() });
    assert!(results[..STRUCK[0]].iter().all(Result::is_ok));
    let crash = results[STRUCK[0]].as_ref().unwrap_err();
    assert!(matches!(crash.kind, FaultKind::Crashed { .. }) && !crash.confirmed, "{crash}");
    let spent = |result: &Result<Reply, Fault>| result.as_ref().unwrap_err().kind.clone();
    assert!(results[STRUCK[0] + 1..].iter().all(|result| spent(result) == FaultKind::BudgetSpent { restarts: 0 }));
}

#[test]
fn batches_larger_than_the_pipes_go_through() {
    let shape = Shape::new(vec![100_000]).unwrap();
    let data: Vec<u8> = (0..100_000u32).map(|n| n as u8).collect();
    let batch: Vec<Program> = (0..60)
        .map(|_| {
            let mut large = program(0, Op::Add);
            for input in &mut large.inputs {
                (input.dtype, input.shape, input.data) = (DType::Uint8, shape.clone(), data.clone());
            }
            large
        })
        .collect();
    let mut process = start(faulty(&["honest"]), Limits { program: Duration::from_secs(60), ..limits() }).unwrap();
    let mut order = Vec::new();
    let expected = Reference.run(&batch[0]);
    process.run_each(&batch, |at, result| {
        assert!(result.unwrap() == expected, "reply {at}");
        order.push(at);
    });
    assert_eq!(order, Vec::from_iter(0..60));
}

#[test]
fn programs_beyond_the_declaration_are_recognised() {
    let process = start(faulty(&["honest"]), limits()).unwrap();
    let mut hello = process.hello().clone();
    assert_eq!(unsupported_by(&hello, &program(0, Op::Mul)), None);
    hello.ops.retain(|&op| op != Op::Mul);
    assert_eq!(unsupported_by(&hello, &program(0, Op::Mul)).as_deref(), Some("operation mul"));
}

#[test]
fn every_wrong_reply_is_well_formed_and_detected() {
    let listed = Command::new(binary()).arg("--list").output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let names = listed.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    let telling = reporting_programs();
    let honest: Vec<Reply> = telling.iter().map(|program| Reference.run(program)).collect();
    let mut told = 0;
    // The lies come first; the faults that strike follow.
    for lie in names.take_while(|&name| name != "dies") {
        let mut process = start(faulty(&[lie]), limits()).unwrap();
        let results: Vec<Reply> = process.run_all(&telling).into_iter().map(|result| result.unwrap()).collect();
        assert_eq!(results == honest, lie == "honest", "{lie} does not show");
        told += 1;
    }
    assert!(told > 10, "{listed}");
}

#[cfg(unix)]
mod unix {
    use super::*;

    #[test]
    fn a_kill_from_outside_is_no_programs_certain_fault() {
        let batch = batch_of(200);
        let mut process = start(faulty(&["honest"]), limits()).unwrap();
        let pid = process.id().unwrap();
        let mut results = Vec::new();
        process.run_each(&batch, |at, result| {
            if at == 10 {
                assert!(signal("KILL", &pid.to_string()));
            }
            results.push(result);
        });
        assert_killed(&batch, &results);
        assert_eq!(process.restarts(), 1);
    }

    #[test]
    fn a_death_between_batches_is_noticed() {
        let batch = batch_of(20);
        let mut process = start(faulty(&["honest"]), limits()).unwrap();
        assert!(process.run_all(&batch).iter().all(Result::is_ok));
        assert!(signal("KILL", &process.id().unwrap().to_string()));
        let results = process.run_all(&batch);
        assert_killed(&batch, &results);
        assert!(results[0].is_err());
        assert!(process.run_all(&batch).iter().all(Result::is_ok));
    }

    #[test]
    fn nothing_is_left_of_an_adapter_behind_a_wrapper() {
        // The shell does not replace itself with the adapter, because it has something to do afterwards.
        let script = "\"$0\" hangs; echo never";
        let command = CommandLine::new("sh").arg("-c").arg(script).arg(binary());
        let mut process = start(command, Limits { program: Duration::from_secs(1), ..limits() }).unwrap();
        let group = format!("-{}", process.id().unwrap());
        assert!(signal("0", &group));
        let results = process.run_all(&[program(0, Op::Mul)]);
        assert!(matches!(&results[0], Err(Fault { kind: FaultKind::TimedOut { .. }, confirmed: true, .. })));
        // The process that adopted the adapter may take a moment to reap it.
        let gone = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            !signal("0", &group)
        });
        assert!(gone, "a process is left over");
    }

    #[test]
    fn nothing_is_left_of_an_idle_adapter() {
        let process = start(faulty(&["honest"]), limits()).unwrap();
        let pid = process.id().unwrap().to_string();
        assert!(signal("0", &pid));
        drop(process);
        assert!(!signal("0", &pid), "a process or a zombie is left over");
    }

    #[test]
    fn an_echo_is_not_an_adapter() {
        let error = start(CommandLine::new("cat"), limits()).err().unwrap();
        assert!(
            matches!(&error, StartError::Rubbish { why, .. } if why.starts_with("JSON, but no response")),
            "{error}"
        );
    }

    fn assert_killed(batch: &[Program], results: &[Result<Reply, Fault>]) {
        let at = results.iter().position(Result::is_err).expect("a fault");
        let fault = results[at].as_ref().unwrap_err();
        assert!(matches!(&fault.kind, FaultKind::Crashed { status } if status.contains("SIGKILL")), "{fault}");
        assert!(!fault.confirmed);
        for (program, result) in batch.iter().zip(results).enumerate().filter(|(other, _)| *other != at).map(|(_, p)| p)
        {
            assert_eq!(*result.as_ref().unwrap(), Reference.run(program));
        }
    }

    fn signal(name: &str, target: &str) -> bool {
        let script = "kill -s \"$1\" -- \"$2\" 2> /dev/null";
        Command::new("sh").args(["-c", script, "sh", name, target]).status().unwrap().success()
    }
}

/// Runs a batch against a fault that strikes two of its programs, and checks that those have it, confirmed, and the
/// others their replies.
fn strike(fault: &str, expected: impl Fn(&FaultKind) -> bool) -> Vec<Result<Reply, Fault>> {
    let (results, _) = run(&[fault], limits());
    assert_struck(&results, expected);
    results
}

fn assert_struck(results: &[Result<Reply, Fault>], expected: impl Fn(&FaultKind) -> bool) {
    assert_right(results, &STRUCK);
    for at in STRUCK {
        let fault = results[at].as_ref().expect_err("a fault");
        assert!(expected(&fault.kind), "program {at}: {fault:?}");
        assert!(fault.confirmed, "program {at}: {fault}");
    }
}

fn assert_right(results: &[Result<Reply, Fault>], except: &[usize]) {
    let batch = batch_of(20);
    assert_eq!(results.len(), batch.len());
    for (at, (program, result)) in batch.iter().zip(results).enumerate() {
        if !except.contains(&at) {
            let reply = result.as_ref().unwrap_or_else(|fault| panic!("program {at}: {fault}"));
            assert_eq!(*reply, Reference.run(program), "program {at}");
        }
    }
}

fn run(args: &[&str], limits: Limits) -> (Vec<Result<Reply, Fault>>, Process) {
    let mut process = start(faulty(args), limits).unwrap_or_else(|error| panic!("{error}"));
    (process.run_all(&batch_of(20)), process)
}

fn start(command: CommandLine, limits: Limits) -> Result<Process, StartError> {
    Process::start(command, limits)
}

fn says(kind: &FaultKind, text: &str) -> bool {
    matches!(kind, FaultKind::Protocol { why, .. } if why.contains(text))
}

/// Limits short enough for a hang to be waited for, long enough for a busy machine.
fn limits() -> Limits {
    Limits { program: Duration::from_secs(3), line: 1 << 20, ..Limits::default() }
}

fn faulty(args: &[&str]) -> CommandLine {
    args.iter().fold(CommandLine::new(binary()), |command, arg| command.arg(arg))
}

/// The example that `cargo test` builds next to the tests.
fn binary() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(|deps| deps.parent()).expect("tests are built into target/<profile>/deps");
    let binary = target.join("examples").join(format!("faulty{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.is_file(), "{} is not there: `cargo build --example faulty` makes it", binary.display());
    binary
}

fn batch_of(count: usize) -> Vec<Program> {
    (0..count).map(|at| program(at, if STRUCK.contains(&at) { Op::Mul } else { Op::Add })).collect()
}

/// `r = op(x, y)` with values that no other number gives.
fn program(number: usize, op: Op) -> Program {
    let x = tensor("x", &[3], &[number as f32, 2.0, 3.0]);
    let y = tensor("y", &[3], &[10.0, 20.0, 30.0]);
    let alpha = (op == Op::Add).then_some(Arg::Number(broadcheck::tensor::Scalar::Int(1)));
    let args = [value(0), value(1)].into_iter().chain(alpha).collect();
    Program { inputs: vec![x, y], steps: vec![step("r", op, args)] }
}

/// Programs in which each lie of `faulty` has something to lie about.
fn reporting_programs() -> Vec<Program> {
    let alpha = || Arg::Number(broadcheck::tensor::Scalar::Int(1));
    let column = || tensor("x", &[2, 1], &[1.0, 2.0]);
    let row = || tensor("y", &[1, 3], &[10.0, f32::NAN, -0.0]);
    let sub = step("d", Op::Sub, vec![value(0), value(1), alpha()]);
    let mul = step("m", Op::Mul, vec![value(1), value(1)]);
    let zeros = step("z", Op::Mul, vec![value(0), value(1)]);
    let in_place = Step { form: Form::InPlace, ..step("r", Op::Add, vec![value(0), value(1), alpha()]) };
    let expand = step("e", Op::Expand, vec![value(0), Arg::Ints(vec![2, 5])]);
    let leaf = Input { requires_grad: true, ..column() };
    let gradient = vec![
        step("s", Op::Add, vec![value(0), value(1), alpha()]),
        step("t", Op::Sum, vec![value(2), Arg::Nothing, Arg::Flag(false), Arg::Nothing]),
        step("b", Op::Backward, vec![value(3), Arg::Nothing]),
        step("g", Op::Grad, vec![value(0)]),
    ];
    // libtorch warns when it has to resize the tensor that `out=` names.
    let resized = Step {
        form: Form::Out,
        out: Some(ValueRef { value: 2, part: None }),
        ..step("r", Op::Add, vec![value(0), value(1), alpha()])
    };
    vec![
        Program { inputs: vec![column(), row()], steps: vec![sub, mul, zeros] },
        Program { inputs: vec![column(), row()], steps: vec![in_place] },
        Program { inputs: vec![column()], steps: vec![expand] },
        Program { inputs: vec![leaf, row()], steps: gradient },
        Program { inputs: vec![column(), row(), tensor("z", &[2], &[0.0, 0.0])], steps: vec![resized] },
    ]
}

fn tensor(name: &str, sizes: &[i64], elements: &[f32]) -> Input {
    Input {
        name: name.to_owned(),
        dtype: DType::Float32,
        shape: Shape::new(sizes.to_vec()).unwrap(),
        data: elements.iter().flat_map(|element| element.to_le_bytes()).collect(),
        requires_grad: false,
    }
}

fn step(name: &str, op: Op, args: Vec<Arg>) -> Step {
    Step { name: name.to_owned(), op, form: Form::Functional, args, out: None }
}

fn value(value: usize) -> Arg {
    Arg::Tensor(ValueRef { value, part: None })
}
