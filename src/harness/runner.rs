//! An implementation to be checked: in this process, or an adapter behind a pipe.

use std::borrow::Borrow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::adapter::{CommandLine, Fault, FaultKind, Halt, Hello, Implementation, Limits, Process, StartError};
use crate::format;
use crate::model::event::ImplementationReady;
use crate::program::{Program, Reply};
use crate::reference::{self, Reference};

/// Something that programs can be run on.
///
/// ```
/// use std::path::Path;
///
/// use broadcheck_harness::{adapter::Limits, case::load_program, format, runner::Start};
///
/// let program = load_program(Path::new("p.yaml"), "x: {values: [1, 2]}\nr: {mul: [x, x]}").unwrap();
/// let mut runner = Start::Reference.runner(&Limits::default()).unwrap();
/// runner.run_each(&[program], |_, reply| {
///     assert_eq!(format::outcome(&reply.unwrap().steps[0].outcome), "int64 [2] [1, 4]");
/// });
/// ```
pub enum Runner {
    /// The reference, in this process.
    Reference,
    /// An adapter in a process of its own.
    Adapter(Box<Process>),
    /// One that is not at hand, of which an earlier run is known. It runs nothing.
    Earlier(Box<ImplementationReady>),
}

/// The way in which an implementation is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// The reference.
    Reference,
    /// An adapter.
    Adapter(CommandLine),
}

impl Start {
    /// Starts it.
    ///
    /// # Errors
    /// When the adapter cannot be run, or does not answer as one.
    pub fn runner(&self, limits: &Limits) -> Result<Runner, StartError> {
        self.runner_until(limits, Halt::default())
    }

    /// The same, with a time to halt.
    ///
    /// # Errors
    /// When the adapter cannot be run, or does not answer as one.
    pub fn runner_until(&self, limits: &Limits, halt: Halt) -> Result<Runner, StartError> {
        match self {
            Start::Reference => Ok(Runner::Reference),
            Start::Adapter(command) => {
                let process = Process::start_until(command.clone(), limits.clone(), halt)?;
                Ok(Runner::Adapter(Box::new(process)))
            }
        }
    }
}

/// Leaves an implementation to itself.
pub struct Leave(Arc<AtomicBool>);

impl Leave {
    /// From the next program on.
    pub fn now(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Runner {
    /// Returns the declaration of the implementation.
    pub fn hello(&self) -> Hello {
        match self {
            Runner::Reference => Reference.hello(),
            Runner::Adapter(process) => process.hello().clone(),
            Runner::Earlier(ready) => Hello {
                name: ready.name.clone(),
                version: ready.version.clone(),
                build: ready.build.clone(),
                ops: Vec::new(),
                dtypes: Vec::new(),
                capabilities: Vec::new(),
                lacks: Vec::new(),
                unsupported: Vec::new(),
            },
        }
    }

    /// Returns whether it can run programs.
    pub fn is_at_hand(&self) -> bool {
        !matches!(self, Runner::Earlier(_))
    }

    /// A digest of what it declares. It distinguishes two adapters for the same library.
    pub fn declares(&self) -> String {
        match self {
            Runner::Earlier(ready) => ready.declares.clone(),
            _ => {
                let hello = serde_json::to_vec(&self.hello()).expect("hello has only text for keys");
                format::digest(&hello)[..16].to_owned()
            }
        }
    }

    /// Ends it after its last program. `Some` says what was wrong with its end: a crash, an exit code, output that nothing
    /// asked for.
    pub fn finish(&mut self) -> Option<String> {
        match self {
            Runner::Adapter(process) => process.finish(),
            Runner::Reference | Runner::Earlier(_) => None,
        }
    }

    /// Allows each program so much time from now on.
    pub fn allow(&mut self, program: Duration) {
        if let Runner::Adapter(process) = self {
            process.allow(program);
        }
    }

    /// By what it is left while it runs programs; those that are left then are not run.
    pub fn leave(&mut self) -> Leave {
        match self {
            Runner::Adapter(process) => Leave(process.leave()),
            Runner::Reference | Runner::Earlier(_) => Leave(Arc::default()),
        }
    }

    /// Returns the number of times it has been restarted.
    pub fn restarts(&self) -> u64 {
        match self {
            Runner::Reference | Runner::Earlier(_) => 0,
            Runner::Adapter(process) => process.restarts() as u64,
        }
    }

    /// Runs programs one after the other; `each` gets every result before the next is waited for.
    pub fn run_each(&mut self, programs: &[impl Borrow<Program>], each: impl FnMut(usize, Result<Reply, Fault>)) {
        self.run_each_while(programs, &mut || false, each);
    }

    /// The same, with something else to do while another process is busy: `meanwhile` does a small piece of it, and says
    /// whether it did.
    pub fn run_each_while(
        &mut self,
        programs: &[impl Borrow<Program>],
        meanwhile: &mut dyn FnMut() -> bool,
        mut each: impl FnMut(usize, Result<Reply, Fault>),
    ) {
        match self {
            Runner::Reference => {
                for (at, program) in programs.iter().enumerate() {
                    each(
                        at,
                        reference::ask(program.borrow()).map_err(|abort| Fault {
                            kind: FaultKind::Crashed { status: abort.to_string() },
                            confirmed: true,
                            stderr: String::new(),
                        }),
                    );
                }
            }
            Runner::Adapter(process) => process.run_each_while(programs, meanwhile, each),
            Runner::Earlier(_) => {}
        }
    }
}
