//! Lists. After a log-on the snapshot: open orders of all symbols, then orders and trades of each symbol that was traded. While
//! the session is up: all open orders, and the fills of a symbol from a cursor on. What fails or cannot be read is no list.
//!
//! The snapshot is never called complete: the venue lists neither trades nor ended orders without a symbol. What it leaves open,
//! the engine asks about by the client ids.

use std::collections::{BTreeMap, BTreeSet};

use adapter_kit::RequestLane;
use adapters::SendOutcome;
use domain::report::{ListingScope, OpenOrdersPage, ReportKind, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{OrderId, SecurityId, Text, Timestamp};
use serde::Deserialize;

use super::requests::outcome;
use super::state::BinanceAdapter;
use super::waiting::{RequestPurpose, RequestWay};
use crate::orders::fills_question::{FillsQuestion, FillsStep, OrderMemory, note_owner};
use crate::orders::order_picture::{PictureGap, ext_id, own_id, picture, shown_terms};
use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::requests::{BinanceRequest, TradesFrom};

/// Lists go over REST: on the other connection orders would wait behind them.
const LIST_WAY: (RequestLane, RequestWay) = (RequestLane::Fills, RequestWay::Rest);

impl BinanceAdapter {
    pub(super) fn ask_open_orders(&mut self, at: Timestamp) -> SendOutcome {
        let request = BinanceRequest::open_orders(None);
        outcome(self.send(at, LIST_WAY, RequestPurpose::OpenOrders(at), request))
    }

    /// The answer to a new question counts; one that is under way is forgotten.
    pub(super) fn ask_fills(&mut self, at: Timestamp, security: SecurityId, cursor: Option<&Text>) -> SendOutcome {
        let Some(symbol) = self.symbols.symbol_of(security) else {
            return SendOutcome::NotSent("venue-unlisted: the venue does not list the security".into());
        };
        let started = FillsQuestion::start(security, &symbol, cursor, at, &self.first_log_on);
        let Some((question, first)) = started else {
            return SendOutcome::NotSent("the cursor is no trade id of the venue".into());
        };
        let sent = self.send(at, LIST_WAY, RequestPurpose::Fills(security, at), first);
        if sent.is_ok() {
            self.fills_questions.insert(security, (at, question));
        }
        outcome(sent)
    }

    pub(super) fn on_open_orders(&mut self, at: Timestamp, as_of: Timestamp, answer: &CallAnswer) {
        let listed = read_orders(answer).and_then(|orders| Ok((self.open_own_orders(&orders)?, orders)));
        let (orders, listed) = match listed {
            Ok(listed) => listed,
            Err(reason) => return self.fail_list(ListingScope::OpenOrders, reason),
        };
        let page = OpenOrdersPage { as_of, dead_after: None, page: 0, last: true, orders };
        self.outbox.report(ReportKind::OpenOrders(page));
        for order in listed {
            note_owner(&mut self.order_memory(), &order);
            if own_id(self.setup.instance, &order.client_id).is_none() {
                let key = self.external.on_order(order);
                self.tell_external(at, &key);
            }
        }
        for key in self.external.incomplete() {
            self.look_at_external(at, &key);
        }
    }

    /// Each leg is listed: where two of one order are open, the engine decides.
    fn open_own_orders(&self, listed: &[BinanceOrder]) -> Result<Vec<VenueOrder>, String> {
        let own = listed.iter().filter_map(|leg| Some((own_id(self.setup.instance, &leg.client_id)?.order, leg)));
        own.map(|(order, leg)| open_order(order, leg)).collect()
    }

    pub(super) fn on_fills_answer(&mut self, at: Timestamp, purpose: (SecurityId, Timestamp), answer: &CallAnswer) {
        let Some(mut question) = self.fills_question(purpose) else { return };
        let (security, as_of) = purpose;
        match question.on_answer(answer, &mut self.order_memory()) {
            FillsStep::Ask(request) => match self.send(at, LIST_WAY, RequestPurpose::Fills(security, as_of), request) {
                Ok(()) => drop(self.fills_questions.insert(security, (as_of, question))),
                Err(reason) => self.fail_list(ListingScope::Fills(Some(security)), reason),
            },
            FillsStep::Done => self.tell_fills(at, security, question),
            FillsStep::Fail(reason) => self.fail_list(ListingScope::Fills(Some(security)), reason),
        }
    }

    fn tell_fills(&mut self, at: Timestamp, security: SecurityId, question: FillsQuestion) {
        let quote = self.symbols.symbol_of(security).map(|symbol| self.symbols.quote_of(&symbol));
        let (page, elsewhere) = question.finish(&mut self.order_memory(), quote.unwrap_or(domain::Currency::USDT));
        self.outbox.report(ReportKind::Fills(page));
        for key in elsewhere {
            self.tell_external(at, &key);
        }
    }

    /// No answer came to a request of a list.
    pub(super) fn on_list_unanswered(&mut self, purpose: &RequestPurpose, reason: &str) {
        match purpose {
            RequestPurpose::OpenOrders(_) => self.fail_list(ListingScope::OpenOrders, reason),
            RequestPurpose::Fills(security, as_of) => {
                let was_asked = self.fills_question((*security, *as_of)).is_some();
                if was_asked {
                    self.fail_list(ListingScope::Fills(Some(*security)), reason);
                }
            }
            _ => {}
        }
    }

    /// The question that the answer belongs to; a later one has taken its place otherwise.
    fn fills_question(&mut self, (security, as_of): (SecurityId, Timestamp)) -> Option<FillsQuestion> {
        let asked = self.fills_questions.get(&security).is_some_and(|(asked, _)| *asked == as_of);
        if asked { self.fills_questions.remove(&security).map(|(_, question)| question) } else { None }
    }

    pub(super) fn fail_list(&mut self, scope: ListingScope, reason: impl Into<Text>) {
        self.outbox.report(ReportKind::ListingFailed { scope, reason: reason.into() });
    }

    pub(super) fn order_memory(&mut self) -> OrderMemory<'_> {
        OrderMemory {
            instance: self.setup.instance,
            owners: &mut self.owners,
            external: &mut self.external,
            first_log_on: &self.first_log_on,
        }
    }
}

