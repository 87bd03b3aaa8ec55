//! Test client of the conformance kit: sends orders and records reports.

use std::collections::BTreeMap;

use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    FillsPage, FillsScope, HalfOutcome, InquiryAnswer, OpenOrdersPage, ReportKind, VenueFill, VenueOrder,
    VenueOrderState, VenueSnapshot, VenueStatement,
};
use domain::{AccountId, Order, OrderId, Quantity, SecurityId, Text, Timestamp};

use super::{DurableView, Harness, OrderIntent, RuleVerdict};
use crate::venue::{ReportSink, SendOutcome, SessionLost};

/// A venue that lists so few fills on more pages lists them for ever.
const FILLS_PAGES_MAX: usize = 100;

/// Every wait of an adapter for an answer is over by then.
const ADMISSION_SECONDS: i64 = 60;

/// Result of a rule: kept, or the verdict.
pub(super) type RuleResult<T = ()> = Result<T, RuleVerdict>;

pub(super) struct ConformanceClient<H> {
    pub(super) harness: H,
    received: ReceivedReports,
    /// When the venue was last asked for a snapshot or about an order.
    pub(super) asked_at: Timestamp,
    /// What the adapter could not do, in its own words.
    admitted: Vec<String>,
    /// The largest quantity that was asked for of each order.
    asked: BTreeMap<OrderId, Quantity>,
}

/// Everything reported since the start, or since it was last read.
#[derive(Default)]
struct ReceivedReports {
    reports: Vec<ReportKind>,
    fills: Vec<VenueFill>,
    prices: Vec<MarketData>,
    /// Reports that came before the venue had recorded them.
    early: Vec<ReportKind>,
    /// Reports that something was refused, lost or is not known, or moved by somebody else.
    admitted: Vec<String>,
    /// Whether the same fill again is not counted, as the engine does not.
    counts_once: bool,
    durable_view: Option<DurableView>,
}

impl ReportSink for ReceivedReports {
    fn on_report(&mut self, _: Option<Timestamp>, said: ReportKind) {
        if self.durable_view.as_ref().is_some_and(|witness| !is_durable(&said, &witness())) {
            self.early.push(said.clone());
        }
        if let ReportKind::Filled(fill) = &said
            && !(self.counts_once && self.fills.contains(fill))
        {
            self.fills.push(fill.clone());
        }
        if is_admission(&said) {
            self.admitted.push(report_name(&said).to_owned());
        }
        self.reports.push(said);
    }

    fn on_market_data(&mut self, data: MarketData) {
        self.prices.push(data);
    }
}

impl<H: Harness> ConformanceClient<H> {
    pub(super) fn new(harness: H) -> Self {
        Self {
            harness,
            received: ReceivedReports::default(),
            asked_at: Timestamp(0),
            admitted: Vec::new(),
            asked: BTreeMap::new(),
        }
    }

    /// A venue that repeats itself is believed once.
    pub(super) fn under_fault(harness: H) -> Self {
        let received = ReceivedReports { counts_once: true, ..ReceivedReports::default() };
        Self { received, ..Self::new(harness) }
    }

    pub(super) fn connect(&mut self) -> RuleResult {
        self.try_connect().or_else(|reason| failed(format!("no session: {reason}")))
    }

    pub(super) fn try_connect(&mut self) -> Result<(), SessionLost> {
        let at = self.harness.now();
        let outcome = self.harness.adapter().connect(at);
        self.note_lost(outcome)
    }

    pub(super) fn disconnect(&mut self) {
        let at = self.harness.now();
        self.harness.adapter().disconnect(at);
    }

    pub(super) fn snapshot(&mut self) -> RuleResult<VenueSnapshot> {
        let at = self.harness.now();
        self.asked_at = at;
        let outcome = self.harness.adapter().snapshot(at);
        self.note_lost(outcome).or_else(|reason| failed(format!("no snapshot: {reason}")))
    }

    /// Sends a new order.
    pub(super) fn send(&mut self, aim: OrderIntent) -> RuleResult<Order> {
        let order = self.harness.order(aim);
        sent(&self.submit(&order))?;
        Ok(order)
    }

    pub(super) fn submit(&mut self, order: &Order) -> SendOutcome {
        self.note_asked(order, order.terms);
        let at = self.harness.now();
        let outcome = self.harness.adapter().submit(at, order);
        self.note_unsent(outcome)
    }

