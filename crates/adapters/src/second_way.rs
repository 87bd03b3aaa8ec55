//! Second way: orders go by one adapter, and questions about orders, fills and balances by another one of the same account. For a venue
//! whose order protocol neither sends reports again nor answers questions.

use crossbeam_channel::{Receiver, Select, Sender, bounded};
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{AdapterCapabilities, InquiryResult, LineKind, ReportKind, VenueOrder, VenueSnapshot};
use domain::{AccountId, Order, OrderId, OrderKind, SecurityId, Text, TimeInForce, Timestamp};
use std::collections::BTreeMap;
use std::time::Instant;

use crate::venue::{Adapter, MarketFeed, OrderSession, ReportSink, SendOutcome, SessionLost, VenueOrderRules};

/// After so long a lost second way is tried again.
const RETRY_SECONDS: i64 = 1;
/// A minute is the longest pause.
const RETRY_DOUBLINGS_MAX: u32 = 6;

/// Two adapters of one account as one.
pub struct SecondWay {
    orders: Box<dyn Adapter>,
    answers: Box<dyn Adapter>,
    is_up: bool,
    /// Why the second way is down.
    down_reason: Text,
    /// Which securities the venue lists is told by the second way.
    lists: bool,
    /// A private line of the order adapter's own, where it has one: why it is down, or nothing while it is up.
    orders_down: Option<Text>,
    retry_at: Timestamp,
    /// Attempts to log on in a row that failed.
    failures: u32,
    /// What was said of it.
    told_up: Option<bool>,
    /// Times in force of orders that were asked about: the venue has none for market orders.
    asked: BTreeMap<OrderId, TimeInForce>,
    wake: Receiver<()>,
    /// Keeps the thread that joins both wakers.
    _stop: Sender<()>,
}

impl SecondWay {
    /// Orders by the first one, answers by the second.
    pub fn new(orders: Box<dyn Adapter>, answers: Box<dyn Adapter>) -> Self {
        let (stop, stopped) = bounded(0);
        let wake = joined([orders.waker(), answers.waker()], stopped);
        let down_reason = "not logged on yet".into();
        Self {
            orders,
            answers,
            is_up: false,
            down_reason,
            lists: false,
            orders_down: None,
            retry_at: Timestamp(0),
            failures: 0,
            told_up: None,
            asked: BTreeMap::new(),
            wake,
            _stop: stop,
        }
    }

    fn connect_answers(&mut self, at: Timestamp) {
        if self.is_up || at < self.retry_at {
            return;
        }
        let begun = Instant::now();
        match self.answers.connect(at) {
            Ok(()) => (self.is_up, self.failures) = (true, 0),
            Err(SessionLost(reason)) => {
                // An attempt holds the orders up, so a host that does not answer is tried seldom, counted from the end of the attempt.
                let pause = RETRY_SECONDS << self.failures.min(RETRY_DOUBLINGS_MAX);
                self.failures += 1;
                self.lose_answers(at, reason);
                let took = i64::try_from(begun.elapsed().as_secs()).unwrap_or(i64::MAX);
                self.retry_at = at.plus_seconds(took.saturating_add(pause));
            }
        }
    }

    fn lose_answers(&mut self, at: Timestamp, reason: Text) {
        if self.is_up {
            self.answers.disconnect(at);
        }
        (self.is_up, self.down_reason) = (false, reason);
        self.retry_at = at.plus_seconds(RETRY_SECONDS);
        self.asked.clear();
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
        match self.is_up {
            true => ask(&mut *self.answers),
            false => SendOutcome::NotSent(format!("the second way is down: {}", self.down_reason).into()),
        }
    }
}

/// One waker for both.
fn joined(wakers: [Receiver<()>; 2], stopped: Receiver<()>) -> Receiver<()> {
    let (sender, wake) = bounded(1);
    std::thread::spawn(move || {
        let all = [&wakers[0], &wakers[1], &stopped];
        loop {
            let mut select = Select::new();
            for receiver in all {
                select.recv(receiver);
            }
            let ready = select.ready();
            // The stop, or an adapter that has gone.
            if all[ready].recv().is_err() {
                return;
            }
            // A full waker wakes already.
            let _ = sender.try_send(());
        }
    });
    wake
}

/// Passes on everything but the state of a line that the second way is part of.
struct OrderSink<'a> {
    sink: &'a mut dyn ReportSink,
    orders_down: &'a mut Option<Text>,
    lists: bool,
}

