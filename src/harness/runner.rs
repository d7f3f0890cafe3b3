//! An implementation to be checked: in this process, or an adapter behind a pipe.

use std::borrow::Borrow;

use crate::adapter::{CommandLine, Fault, Hello, Implementation, Limits, Process, StartError};
use crate::program::{Program, Reply};
use crate::reference::Reference;

/// Something that programs can be run on.
pub enum Runner {
    /// The reference, in this process.
    Reference,
    /// An adapter in a process of its own.
    Adapter(Box<Process>),
}

/// How an implementation is started.
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
        match self {
            Start::Reference => Ok(Runner::Reference),
            Start::Adapter(command) => {
                let process = Process::start(command.clone(), limits.clone())?;
                Ok(Runner::Adapter(Box::new(process)))
            }
        }
    }
}

impl Runner {
    /// What the implementation says of itself.
    pub fn hello(&self) -> Hello {
        match self {
            Runner::Reference => Reference.hello(),
            Runner::Adapter(process) => process.hello().clone(),
        }
    }

    /// How often it has been started again.
    pub fn restarts(&self) -> u64 {
        match self {
            Runner::Reference => 0,
            Runner::Adapter(process) => process.restarts() as u64,
        }
    }

    /// Runs programs one after the other; `each` is told of every result before the next is waited for.
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
                    each(at, Ok(Reference.run(program.borrow())));
                }
            }
            Runner::Adapter(process) => process.run_each_while(programs, meanwhile, each),
        }
    }
}

/// How reports call an implementation: its name, and its version unless it is our own.
pub fn label(hello: &Hello) -> String {
    if hello.name == "reference" { hello.name.clone() } else { format!("{} {}", hello.name, hello.version) }
}
