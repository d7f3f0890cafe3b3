//! Why shapes broadcast in PyTorch, or do not, and what to write instead.
//!
//! ```
//! use broadcheck_explain::{Options, explain};
//!
//! let asked = ["images - mean".to_owned(), "images=32,3,224,224".to_owned(), "mean=3".to_owned()];
//! let answer = explain(&asked, &Options::default()).unwrap();
//! assert_eq!(
//!     answer.message.as_deref(),
//!     Some("The size of tensor a (224) must match the size of tensor b (3) at non-singleton dimension 3")
//! );
//! assert_eq!(answer.fixes[0].code, "images - mean[:, None, None]");
//! assert_eq!(answer.fixes[0].result, "[32, 3, 224, 224]");
//! ```
//!
//! The way of a question: [`read`] turns text into data; [`question`] makes one piece of Python of it; [`evaluate`] runs that
//! on a [`mod@bench`], where the reference infers shapes and rejections without elements; [`sketch`] draws the call that decides;
//! [`mod@fix`] proposes changes and tries them; [`caution`] looks at what is accepted and hardly meant; [`answer`] puts the
//! parts together. It does no input or output, and runs in a browser as it does here.

pub mod answer;
pub mod bench;
pub mod beside;
pub mod broadcast;
pub mod caution;
pub mod drawing;
pub mod evaluate;
pub mod fix;
pub mod names;
pub mod question;
pub mod read;
pub mod reported;
pub mod sketch;
pub mod symbols;
pub mod value;

pub use answer::{Answer, Verdict};
pub use question::{AskError, Options, Question};

/// Answers what the arguments ask: shapes, bindings of names to shapes, a line of Python, an error message.
///
/// # Errors
/// When the arguments cannot be read, or name something that is not known.
pub fn explain(arguments: &[String], options: &Options) -> Result<Answer, AskError> {
    let mut question = Question::new(arguments, options)?;
    let Some(reported) = question.reported.take() else { return answer::answer(&question) };
    let mut meaning = reported::meaning(&reported);
    if meaning.line.is_none() && !question.source.is_empty() {
        meaning.line = Some(question.source.clone());
    }
    // The user's own line, if all of its names have shapes and it is rejected; else the call that the message tells of.
    if !question.source.is_empty()
        && let Ok(answer) = answer::answer(&question)
        && (answer.verdict != Verdict::Accepted || !answer.cautions.is_empty())
        && (!answer.fixes.is_empty() || reported::call(&reported, &question.tensors).is_none())
    {
        return Ok(Answer { reported: Some(meaning), ..answer });
    }
    if let Some((source, tensors)) = reported::call(&reported, &question.tensors)
        && let Ok(answer) = answer::answer(&Question::of(source, tensors))
    {
        // The message is the one that was pasted.
        let message = answer.message.as_ref().map(|_| reported.text.clone());
        return Ok(Answer { message, reported: Some(meaning), ..answer });
    }
    Ok(Answer::of_report(meaning))
}