impl ReportSink for OrderSink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        match said {
            ReportKind::Line { line: LineKind::Private, up, reason } => {
                *self.orders_down = (!up).then(|| reason.unwrap_or("down".into()));
            }
            ReportKind::Listed { .. } if self.lists => {}
            said => self.sink.on_report(at, said),
        }
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.sink.on_market_data(data);
    }

    fn reports_passed(&self) -> u64 {
        self.sink.reports_passed()
    }

    fn reports_durable(&self) -> u64 {
        self.sink.reports_durable()
    }
}

/// Passes on what answers questions, and what the order session does not tell. Reports of own orders come by that one.
struct AnswerSink<'a> {
    sink: &'a mut dyn ReportSink,
    asked: &'a mut BTreeMap<OrderId, TimeInForce>,
    lists: &'a mut bool,
}

impl ReportSink for AnswerSink<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        *self.lists |= matches!(said, ReportKind::Listed { .. });
        match said {
            ReportKind::Inquiry(mut answer) => {
                let tif = self.asked.remove(&answer.order);
                if let (InquiryResult::Found(seen, _), Some(tif)) = (&mut answer.result, tif) {
                    restore_tif(seen, tif);
                }
                self.sink.on_report(at, ReportKind::Inquiry(answer));
            }
            said @ (ReportKind::OpenOrders(_)
            | ReportKind::Fills(_)
            | ReportKind::ListingFailed { .. }
            | ReportKind::Statement(_)
            | ReportKind::Entry(_)
            | ReportKind::External(_)
            | ReportKind::Listed { .. }) => self.sink.on_report(at, said),
            _ => {}
        }
    }

    /// Prices come by the order adapter's own lines.
    fn on_market_data(&mut self, _: MarketData) {}

    fn reports_passed(&self) -> u64 {
        self.sink.reports_passed()
    }

    fn reports_durable(&self) -> u64 {
        self.sink.reports_durable()
    }
}

fn restore_tif(seen: &mut VenueOrder, tif: TimeInForce) {
    if seen.terms.kind == OrderKind::Market {
        seen.terms.tif = tif;
    }
}

impl OrderSession for SecondWay {
    fn capabilities(&self) -> AdapterCapabilities {
        let (orders, answers) = (self.orders.capabilities(), self.answers.capabilities());
        let mut lines = orders.lines;
        lines.extend((!lines.contains(&LineKind::Private)).then_some(LineKind::Private));
        AdapterCapabilities { lists: answers.lists, lines, ..orders }
    }

    fn order_rules(&self, security: SecurityId) -> VenueOrderRules {
        self.answers.order_rules(security)
    }

    fn connect(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        self.orders.connect(at)?;
        self.told_up = None;
        self.connect_answers(at);
        Ok(())
    }

    /// By the second way, where it is up. An ended market order is asked about instead, with its time in force.
    fn snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, SessionLost> {
        if self.is_up {
            match self.answers.snapshot(at) {
                Ok(mut snapshot) => {
                    snapshot.orders.retain(|order| order.terms.kind != OrderKind::Market);
                    snapshot.complete = false;
                    return Ok(snapshot);
                }
                Err(SessionLost(reason)) => self.lose_answers(at, reason),
            }
        }
        self.orders.snapshot(at)
    }

    fn submit(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.orders.submit(at, order)
    }

    fn modify(&mut self, at: Timestamp, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.orders.modify(at, order, terms)
    }

    fn cancel(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        self.orders.cancel(at, order)
    }

    fn cancel_leg(&mut self, at: Timestamp, order: &Order, leg: &Text) -> SendOutcome {
        self.orders.cancel_leg(at, order, leg)
    }

    fn inquire(&mut self, at: Timestamp, order: &Order) -> SendOutcome {
        let outcome = self.ask(|answers| answers.inquire(at, order));
        if outcome == SendOutcome::Sent {
            self.asked.insert(order.id, order.terms.tif);
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
        self.connect_answers(at);
        if self.is_up {
            let mut answers = AnswerSink { sink, asked: &mut self.asked, lists: &mut self.lists };
            let delivered = self.answers.deliver(at, &mut answers);
            if let Err(SessionLost(reason)) = delivered {
                self.lose_answers(at, reason);
            }
        }
        self.tell_line(sink);
        Ok(())
    }

    fn next_due(&self) -> Option<Timestamp> {
        let answers = if self.is_up { self.answers.next_due() } else { Some(self.retry_at) };
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
