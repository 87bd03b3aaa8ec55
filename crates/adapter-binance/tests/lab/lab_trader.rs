//! A client of the adapter that does what the engine does: believes reports, asks about what has no answer, and begins again
//! after a loss. Absence counts only after the fence.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use adapters::{OrderSession, ReportSink, SendOutcome, SessionLost};
use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    CancelReplaceReport, HalfOutcome, InquiryResult, LineKind, ReportKind, VenueFill, VenueOrder, VenueOrderState,
    VenueSnapshot,
};
use domain::{Decimal, Order, OrderId, Quantity, Text, Timestamp};
use serde_json::Value;

use crate::harness::LabHarness;
use crate::lab::now;

const WAIT_MAX: Duration = Duration::from_secs(90);
/// As the engine: first after a second.
const ASK_AFTER_MILLIS: i64 = 1_000;

pub(crate) struct LabTrader {
    pub(crate) harness: LabHarness,
    books: TraderBooks,
}

#[derive(Default)]
struct TraderBooks {
    orders: BTreeMap<OrderId, KnownOrder>,
    fills: BTreeMap<String, VenueFill>,
}

struct KnownOrder {
    order: Order,
    state: OrderState,
    /// A request without an outcome, and when it was sent or last asked about.
    open_since: Option<Timestamp>,
    sent_at: Timestamp,
    /// Legs that rest besides the newest.
    strays: Vec<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OrderState {
    Sent,
    Live,
    Ended,
}

impl ReportSink for TraderBooks {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        match said {
            ReportKind::Filled(fill) => self.fill(fill),
            ReportKind::Accepted { order, .. } => self.set(order, OrderState::Live),
            ReportKind::Replaced { order, terms, .. } => {
                self.set(order, OrderState::Live);
                self.orders.get_mut(&order).unwrap().order.terms = terms;
            }
            ReportKind::Rejected { order, .. }
            | ReportKind::Canceled { order, .. }
            | ReportKind::Expired { order, .. }
            | ReportKind::NotSent { order, .. } => self.set(order, OrderState::Ended),
            ReportKind::CancelRejected { order, .. } | ReportKind::ReplaceRejected { order, .. } => {
                self.orders.get_mut(&order).unwrap().open_since = None;
            }
            // What the stream told meanwhile is lost.
            ReportKind::Gap | ReportKind::Line { line: LineKind::Private, up: true, .. } => {
                self.orders.values_mut().for_each(|known| known.open_since = Some(Timestamp(0)));
            }
            ReportKind::CancelReplaced(told) => self.on_halves(&told),
            ReportKind::Leg(seen) => self.on_leg(&seen),
            ReportKind::Inquiry(answer) => {
                answer.other_legs.iter().flatten().for_each(|leg| self.on_leg(leg));
                self.on_inquiry(answer.order, answer.as_of, answer.result);
            }
            _ => {}
        }
    }

    fn on_market_data(&mut self, _: MarketData) {}
}

impl TraderBooks {
    fn set(&mut self, order: OrderId, state: OrderState) {
        let known = self.orders.get_mut(&order).unwrap();
        // What has ended stays so; only a fill may still come.
        if known.state != OrderState::Ended {
            known.state = state;
        }
        known.open_since = None;
    }

    fn fill(&mut self, fill: VenueFill) {
        let before = self.fills.insert(fill.exec_id.to_string(), fill.clone());
        assert!(before.is_none_or(|before| before == fill), "one execution, two stories: {fill:?}");
    }

    /// The new leg is the order, and the old one is asked about unless it is gone.
    fn on_halves(&mut self, told: &CancelReplaceReport) {
        let known = self.orders.get_mut(&told.order).unwrap();
        match (told.canceled, told.placed) {
            (HalfOutcome::Done, HalfOutcome::Refused) => self.set(told.order, OrderState::Ended),
            (HalfOutcome::Refused, HalfOutcome::Refused) => known.open_since = None,
            _ => {
                known.order.ext_id = told.new_leg.clone();
                known.open_since = Some(Timestamp(0));
            }
        }
    }

