//! Adapter host: connect ▸ reconcile ▸ logged on ▸ subscribe ▸ serve ▸ lost ▸ reconnect with backoff. It connects after
//! the engine has sent its subscriptions, so that SUBSCRIBED means all of them.
//!
//! The host only translates. It reads no clock and owns no thread: `thread` drives it by the wall clock, tests by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bus::{Inbox, InboxError};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::report::{LineKind, ListingScope, ReportKind, SessionState};
use domain::{
    AdapterName, Instruction, OrderId, PlantedBug, PriceGap, Report, SecurityId, StaleCause, Text, Timestamp,
};

use crate::overlap_record::OverlapRecord;
use crate::request_fence::RequestFence;
use crate::send_lease::{NO_LEASE, SendLease};
use crate::venue::{Adapter, ReportSink, SendOutcome, SessionLost};

/// The first pause after a lost or refused session; each further one is twice as long.
pub const BACKOFF_FIRST_MILLIS: i64 = 100;
/// No pause is longer.
pub const BACKOFF_MAX_MILLIS: i64 = 10_000;
/// Why a new leader does not log on yet.
const PREDECESSOR: &str = "requests of the leader before may still arrive";

/// Pauses between reconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VenueBackoff {
    /// Before the first attempt.
    pub first_millis: i64,
    /// Before any attempt.
    pub max_millis: i64,
}

impl Default for VenueBackoff {
    fn default() -> Self {
        Self { first_millis: BACKOFF_FIRST_MILLIS, max_millis: BACKOFF_MAX_MILLIS }
    }
}

impl VenueBackoff {
    /// The pause after a number of consecutive failures.
    fn pause_millis(self, failures: u32) -> i64 {
        let factor = 1_i64.checked_shl(failures).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
        self.first_millis.saturating_mul(factor).min(self.max_millis)
    }
}

/// Runs an adapter: instructions in, reports out, reconnects.
pub struct AdapterHost {
    /// None where no other process could trade.
    lease: Option<SendLease>,
    overlap: OverlapRecord,
    log_on_failed: Arc<AtomicBool>,
    adapter: Box<dyn Adapter>,
    engine: EngineLink,
    backoff: VenueBackoff,
    session: HostSession,
    /// It has not connected since it was told to end everything, for the sake of the next leader.
    has_left: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HostSession {
    /// The engine has not sent LOGON yet.
    NotGreeted,
    /// Requests of the leader before may still arrive, until about then by the clock of reports. The age of the lease decides.
    AwaitsPredecessor {
        until: Timestamp,
    },
    Disconnected {
        why: Text,
        failures: u32,
        retry_at: Timestamp,
    },
    LoggedOn,
}

impl AdapterHost {
    /// Reports the capabilities of the adapter to the engine. The first `step` after the engine's LOGON connects.
    pub fn attach(
        name: AdapterName,
        adapter: Box<dyn Adapter>,
        inbox: Inbox,
        backoff: VenueBackoff,
    ) -> Result<Self, InboxError> {
        let capabilities = adapter.capabilities();
        let fence = RequestFence::new(&capabilities);
        let mut line = EngineLink { name, inbox, fence, outcome: Ok(()), subscriptions: BTreeSet::new() };
        line.send_report(ReportKind::Attached(capabilities))?;
        Ok(Self {
            lease: None,
            overlap: OverlapRecord::default(),
            log_on_failed: Arc::default(),
            adapter,
            engine: line,
            backoff,
            session: HostSession::NotGreeted,
            has_left: true,
        })
    }

    /// Sends orders, changes and cancels, and logs on, only while it has the lease. Where another process may lead, it leaves a venue that
    /// takes one session at a time.
    pub fn with_lease(mut self, lease: Option<SendLease>) -> Self {
        if let Some(lease) = &lease {
            self.adapter.set_lease(lease.clone());
        }
        Self { lease, ..self }
    }

    /// With the overlap that the leader before had.
    pub fn with_overlap(self, overlap: OverlapRecord) -> Self {
        Self { overlap, ..self }
    }

