//! First contact with a venue: logs on, places an order far from the market, cuts the session and comes back, cancels, and
//! compares what the venue tells on every way that it offers. It knows nothing of a venue but the adapter's traits.

mod comparison;
mod contact_session;
mod far_order;
mod step;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use domain::order::{BaseState, PendingRequest};
use domain::report::{
    CancelKind, FillsScope, InquiryResult, ReportKind, VenueOrder, VenueOrderState, VenueSnapshot, VenueStatement,
};
use domain::{
    AccountId, AdapterName, Amount, Order, OrderId, OrderProperties, Price, Quantity, Security, Side, Source,
    StrategyId, Text, TimeInForce, WireId,
};

pub use far_order::far_terms;
pub use step::{ContactOutcome, ContactStep, StepOutcome};

use crate::thread::AdapterClock;
use crate::venue::Adapter;
use comparison::{compare_balances, compare_terms, is_open, terms_text};
use contact_session::{ContactSession, Heard};
use step::{StepEnd, StepResult};

/// The orders that are tried, until the venue takes one. A day order that outlives a broken check ends by itself, but not every
/// venue has a day.
const TRIED: [(OrderId, TimeInForce); 2] = [(OrderId(1), TimeInForce::Day), (OrderId(2), TimeInForce::Gtc)];
/// A cancel whose report has not come after this is asked about.
const CANCEL_ASKED_AFTER_MILLIS: i64 = 3_000;
/// A cancel is sent so often.
const CANCELS_MAX: u32 = 3;
/// More pages of fills than this are not read.
const FILL_PAGES_MAX: usize = 100;

/// What is tried.
pub struct ContactPlan {
    /// Part of the client ids: another one than the platform's own, so that no order is mistaken for one of its.
    pub instance: u64,
    /// The name of the venue, for its symbols.
    pub venue: Text,
    /// The adapter of the order.
    pub adapter: AdapterName,
    /// The account that trades there.
    pub account: AccountId,
    /// What is bought, if only by name.
    pub security: Arc<Security>,
    /// The limit of the order; absent: it follows from the venue's prices.
    pub limit: Option<Price>,
    /// How long one answer is waited for.
    pub patience_millis: i64,
}

/// Runs the contact. `tell` hears each step when it is over; `stop` ends it early, with the order cancelled.
pub fn first_contact(
    adapter: &mut dyn Adapter,
    clock: AdapterClock,
    plan: &ContactPlan,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&ContactStep),
) -> ContactOutcome {
    let heard = Heard::about(plan.security.id);
    let session = ContactSession::new(adapter, clock, heard, plan.patience_millis, stop);
    let mut contact = FirstContact { session, plan, tell, steps: Vec::new(), order: None, before: None };
    contact.run();
    let left_open = contact.order.as_ref().filter(|_| contact.may_be_open());
    let left_open = left_open.map(|order| WireId { instance: plan.instance, order: order.id, request: 0 });
    let is_interrupted = contact.session.is_interrupted;
    ContactOutcome { left_open, is_interrupted, steps: contact.steps }
}

struct FirstContact<'a> {
    session: ContactSession<'a>,
    plan: &'a ContactPlan,
    tell: &'a mut dyn FnMut(&ContactStep),
    steps: Vec<ContactStep>,
    /// The order, from when it may have left.
    order: Option<Order>,
    /// Balances before the order.
    before: Option<VenueStatement>,
}

