//! A question about one order, in several requests: the status under each id that it may have, then the trades of what was
//! found. That an order is not there is said only where the list of orders lacks it too.

use std::collections::VecDeque;

use domain::order::LegState;
use domain::report::{InquiryAnswer, InquiryResult, VenueFill, VenueOrder};
use domain::{Currency, Order, OrderId, Source, Text, TimeInForce, Timestamp, WireId};
use serde::Deserialize;
use serde_json::Value;

use crate::orders::client_id::client_id;
use crate::orders::external_orders::external_number;
use crate::orders::order_lists::OrderList;
use crate::orders::order_picture::{OrderPicture, own_id, picture, shown_terms};
use crate::protocol::answers::account_answers::BinanceTrade;
use crate::protocol::answers::error_codes::ErrorMeaning;
use crate::protocol::answers::order_answers::BinanceOrder;
use crate::protocol::answers::{CallAnswer, CallError};
use crate::protocol::requests::{BinanceRequest, OrderReference, TRADES_PAGE_MAX};

/// Ids that are asked about, newest first; the list of orders has the rest.
pub const INQUIRY_IDS_MAX: usize = 8;

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum InquiryStep {
    Ask(BinanceRequest),
    /// The list of the symbol's orders is wanted: see [`Inquiry::on_list`].
    List,
    Answer(InquiryAnswer, Vec<BinanceOrder>),
    /// No answer; it is asked again.
    GiveUp(String),
}

#[derive(Debug, Clone, PartialEq)]
enum InquiryStage {
    Status,
    List,
    Trades,
}

/// One question under way.
#[derive(Debug, Clone)]
pub struct Inquiry {
    order: OrderId,
    /// Of an order that was placed elsewhere: its id here and at the venue.
    external: Option<(Text, i64)>,
    instance: u64,
    as_of: Timestamp,
    symbol: String,
    quote: Currency,
    stage: InquiryStage,
    /// What was asked last is first.
    ids: VecDeque<OrderReference>,
    legs: Vec<BinanceOrder>,
    unlisted: VecDeque<i64>,
    trades: Vec<BinanceTrade>,
}

impl Inquiry {
    /// With its first step.
    pub fn start(instance: u64, order: &Order, symbol: &str, quote: Currency, as_of: Timestamp) -> (Self, InquiryStep) {
        let external = external_of(order);
        let ids = match &external {
            Some((_, number)) => [OrderReference::Venue(*number)].into(),
            None => references(instance, order),
        };
        let mut inquiry = Self {
            order: order.id,
            external,
            instance,
            as_of,
            symbol: symbol.to_owned(),
            quote,
            stage: InquiryStage::Status,
            ids,
            legs: Vec::new(),
            unlisted: VecDeque::new(),
            trades: Vec::new(),
        };
        let first = inquiry.status_or_list();
        (inquiry, first)
    }

    pub fn order(&self) -> OrderId {
        self.order
    }

    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// When it began.
    pub fn as_of(&self) -> Timestamp {
        self.as_of
    }

    pub fn is_external(&self) -> bool {
        self.external.is_some()
    }

    pub fn on_answer(&mut self, answer: &CallAnswer) -> InquiryStep {
        match self.stage {
            InquiryStage::Status => self.on_status(answer),
            InquiryStage::List => InquiryStep::GiveUp("an answer that was not asked for".to_owned()),
            InquiryStage::Trades => self.on_trades(answer),
        }
    }

    fn status_or_list(&mut self) -> InquiryStep {
        match self.ids.front() {
            Some(id) => InquiryStep::Ask(BinanceRequest::order_status(&self.symbol, id)),
            None if self.legs.is_empty() => {
                self.stage = InquiryStage::List;
                InquiryStep::List
            }
            None => self.begin_trades(),
        }
    }

    fn on_status(&mut self, answer: &CallAnswer) -> InquiryStep {
        match &answer.outcome {
            Ok(result) => match BinanceOrder::deserialize(result) {
                Ok(leg) => self.add_leg(&leg),
                Err(reason) => return InquiryStep::GiveUp(reason.to_string()),
            },
            Err(error) if error.meaning == ErrorMeaning::NoSuchOrder => {}
            Err(error) => return InquiryStep::GiveUp(error.describe()),
        }
        self.ids.pop_front();
        self.skip_found();
        self.status_or_list()
    }

    /// A leg that was found under its client id is not asked for again.
    fn skip_found(&mut self) {
        let legs = &self.legs;
        let is_found = |id: &OrderReference| matches!(id, OrderReference::Venue(number) if legs.iter().any(|leg| leg.order_id.0 == *number));
        self.ids.retain(|id| !is_found(id));
    }

    /// The list was asked for when this had begun, or later.
    pub fn on_list(&mut self, list: &OrderList) -> InquiryStep {
        match &self.external {
            Some((_, number)) => list.numbered(*number).for_each(|leg| add_once(&mut self.legs, leg)),
            None => list.legs_of(self.order).for_each(|leg| add_once(&mut self.legs, leg)),
        }
        if self.legs.is_empty() {
            return self.answered(InquiryResult::NotFound, None);
        }
        self.begin_trades()
    }