    /// Sets this when the venue could not be logged on to, or a session was lost.
    pub fn with_failure_flag(self, log_on_failed: Arc<AtomicBool>) -> Self {
        Self { log_on_failed, ..self }
    }

    fn has_lease(&self) -> bool {
        PlantedBug::IgnoreLease.is_planted() || self.lease.as_ref().is_none_or(SendLease::is_held)
    }

    /// Whether its session would keep the next leader from the venue. The process may never hear of that one: the way to the log may be
    /// cut, and the way to the venue not.
    fn stands_in_the_way(&self) -> bool {
        let may_be_replaced = self.lease.as_ref().is_some_and(SendLease::may_be_replaced);
        may_be_replaced && self.adapter.overlap_millis() == 0 && !PlantedBug::IgnoreLease.is_planted()
    }

    /// Connects where that is due; delivers the venue's reports and prices.
    pub fn step(&mut self, at: Timestamp) -> Result<(), InboxError> {
        match self.session {
            HostSession::LoggedOn | HostSession::AwaitsPredecessor { .. } | HostSession::Disconnected { .. }
                if self.stands_in_the_way() && !self.has_left =>
            {
                self.leave(at)
            }
            HostSession::LoggedOn => self.deliver(at),
            // A clock that was set back would otherwise make the wait longer.
            HostSession::AwaitsPredecessor { .. } => self.log_on(at),
            HostSession::Disconnected { retry_at, .. } if at >= retry_at => self.log_on(at),
            HostSession::NotGreeted | HostSession::Disconnected { .. } => Ok(()),
        }
    }

    /// Also where it is not logged on: a log-on may be under way, and a session of its own for drop copies be up.
    fn leave(&mut self, at: Timestamp) -> Result<(), InboxError> {
        self.has_left = true;
        if self.session == HostSession::LoggedOn {
            return self.on_session_lost(at, &no_lease());
        }
        self.adapter.disconnect(at);
        self.await_lease(at);
        Ok(())
    }

    /// When `step` is due next.
    pub fn next_due(&self) -> Option<Timestamp> {
        match self.session {
            HostSession::LoggedOn => self.adapter.next_due(),
            HostSession::NotGreeted => None,
            HostSession::AwaitsPredecessor { until: due } | HostSession::Disconnected { retry_at: due, .. } => {
                Some(due)
            }
        }
    }

    /// Wakes when `step` has work before it is due.
    pub fn waker(&self) -> Receiver<()> {
        self.adapter.waker()
    }

    /// Carries out an instruction of the engine.
    pub fn handle(&mut self, at: Timestamp, instruction: &Instruction) -> Result<(), InboxError> {
        self.engine.fence.start(at);
        self.track_subscriptions(at, instruction);
        let sending = match &self.session {
            HostSession::LoggedOn if trades(instruction) && !self.has_lease() => SendOutcome::NotSent(NO_LEASE.into()),
            HostSession::LoggedOn => self.send(at, instruction),
            HostSession::NotGreeted => SendOutcome::NotSent("not logged on yet".into()),
            HostSession::AwaitsPredecessor { .. } => {
                SendOutcome::NotSent(format!("not logged on: {PREDECESSOR}").into())
            }
            HostSession::Disconnected { why, .. } => SendOutcome::NotSent(format!("not logged on: {why}").into()),
        };
        self.engine.fence.record(at, instruction, &sending);
        match not_sent_report(instruction, sending) {
            Some(said) => self.engine.send_report(said),
            None => Ok(()),
        }
    }

    /// Logs off from the venue after its last reports; also where the engine has stopped.
    pub fn disconnect(&mut self, at: Timestamp) -> Result<(), InboxError> {
        let heard = if self.session == HostSession::LoggedOn { self.deliver(at) } else { Ok(()) };
        if self.session != HostSession::LoggedOn {
            return heard;
        }
        self.adapter.disconnect(at);
        self.session = HostSession::Disconnected { why: "the server stops".into(), failures: 0, retry_at: at };
        self.engine.send_report(ReportKind::Session(SessionState::Disconnected))
    }