    pub(super) fn modify(&mut self, order: &Order, terms: OrderTerms) -> SendOutcome {
        self.note_asked(order, terms);
        let at = self.harness.now();
        let outcome = self.harness.adapter().modify(at, order, terms);
        self.note_unsent(outcome)
    }

    pub(super) fn cancel(&mut self, order: &Order) -> SendOutcome {
        let at = self.harness.now();
        let outcome = self.harness.adapter().cancel(at, order);
        self.note_unsent(outcome)
    }

    pub(super) fn cancel_leg(&mut self, order: &Order, leg: &Text) -> SendOutcome {
        let at = self.harness.now();
        let outcome = self.harness.adapter().cancel_leg(at, order, leg);
        self.note_unsent(outcome)
    }

    pub(super) fn inquire(&mut self, order: &Order) -> SendOutcome {
        let at = self.harness.now();
        self.asked_at = at;
        let outcome = self.harness.adapter().inquire(at, order);
        self.note_unsent(outcome)
    }

    /// Asks about an order and waits for the only answer.
    pub(super) fn ask_about(&mut self, order: &Order) -> RuleResult<InquiryAnswer> {
        self.take_reports();
        sent(&self.inquire(order))?;
        self.wait()?;
        let answers = self.take_reports().into_iter().filter_map(|said| match said {
            ReportKind::Inquiry(answer) if answer.order == order.id => Some(answer),
            _ => None,
        });
        match <[InquiryAnswer; 1]>::try_from(answers.collect::<Vec<_>>()) {
            Ok([answer]) => Ok(answer),
            Err(answers) => failed(format!("order {} was asked about: {} answers", order.id, answers.len())),
        }
    }

    pub(super) fn ask_statement(&mut self, account: AccountId) -> SendOutcome {
        let at = self.harness.now();
        self.asked_at = at;
        let outcome = self.harness.adapter().ask_statement(at, account);
        self.note_unsent(outcome)
    }

    /// Asks for a statement and waits for the only answer.
    pub(super) fn ask_for_statement(&mut self, account: AccountId) -> RuleResult<VenueStatement> {
        self.take_reports();
        sent(&self.ask_statement(account))?;
        self.wait()?;
        let answers = self.take_reports().into_iter().filter_map(|said| match said {
            ReportKind::Statement(statement) if statement.account == account => Some(statement),
            _ => None,
        });
        match <[VenueStatement; 1]>::try_from(answers.collect::<Vec<_>>()) {
            Ok([statement]) => Ok(statement),
            Err(answers) => failed(format!("account {account}: {} statements", answers.len())),
        }
    }

    pub(super) fn ask_for_open_orders(&mut self) -> SendOutcome {
        let at = self.harness.now();
        self.asked_at = at;
        let outcome = self.harness.adapter().list_open_orders(at);
        self.note_unsent(outcome)
    }

    /// All pages of open orders that come for one question.
    pub(super) fn list_open_orders(&mut self) -> RuleResult<Vec<OpenOrdersPage>> {
        self.take_reports();
        sent(&self.ask_for_open_orders())?;
        self.wait()?;
        let pages = self.take_reports().into_iter().filter_map(|said| match said {
            ReportKind::OpenOrders(page) => Some(page),
            _ => None,
        });
        Ok(pages.collect())
    }

    /// The fills from a cursor on, to their end, and the next cursor.
    pub(super) fn list_fills(&mut self, cursor: Option<&Text>) -> RuleResult<(Vec<VenueFill>, Option<Text>)> {
        let (mut fills, mut cursor) = (Vec::new(), cursor.cloned());
        for _ in 0..FILLS_PAGES_MAX {
            let page = self.fills_page(cursor.as_ref())?;
            fills.extend(page.fills);
            cursor = page.next_cursor;
            if page.last {
                return Ok((fills, cursor));
            }
        }
        failed(format!("the list of fills has more than {FILLS_PAGES_MAX} pages"))
    }

    fn fills_page(&mut self, cursor: Option<&Text>) -> RuleResult<FillsPage> {
        self.take_reports();
        let security = self.harness.order(OrderIntent::Rest).security;
        let at = self.harness.now();
        let adapter = self.harness.adapter();
        let is_of_one = adapter.capabilities().lists.fills == Some(FillsScope::PerSecurity);
        let outcome = adapter.list_fills(at, is_of_one.then_some(security), cursor);
        sent(&self.note_unsent(outcome))?;
        self.wait()?;
        let page = self.take_reports().into_iter().find_map(|said| match said {
            ReportKind::Fills(page) => Some(page),
            _ => None,
        });
        page.map_or_else(|| failed("no fills were listed"), Ok)
    }

