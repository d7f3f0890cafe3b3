//! Real questions: `questions.yaml` has what people asked in public threads, with the outcome in PyTorch and a change that
//! does what they meant; every one of them was run in PyTorch when the file was written.

use std::path::Path;

use broadcheck::adapter::{CommandLine, Limits, Process};
use broadcheck::install::{self, Progress};
use broadcheck::program::{Outcome, Program, Value};
use broadcheck_explain::{Answer, Options, Verdict, explain};
use serde::Deserialize;

/// The share of the questions that have to be answered: 57 of 60.
const ANSWERED: (usize, usize) = (57, 60);

/// The most elements of a program that is run on libtorch.
const MOST_ELEMENTS: usize = 1 << 21;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    id: String,
    source: String,
    title: String,
    kind: String,
    ask: Vec<String>,
    python: String,
    rejected: bool,
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    result: Option<Vec<i64>>,
    names: Vec<String>,
    fixes: Vec<Fix>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fix {
    code: String,
    #[serde(default)]
    result: Option<Vec<i64>>,
}

fn questions() -> Vec<Question> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions.yaml");
    serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn answered(question: &Question) -> Result<Answer, String> {
    let mut options = Options::default();
    let mut ask = Vec::new();
    let mut arguments = question.ask.iter().cloned();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--op" => options.op = arguments.next(),
            "--out" => options.out = arguments.next(),
            "--arg" => options.arguments.extend(arguments.next()),
            "--dtype" => options.dtypes.extend(arguments.next()),
            _ => ask.push(argument),
        }
    }
    explain(&ask, &options).map_err(|error| error.to_string())
}

/// What an answer lacks; nothing if it names the reason and has a change that works.
fn lacks(question: &Question, answer: &Answer) -> Vec<String> {
    let mut lacks = Vec::new();
    let expected = match (question.rejected, answer.verdict) {
        (true, Verdict::Rejected | Verdict::Reported | Verdict::Conditional) => true,
        (false, Verdict::Accepted) => !answer.cautions.is_empty(),
        _ => false,
    };
    if !expected {
        lacks.push(format!("the verdict is {:?}, with {} cautions", answer.verdict, answer.cautions.len()));
    }
    // A message that was pasted stays as it was pasted, and names for sizes are in one that is made.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let (true, Some(error), Some(message), None) =
        (answer.verdict == Verdict::Rejected, &question.error, &answer.message, &answer.reported)
        && words(message) != words(error)
    {
        lacks.push(format!("the message is {message:?}, not {error:?}"));
    }
    let text = serde_json::to_string(answer).unwrap();
    lacks.extend(question.names.iter().filter(|name| !text.contains(*name)).map(|name| format!("{name} is not named")));
    let advice = answer.reported.as_ref().is_some_and(|meaning| !meaning.look.is_empty());
    if answer.fixes.is_empty() && !(answer.verdict == Verdict::Reported && advice) {
        lacks.push("no change is proposed".to_owned());
    }
    lacks
}

/// Returns whether a proposed change has the result that the person meant.
fn is_meant(question: &Question, answer: &Answer) -> bool {
    let shape = |sizes: &Option<Vec<i64>>| sizes.as_ref().map(|sizes| format!("{sizes:?}"));
    answer
        .fixes
        .iter()
        .any(|fix| question.fixes.iter().any(|wanted| shape(&wanted.result).as_ref() == Some(&fix.result)))
}

#[test]
fn real_questions_are_answered() {
    let questions = questions();
    assert!(questions.len() >= 60, "there are {} questions", questions.len());
    let (mut good, mut meant, mut told) = (0, 0, Vec::new());
    for question in &questions {
        let lacking = match answered(question) {
            Ok(answer) => {
                meant += usize::from(is_meant(question, &answer));
                lacks(question, &answer)
            }
            Err(error) => vec![error],
        };
        match lacking.is_empty() {
            true => good += 1,
            false => told.push(format!("{} ({}): {}", question.id, question.source, lacking.join("; "))),
        }
    }
    let all = questions.len();
    println!("{good} of {all} questions are answered, {meant} with a change whose result is the one that was meant");
    told.iter().for_each(|line| println!("  {line}"));
    let (of, least) = (ANSWERED.1, ANSWERED.0);
    assert!(good * of >= all * least, "{good} of {all} are less than {least} of {of}:\n{}", told.join("\n"));
}