    /// A leg that rests besides the newest has to go.
    fn on_leg(&mut self, leg: &VenueOrder) {
        let strays = &mut self.orders.get_mut(&leg.order).unwrap().strays;
        strays.retain(|known| Some(known) != leg.ext_id.as_ref());
        if leg.state == VenueOrderState::Live {
            strays.extend(leg.ext_id.clone());
        }
    }

    fn on_inquiry(&mut self, order: OrderId, as_of: Timestamp, result: InquiryResult) {
        match result {
            InquiryResult::Found(seen, fills) => self.on_seen(&seen, fills),
            InquiryResult::NotFound => {
                let known = self.orders.get_mut(&order).unwrap();
                // The promises of the capabilities: receive window, margin and read lag.
                if as_of > known.sent_at.plus_millis(8_000) {
                    known.state = OrderState::Ended;
                    known.open_since = None;
                }
            }
        }
    }

    fn on_seen(&mut self, seen: &VenueOrder, fills: Vec<VenueFill>) {
        fills.into_iter().for_each(|fill| self.fill(fill));
        let live = seen.state == VenueOrderState::Live;
        self.set(seen.order, if live { OrderState::Live } else { OrderState::Ended });
        self.orders.get_mut(&seen.order).unwrap().order.terms = seen.terms;
    }

    fn on_snapshot(&mut self, snapshot: VenueSnapshot) {
        snapshot.fills.into_iter().for_each(|fill| self.fill(fill));
        for (place, seen) in snapshot.orders.iter().enumerate() {
            let is_earlier_leg = snapshot.orders[..place].iter().any(|newest| newest.order == seen.order);
            match is_earlier_leg {
                true => self.on_leg(seen),
                false => self.on_seen(seen, Vec::new()),
            }
        }
        let listed: Vec<OrderId> = snapshot.orders.iter().map(|seen| seen.order).collect();
        let unlisted = self.orders.values_mut().filter(|known| !listed.contains(&known.order.id));
        unlisted
            .filter(|known| known.state != OrderState::Ended)
            .for_each(|known| known.open_since = Some(Timestamp(0)));
    }

    fn filled(&self, order: OrderId) -> Quantity {
        let own = self.fills.values().filter(|fill| fill.order == order);
        own.fold(Quantity::ZERO, |sum, fill| sum.plus(fill.quantity).unwrap())
    }
}

impl LabTrader {
    pub(crate) fn log_on(kind: &'static str) -> Self {
        let mut trader = Self { harness: LabHarness::start(kind), books: TraderBooks::default() };
        trader.begin_again();
        trader
    }

    pub(crate) fn place(&mut self, terms: OrderTerms) -> OrderId {
        let order = self.harness.next_order(terms);
        let sent = self.harness.adapter.submit(now(), &order);
        let state = if sent == SendOutcome::Sent { OrderState::Sent } else { OrderState::Ended };
        let open_since = (sent == SendOutcome::Sent).then(now);
        let known = KnownOrder { order: order.clone(), state, open_since, sent_at: now(), strays: Vec::new() };
        self.books.orders.insert(order.id, known);
        self.resolve();
        order.id
    }

    pub(crate) fn replace(&mut self, order: OrderId, terms: OrderTerms) {
        self.request(order, |harness, order| harness.adapter.modify(now(), order, terms));
    }

    pub(crate) fn cancel(&mut self, order: OrderId) {
        self.request(order, |harness, order| harness.adapter.cancel(now(), order));
    }

    fn request(&mut self, order: OrderId, send: impl FnOnce(&mut LabHarness, &Order) -> SendOutcome) {
        let known = self.books.orders.get_mut(&order).unwrap();
        if known.state == OrderState::Ended {
            return;
        }
        known.order.request += 1;
        let sent = send(&mut self.harness, &known.order);
        if sent == SendOutcome::Sent {
            (known.open_since, known.sent_at) = (Some(now()), now());
        }
        self.resolve();
    }

