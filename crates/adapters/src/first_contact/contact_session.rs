//! The session of a first contact: requests through the adapter's traits, and what was heard since.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::command::MarketData;
use domain::report::{ReportKind, VenueSnapshot};
use domain::{OrderId, Price, Quantity, SecurityId, Text, Timestamp};

use crate::thread::AdapterClock;
use crate::venue::{Adapter, ReportSink, SendOutcome, SessionLost};

/// Between two looks at what came, where the adapter does not wake us before.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A log-on is tried so often; the pause before each grows by this. A refused key must not lock the account.
const LOG_ONS_MAX: u32 = 3;
const LOG_ON_PAUSE: Duration = Duration::from_secs(1);

/// What became of the order so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrderSeen {
    pub(super) ext_id: Option<Text>,
    pub(super) is_accepted: bool,
    /// How it ended, in words.
    pub(super) ended: Option<String>,
    pub(super) filled: Quantity,
    /// What the venue refused or nobody knows, until it is looked at.
    pub(super) trouble: Option<String>,
}

impl OrderSeen {
    /// Certainly not in the market, and never was.
    pub(super) fn is_refused(&self) -> bool {
        self.ended.is_some() && !self.is_accepted && self.filled.is_zero()
    }

    const NOTHING: Self = Self { ext_id: None, is_accepted: false, ended: None, filled: Quantity::ZERO, trouble: None };
}

/// Everything that the adapter delivered.
pub(super) struct Heard {
    order: OrderId,
    security: SecurityId,
    pub(super) seen: OrderSeen,
    pub(super) bid: Option<Price>,
    pub(super) ask: Option<Price>,
    /// Answers that a step waits for.
    pub(super) answers: VecDeque<ReportKind>,
}

impl Heard {
    pub(super) fn about(security: SecurityId) -> Self {
        Self { order: OrderId(0), security, seen: OrderSeen::NOTHING, bid: None, ask: None, answers: VecDeque::new() }
    }

    /// From now on this order is meant.
    pub(super) fn begin(&mut self, order: OrderId) {
        self.order = order;
        self.seen = OrderSeen::NOTHING;
    }

    fn on_order(&mut self, said: ReportKind) {
        let seen = &mut self.seen;
        let because = |reason: Option<Text>| reason.map_or(String::new(), |reason| format!(": {reason}"));
        match said {
            ReportKind::Accepted { ext_id, .. } => {
                seen.is_accepted = true;
                seen.ext_id = ext_id.or(seen.ext_id.take());
            }
            ReportKind::Rejected { reason, .. } => seen.ended = Some(format!("rejected: {reason}")),
            ReportKind::NotSent { reason, .. } => seen.ended = Some(format!("not sent: {reason}")),
            ReportKind::Canceled { reason, .. } => seen.ended = Some(format!("cancelled{}", because(reason))),
            ReportKind::Expired { reason, .. } => seen.ended = Some(format!("expired{}", because(reason))),
            ReportKind::Filled(fill) => seen.filled = seen.filled.plus(fill.quantity).unwrap_or(fill.quantity),
            ReportKind::CancelRejected { reason, .. } => seen.trouble = Some(reason.to_string()),
            ReportKind::DeliveryUnknown { reason, .. } => seen.trouble = Some(format!("outcome unknown: {reason}")),
            other => self.answers.push_back(other),
        }
    }
}

impl ReportSink for Heard {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        match said.order() {
            Some(order) if order == self.order => self.on_order(said),
            Some(_) => {}
            None => self.answers.push_back(said),
        }
    }

    fn on_market_data(&mut self, data: MarketData) {
        if data.security() != self.security {
            return;
        }
        let (bid, ask) = match data {
            MarketData::Tick(tick) => (tick.bid, tick.ask),
            MarketData::Book(book) => {
                (book.bids.first().map(|level| level.price), book.asks.first().map(|level| level.price))
            }
            MarketData::Trade(_) | MarketData::Gap(_) => (None, None),
        };
        self.bid = bid.or(self.bid);
        self.ask = ask.or(self.ask);
    }
}

/// An adapter, and what it has delivered.
pub(super) struct ContactSession<'a> {
    pub(super) adapter: &'a mut dyn Adapter,
    pub(super) heard: Heard,
    clock: AdapterClock,
    patience_millis: i64,
    /// Set by whoever wants the check to end.
    stop: &'a AtomicBool,
    pub(super) is_interrupted: bool,
}