#[test]
fn an_answer_without_a_reason_or_a_change_does_not_count() {
    let questions = questions();
    let plain = |question: &&Question| {
        let answer = answered(question).ok();
        answer.is_some_and(|answer| answer.verdict == Verdict::Rejected && answer.reported.is_none())
    };
    let question = questions.iter().find(plain).unwrap();
    let answer = answered(question).unwrap();
    assert_eq!(lacks(question, &answer), Vec::<String>::new());
    assert!(!lacks(question, &Answer { fixes: Vec::new(), ..answer.clone() }).is_empty());
    assert!(!lacks(question, &Answer { message: Some("something else".to_owned()), ..answer.clone() }).is_empty());
    assert!(!lacks(question, &Answer { verdict: Verdict::Accepted, ..answer }).is_empty());
}

/// Every proposed change is run on libtorch, apart from calls of functions that the operation table lacks, and gives the
/// shape that was promised.
#[test]
fn proposed_changes_work_on_libtorch() {
    let installed = install::libtorch(None, &Progress::auto()).unwrap_or_else(|error| panic!("{error}"));
    let mut libtorch =
        Process::start(CommandLine::new(installed.adapter), Limits::default()).expect("the adapter starts");
    let (mut run, mut left) = (0, 0);
    for question in questions() {
        let Ok(answer) = answered(&question) else { continue };
        for fix in &answer.fixes {
            // A change in one of several lines is not the whole text.
            let Some(program) = answer.program(&fix.code).filter(|_| !answer.source.contains('\n')) else {
                left += 1;
                continue;
            };
            if program.steps.is_empty() || elements(&program) > MOST_ELEMENTS {
                left += 1;
                continue;
            }
            let reply = match libtorch.run_all(std::slice::from_ref(&program)).remove(0) {
                Ok(reply) => reply,
                // A value on the way that is larger than the protocol carries.
                Err(fault) if fault.to_string().contains("the limit is") => {
                    left += 1;
                    continue;
                }
                Err(fault) => panic!("{}: {}: {fault}", question.id, fix.code),
            };
            for (step, outcome) in program.steps.iter().zip(&reply.steps) {
                let fine = matches!(outcome.outcome, Outcome::Value(_));
                assert!(fine, "{}: {}: {}: {:?}", question.id, fix.code, step.op, outcome.outcome);
            }
            run += 1;
            if let Some(Outcome::Value(Value::Tensor(tensor))) = reply.steps.last().map(|step| &step.outcome)
                && answer.program(&fix.code).is_some_and(|program| ends_with_a_step(&program, &fix.code))
            {
                assert_eq!(tensor.shape.to_string(), fix.result, "{}: {}", question.id, fix.code);
            }
        }
    }
    println!("{run} changes were run on libtorch, {left} were not");
    // Not run are those with sizes that have names, or are large, and those of functions beside the table alone.
    assert!(run > left, "{run} of {} changes were run", run + left);
}

/// Returns whether the last call of a text is the last step of its program.
fn ends_with_a_step(program: &Program, code: &str) -> bool {
    let last = program.steps.last().map(|step| step.op.name()).unwrap_or_default();
    !code.contains('=') && code.trim_end().ends_with(')') && code.contains(&format!("torch.{last}("))
}

fn elements(program: &Program) -> usize {
    program.inputs.iter().map(|input| input.shape.numel()).fold(0, usize::saturating_add)
}

#[test]
fn the_list_says_where_it_comes_from() {
    for question in questions() {
        let Question { id, source, title, kind, python, fixes, result, .. } = &question;
        assert!(source.contains('/') && !title.is_empty() && !kind.is_empty(), "{id}");
        assert!(!fixes.is_empty() && fixes.iter().all(|fix| !fix.code.is_empty()), "{id}");
        assert!(
            question.rejected != result.is_some() || python.is_empty(),
            "{id}: a result is that of an accepted call"
        );
    }
}
