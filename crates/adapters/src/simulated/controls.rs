//! Runtime controls of a simulated venue: faults and listings, from any thread.

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
    /// To be listed at the venue's next turn.
    listings: Vec<Listing>,
}

/// Changes since the venue last looked.
pub(super) struct Change {
    /// Setting the faults restarts their counts.
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

    /// Takes effect at the venue's next turn, which follows at once.
    pub fn set_faults(&self, faults: Faults) {
        let mut switches = self.lock();
        (switches.faults, switches.changed) = (faults, true);
        drop(switches);
        self.call();
    }

    /// The security is listed for all later subscriptions and orders.
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
        // A full wake channel means that the host is woken already.
        let _ = self.ring.try_send(());
    }

    pub(super) fn bell(&self) -> Receiver<()> {
        self.bell.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Switches> {
        // The controls are consistent between any two statements that hold the lock.
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
