//! Faults switched on and off while the venue runs, from any thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use venue_sim::Faults;

#[derive(Clone)]
pub struct Controls {
    switches: Arc<Mutex<Switches>>,
    ring: Sender<()>,
    bell: Receiver<()>,
}

struct Switches {
    faults: Faults,
    changed: bool,
}

impl Controls {
    pub(super) fn new(faults: Faults) -> Self {
        let (ring, bell) = bounded(1);
        Self { switches: Arc::new(Mutex::new(Switches { faults, changed: false })), ring, bell }
    }

    pub fn faults(&self) -> Faults {
        self.lock().faults
    }

    /// Takes effect with the venue's next turn, which follows at once.
    pub fn set_faults(&self, faults: Faults) {
        *self.lock() = Switches { faults, changed: true };
        // A bell that is full rings already.
        let _ = self.ring.try_send(());
    }

    /// The faults, where they were set since the last call: setting them starts their counts anew.
    pub(super) fn take_change(&self) -> Option<Faults> {
        let mut switches = self.lock();
        std::mem::take(&mut switches.changed).then_some(switches.faults)
    }

    pub(super) fn bell(&self) -> Receiver<()> {
        self.bell.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Switches> {
        // The switches are whole between any two statements that hold the lock.
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