    fn track_subscriptions(&mut self, at: Timestamp, instruction: &Instruction) {
        match instruction {
            Instruction::LogOn if self.session == HostSession::NotGreeted => {
                self.session = HostSession::Disconnected { why: "not connected yet".into(), failures: 0, retry_at: at };
            }
            Instruction::Subscribe(security) => self.engine.on_subscribe(*security),
            Instruction::Unsubscribe(security) => self.engine.on_unsubscribe(*security),
            Instruction::LogOn
            | Instruction::Submit(_)
            | Instruction::Replace(..)
            | Instruction::Cancel(_)
            | Instruction::CancelLeg(..)
            | Instruction::Inquire(_)
            | Instruction::AskStatement(_)
            | Instruction::ListOpenOrders
            | Instruction::ListFills { .. } => {}
        }
    }

    fn log_on(&mut self, at: Timestamp) -> Result<(), InboxError> {
        if !self.has_lease() {
            self.await_lease(at);
            return Ok(());
        }
        if let Some(until) = self.predecessor_until(at)? {
            self.session = HostSession::AwaitsPredecessor { until };
            return Ok(());
        }
        self.has_left = false;
        if let Err(broken) = self.adapter.connect(at) {
            self.log_on_failed.store(true, Ordering::Relaxed);
            self.schedule_retry(at, &broken);
            return Ok(());
        }
        self.engine.send_report(ReportKind::Session(SessionState::Connected))?;
        match self.adapter.snapshot(at) {
            Ok(mut snapshot) => {
                snapshot.dead_after = self.engine.fence.of_all();
                self.engine.send_report(ReportKind::Snapshot(snapshot))?;
            }
            Err(broken) => return self.on_session_lost(at, &broken),
        }
        self.session = HostSession::LoggedOn;
        self.engine.send_report(ReportKind::Session(SessionState::LoggedOn))?;
        self.subscribe_all(at);
        tracing::info!(adapter = %self.engine.name, "session logged on and reconciled");
        // Available prices are delivered first, so that they are there when SUBSCRIBED is reported.
        self.deliver(at)?;
        match self.session {
            HostSession::LoggedOn => self.engine.send_report(ReportKind::Session(SessionState::Subscribed)),
            HostSession::NotGreeted | HostSession::AwaitsPredecessor { .. } | HostSession::Disconnected { .. } => {
                Ok(())
            }
        }
    }

    /// With the short pause each time: a leader that has its lease back, because nobody has replaced it, trades at once.
    fn await_lease(&mut self, at: Timestamp) {
        let due = at.plus_millis(self.backoff.first_millis);
        match &mut self.session {
            HostSession::Disconnected { why, retry_at, .. } if **why == *NO_LEASE => *retry_at = due,
            _ => self.schedule_retry(at, &no_lease()),
        }
    }

    /// Until when orders of the leader before may come in at the venue, where that is in the future. Decision 0059: none of this one's
    /// comes before them. A little longer where the journal lacks for how long those of this one may come.
    fn predecessor_until(&mut self, at: Timestamp) -> Result<Option<Timestamp>, InboxError> {
        let (Some(lease), own) = (&self.lease, self.adapter.overlap_millis()) else { return Ok(None) };
        // Not by `at`, whose clock may be set: a step of it would end the wait too early.
        if let Some(left) = self.overlap.millis_left(own, lease.age()) {
            return Ok(Some(at.plus_millis(left)));
        }
        let is_kept = self.overlap.is_kept(own)?;
        Ok((!is_kept).then(|| at.plus_millis(self.backoff.first_millis)))
    }