fn read_orders(answer: &CallAnswer) -> Result<Vec<BinanceOrder>, String> {
    let result = answer.outcome.as_ref().map_err(CallError::describe)?;
    Vec::deserialize(result).map_err(|reason| reason.to_string())
}

fn open_order(order: OrderId, leg: &BinanceOrder) -> Result<VenueOrder, String> {
    let terms =
        shown_terms(leg).ok_or_else(|| format!("the venue's order {} has terms that are not known", leg.order_id.0))?;
    let ext_id = Some(ext_id(leg.order_id.0));
    Ok(VenueOrder { order, ext_id, terms, state: VenueOrderState::Live, reason: None })
}

impl BinanceAdapter {
    /// Without it nothing can be sent, so it does not wait behind inquiries and books for its share.
    pub(super) fn take_snapshot(&mut self, at: Timestamp) -> Result<VenueSnapshot, String> {
        let mut orders: Vec<BinanceOrder> = self.ask(RequestLane::Session, &BinanceRequest::open_orders(None))?;
        let mut trades: Vec<BinanceTrade> = Vec::new();
        for symbol in self.symbols_to_list(&orders) {
            let listed: Vec<BinanceOrder> = self.ask(RequestLane::Session, &BinanceRequest::all_orders(&symbol))?;
            orders.extend(listed);
            let request = BinanceRequest::my_trades(&symbol, TradesFrom::Newest);
            trades.extend(self.ask::<Vec<BinanceTrade>>(RequestLane::Session, &request)?);
        }
        let mut snapshot = VenueSnapshot { as_of: Some(at), ..VenueSnapshot::default() };
        orders.iter().for_each(|order| note_owner(&mut self.order_memory(), order));
        self.add_external(at, &newest_of(&orders), &trades, &mut snapshot)?;
        for (order, legs) in own_orders(self.setup.instance, orders) {
            self.add_order(order, &legs, &mut trades, &mut snapshot)?;
        }
        Ok(snapshot)
    }

    fn symbols_to_list(&self, open: &[BinanceOrder]) -> BTreeSet<String> {
        let own = open.iter().filter(|order| own_id(self.setup.instance, &order.client_id).is_some());
        self.traded.iter().cloned().chain(own.map(|order| order.symbol.clone())).collect()
    }

    /// An order whose picture is not whole is left out; it is asked about.
    fn add_order(
        &mut self,
        order: OrderId,
        legs: &[BinanceOrder],
        trades: &mut Vec<BinanceTrade>,
        snapshot: &mut VenueSnapshot,
    ) -> Result<(), String> {
        let Some(symbol) = legs.first().map(|leg| leg.symbol.clone()) else { return Ok(()) };
        let quote = self.symbols.quote_of(&symbol);
        let mut seen = picture(order, legs, trades, quote);
        if let Err(PictureGap::Trades { .. }) = seen {
            for leg in legs.iter().filter(|leg| !leg.filled.0.is_zero()) {
                let request = BinanceRequest::order_trades(&symbol, leg.order_id.0, None);
                trades.extend(self.ask::<Vec<BinanceTrade>>(RequestLane::Session, &request)?);
            }
            seen = picture(order, legs, trades, quote);
        }
        match seen {
            Ok(seen) => {
                self.tracker.on_picture(order, legs);
                snapshot.orders.push(seen.order);
                let is_live = |leg: &VenueOrder| leg.state == VenueOrderState::Live;
                snapshot.orders.extend(seen.other_legs.into_iter().filter(is_live));
                snapshot.fills.extend(seen.fills);
            }
            Err(gap) => tracing::warn!(%order, %gap, "an order is left out of the snapshot; it is asked about"),
        }
        Ok(())
    }
}

/// Each of the venue's orders once, as the last list has it.
fn newest_of(orders: &[BinanceOrder]) -> Vec<BinanceOrder> {
    let by_id = orders.iter().map(|order| ((&order.symbol, order.order_id), order));
    by_id.collect::<BTreeMap<_, _>>().into_values().cloned().collect()
}

/// Our orders with their legs. An order of two lists has changed meanwhile, or the later list lags: what is newer counts.
fn own_orders(instance: u64, orders: Vec<BinanceOrder>) -> BTreeMap<OrderId, Vec<BinanceOrder>> {
    let mut own: BTreeMap<OrderId, BTreeMap<(String, i64), BinanceOrder>> = BTreeMap::new();
    for leg in orders {
        let Some(id) = own_id(instance, &leg.client_id) else { continue };
        let legs = own.entry(id.order).or_default();
        let key = (leg.symbol.clone(), leg.order_id.0);
        let is_newer =
            legs.get(&key).is_none_or(|known| (leg.updated, leg.filled.0) >= (known.updated, known.filled.0));
        if is_newer {
            legs.insert(key, leg);
        }
    }
    own.into_iter().map(|(order, legs)| (order, legs.into_values().collect())).collect()
}
