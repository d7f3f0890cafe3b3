//! The answers of [`broadcheck_explain`] as WebAssembly: a question as JSON in, an answer as JSON out.
//!
//! A page calls three functions: [`question_byte`] for each byte of the question, [`answer_question`], and [`answer_byte`]
//! for each byte of the answer. Bytes pass one by one, so no pointer crosses the boundary, and none has to be trusted.
//! `src/playground/build` makes the page.

use std::cell::RefCell;
use std::collections::VecDeque;

use broadcheck_explain::beside::Beside;
use broadcheck_explain::{Answer, Options, explain};
use broadcheck_protocol::ops::Op;
use serde::{Deserialize, Serialize};

/// The request of the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// Explain this.
    Explain(Question),
    /// List the operations.
    Operations,
}

/// The fields of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Question {
    arguments: Vec<String>,
    op: Option<String>,
    out: Option<String>,
    dtypes: Vec<String>,
    settings: Vec<String>,
}

/// The reply to the page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reply {
    Answer(Box<Answer>),
    Operations(Vec<&'static str>),
    /// The reason why there is no answer.
    Error(String),
}

/// Replies to a request: to `{"explain": {"arguments": ["5,3 4,3"], "op": "add"}}` with `{"answer": …}` or
/// `{"error": "…"}`, to `"operations"` with `{"operations": […]}`.
pub fn reply(request: &[u8]) -> String {
    let reply = match serde_json::from_slice(request) {
        Ok(Request::Explain(question)) => {
            let Question { arguments, op, out, dtypes, settings } = question;
            match explain(&arguments, &Options { op, out, dtypes, arguments: settings }) {
                Ok(answer) => Reply::Answer(Box::new(answer)),
                Err(error) => Reply::Error(error.to_string()),
            }
        }
        Ok(Request::Operations) => Reply::Operations(operations()),
        Err(error) => Reply::Error(format!("the page sent a request that is not understood: {error}")),
    };
    // It has no map with keys that are not text, so it always has a JSON form.
    serde_json::to_string(&reply).unwrap_or_default()
}

/// The names of all operations, sorted.
fn operations() -> Vec<&'static str> {
    let mut names: Vec<&str> = Op::ALL.iter().map(|op| op.name()).chain(Beside::names()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

thread_local! {
    static QUESTION: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<VecDeque<u8>> = const { RefCell::new(VecDeque::new()) };
}

/// Adds a byte to the question.
// SAFETY: no other function that is linked has this name; the body is safe code.
#[allow(unsafe_code, reason = "the page finds the function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn question_byte(byte: u8) {
    QUESTION.with_borrow_mut(|question| question.push(byte));
}

/// Answers the question, forgets it, and returns the number of bytes of the answer.
// SAFETY: no other function that is linked has this name; the body is safe code.
#[allow(unsafe_code, reason = "the page finds the function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn answer_question() -> usize {
    let answer = reply(&QUESTION.take());
    let length = answer.len();
    ANSWER.set(answer.into_bytes().into());
    length
}

/// Takes the next byte of the answer; 0 after its end.
// SAFETY: no other function that is linked has this name; the body is safe code.
#[allow(unsafe_code, reason = "the page finds the function by its name")]
#[unsafe(no_mangle)]
pub extern "C" fn answer_byte() -> u8 {
    ANSWER.with_borrow_mut(|answer| answer.pop_front().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{answer_byte, answer_question, question_byte, reply};

    #[test]
    fn bytes_of_a_question_lead_to_those_of_its_answer() {
        let question = r#"{"explain": {"arguments": ["größe + b", "größe=5,3", "b=4,3"]}}"#;
        question.bytes().for_each(|byte| question_byte(byte));
        let answer: Vec<u8> = (0..answer_question()).map(|_| answer_byte()).collect();
        let answer = String::from_utf8(answer).expect("text");
        assert_eq!(answer, reply(question.as_bytes()));
        assert!(answer.starts_with(r#"{"answer":{"verdict":"rejected""#), "{answer}");
        assert_eq!(answer_byte(), 0, "the answer has an end");
        assert!(answer_question() > 0 && answer_byte() == b'{', "the question before is forgotten");
    }

    #[test]
    fn a_request_that_is_not_understood_is_an_error() {
        for request in ["", "{}", r#"{"explain": {"shapes": []}}"#, r#"{"explain": {"arguments": ["(5,3"]}}"#] {
            assert!(reply(request.as_bytes()).starts_with(r#"{"error":""#), "{request}");
        }
    }

    #[test]
    fn operations_have_names_of_both_tables() {
        let list = reply(br#""operations""#);
        assert!(list.contains(r#""where""#) && list.contains(r#""linear""#), "{list}");
    }
}