    /// A venue without market data refuses every security, with each session: one line for each reason.
    fn subscribe_all(&mut self, at: Timestamp) {
        let mut refused: BTreeMap<Text, Vec<SecurityId>> = BTreeMap::new();
        for security in self.engine.subscriptions.clone() {
            if let SendOutcome::NotSent(reason) | SendOutcome::Unknown { reason, .. } = self.subscribe(at, security) {
                refused.entry(reason).or_default().push(security);
            }
        }
        for (reason, securities) in &refused {
            self.warn_of_refusal(reason, securities);
        }
    }

    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let sending = self.adapter.subscribe(at, security);
        if matches!(sending, SendOutcome::NotSent(_) | SendOutcome::Unknown { .. }) {
            self.engine.send_gap(security, StaleCause::Refused);
        }
        sending
    }

    fn subscribe_one(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        let sending = self.subscribe(at, security);
        if let SendOutcome::NotSent(reason) | SendOutcome::Unknown { reason, .. } = &sending {
            self.warn_of_refusal(reason, &[security]);
        }
        sending
    }

    fn warn_of_refusal(&self, reason: &str, securities: &[SecurityId]) {
        let first = securities.first().map(ToString::to_string).unwrap_or_default();
        tracing::warn!(
            adapter = %self.engine.name, securities = securities.len(), %first, %reason,
            "market data subscription failed; it is retried with the next session"
        );
    }

    fn deliver(&mut self, at: Timestamp) -> Result<(), InboxError> {
        let delivered = self.adapter.deliver(at, &mut self.engine);
        self.engine.outcome?;
        match delivered {
            Ok(()) => Ok(()),
            Err(broken) => self.on_session_lost(at, &broken),
        }
    }

    fn send(&mut self, at: Timestamp, instruction: &Instruction) -> SendOutcome {
        match instruction {
            // With a session there is nothing to do.
            Instruction::LogOn => SendOutcome::Sent,
            Instruction::Submit(order) => self.adapter.submit(at, order),
            Instruction::Replace(order, terms) => self.adapter.modify(at, order, *terms),
            Instruction::Cancel(order) => self.adapter.cancel(at, order),
            Instruction::CancelLeg(order, leg) => self.adapter.cancel_leg(at, order, leg),
            Instruction::Inquire(order) => self.adapter.inquire(at, order),
            Instruction::AskStatement(account) => self.adapter.ask_statement(at, *account),
            Instruction::ListOpenOrders => self.adapter.list_open_orders(at),
            Instruction::ListFills { security, cursor } => self.adapter.list_fills(at, *security, cursor.as_ref()),
            Instruction::Subscribe(security) => self.subscribe_one(at, *security),
            Instruction::Unsubscribe(security) => self.adapter.unsubscribe(at, *security),
        }
    }

    fn on_session_lost(&mut self, at: Timestamp, broken: &SessionLost) -> Result<(), InboxError> {
        self.log_on_failed.store(true, Ordering::Relaxed);
        self.adapter.disconnect(at);
        self.schedule_retry(at, broken);
        self.engine.send_gaps();
        self.engine.send_report(ReportKind::Session(SessionState::Disconnected))
    }

    fn schedule_retry(&mut self, at: Timestamp, broken: &SessionLost) {
        let failures = match self.session {
            HostSession::NotGreeted | HostSession::AwaitsPredecessor { .. } | HostSession::LoggedOn => 0,
            HostSession::Disconnected { failures, .. } => failures,
        };
        let millis = self.backoff.pause_millis(failures);
        tracing::warn!(
            adapter = %self.engine.name, reason = %broken, retry_in_millis = millis,
            "venue session lost or refused; reconnecting"
        );
        let failures = failures.saturating_add(1);
        self.session = HostSession::Disconnected { why: broken.0.clone(), failures, retry_at: at.plus_millis(millis) };
    }
}

fn no_lease() -> SessionLost {
    SessionLost(NO_LEASE.into())
}

/// Whether it changes something at the venue.
fn trades(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Submit(_) | Instruction::Replace(..) | Instruction::Cancel(_) | Instruction::CancelLeg(..) => true,
        Instruction::LogOn
        | Instruction::Inquire(_)
        | Instruction::AskStatement(_)
        | Instruction::ListOpenOrders
        | Instruction::ListFills { .. }
        | Instruction::Subscribe(_)
        | Instruction::Unsubscribe(_) => false,
    }
}