impl<'a> ContactSession<'a> {
    pub(super) fn new(
        adapter: &'a mut dyn Adapter,
        clock: AdapterClock,
        heard: Heard,
        patience_millis: i64,
        stop: &'a AtomicBool,
    ) -> Self {
        Self { adapter, heard, clock, patience_millis, stop, is_interrupted: false }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Logs on and takes the snapshot, as the host of an adapter does.
    pub(super) fn log_on(&mut self) -> Result<VenueSnapshot, String> {
        let mut reason = String::new();
        for attempt in 0..LOG_ONS_MAX {
            std::thread::sleep(LOG_ON_PAUSE * attempt);
            match self.connect_once() {
                Ok(snapshot) => return Ok(snapshot),
                Err(lost) => reason = lost.to_string(),
            }
            if self.note_stop() {
                break;
            }
        }
        Err(reason)
    }

    /// A connect that failed may still be under way, and is asked about again.
    fn connect_once(&mut self) -> Result<VenueSnapshot, SessionLost> {
        let now = self.now();
        self.adapter.connect(now)?;
        let now = self.now();
        self.adapter.snapshot(now).inspect_err(|_| self.adapter.disconnect(now))
    }

    pub(super) fn log_off(&mut self) {
        let now = self.now();
        self.adapter.disconnect(now);
    }

    /// A request that may have left is as one that left: its answer is waited for.
    pub(super) fn ask(
        &mut self,
        request: impl FnOnce(&mut dyn Adapter, Timestamp) -> SendOutcome,
    ) -> Result<(), String> {
        self.heard.answers.clear();
        let now = self.now();
        match request(self.adapter, now) {
            SendOutcome::Sent | SendOutcome::Unknown { .. } => Ok(()),
            SendOutcome::NotSent(reason) => Err(reason.to_string()),
        }
    }

    /// Until `find` finds what it looks for in what was heard.
    pub(super) fn wait_for<T>(
        &mut self,
        what: &str,
        mut find: impl FnMut(&mut Heard) -> Option<T>,
    ) -> Result<T, String> {
        let late = format!("{what} did not come within {} seconds", self.patience_millis / 1_000);
        self.wait_until(self.patience_ends(), &mut find)?.ok_or(late)
    }

    /// The same until an instant; nothing where it did not come.
    pub(super) fn wait_until<T>(
        &mut self,
        until: Timestamp,
        mut find: impl FnMut(&mut Heard) -> Option<T>,
    ) -> Result<Option<T>, String> {
        loop {
            let now = self.now();
            let delivered = self.adapter.deliver(now, &mut self.heard);
            if let Some(found) = find(&mut self.heard) {
                return Ok(Some(found));
            }
            delivered.map_err(|lost| format!("the session was lost: {lost}"))?;
            if self.note_stop() {
                return Err("interrupted".to_owned());
            }
            if now >= until {
                return Ok(None);
            }
            self.pause();
        }
    }

    /// One answer of the kind that `find` knows.
    pub(super) fn wait_for_answer<T>(
        &mut self,
        what: &str,
        mut find: impl FnMut(ReportKind) -> Option<T>,
    ) -> Result<T, String> {
        self.wait_for(what, |heard| heard.answers.drain(..).find_map(&mut find))
    }

    /// Waits a moment, so that a venue whose answers lag behind can catch up.
    pub(super) fn wait_a_moment(&mut self) -> Result<(), String> {
        let until = self.now().plus_millis(500);
        loop {
            let now = self.now();
            self.adapter.deliver(now, &mut self.heard).map_err(|lost| format!("the session was lost: {lost}"))?;
            if now >= until {
                return Ok(());
            }
            self.pause();
        }
    }

    pub(super) fn patience_ends(&self) -> Timestamp {
        self.now().plus_millis(self.patience_millis)
    }

    /// True once: what is under way then is cleaned up without being interrupted again.
    pub(super) fn note_stop(&mut self) -> bool {
        // No `swap(false)`: rustc 1.95 with optimisation sets a flag that is or-ed with its result, also where that is false.
        let is_stopped = !self.is_interrupted && self.stop.load(Ordering::Relaxed);
        self.is_interrupted |= is_stopped;
        is_stopped
    }

    fn pause(&self) {
        // Whether it woke us or the time is up, the next look tells.
        let _ = self.adapter.waker().recv_timeout(LOOK_EVERY);
    }
}
