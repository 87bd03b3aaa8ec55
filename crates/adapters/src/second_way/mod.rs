//! Second way: orders go by one adapter, and questions about orders, fills and balances by another one of the same account. For a venue
//! whose order protocol neither sends reports again nor answers questions.

mod joined_waker;
mod log_on_thread;
mod sinks;

use crossbeam_channel::{Receiver, Sender, bounded};
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, ExternalOrder, LineKind, ListingCapabilities, ReportKind, VenueSnapshot};
use domain::{AccountId, Order, OrderId, OrderKind, SecurityId, Source, Text, Timestamp};
use std::time::Duration;

use crate::send_lease::SendLease;
use crate::venue::{Adapter, MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};
use log_on_thread::{LogOnOutcome, LogOnThread};
use sinks::{AnswerSink, OpenQuestions, OrderSink};

/// After so long a lost second way is tried again.
const RETRY_SECONDS: i64 = 1;
/// A minute is the longest pause.
const RETRY_DOUBLINGS_MAX: u32 = 6;
/// How long a log-on of the orders waits for the picture that the second way has of the account. Without it every open order is asked about.
const SNAPSHOT_WAIT: Duration = Duration::from_secs(2);

/// Two adapters of one account as one.
pub struct SecondWay {
    orders: Box<dyn Adapter>,
    /// Absent while it logs on, on its own thread.
    answers: Option<Box<dyn Adapter>>,
    /// What the second way can list.
    listing: ListingCapabilities,
    log_on: LogOnThread,
    is_up: bool,
    /// Why the second way is down.
    down_reason: Text,
    /// Of the second way, for the log-on that is under way.
    snapshot: Option<VenueSnapshot>,
    /// Orders that were placed elsewhere, from a snapshot that came too late: the second way does not tell them again.
    late_external: Vec<ExternalOrder>,
    /// Which securities the venue lists is told by the second way.
    lists: bool,
    /// A private line of the order adapter's own, where it has one: why it is down, or nothing while it is up.
    orders_down: Option<Text>,
    retry_at: Timestamp,
    /// Attempts to log on in a row that failed.
    failures: u32,
    /// What was said of it.
    told_up: Option<bool>,
    asked: OpenQuestions,
    /// Orders whose cancel was on its way when the second way was lost.
    unanswered_cancels: Vec<OrderId>,
    wake: Receiver<()>,
    /// Keeps the thread that joins both wakers.
    _stop: Sender<()>,
}

impl SecondWay {
    /// Orders by the first one, answers by the second.
    pub fn new(orders: Box<dyn Adapter>, answers: Box<dyn Adapter>) -> Self {
        let ((stop, stopped), (waker, wake)) = (bounded(0), bounded(1));
        joined_waker::join([orders.waker(), answers.waker()], stopped, waker.clone());
        Self {
            orders,
            listing: answers.capabilities().lists,
            answers: Some(answers),
            log_on: LogOnThread::start(waker),
            is_up: false,
            down_reason: "not logged on yet".into(),
            snapshot: None,
            late_external: Vec::new(),
            lists: false,
            orders_down: None,
            retry_at: Timestamp(0),
            failures: 0,
            told_up: None,
            asked: OpenQuestions::default(),
            unanswered_cancels: Vec::new(),
            wake,
            _stop: stop,
        }
    }

    /// Begins a log-on, or a snapshot where it is logged on; requests wait for nothing of it.
    fn begin_log_on(&mut self, at: Timestamp, wants_snapshot: bool) {
        let Some(adapter) = self.answers.take_if(|_| self.is_up || at >= self.retry_at) else { return };
        let is_up = std::mem::replace(&mut self.is_up, false);
        self.down_reason = "the log-on is under way".into();
        if let Err(adapter) = self.log_on.log_on(adapter, at, is_up, wants_snapshot) {
            self.answers = Some(adapter);
            self.on_log_on_failed(at, "its thread has ended; restart the server to use it again".into());
        }
    }

    /// Takes the adapter back where its log-on has ended in this time.
    fn end_log_on(&mut self, at: Timestamp, wait: Duration) {
        if self.answers.is_some() {
            return;
        }
        match self.log_on.outcome(wait) {
            Ok(None) => {}
            Ok(Some(LogOnOutcome { adapter, snapshot })) => {
                self.answers = Some(adapter);
                match snapshot {
                    Ok(snapshot) => (self.is_up, self.failures, self.snapshot) = (true, 0, snapshot),
                    Err(SessionLost(reason)) => self.on_log_on_failed(at, reason),
                }
            }
            Err(SessionLost(reason)) => self.down_reason = reason,
        }
    }

    /// A snapshot that nobody waits for any more is older than what was reported since.
    fn discard_late_snapshot(&mut self) {
        if let Some(late) = self.snapshot.take() {
            self.late_external.extend(late.external);
        }
    }

    /// A host that does not answer is tried seldom.
    fn on_log_on_failed(&mut self, at: Timestamp, reason: Text) {
        let pause = RETRY_SECONDS << self.failures.min(RETRY_DOUBLINGS_MAX);
        self.failures = self.failures.saturating_add(1);
        self.on_answers_lost(reason);
        self.retry_at = at.plus_seconds(pause);
    }

    fn lose_answers(&mut self, at: Timestamp, reason: Text) {
        if let Some(answers) = self.answers.as_mut().filter(|_| self.is_up) {
            answers.disconnect(at);
        }
        self.on_answers_lost(reason);
        self.retry_at = at.plus_seconds(RETRY_SECONDS);
    }