    pub(super) fn subscribe(&mut self, security: SecurityId) -> SendOutcome {
        let at = self.harness.now();
        let outcome = self.harness.adapter().subscribe(at, security);
        self.note_unsent(outcome)
    }

    pub(super) fn unsubscribe(&mut self, security: SecurityId) -> SendOutcome {
        let at = self.harness.now();
        let outcome = self.harness.adapter().unsubscribe(at, security);
        self.note_unsent(outcome)
    }

    /// Waits for the venue and records its reports.
    pub(super) fn receive(&mut self) -> Result<(), SessionLost> {
        self.harness.advance();
        let at = self.harness.now();
        self.deliver(at)
    }

    fn deliver(&mut self, at: Timestamp) -> Result<(), SessionLost> {
        let outcome = self.harness.adapter().deliver(at, &mut self.received);
        self.note_lost(outcome)
    }

    /// What the adapter said of its own accord that it could not do, at the latest when all its waits are over.
    pub(super) fn admissions(&mut self) -> Vec<String> {
        if self.admitted.is_empty() && self.received.admitted.is_empty() {
            // A session that is over has said so.
            let _ = self.deliver(self.harness.now().plus_seconds(ADMISSION_SECONDS));
        }
        let mut admitted = std::mem::take(&mut self.admitted);
        admitted.append(&mut self.received.admitted);
        admitted
    }

    fn note_asked(&mut self, order: &Order, terms: OrderTerms) {
        let most = self.asked.entry(order.id).or_insert(Quantity::ZERO);
        *most = terms.quantity.max(*most);
    }

    /// A fill that cannot be true, whatever else went wrong: one id for two trades, or more than was asked for.
    pub(super) fn false_fill(&self) -> Option<String> {
        let mut trades: BTreeMap<(OrderId, &Text), &VenueFill> = BTreeMap::new();
        let mut filled: BTreeMap<OrderId, Quantity> = BTreeMap::new();
        for fill in &self.received.fills {
            match trades.insert((fill.order, &fill.exec_id), fill) {
                Some(known) if !is_same_trade(known, fill) => return Some(format!("two trades are {}", fill.exec_id)),
                Some(_) => {}
                None => {
                    let sum = filled.entry(fill.order).or_insert(Quantity::ZERO);
                    *sum = sum.plus(fill.quantity).ok()?;
                }
            }
        }
        let over = filled.into_iter().find(|(order, sum)| self.asked.get(order).is_some_and(|asked| sum > asked));
        over.map(|(order, sum)| format!("order {order} has {sum} filled, and less was asked for"))
    }

    fn note_lost<T>(&mut self, outcome: Result<T, SessionLost>) -> Result<T, SessionLost> {
        if let Err(reason) = &outcome {
            self.admitted.push(reason.to_string());
        }
        outcome
    }

    fn note_unsent(&mut self, outcome: SendOutcome) -> SendOutcome {
        if let SendOutcome::NotSent(reason) | SendOutcome::Unknown { reason, .. } = &outcome {
            self.admitted.push(reason.to_string());
        }
        outcome
    }

    pub(super) fn wait(&mut self) -> RuleResult {
        self.receive().or_else(|reason| failed(format!("the session was lost: {reason}")))
    }

    /// New reports on the order, as text; several fills in a row are one.
    pub(super) fn reports_for(&mut self, order: OrderId) -> RuleResult<Vec<&'static str>> {
        self.wait()?;
        let said = self.take_reports();
        let mut words: Vec<_> = said.iter().filter(|said| said.order() == Some(order)).map(report_name).collect();
        words.dedup();
        Ok(words)
    }

    pub(super) fn take_reports(&mut self) -> Vec<ReportKind> {
        std::mem::take(&mut self.received.reports)
    }

    pub(super) fn drain_prices(&mut self) -> Vec<MarketData> {
        std::mem::take(&mut self.received.prices)
    }

    /// All fills since the start, except those that only a snapshot has.
    pub(super) fn fills(&self) -> &[VenueFill] {
        &self.received.fills
    }

    /// From now on each report is compared with the venue's durable state.
    pub(super) fn compare_with_durable(&mut self) -> RuleResult {
        self.received.durable_view = self.harness.durable_view();
        match self.received.durable_view {
            Some(_) => Ok(()),
            None => Err(RuleVerdict::NotSupported("the harness has no durable view")),
        }
    }

    pub(super) fn early_reports(&self) -> &[ReportKind] {
        &self.received.early
    }
}