/// The report to the engine where a request was not sent. A subscription is tried again with the next session.
fn not_sent_report(instruction: &Instruction, sending: SendOutcome) -> Option<ReportKind> {
    let (order, said): (_, fn(OrderId, Text) -> ReportKind) = match instruction {
        Instruction::ListOpenOrders => return failed_listing(ListingScope::OpenOrders, sending),
        Instruction::ListFills { security, .. } => return failed_listing(ListingScope::Fills(*security), sending),
        Instruction::Submit(order) => (order.id, |order, reason| ReportKind::NotSent { order, reason }),
        Instruction::Replace(order, _) => (order.id, |order, reason| ReportKind::ReplaceRejected { order, reason }),
        Instruction::Cancel(order) => (order.id, |order, reason| ReportKind::CancelRejected { order, reason }),
        // What was not asked is asked again.
        Instruction::LogOn
        | Instruction::CancelLeg(..)
        | Instruction::Inquire(_)
        | Instruction::AskStatement(_)
        | Instruction::Subscribe(_)
        | Instruction::Unsubscribe(_) => return None,
    };
    match sending {
        SendOutcome::Sent => None,
        SendOutcome::NotSent(reason) => Some(said(order, reason)),
        SendOutcome::Unknown { reason, dead_after } => Some(ReportKind::DeliveryUnknown { order, reason, dead_after }),
    }
}

/// A list that was not asked for, or of which nobody knows, is asked for again.
fn failed_listing(scope: ListingScope, sending: SendOutcome) -> Option<ReportKind> {
    match sending {
        SendOutcome::Sent => None,
        SendOutcome::NotSent(reason) | SendOutcome::Unknown { reason, .. } => {
            Some(ReportKind::ListingFailed { scope, reason })
        }
    }
}

/// Connection to the engine.
struct EngineLink {
    name: AdapterName,
    inbox: Inbox,
    fence: RequestFence,
    /// Whether the engine was still running at the last report.
    outcome: Result<(), InboxError>,
    /// Securities that the engine has subscribed, kept over all sessions.
    subscriptions: BTreeSet<SecurityId>,
}

impl EngineLink {
    /// What is known of the security was not heard from this subscription.
    fn on_subscribe(&mut self, security: SecurityId) {
        if self.subscriptions.insert(security) {
            self.send_gap(security, StaleCause::Awaited);
        }
    }

    /// No price comes any more.
    fn on_unsubscribe(&mut self, security: SecurityId) {
        if self.subscriptions.remove(&security) {
            self.send_gap(security, StaleCause::Unsubscribed);
        }
    }

    /// The feed has lost all its prices.
    fn send_gaps(&self) {
        for security in &self.subscriptions {
            self.send_gap(*security, StaleCause::Disconnected);
        }
    }

    fn send_gap(&self, security: SecurityId, cause: StaleCause) {
        self.inbox.send_price(MarketData::Gap(PriceGap { security, feed: self.name.0.clone(), cause }));
    }

    fn send_report(&mut self, said: ReportKind) -> Result<(), InboxError> {
        self.on_report(None, said);
        self.outcome
    }
}

impl ReportSink for EngineLink {
    fn on_report(&mut self, at: Option<Timestamp>, mut said: ReportKind) {
        match &mut said {
            ReportKind::Inquiry(answer) => answer.dead_after = self.fence.of_answer(answer),
            ReportKind::OpenOrders(page) => page.dead_after = self.fence.of_all(),
            ReportKind::Line { line: LineKind::Prices, up: false, .. } => self.send_gaps(),
            _ => {}
        }
        if self.outcome.is_ok() {
            self.outcome = self.inbox.send_report(Report { adapter: self.name.clone(), ext_at: at, kind: said });
        }
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.inbox.send_price(data);
    }

    fn reports_passed(&self) -> u64 {
        self.inbox.report_progress().sent()
    }

    fn reports_durable(&self) -> u64 {
        self.inbox.report_progress().durable()
    }
}
