//! Waiting with a generous deadline, which is reached only where something is broken.

use std::thread;
use std::time::{Duration, Instant};

/// Longer than any step takes, also on a loaded machine.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Between two polls.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// Polls until there is a value.
///
/// # Panics
/// Where there is none at the deadline.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    poll(DEADLINE, &mut look).unwrap_or_else(|| panic!("waited {DEADLINE:?} in vain for {what}"))
}

/// As [`wait_for`], for what takes longer by its nature.
///
/// # Panics
/// Where there is none by then.
pub fn wait_at_most<T>(patience: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    poll(patience, &mut look).unwrap_or_else(|| panic!("waited {patience:?} in vain for {what}"))
}

pub(crate) fn poll<T>(patience: Duration, look: &mut dyn FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(POLL_EVERY);
    }
}