    /// The same leg may be found under two ids.
    fn add_leg(&mut self, leg: &BinanceOrder) {
        let is_meant = match &self.external {
            Some((_, number)) => leg.order_id.0 == *number,
            None => {
                // Whoever cancels an order of ours elsewhere gives it another client id; its number stays.
                let is_asked = self.ids.front() == Some(&OrderReference::Venue(leg.order_id.0));
                is_asked || own_id(self.instance, &leg.client_id).is_some_and(|id| id.order == self.order)
            }
        };
        if is_meant {
            add_once(&mut self.legs, leg);
        }
    }

    fn begin_trades(&mut self) -> InquiryStep {
        self.stage = InquiryStage::Trades;
        let filled = self.legs.iter().filter(|leg| !leg.filled.0.is_zero());
        self.unlisted = filled.map(|leg| leg.order_id.0).collect();
        self.next_trades(None)
    }

    fn next_trades(&mut self, from: Option<i64>) -> InquiryStep {
        match self.unlisted.front() {
            Some(order_id) => InquiryStep::Ask(BinanceRequest::order_trades(&self.symbol, *order_id, from)),
            None => self.conclude(),
        }
    }

    fn on_trades(&mut self, answer: &CallAnswer) -> InquiryStep {
        let page: Vec<BinanceTrade> = match read(answer) {
            Ok(page) => page,
            Err(reason) => return InquiryStep::GiveUp(reason),
        };
        let is_full = i64::try_from(page.len()).is_ok_and(|count| count >= TRADES_PAGE_MAX);
        let next = page.last().map(|trade| trade.id.0 + 1).filter(|_| is_full);
        self.trades.extend(page);
        if next.is_none() {
            self.unlisted.pop_front();
        }
        self.next_trades(next)
    }

    fn conclude(&mut self) -> InquiryStep {
        match picture(self.order, &self.legs, &self.trades, self.quote) {
            Ok(OrderPicture { order, fills, other_legs }) => {
                let (seen, fills) = self.named(order, fills);
                let other_legs = Some(other_legs).filter(|legs| !legs.is_empty());
                self.answered(InquiryResult::Found(seen, fills), other_legs)
            }
            Err(gap) => InquiryStep::GiveUp(gap.to_string()),
        }
    }

    /// An order that was placed elsewhere has another id here, and no mark of ours.
    fn named(&self, mut seen: VenueOrder, mut fills: Vec<VenueFill>) -> (VenueOrder, Vec<VenueFill>) {
        if let Some((ext_id, _)) = &self.external {
            seen.ext_id = Some(ext_id.clone());
            fills.iter_mut().for_each(|fill| fill.ext_order = Some(ext_id.clone()));
            let unmarked =
                self.legs.last().and_then(|leg| shown_terms(&BinanceOrder { client_id: String::new(), ..leg.clone() }));
            seen.terms = unmarked.unwrap_or(seen.terms);
        }
        (seen, fills)
    }

    fn answered(&mut self, result: InquiryResult, other_legs: Option<Vec<VenueOrder>>) -> InquiryStep {
        let answer =
            InquiryAnswer { order: self.order, as_of: self.as_of, dead_after: None, result, other_legs, filled: None };
        InquiryStep::Answer(answer, std::mem::take(&mut self.legs))
    }
}

fn add_once(legs: &mut Vec<BinanceOrder>, leg: &BinanceOrder) {
    if legs.iter().all(|known| known.order_id != leg.order_id) {
        legs.push(leg.clone());
    }
}

fn read<T: for<'de> Deserialize<'de>>(answer: &CallAnswer) -> Result<T, String> {
    let result: &Value = answer.outcome.as_ref().map_err(CallError::describe)?;
    T::deserialize(result).map_err(|reason| reason.to_string())
}

fn external_of(order: &Order) -> Option<(Text, i64)> {
    let ext_id = order.ext_id.as_ref().filter(|_| order.source == Source::External)?;
    Some((ext_id.clone(), external_number(ext_id)?))
}

/// Every id under which the venue may know the order: those of its newest requests and that of its submit, then the venue's
/// own of the legs that may work. Which requests were cancels is not known here; the venue has no order of that name then.
fn references(instance: u64, order: &Order) -> VecDeque<OrderReference> {
    let newest = WireId::newest(instance, order);
    let tifs = tifs_of(order);
    let ids = newest.with_earlier().enumerate();
    let asked = ids.filter(|(place, id)| *place + 1 < INQUIRY_IDS_MAX || id.request == 0);
    let named = asked.flat_map(|(_, id)| tifs.iter().filter_map(move |tif| client_id(&id.to_string(), *tif)));
    let mut references: VecDeque<_> = VecDeque::new();
    for id in named.map(OrderReference::Client).chain(working_legs(order)) {
        if !references.contains(&id) {
            references.push_back(id);
        }
    }
    references
}

/// A replace that is under way may have another time in force.
fn tifs_of(order: &Order) -> Vec<TimeInForce> {
    let wanted = order.pending.replace().map(|(_, terms)| terms.tif).filter(|tif| *tif != order.terms.tif);
    [order.terms.tif].into_iter().chain(wanted).collect()
}

/// Requests that keep the id of a leg, as amendments do, may push the request that made it out of those that are asked about.
fn working_legs(order: &Order) -> impl Iterator<Item = OrderReference> {
    let legs = order.legs.iter().flat_map(|legs| &legs.0).filter(|leg| leg.state != LegState::Ended);
    let ids = order.ext_id.iter().chain(legs.map(|leg| &leg.ext_id));
    ids.filter_map(|id| id.parse().ok()).map(OrderReference::Venue)
}