    /// Until nothing has an open request.
    fn resolve(&mut self) {
        let begun = Instant::now();
        while !self.is_resolved() {
            assert!(begun.elapsed() < WAIT_MAX, "an order stays open");
            thread::sleep(Duration::from_millis(2));
        }
        self.harness.settle();
        let lost = self.deliver();
        if lost.is_err() {
            self.begin_again();
        }
        // A line that is back leaves all orders to be asked about.
        if self.books.orders.values().any(|known| known.open_since.is_some()) || lost.is_err() {
            self.resolve();
        }
    }

    fn is_resolved(&mut self) -> bool {
        if self.deliver().is_err() {
            self.begin_again();
        }
        let due: Vec<OrderId> =
            self.books.orders.iter().filter(|(_, known)| is_due(known)).map(|(id, _)| *id).collect();
        for id in due {
            let known = self.books.orders.get_mut(&id).unwrap();
            known.open_since = Some(now());
            // Without a budget it is asked again.
            let _ = self.harness.adapter.inquire(now(), &known.order);
        }
        self.cancel_strays();
        self.books.orders.values().all(|known| known.open_since.is_none())
    }

    /// And asks again whether they are gone.
    fn cancel_strays(&mut self) {
        for known in self.books.orders.values_mut() {
            for leg in std::mem::take(&mut known.strays) {
                known.order.request += 1;
                let _ = self.harness.adapter.cancel_leg(now(), &known.order, &leg);
                known.open_since = Some(now());
            }
        }
    }

    fn deliver(&mut self) -> Result<(), SessionLost> {
        self.harness.adapter.deliver(now(), &mut self.books)
    }

    fn begin_again(&mut self) {
        let begun = Instant::now();
        loop {
            self.harness.adapter.disconnect(now());
            let connected = self.harness.adapter.connect(now());
            match connected.and_then(|()| self.harness.adapter.snapshot(now())) {
                Ok(snapshot) => return self.books.on_snapshot(snapshot),
                Err(reason) => assert!(begun.elapsed() < WAIT_MAX, "no session: {reason}"),
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// What differs from the lab's ledger, order by order.
    pub(crate) fn differences(&self, ledger: &Value) -> Vec<String> {
        let mut differences = Vec::new();
        for known in self.books.orders.values() {
            let prefix = format!("R{}-{}-", crate::harness::INSTANCE, base36(known.order.id.0));
            let legs: Vec<&Value> =
                rows(ledger, "orders").filter(|row| text(row, "clientOrderId").starts_with(&prefix)).collect();
            let filled =
                legs.iter().fold(Decimal::ZERO, |sum, leg| sum + text(leg, "filled").parse::<Decimal>().unwrap());
            let live = legs.iter().filter(|leg| matches!(text(leg, "status"), "NEW" | "PARTIALLY_FILLED")).count();
            let ours = self.books.filled(known.order.id);
            let is_live = known.state == OrderState::Live && ours < known.order.terms.quantity;
            if ours != Quantity(filled) || live != usize::from(is_live) {
                let state = known.state;
                differences.push(format!("order {}: {state:?} with {ours}, the venue has {legs:?}", known.order.id));
            }
        }
        differences
    }
}

fn is_due(known: &KnownOrder) -> bool {
    known.open_since.is_some_and(|since| now() >= since.plus_millis(ASK_AFTER_MILLIS))
}

fn rows<'a>(ledger: &'a Value, table: &str) -> impl Iterator<Item = &'a Value> {
    ledger[table].as_array().unwrap().iter()
}

fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    row[name].as_str().unwrap()
}

/// Orders of a story are few.
fn base36(number: u64) -> char {
    char::from_digit(u32::try_from(number).unwrap(), 36).unwrap().to_ascii_uppercase()
}