impl FirstContact<'_> {
    fn run(&mut self) {
        if !self.step("log-on", Self::log_on) {
            return;
        }
        self.step("balances", Self::read_balances);
        self.step("prices", Self::follow_prices);
        if self.step("far order", Self::place) && self.order.is_some() {
            self.step("inquiry", Self::ask_about_order);
            self.step("open orders", Self::list_open_orders);
            self.step("reconnect", Self::reconnect);
        }
        if self.may_be_open() {
            self.step("cancel", Self::cancel);
        }
        if self.session.heard.seen.is_accepted {
            self.step("end of the order", Self::confirm_end);
            self.step("fills", Self::list_fills);
            self.step("balances again", Self::compare_balances);
        }
        self.session.log_off();
    }

    /// Whether it passed; what is not offered does not fail. After an interruption only what cleans up is done.
    fn step(&mut self, name: &'static str, run: impl FnOnce(&mut Self) -> StepResult) -> bool {
        self.session.note_stop();
        if self.session.is_interrupted && name != "cancel" {
            return false;
        }
        let outcome = match run(self) {
            Ok(text) => StepOutcome::Ok(text),
            Err(StepEnd::Failed(reason)) => StepOutcome::Failed(reason),
            Err(StepEnd::NotOffered(reason)) => StepOutcome::NotOffered(reason),
        };
        let step = ContactStep { name, outcome };
        (self.tell)(&step);
        let passed = !matches!(step.outcome, StepOutcome::Failed(_));
        self.steps.push(step);
        passed
    }

    fn may_be_open(&self) -> bool {
        let seen = &self.session.heard.seen;
        self.order.as_ref().is_some_and(|order| seen.ended.is_none() && seen.filled < order.terms.quantity)
    }

    fn log_on(&mut self) -> StepResult {
        let VenueSnapshot { orders, fills, complete, .. } = self.session.log_on()?;
        let extent = if complete { "a complete list" } else { "the venue does not list everything" };
        Ok(format!("{} orders and {} fills of this check, {extent}", orders.len(), fills.len()))
    }

    fn read_balances(&mut self) -> StepResult {
        if !self.session.adapter.capabilities().lists.statement {
            return Err(StepEnd::NotOffered("the adapter gives no statements".to_owned()));
        }
        let statement = self.statement()?;
        let known = statement.cash.len();
        self.before = Some(statement);
        Ok(format!("{known} assets"))
    }

    fn statement(&mut self) -> Result<VenueStatement, String> {
        let account = self.plan.account;
        self.session.ask(|adapter, at| adapter.ask_statement(at, account))?;
        self.session.wait_for_answer("a statement", |said| match said {
            ReportKind::Statement(statement) => Some(statement),
            _ => None,
        })
    }

    fn follow_prices(&mut self) -> StepResult {
        let security = self.plan.security.id;
        self.session.ask(|adapter, at| adapter.subscribe(at, security)).map_err(StepEnd::NotOffered)?;
        let (bid, ask) = self.session.wait_for("a bid and an ask", |heard| heard.bid.zip(heard.ask))?;
        if bid < ask {
            Ok(format!("bid {bid}, ask {ask}"))
        } else {
            Err(format!("bid {bid} is not below ask {ask}").into())
        }
    }

    fn place(&mut self) -> StepResult {
        // Nothing is left behind that could not be taken back.
        if self.session.adapter.capabilities().cancel == CancelKind::None {
            return Err(StepEnd::NotOffered("the venue takes no cancels, so an order would stay there".to_owned()));
        }
        let [(day, in_day), (other, in_other)] = TRIED;
        let refused = match self.place_one(day, in_day) {
            // One that did not leave was refused by the adapter.
            Err(StepEnd::Failed(reason)) if self.order.is_none() || self.session.heard.seen.is_refused() => reason,
            placed => return placed,
        };
        let placed = self.place_one(other, in_other)?;
        Ok(format!("{placed}; as a day order it was refused: {refused}"))
    }

    fn place_one(&mut self, id: OrderId, tif: TimeInForce) -> StepResult {
        let order = self.new_order(id, tif)?;
        self.session.heard.begin(id);
        let text = terms_text(&order.terms, self.plan.security.symbol_at(&self.plan.venue));
        self.session.ask(|adapter, at| adapter.submit(at, &order))?;
        let id = WireId::newest(self.plan.instance, &order);
        self.order = Some(order);
        self.session.wait_for("an acceptance", |heard| {
            let seen = &heard.seen;
            let is_settled = seen.is_accepted || seen.ended.is_some() || seen.trouble.is_some();
            is_settled.then_some(())
        })?;
        let seen = &mut self.session.heard.seen;
        match (&seen.ended, seen.trouble.take()) {
            (Some(ended), _) => Err(format!("{text}: {ended}").into()),
            (None, Some(trouble)) => Err(format!("{text}: {trouble}").into()),
            (None, None) if !seen.filled.is_zero() => Err(format!("{text}: {} of it traded", seen.filled).into()),
            (None, None) => Ok(format!("{text}, client id {id}")),
        }
    }

    fn new_order(&self, id: OrderId, tif: TimeInForce) -> Result<Order, String> {
        let ContactPlan { adapter, account, security, limit, .. } = self.plan;
        let rules = self.session.adapter.order_rules(security.id);
        let terms = far_terms(security, &rules, self.session.heard.bid, *limit, tif)?;
        let at = self.session.now();
        Ok(Order {
            id,
            int_id: "first-contact".parse().map_err(|_| "the id of the order is no id".to_owned())?,
            ext_id: None,
            cl_ord_id: None,
            at,
            side: Side::Buy,
            terms,
            exchange_order: false,
            exchange: security.exchange,
            security: security.id,
            account: *account,
            strategy: StrategyId::SERVER,
            adapter: adapter.clone(),
            properties: OrderProperties::default(),
            state: BaseState::PendingNew,
            pending: PendingRequest::Nothing,
            filled: Quantity::ZERO,
            turnover: Amount::ZERO,
            revision: 0,
            reason: None,
            in_doubt: false,
            reference: None,
            source: Source::Platform,
            submitted_by: None,
            changed_at: at,
            request: 0,
            legs: None,
            pass_through: None,
        })
    }

    fn is_it(&self, seen: &VenueOrder) -> bool {
        self.order.as_ref().is_some_and(|order| order.id == seen.order)
    }

    /// The order as the adapter is told it: with the venue's id, once that is known.
    fn known_order(&self) -> Result<Order, String> {
        let order = self.order.clone().ok_or("there is no order")?;
        Ok(Order { ext_id: self.session.heard.seen.ext_id.clone(), ..order })
    }

    /// What the venue knows of the order. Answers may lag behind, so it is asked until `is_good`, or until the patience ends.
    fn inquire(&mut self, is_good: impl Fn(&InquiryResult) -> bool) -> Result<InquiryResult, StepEnd> {
        let until = self.session.patience_ends();
        loop {
            let order = self.known_order()?;
            self.session.ask(|adapter, at| adapter.inquire(at, &order)).map_err(StepEnd::NotOffered)?;
            let result = self.session.wait_for_answer("an answer", |said| match said {
                ReportKind::Inquiry(answer) => Some(answer.result),
                _ => None,
            })?;
            if is_good(&result) || self.session.now() >= until {
                return Ok(result);
            }
            self.session.wait_a_moment()?;
        }
    }

    fn ask_about_order(&mut self) -> StepResult {
        let found = self.inquire(|result| matches!(result, InquiryResult::Found(order, _) if is_open(order)))?;
        match found {
            InquiryResult::Found(seen, fills) if is_open(&seen) && fills.is_empty() => self.expect_terms(&seen),
            InquiryResult::Found(seen, fills) => {
                Err(format!("the venue has it as {:?} with {} fills", seen.state, fills.len()).into())
            }
            InquiryResult::NotFound => Err("the venue does not know the order".to_owned().into()),
        }
    }

    fn expect_terms(&self, seen: &VenueOrder) -> StepResult {
        let order = self.known_order()?;
        compare_terms(&order.terms, &seen.terms).map_err(StepEnd::Failed)?;
        Ok("open, with the terms that were sent".to_owned())
    }

    fn list_open_orders(&mut self) -> StepResult {
        if !self.session.adapter.capabilities().lists.open_orders {
            return Err(StepEnd::NotOffered("the adapter asks about orders one by one".to_owned()));
        }
        let until = self.session.patience_ends();
        loop {
            let listed = self.open_orders()?;
            if let Some(seen) = listed.iter().find(|seen| self.is_it(seen)) {
                return self.expect_terms(seen);
            }
            if self.session.now() >= until {
                return Err(format!("the order is not among the {} that are listed", listed.len()).into());
            }
            self.session.wait_a_moment()?;
        }
    }

    fn open_orders(&mut self) -> Result<Vec<VenueOrder>, String> {
        self.session.ask(|adapter, at| adapter.list_open_orders(at))?;
        let mut listed = Vec::new();
        self.session.wait_for_answer("the list of open orders", |said| match said {
            ReportKind::OpenOrders(page) => {
                listed.extend(page.orders);
                page.last.then_some(Ok(()))
            }
            ReportKind::ListingFailed { reason, .. } => Some(Err(reason.to_string())),
            _ => None,
        })??;
        Ok(listed)
    }

    /// Ends the session from our side and begins another one: the order must still be there.
    fn reconnect(&mut self) -> StepResult {
        self.session.log_off();
        let snapshot = self.session.log_on()?;
        match snapshot.orders.iter().find(|seen| self.is_it(seen)) {
            Some(seen) if is_open(seen) => self.expect_terms(seen),
            Some(seen) => Err(format!("after it the venue has the order as {:?}", seen.state).into()),
            None if snapshot.complete => Err("after it the venue does not have the order".to_owned().into()),
            None => self.ask_about_order().or_else(|end| match end {
                StepEnd::NotOffered(_) => Ok("the venue does not list the order, and answers no questions".to_owned()),
                StepEnd::Failed(reason) => Err(StepEnd::Failed(reason)),
            }),
        }
    }

    fn cancel(&mut self) -> StepResult {
        let mut reason = String::new();
        for _ in 0..CANCELS_MAX {
            match self.try_cancel() {
                Ok(ended) => return Ok(ended),
                Err(failed) => reason = failed,
            }
            // A session that is lost cannot cancel; one that is up loses nothing by a new one.
            self.session.log_off();
            self.session.log_on()?;
            if let Some(ended) = self.end_at_venue() {
                return Ok(ended);
            }
        }
        Err(reason.into())
    }

    /// How the order ended where only the venue knows: a cancel takes effect although its report is lost.
    fn end_at_venue(&mut self) -> Option<String> {
        match self.inquire(|_| true) {
            Ok(InquiryResult::Found(seen, _)) if !is_open(&seen) => {
                let ended = format!("the venue has it as {:?}", seen.state);
                self.session.heard.seen.ended = Some(ended.clone());
                Some(ended)
            }
            _ => None,
        }
    }

    fn try_cancel(&mut self) -> Result<String, String> {
        let mut order = self.known_order()?;
        // Every request has a number of its own.
        order.request += 1;
        self.order = Some(order.clone());
        self.session.heard.seen.trouble = None;
        self.session.ask(|adapter, at| adapter.cancel(at, &order))?;
        let find = |heard: &mut Heard| {
            let seen = &mut heard.seen;
            seen.ended.clone().map(Ok).or_else(|| seen.trouble.take().map(Err))
        };
        let soon = self.session.now().plus_millis(CANCEL_ASKED_AFTER_MILLIS);
        if let Some(found) = self.session.wait_until(soon, find)? {
            return found;
        }
        match self.end_at_venue() {
            Some(ended) => Ok(ended),
            None => self.session.wait_for("the end of the order", find)?,
        }
    }

    fn confirm_end(&mut self) -> StepResult {
        if self.may_be_open() {
            return Err("the order may still be open".to_owned().into());
        }
        let found = self.inquire(|result| !matches!(result, InquiryResult::Found(order, _) if is_open(order)))?;
        let text = match found {
            InquiryResult::Found(seen, fills) if seen.state == VenueOrderState::Canceled && fills.is_empty() => {
                "the venue has it as cancelled, without fills"
            }
            InquiryResult::NotFound => "the venue does not know the order any more",
            InquiryResult::Found(seen, fills) => {
                return Err(format!("the venue has it as {:?} with {} fills", seen.state, fills.len()).into());
            }
        };
        if self.session.adapter.capabilities().lists.open_orders
            && self.open_orders()?.iter().any(|seen| self.is_it(seen))
        {
            return Err("the list of open orders still has it".to_owned().into());
        }
        Ok(text.to_owned())
    }

    /// None of the order: it did not trade.
    fn list_fills(&mut self) -> StepResult {
        let security = match self.session.adapter.capabilities().lists.fills {
            None => return Err(StepEnd::NotOffered("the adapter asks about orders one by one".to_owned())),
            Some(FillsScope::All) => None,
            Some(FillsScope::PerSecurity) => Some(self.plan.security.id),
        };
        let order = self.order.as_ref().map(|order| order.id);
        let (mut cursor, mut known): (Option<Text>, usize) = (None, 0);
        for _ in 0..FILL_PAGES_MAX {
            self.session.ask(|adapter, at| adapter.list_fills(at, security, cursor.as_ref()))?;
            let page = self.session.wait_for_answer("a list of fills", |said| match said {
                ReportKind::Fills(page) => Some(Ok(page)),
                ReportKind::ListingFailed { reason, .. } => Some(Err(reason.to_string())),
                _ => None,
            })??;
            if let Some(fill) = page.fills.iter().find(|fill| Some(fill.order) == order) {
                return Err(format!("the order traded: {} at {}", fill.quantity, fill.price).into());
            }
            known += page.fills.len();
            if page.last {
                return Ok(format!("none of the order among {known}"));
            }
            cursor = page.next_cursor;
        }
        Err(format!("the list has more than {FILL_PAGES_MAX} pages").into())
    }

    fn compare_balances(&mut self) -> StepResult {
        let Some(before) = self.before.clone() else {
            return Err(StepEnd::NotOffered("there was no statement before".to_owned()));
        };
        let until = self.session.patience_ends();
        loop {
            let after = self.statement()?;
            match compare_balances(&before, &after) {
                Ok(()) => return Ok("as before the order".to_owned()),
                Err(differences) if self.session.now() >= until => return Err(differences.into()),
                Err(_) => self.session.wait_a_moment()?,
            }
        }
    }
}
