//! The promise that nothing panics. A panic in a task of a port is caught by its runtime: its client sees a connection that is closed or
//! an answer `internal`, and goes on. So a panic hook keeps the panics of a run, caught or not.

use std::cell::RefCell;
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::{Arc, Mutex, Once, PoisonError};

use super::broken_invariant::{InvariantResult, broken};

/// The promise that a panic breaks.
pub(crate) const PANICKED: &str = "the platform panicked";

thread_local! {
    /// Runs go on side by side, each with threads of its own.
    static WATCHED: RefCell<Option<PanicRecord>> = const { RefCell::new(None) };
}

/// The first panic of a run, on any of its threads.
#[derive(Clone, Default)]
pub(crate) struct PanicRecord(Arc<Mutex<Option<String>>>);

impl PanicRecord {
    /// That of the run to which this thread belongs.
    pub(crate) fn of_this_thread() -> Option<Self> {
        WATCHED.try_with(|watched| watched.borrow().clone()).ok().flatten()
    }

    /// From now on panics of this thread are kept here, and not printed: whoever runs the run tells them.
    pub(crate) fn watch(&self) -> PanicWatch {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |panic| match Self::of_this_thread() {
                Some(record) => record.keep(panic),
                None => before(panic),
            }));
        });
        PanicWatch { before: WATCHED.replace(Some(self.clone())) }
    }

    fn keep(&self, panic: &PanicHookInfo<'_>) {
        let text = panic.payload_as_str().unwrap_or("without a text");
        let place =
            panic.location().map_or_else(String::new, |place| format!(", at {}:{}", place.file(), place.line()));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| format!("{text}{place}"));
    }

    pub(crate) fn nothing_panicked(&self) -> InvariantResult {
        let first = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        first.map_or(Ok(()), |text| Err(broken(PANICKED, text)))
    }
}

/// Until it is dropped.
pub(crate) struct PanicWatch {
    before: Option<PanicRecord>,
}

impl Drop for PanicWatch {
    fn drop(&mut self) {
        WATCHED.set(self.before.take());
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::thread;

    use crate::network::SteppedRuntime;

    use super::*;

    fn told(record: &PanicRecord) -> Option<String> {
        record.nothing_panicked().err().map(|broken| broken.to_string())
    }

    #[test]
    fn a_panic_that_a_runtime_catches_breaks_the_promise() {
        let record = PanicRecord::default();
        let watch = record.watch();
        let mut stepped = SteppedRuntime::new(0, 2).unwrap();
        let fails = true;
        stepped.runtime().spawn(async move { assert!(!fails, "a session failed") });
        assert_eq!(told(&record), None);
        stepped.step(1);
        drop(watch);
        let told = told(&record).unwrap();
        assert!(told.starts_with("the platform panicked: a session failed, at "), "{told}");
    }

    #[test]
    fn the_first_panic_of_a_run_counts_and_none_of_another_run() {
        let (one, other) = (PanicRecord::default(), PanicRecord::default());
        let watched = one.clone();
        thread::spawn(move || {
            let _watch = watched.watch();
            assert!(catch_unwind(|| panic!("first")).is_err());
            assert!(catch_unwind(|| panic!("second")).is_err());
        })
        .join()
        .unwrap();
        drop(other.watch());
        assert!(told(&one).unwrap().contains("first"));
        assert_eq!(told(&other), None);
    }

    #[test]
    fn behind_a_run_its_thread_belongs_to_none() {
        drop(PanicRecord::default().watch());
        assert!(PanicRecord::of_this_thread().is_none());
    }
}
