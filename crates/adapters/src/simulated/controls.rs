//! What is changed at a venue while it runs, from any thread: faults are switched on and off, securities are listed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use venue_sim::{Faults, Listing};

#[derive(Clone)]
pub struct Controls {
    switches: Arc<Mutex<Switches>>,
    ring: Sender<()>,
    bell: Receiver<()>,
}

struct Switches {
    faults: Faults,
    changed: bool,
    /// To be listed with the venue's next turn.
    listings: Vec<Listing>,
}

/// What was changed since the venue last looked.
pub(super) struct Change {
    /// Set anew, which starts their counts anew.
    pub(super) faults: Option<Faults>,
    pub(super) listings: Vec<Listing>,
}

impl Controls {
    pub(super) fn new(faults: Faults) -> Self {
        let (ring, bell) = bounded(1);
        Self { switches: Arc::new(Mutex::new(Switches { faults, changed: false, listings: vec![] })), ring, bell }
    }

    pub fn faults(&self) -> Faults {
        self.lock().faults
    }

    /// Takes effect with the venue's next turn, which follows at once.
    pub fn set_faults(&self, faults: Faults) {
        let mut switches = self.lock();
        (switches.faults, switches.changed) = (faults, true);
        drop(switches);
        self.call();
    }

    /// Whoever asks for the security's prices or trades it from now on finds it listed.
    pub fn list(&self, listing: Listing) {
        self.lock().listings.push(listing);
        self.call();
    }

    pub(super) fn take_change(&self) -> Change {
        let mut switches = self.lock();
        let faults = std::mem::take(&mut switches.changed).then_some(switches.faults);
        Change { faults, listings: std::mem::take(&mut switches.listings) }
    }

    fn call(&self) {
        // A bell that is full rings already.
        let _ = self.ring.try_send(());
    }

    pub(super) fn bell(&self) -> Receiver<()> {
        self.bell.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Switches> {
        // The switches are whole between any two statements that hold the lock.
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
