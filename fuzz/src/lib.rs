//! What the targets share: bytes that are programs, and the comparison of libtorch with the reference.

#[cfg(feature = "libtorch")]
pub mod differential;

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use broadcheck::adapter::Implementation;
use broadcheck::case::render;
use broadcheck::generate::{self, Options};
use broadcheck::program::{Program, Reply};
use broadcheck::reference::Reference;
use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};

/// Which programs a target is given.
pub trait Programs {
    /// What there is to choose from.
    fn options() -> &'static Options;
}

/// A program out of the bytes of a fuzzer. `Debug` shows it as a case of the specification has it.
pub struct Generated<P> {
    pub program: Program,
    of: PhantomData<P>,
}

impl<P: Programs> Arbitrary<'_> for Generated<P> {
    fn arbitrary(u: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        let bytes = u.bytes(u.len())?;
        // The generator goes on where the reference panics, so that there is a program to show.
        let program = caught(|| generate::fuzzed(bytes, P::options())).unwrap_or_default();
        Ok(Generated { program, of: PhantomData })
    }
}

impl<P> fmt::Debug for Generated<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "program:\n{}", render::program(&self.program))
    }
}

/// What the reference comes to. A panic of it ends the process like any other, but not without the program.
pub fn reference(program: &Program) -> Reply {
    let reply = caught(|| Reference.run(program));
    reply.unwrap_or_else(|| panic!("the reference panics\nprogram:\n{}", render::program(program)))
}

/// What comes of work that may panic, which would end the process otherwise: libFuzzer's hook sees to that.
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
