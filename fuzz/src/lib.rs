//! Shared by the targets: bytes that are programs, and the comparison of libtorch with the reference.

#[cfg(feature = "libtorch")]
pub mod differential;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use broadcheck_harness::case::render;
use broadcheck_harness::generate::{self, Options};
use broadcheck_protocol::program::{Program, Reply};
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};

/// The programs of a target.
pub trait Programs {
    /// The operations to choose from.
    fn options() -> &'static Options;
}

/// A program out of the bytes of a fuzzer, and its reply from the reference. `Debug` shows it as a case of the
/// specification has it.
pub struct Generated<P> {
    pub program: Program,
    /// `None` if the reference panics over the program, which [`Generated::reply`] shows.
    reply: Option<Reply>,
    of: PhantomData<P>,
}

impl<P: Programs> Arbitrary<'_> for Generated<P> {
    fn arbitrary(u: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let bytes = u.bytes(u.len())?;
        // The generator continues where the reference panics, so that there is a program to show.
        let made = caught(|| generate::fuzzed(bytes, P::options()));
        let (program, reply) = made.unwrap_or_else(|| panic!("the generator panics"));
        // Without steps there is nothing to show, and no reply.
        if program.steps.is_empty() {
            return Err(arbitrary::Error::IncorrectFormat);
        }
        Ok(Generated { program, reply, of: PhantomData })
    }
}

impl<P> fmt::Debug for Generated<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program:\n{}", render::program(&self.program))
    }
}

impl<P> Generated<P> {
    /// The reply of the reference. A panic of it ends the process like any other, but not without the program.
    pub fn reply(&self) -> &Reply {
        self.reply.as_ref().unwrap_or_else(|| panic!("the reference panics\n{self:?}"))
    }
}

/// The result of work that may panic, which would end the process otherwise: libFuzzer's hook does that.
fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    thread_local!(static WORKING: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let libfuzzer = panic::take_hook();
        panic::set_hook(Box::new(move |info| match WORKING.get() {
            true => eprintln!("{info}"),
            false => libfuzzer(info),
        }));
    });
    WORKING.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    WORKING.set(false);
    result.ok()
}
