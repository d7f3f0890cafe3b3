//! Kills adapters when this process ends before them, however it ends: by Ctrl-C, by `timeout`, by `kill -9`.
//!
//! An adapter that hangs does not see the end of its input, and a process that is killed cannot kill it any more. So a shell
//! in a process group of its own reads from a pipe which process groups there are. The pipe closes when this process is
//! gone; then the shell kills those that are left. Without a shell, adapters that hang are left behind, as ever.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The name that the shell has in lists of processes.
pub const NAME: &str = "broadcheck-watch";

/// Groups are added by `+ NUMBER` and removed by `- NUMBER`, a line each.
const SCRIPT: &str = r#"
groups=' '
while read -r what group; do
    case "$what$groups" in
        +*) groups="$groups$group " ;;
        -*" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"#;

/// The pipe to the shell, open as long as this process lives; `None` if there is no shell.
static PIPE: OnceLock<Mutex<Option<ChildStdin>>> = OnceLock::new();

/// From now on the process group dies with this process.
pub(super) fn add(group: u32) {
    tell('+', group);
}

/// The process group has ended; its number may become that of another.
pub(super) fn remove(group: u32) {
    tell('-', group);
}

fn tell(what: char, group: u32) {
    let pipe = PIPE.get_or_init(|| Mutex::new(start()));
    if let Some(pipe) = pipe.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        // One that was killed watches nothing; that is no reason to end here as well.
        let _ = pipe.write_all(format!("{what} {group}\n").as_bytes());
    }
}

fn start() -> Option<ChildStdin> {
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, NAME]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Signals to the group of this process, as Ctrl-C and `timeout` send them, do not reach it.
    shell.process_group(0).spawn().ok()?.stdin
}
