//! Fault injection on the report channel: reject, delay, duplicate, drop, reorder, disconnect, mute.
//!
//! The ledger is never affected: a fault changes which reports leave and when, never what was done. A client that
//! missed something finds it in the snapshot.

use domain::Timestamp;

use crate::rng::Rng;

/// How much later a reordered report leaves.
pub const REORDER_NANOS: i64 = 50_000_000;

/// Active faults. `one_in` numbers are odds drawn from the seed: 0 is never, 1 is always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    pub seed: u64,
    /// *reject*: every n-th new order is rejected, counted from the moment this is set; 0 is none.
    pub reject_every: u32,
    /// *delay*: every report is delayed by this time.
    pub delay_nanos: i64,
    /// *duplicate*: a report is sent twice.
    pub duplicate_one_in: u32,
    /// *drop*: a report is never sent.
    pub drop_one_in: u32,
    /// *reorder*: a report leaves [`REORDER_NANOS`] later, and the following ones overtake it.
    pub reorder_one_in: u32,
    /// *disconnect*: no request reaches the venue and nothing leaves it; the market continues. Reports and requests of
    /// that time are lost. The adapter sees it in `VenueSimulator::faults` and reports its session state.
    pub disconnected: bool,
    /// *mute*: requests are carried out, but no report and no market data leave; those of that time are lost.
    pub muted: bool,
}

/// Report channel from the venue to its client.
#[derive(Debug)]
pub(crate) struct ReportChannel {
    faults: Faults,
    rng: Rng,
    orders_seen: u32,
    /// When the newest report in order leaves: later ones do not overtake it.
    last_leave: Timestamp,
}

impl ReportChannel {
    pub(crate) fn new(faults: Faults) -> Self {
        Self { faults, rng: Rng::new(faults.seed, 0), orders_seen: 0, last_leave: Timestamp(i64::MIN) }
    }

    /// Delayed reports keep their time.
    pub(crate) fn set(&mut self, faults: Faults) {
        *self = Self { last_leave: self.last_leave, ..Self::new(faults) };
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        self.faults.disconnected
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.faults.disconnected || self.faults.muted
    }

    /// Whether the current new order is to be rejected.
    pub(crate) fn rejects_next(&mut self) -> bool {
        if self.faults.reject_every == 0 {
            return false;
        }
        self.orders_seen = (self.orders_seen + 1) % self.faults.reject_every;
        self.orders_seen == 0
    }

    /// The times at which a report leaves: none if it is lost, two if it is duplicated.
    pub(crate) fn send_times(&mut self, at: Timestamp) -> [Option<Timestamp>; 2] {
        if self.rng.one_in(self.faults.drop_one_in) {
            return [None, None];
        }
        let first = self.send_time(at);
        let second = self.rng.one_in(self.faults.duplicate_one_in).then(|| self.send_time(at));
        [Some(first), second]
    }

    fn send_time(&mut self, at: Timestamp) -> Timestamp {
        let leaves = Timestamp(at.0.saturating_add(self.faults.delay_nanos.max(0))).max(self.last_leave);
        if self.rng.one_in(self.faults.reorder_one_in) {
            return Timestamp(leaves.0.saturating_add(REORDER_NANOS));
        }
        self.last_leave = leaves;
        leaves
    }
}
