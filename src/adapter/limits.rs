//! The bounds of an adapter: the time, the memory and the restarts that it is allowed, and when it is left unanswered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::child::{Child, Event};

/// The interval between two checks of whether it is time to halt.
const LOOK: Duration = Duration::from_millis(100);

/// The limits on an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time until it answers `hello`. Large libraries start slowly.
    pub hello: Duration,
    /// The time for one program.
    pub program: Duration,
    /// The number of times it is restarted in the life of a [`Process`](super::Process). To find a culprit among several
    /// programs in flight takes one restart, to continue after it another.
    pub restarts: usize,
    /// The longest message in bytes.
    pub line: usize,
    /// The address space of its process in bytes, where the system can limit it (Linux). An allocation beyond it fails,
    /// by the library or by the end of the process, before the machine runs out of memory.
    pub memory: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        let (hello, program) = (Duration::from_secs(120), Duration::from_secs(20));
        Limits { hello, program, restarts: 64, line: 256 << 20, memory: None }
    }
}

/// When to leave programs unanswered: an adapter that is busy then is killed. It can be set from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Halt {
    /// At this time.
    pub deadline: Option<Instant>,
    /// As soon as one of these is set.
    pub flags: Vec<Arc<AtomicBool>>,
}

impl Halt {
    /// Returns whether it is time to halt.
    pub fn is_now(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.flags.iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// The next event of a child; nothing when the limit has passed, or when it is time to halt.
    pub(super) fn receive(&self, child: &mut Child, limit: Duration) -> Option<Event> {
        let end = Instant::now() + limit;
        loop {
            let mut left = end.saturating_duration_since(Instant::now());
            if !self.flags.is_empty() {
                left = left.min(LOOK);
            }
            if let Some(deadline) = self.deadline {
                left = left.min(deadline.saturating_duration_since(Instant::now()));
            }
            let event = child.receive(left);
            if event.is_some() || Instant::now() >= end || self.is_now() {
                return event;
            }
        }
    }
}
