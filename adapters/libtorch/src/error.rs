//! From the text of a C++ exception to the error message that a user of PyTorch reads.

use broadcheck_protocol::program::Rejected;

/// Splits what `c10::Error::what()` says: libtorch's own message, and the function that raised it.
///
/// `what()` ends in "Exception raised from FUNCTION at FILE:LINE (most recent call first):" and a backtrace, which
/// Python leaves out. The text of any other exception is all message.
pub fn rejected(what: &str) -> Rejected {
    let (message, place) = match what.rfind(MARK) {
        Some(at) => (&what[..at], what[at + MARK.len()..].lines().next()),
        None => (what, None),
    };
    // Neither a file name nor a line number has spaces; a function's signature may have "at" in it.
    let origin = place.and_then(|place| Some(place.strip_suffix(" (most recent call first):")?.rsplit_once(" at ")?.0));
    Rejected { message: message.trim_end().to_owned(), class: None, origin: origin.map(str::to_owned), raises: None }
}

const MARK: &str = "\nException raised from ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_kept_as_origin_and_the_frames_are_dropped() {
        let what = "The size\nhas two lines\nException raised from infer_size_impl at /a b/ExpandUtils.cpp:31 (most \
                    recent call first):\nframe #0: c10::Error";
        let rejected = rejected(what);
        assert_eq!(rejected.message, "The size\nhas two lines");
        assert_eq!(rejected.origin.as_deref(), Some("infer_size_impl"));
    }

    #[test]
    fn an_exception_that_is_not_libtorchs_is_all_message() {
        let rejected = rejected("vector::at\n");
        assert_eq!((rejected.message.as_str(), rejected.origin), ("vector::at", None));
    }
}
