//! Test client of the conformance kit: sends orders and records reports.

use std::collections::{BTreeMap, BTreeSet};

use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::report::{
    FillsPage, FillsScope, InquiryAnswer, InquiryResult, OpenOrdersPage, ReportKind, VenueFill, VenueOrder,
    VenueSnapshot, VenueStatement,
};
use domain::{AccountId, Order, OrderId, Quantity, SecurityId, Text, Timestamp};

use super::received_reports::{ReceivedReports, is_same_trade, report_name};
use super::{Harness, OrderIntent, RuleVerdict};
use crate::venue::{SendOutcome, SessionLost};

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
    /// Orders that were to be cancelled, or a leg of them.
    canceled: BTreeSet<OrderId>,
    /// The number of the newest request of each order: as with the engine, no two have the same.
    newest: BTreeMap<OrderId, u32>,
}

impl<H: Harness> ConformanceClient<H> {
    pub(super) fn new(harness: H) -> Self {
        Self {
            harness,
            received: ReceivedReports::default(),
            asked_at: Timestamp(0),
            admitted: Vec::new(),
            asked: BTreeMap::new(),
            canceled: BTreeSet::new(),
            newest: BTreeMap::new(),
        }
    }

    /// A venue that repeats itself is believed once.
    pub(super) fn under_fault(harness: H) -> Self {
        let received = ReceivedReports { is_under_fault: true, ..ReceivedReports::default() };
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
        let snapshot = self.note_lost(outcome).or_else(|reason| failed(format!("no snapshot: {reason}")))?;
        self.note_filled_instead(&snapshot.fills);
        Ok(snapshot)
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
        let order = self.next_request(order);
        let outcome = self.harness.adapter().modify(at, &order, terms);
        self.note_unsent(outcome)
    }

    pub(super) fn cancel(&mut self, order: &Order) -> SendOutcome {
        self.canceled.insert(order.id);
        let at = self.harness.now();
        let order = self.next_request(order);
        let outcome = self.harness.adapter().cancel(at, &order);
        self.note_unsent(outcome)
    }

    fn next_request(&mut self, order: &Order) -> Order {
        let newest = self.newest.entry(order.id).or_insert(order.request);
        *newest += 1;
        Order { request: *newest, ..order.clone() }
    }

    pub(super) fn cancel_leg(&mut self, order: &Order, leg: &Text) -> SendOutcome {
        self.canceled.insert(order.id);
        let at = self.harness.now();
        let outcome = self.harness.adapter().cancel_leg(at, order, leg);
        self.note_unsent(outcome)
    }

    pub(super) fn inquire(&mut self, order: &Order) -> SendOutcome {
        let at = self.harness.now();
        self.asked_at = at;
        let request = self.newest.get(&order.id).copied().unwrap_or(order.request);
        let outcome = self.harness.adapter().inquire(at, &Order { request, ..order.clone() });
        self.note_unsent(outcome)
    }

    /// Asks about an order and waits for the only answer; under a fault once more where there is none, as the engine does.
    pub(super) fn ask_about(&mut self, order: &Order) -> RuleResult<InquiryAnswer> {
        let mut answers = self.answers_about(order)?;
        if answers.is_empty() && self.received.is_under_fault {
            answers = self.answers_about(order)?;
        }
        match <[InquiryAnswer; 1]>::try_from(answers) {
            Ok([answer]) => Ok(answer),
            Err(answers) => failed(format!("order {} was asked about: {} answers", order.id, answers.len())),
        }
    }

    fn answers_about(&mut self, order: &Order) -> RuleResult<Vec<InquiryAnswer>> {
        self.take_reports();
        sent(&self.inquire(order))?;
        self.wait()?;
        let answers = self.take_reports().into_iter().filter_map(|said| match said {
            ReportKind::Inquiry(answer) if answer.order == order.id => Some(answer),
            _ => None,
        });
        let answers: Vec<InquiryAnswer> = answers.collect();
        for answer in &answers {
            if let InquiryResult::Found(_, fills) = &answer.result {
                self.note_filled_instead(fills);
            }
        }
        Ok(answers)
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

    /// All pages of open orders that come for one question; under a fault for the second, as the engine asks again and again.
    pub(super) fn list_open_orders(&mut self) -> RuleResult<Vec<OpenOrdersPage>> {
        if self.received.is_under_fault {
            self.open_orders_pages()?;
        }
        self.open_orders_pages()
    }

    fn open_orders_pages(&mut self) -> RuleResult<Vec<OpenOrdersPage>> {
        self.take_reports();
        sent(&self.ask_for_open_orders())?;
        self.wait()?;
        let pages = self.take_reports().into_iter().filter_map(|said| match said {
            ReportKind::OpenOrders(page) => Some(page),
            _ => None,
        });
        Ok(pages.collect())
    }

    /// The fills from a cursor on, to their end, and the next cursor; under a fault of the second question.
    pub(super) fn list_fills(&mut self, cursor: Option<&Text>) -> RuleResult<(Vec<VenueFill>, Option<Text>)> {
        if self.received.is_under_fault {
            self.fills_from(cursor)?;
        }
        self.fills_from(cursor)
    }

    fn fills_from(&mut self, cursor: Option<&Text>) -> RuleResult<(Vec<VenueFill>, Option<Text>)> {
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
        sent(&self.ask_for_fills(security, cursor))?;
        self.wait()?;
        let page = self.take_reports().into_iter().find_map(|said| match said {
            ReportKind::Fills(page) => Some(page),
            _ => None,
        });
        page.map_or_else(|| failed("no fills were listed"), Ok)
    }

    pub(super) fn ask_for_fills(&mut self, security: SecurityId, cursor: Option<&Text>) -> SendOutcome {
        let at = self.harness.now();
        let adapter = self.harness.adapter();
        let is_of_one = adapter.capabilities().lists.fills == Some(FillsScope::PerSecurity);
        let outcome = adapter.list_fills(at, is_of_one.then_some(security), cursor);
        self.note_unsent(outcome)
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

    /// Under a fault: what the adapter asks again of its own accord has been asked and answered.
    pub(super) fn wait_for_retry(&mut self) -> RuleResult {
        if !self.received.is_under_fault {
            return Ok(());
        }
        let later = self.harness.now().plus_seconds(ADMISSION_SECONDS);
        self.deliver(later).or_else(|reason| failed(format!("the session was lost: {reason}")))?;
        self.wait()
    }

    pub(super) fn is_under_fault(&self) -> bool {
        self.received.is_under_fault
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
        let instead: Vec<VenueFill> = self.received.fills.clone();
        self.note_filled_instead(&instead);
        let mut admitted = std::mem::take(&mut self.admitted);
        admitted.append(&mut self.received.admitted);
        admitted
    }

    /// An order that trades instead of being cancelled is told by its fill.
    fn note_filled_instead(&mut self, fills: &[VenueFill]) {
        let of_canceled = fills.iter().filter(|fill| self.canceled.contains(&fill.order));
        let told = of_canceled.map(|fill| format!("order {} traded as {}", fill.order, fill.exec_id));
        self.admitted.extend(told);
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
            self.admitted.push(format!("{reason} after request {}", self.received.requests));
        }
        outcome
    }

    fn note_unsent(&mut self, outcome: SendOutcome) -> SendOutcome {
        self.received.requests += 1;
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
