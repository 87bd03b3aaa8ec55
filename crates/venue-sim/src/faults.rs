//! Fault injection on the lines of a client: reject, delay, duplicate, drop, reorder, disconnect, mute, lose, late, strangers, half, and lines
//! that are down apart.
//!
//! The ledger is never affected: a fault changes which requests arrive and which reports leave, and when, never what was
//! done. A client that missed something finds it in the snapshot, or asks.

use domain::report::LineKind;
use domain::{SeededRng, Timestamp};

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
    /// *lose*: a request never arrives, though the line is up.
    pub lose_one_in: u32,
    /// *late*: a request arrives late, within the venue's `request_life_nanos`.
    pub late_one_in: u32,
    /// *strangers*: after every n-th new order somebody else places the same on the account, counted from the moment this
    /// is set; 0 is none.
    pub strangers_every: u32,
    /// *half*: only one half of every cancel-replace, or none, is carried out.
    pub replace_half: Option<ReplaceHalf>,
    /// Lines that are down while the session stays up. The adapter sees it in `VenueSimulator::faults`.
    pub lines_down: LinesDown,
}

/// What is carried out of a cancel-replace that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceHalf {
    /// The leg is cancelled, the new one refused.
    Canceled,
    /// The new leg is placed, and the one before stays.
    Placed,
    /// Nothing.
    Neither,
}

/// Which lines of a session are down; they fail apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinesDown {
    /// *noTrading*: no request reaches the venue.
    pub trading: bool,
    /// *noPrivate*: the reports of that time are lost; answers to inquiries come.
    pub private: bool,
    /// *noPrices*: the prices of that time are lost.
    pub prices: bool,
}

impl LinesDown {
    /// With this line down too.
    #[must_use]
    pub fn with(self, line: LineKind) -> Self {
        match line {
            LineKind::Trading => Self { trading: true, ..self },
            LineKind::Private => Self { private: true, ..self },
            LineKind::Prices => Self { prices: true, ..self },
        }
    }

    pub fn is_down(self, line: LineKind) -> bool {
        match line {
            LineKind::Trading => self.trading,
            LineKind::Private => self.private,
            LineKind::Prices => self.prices,
        }
    }
}

/// Report channel from the venue to its client.
#[derive(Debug)]
pub(crate) struct ReportChannel {
    faults: Faults,
    rng: SeededRng,
    orders_seen: u32,
    orders_copied: u32,
    /// When the newest report in order leaves: later ones do not overtake it.
    last_leave: Timestamp,
    /// A report was lost, and the client does not know it yet.
    pub(crate) has_gap: bool,
}

impl ReportChannel {
    pub(crate) fn new(faults: Faults) -> Self {
        Self {
            faults,
            rng: SeededRng::new(faults.seed, 0),
            orders_seen: 0,
            orders_copied: 0,
            last_leave: Timestamp(i64::MIN),
            has_gap: false,
        }
    }

    /// Delayed reports keep their time.
    pub(crate) fn set(&mut self, faults: Faults) {
        *self = Self { last_leave: self.last_leave, has_gap: self.has_gap, ..Self::new(faults) };
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

    /// Whether somebody else places the same order now.
    pub(crate) fn copies_next(&mut self) -> bool {
        if self.faults.strangers_every == 0 {
            return false;
        }
        self.orders_copied = (self.orders_copied + 1) % self.faults.strangers_every;
        self.orders_copied == 0
    }

    /// Whether a request that is sent now never arrives.
    pub(crate) fn loses_request(&mut self) -> bool {
        self.rng.one_in(self.faults.lose_one_in)
    }

    /// How long a request is on its way, besides the latency; less than the longest possible.
    pub(crate) fn request_delay(&mut self, life_nanos: i64) -> i64 {
        if life_nanos == 0 || !self.rng.one_in(self.faults.late_one_in) {
            return 0;
        }
        i64::try_from(self.rng.below(life_nanos.unsigned_abs())).unwrap_or(0)
    }

    /// When the answer to an inquiry leaves: with the reports, and never lost where these are.
    pub(crate) fn answer_time(&mut self, at: Timestamp) -> Timestamp {
        self.send_time(at)
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