    /// What it was asked is not answered any more: questions are asked again, and a cancel may have taken effect.
    fn on_answers_lost(&mut self, reason: Text) {
        (self.is_up, self.down_reason) = (false, reason);
        let asked = std::mem::take(&mut self.asked);
        self.unanswered_cancels.extend(asked.cancels.into_keys());
    }

    fn tell_unanswered_cancels(&mut self, sink: &mut dyn ReportSink) {
        for order in self.unanswered_cancels.drain(..) {
            let reason = format!("the second way was lost before it answered: {}", self.down_reason).into();
            sink.on_report(None, ReportKind::DeliveryUnknown { order, reason, dead_after: None });
        }
    }

    /// The line is up where both are; a state that stays is not told again.
    fn tell_line(&mut self, sink: &mut dyn ReportSink) {
        let reason = if self.is_up { self.orders_down.clone() } else { Some(self.down_reason.clone()) };
        let up = reason.is_none();
        if self.told_up.replace(up) != Some(up) {
            sink.on_report(None, ReportKind::Line { line: LineKind::Private, up, reason });
        }
    }

    fn ask(&mut self, ask: impl FnOnce(&mut dyn Adapter) -> SendOutcome) -> SendOutcome {
        match self.answers.as_mut().filter(|_| self.is_up) {
            Some(answers) => ask(&mut **answers),
            None => SendOutcome::NotSent(format!("the second way is down: {}", self.down_reason).into()),
        }
    }

    /// The order session did not place it and knows no id of it.
    fn cancel_external(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let outcome = self.ask(|answers| answers.cancel(at, order));
        if outcome == SendOutcome::Sent {
            self.asked.cancels.insert(order.id, order.ext_id.clone());
        }
        outcome
    }
}

impl OrderSession for SecondWay {
    fn capabilities(&self) -> AdapterCapabilities {
        let orders = self.orders.capabilities();
        let mut lines = orders.lines;
        lines.extend((!lines.contains(&LineKind::Private)).then_some(LineKind::Private));
        AdapterCapabilities { lists: self.listing, lines, ..orders }
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.answers.as_ref().map_or_else(VenueOrderRules::default, |answers| answers.order_rules(security))
    }

    fn set_lease(&mut self, lease: SendLease) {
        self.orders.set_lease(lease);
    }

    fn overlap_millis(&self) -> i64 {
        self.orders.overlap_millis()
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.orders.connect(at)?;
        self.told_up = None;
        self.end_log_on(at, Duration::ZERO);
        self.discard_late_snapshot();
        self.begin_log_on(at, true);
        self.end_log_on(at, SNAPSHOT_WAIT);
        Ok(())
    }

    /// By the second way, where it has one. An ended market order is asked about instead, with its time in force.
    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        let Some(mut snapshot) = self.snapshot.take() else { return self.orders.snapshot(at) };
        snapshot.orders.retain(|order| order.terms.kind != OrderKind::Market);
        snapshot.complete = false;
        Ok(snapshot)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.orders.submit(at, order)
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.orders.modify(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        if order.source == Source::External {
            return self.cancel_external(at, order);
        }
        self.orders.cancel(at, order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.orders.cancel_leg(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let outcome = self.ask(|answers| answers.inquire(at, order));
        if outcome == SendOutcome::Sent {
            self.asked.tifs.insert(order.id, order.terms.tif);
        }
        outcome
    }

    fn ask_statement(&mut self, at: Timestamp, account: AccountId) -> SendOutcome {
        self.ask(|answers| answers.ask_statement(at, account))
    }

    fn list_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        self.ask(|answers| answers.list_open_orders(at))
    }

    fn list_fills(&mut self, at: Timestamp, security: Option<SecurityId>, cursor: Option<&Text>) -> SendOutcome {
        self.ask(|answers| answers.list_fills(at, security, cursor))
    }

    fn deliver(&mut self, at: Timestamp, sink: &mut dyn ReportSink) -> Result<(), SessionLost> {
        let lists = self.lists;
        self.orders.deliver(at, &mut OrderSink { sink, orders_down: &mut self.orders_down, lists })?;
        self.end_log_on(at, Duration::ZERO);
        if !self.is_up {
            self.begin_log_on(at, false);
        }
        self.discard_late_snapshot();
        let late = self.late_external.drain(..);
        late.for_each(|seen| sink.on_report(None, ReportKind::External(Box::new(seen))));
        if let Some(answers) = self.answers.as_mut().filter(|_| self.is_up) {
            let mut sink = AnswerSink { sink, asked: &mut self.asked, lists: &mut self.lists };
            if let Err(SessionLost(reason)) = answers.deliver(at, &mut sink) {
                self.lose_answers(at, reason);
            }
        }
        self.tell_unanswered_cancels(sink);
        self.tell_line(sink);
        Ok(())
    }

    fn next_due(&self) -> Option<Timestamp> {
        let answers = match &self.answers {
            Some(answers) if self.is_up => answers.next_due(),
            Some(_) => Some(self.retry_at),
            // The end of its log-on wakes.
            None => None,
        };
        [self.orders.next_due(), answers].into_iter().flatten().min()
    }

    fn waker(&self) -> Receiver<()> {
        self.wake.clone()
    }

    /// The second way stays: its reports of the absence are needed at once when the orders' session is back.
    fn disconnect(&mut self, at: Timestamp) {
        self.orders.disconnect(at);
        self.told_up = None;
    }
}

impl MarketFeed for SecondWay {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.orders.subscribe(at, security)
    }

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> SendOutcome {
        self.orders.unsubscribe(at, security)
    }
}
