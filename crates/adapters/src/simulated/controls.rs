//! Settings of a simulated venue, and its runtime controls: faults and listings, from any thread.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::SecurityId;
use domain::report::VenueListing;
use venue_sim::{Faults, ListedSecurity, TradeRevision, VenueConfig};

/// Controls of a running simulated venue.
#[derive(Clone)]
pub struct VenueControls {
    state: Arc<Mutex<ControlState>>,
    wake_sender: Sender<()>,
    wake_receiver: Receiver<()>,
}

struct ControlState {
    faults: Faults,
    changed: bool,
    /// To be listed at the venue's next turn.
    listings: Vec<ListedSecurity>,
    announced: BTreeMap<SecurityId, VenueListing>,
    /// To be carried out at the venue's next turn within a session.
    revisions: Vec<TradeRevision>,
}

/// Changes since the venue last looked.
pub(super) struct ControlChange {
    /// Setting the faults restarts their counts.
    pub(super) faults: Option<Faults>,
    pub(super) listings: Vec<ListedSecurity>,
}

impl VenueControls {
    pub(super) fn new(faults: Faults) -> Self {
        let (wake_sender, wake_receiver) = bounded(1);
        Self {
            state: Arc::new(Mutex::new(ControlState {
                faults,
                changed: false,
                listings: vec![],
                announced: BTreeMap::new(),
                revisions: vec![],
            })),
            wake_sender,
            wake_receiver,
        }
    }

    /// The current faults.
    pub fn faults(&self) -> Faults {
        self.lock().faults
    }

    /// Takes effect at the venue's next turn, which follows at once.
    pub fn set_faults(&self, faults: Faults) {
        let mut switches = self.lock();
        (switches.faults, switches.changed) = (faults, true);
        drop(switches);
        self.wake();
    }

    /// The security is listed for all later subscriptions and orders.
    pub fn list(&self, listing: ListedSecurity) {
        self.lock().listings.push(listing);
        self.wake();
    }

    /// The venue tells that it takes this of a security, and nothing else. It does not refuse other orders: only what is
    /// told of a listing can be shown with it.
    pub fn announce(&self, security: SecurityId, listing: VenueListing) {
        self.lock().announced.insert(security, listing);
        self.wake();
    }

    /// The venue busts or corrects a trade, once its client is connected.
    pub fn revise(&self, revision: TradeRevision) {
        self.lock().revisions.push(revision);
        self.wake();
    }

    pub(super) fn take_revisions(&self) -> Vec<TradeRevision> {
        std::mem::take(&mut self.lock().revisions)
    }

    pub(super) fn announced(&self) -> BTreeMap<SecurityId, VenueListing> {
        self.lock().announced.clone()
    }

    pub(super) fn take_change(&self) -> ControlChange {
        let mut switches = self.lock();
        let faults = std::mem::take(&mut switches.changed).then_some(switches.faults);
        ControlChange { faults, listings: std::mem::take(&mut switches.listings) }
    }

    fn wake(&self) {
        // A full wake channel means that the host is woken already.
        let _ = self.wake_sender.try_send(());
    }

    pub(super) fn waker(&self) -> Receiver<()> {
        self.wake_receiver.clone()
    }

    fn lock(&self) -> MutexGuard<'_, ControlState> {
        // The controls are consistent between any two statements that hold the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A ledger is compacted when it is longer, and later when it has doubled.
pub const LEDGER_COMPACT_BYTES: u64 = 64 << 20;

/// Settings of one simulated venue.
#[derive(Debug, Clone)]
pub struct SimulatedVenueSettings {
    /// The venue's ledger file; it is created where it is missing.
    pub ledger: PathBuf,
    /// The venue itself.
    pub venue: VenueConfig,
    /// The ledger is compacted when it is longer: [`LEDGER_COMPACT_BYTES`].
    pub compact_at_bytes: u64,
}