pub(super) fn failed<T>(seen: impl Into<String>) -> RuleResult<T> {
    Err(RuleVerdict::Failed(seen.into()))
}

pub(super) fn sent(sending: &SendOutcome) -> RuleResult {
    match sending {
        SendOutcome::Sent => Ok(()),
        SendOutcome::NotSent(reason) | SendOutcome::Unknown { reason, .. } => failed(format!("was not sent: {reason}")),
    }
}

pub(super) fn order_in(snapshot: &VenueSnapshot, order: OrderId) -> RuleResult<&VenueOrder> {
    let found: Vec<_> = snapshot.orders.iter().filter(|known| known.order == order).collect();
    match found[..] {
        [known] => Ok(known),
        _ => failed(format!("the snapshot has order {order} {} times", found.len())),
    }
}

fn report_name(said: &ReportKind) -> &'static str {
    match said {
        ReportKind::Attached(_) => "attached",
        ReportKind::Session(_) => "session",
        ReportKind::Snapshot(_) => "picture",
        ReportKind::Accepted { .. } => "accepted",
        ReportKind::Rejected { .. } => "rejected",
        ReportKind::Filled(_) => "filled",
        ReportKind::Canceled { .. } => "canceled",
        ReportKind::Expired { .. } => "expired",
        ReportKind::Replaced { .. } => "replaced",
        ReportKind::CancelRejected { .. } => "cancel rejected",
        ReportKind::ReplaceRejected { .. } => "replace rejected",
        ReportKind::Busted { .. } => "busted",
        ReportKind::Corrected { .. } => "corrected",
        ReportKind::NotSent { .. } => "unsent",
        ReportKind::DeliveryUnknown { .. } => "lost",
        ReportKind::External(_) => "external",
        ReportKind::Gap => "gap",
        ReportKind::Line { .. } => "line",
        ReportKind::Inquiry(_) => "answered",
        ReportKind::Statement(_) => "statement",
        ReportKind::Entry(_) => "entry",
        ReportKind::OpenOrders(_) | ReportKind::Fills(_) => "listed",
        ReportKind::ListingFailed { .. } => "not listed",
        ReportKind::Listed { .. } => "listing",
        ReportKind::CancelReplaced(_) => "cancel-replaced",
        ReportKind::Leg(_) => "leg",
    }
}

/// Whether a report says that something was refused, lost or is not known, or that somebody else moved something.
fn is_admission(said: &ReportKind) -> bool {
    match said {
        ReportKind::Rejected { .. }
        | ReportKind::CancelRejected { .. }
        | ReportKind::ReplaceRejected { .. }
        | ReportKind::NotSent { .. }
        | ReportKind::DeliveryUnknown { .. }
        | ReportKind::ListingFailed { .. }
        | ReportKind::Gap
        | ReportKind::External(_)
        | ReportKind::Entry(_) => true,
        ReportKind::CancelReplaced(halves) => [halves.canceled, halves.placed] != [HalfOutcome::Done; 2],
        ReportKind::Line { up, .. } => !up,
        _ => false,
    }
}

/// Their charges are compared by other rules.
fn is_same_trade(known: &VenueFill, fill: &VenueFill) -> bool {
    (known.order, &known.exec_id, known.quantity, known.price) == (fill.order, &fill.exec_id, fill.quantity, fill.price)
}

/// Whether a venue that reports this would still have it after a crash. A reject need not be kept.
fn is_durable(said: &ReportKind, snapshot: &VenueSnapshot) -> bool {
    let known = |order: &OrderId| snapshot.orders.iter().find(|known| known.order == *order);
    let ended = |order: &OrderId, state: VenueOrderState| known(order).is_some_and(|known| known.state == state);
    match said {
        ReportKind::Accepted { order, .. } => known(order).is_some(),
        ReportKind::Filled(fill) => snapshot.fills.iter().any(|known| is_same_trade(known, fill)),
        ReportKind::Canceled { order, .. } => ended(order, VenueOrderState::Canceled),
        ReportKind::Expired { order, .. } => ended(order, VenueOrderState::Expired),
        ReportKind::Replaced { order, terms, .. } => known(order).is_some_and(|known| known.terms == *terms),
        _ => true,
    }
}
