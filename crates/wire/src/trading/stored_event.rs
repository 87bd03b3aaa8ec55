//! Stored events with the sequence of the input that caused them, for clients that catch up, so that they join with
//! topics and snapshots.

use domain::command::GenericEvent;
use domain::event::{MassCancelReport, RefusedCommand};
use domain::{Event, PublishedEvent, ReferenceData};
use serde::Serialize;

use crate::json::Millis;
use crate::value_object::value_object;
use crate::{
    BarVO, BreakVO, CashBalanceVO, FillVO, LifeCycleVO, LimitsVO, LogEventVO, OrderBookVO, OrderStatusVO, OrderVO,
    PortfolioValueVO, PositionVO, SecurityChangeVO, SessionEventVO, SubscriptionVO, TickVO, TradeVO, TradingStateVO,
    TransactionVO,
};

value_object! {
    /// What happened, with the sequence of the input that caused it; `objectType` says which `event` it is. That reference
    /// data changed comes without more: the data is read where it is listed.
    pub struct PastEventVO<'a> ("PastEvent", golden)
    from (published: &'a PublishedEvent, reference: &'a ReferenceData)
    let event = EventVO::from_domain(published, reference); {
        sequence: u64 [Whole] = published.sequence,
        dateTime: Millis = published.at.into(),
        objectType: &'static str = event.object_type(),
        event: EventVO<'a> [Maybe(&AnyOf(EVENTS))] = event,
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum EventVO<'a> {
    Tick(TickVO<'a>),
    Trade(TradeVO<'a>),
    OrderBook(OrderBookVO<'a>),
    Bar(BarVO<'a>),
    Order(Box<OrderVO<'a>>),
    OrderStatus(OrderStatusVO<'a>),
    Fill(FillVO<'a>),
    Transaction(Box<TransactionVO<'a>>),
    Position(PositionVO),
    CashBalance(CashBalanceVO),
    PortfolioValue(PortfolioValueVO),
    Subscription(SubscriptionVO<'a>),
    LifeCycle(LifeCycleVO<'a>),
    Session(SessionEventVO<'a>),
    TradingState(TradingStateVO<'a>),
    Limits(Box<LimitsVO>),
    Break(Box<BreakVO<'a>>),
    LogEvent(LogEventVO<'a>),
    Generic(GenericEventVO<'a>),
    Security(Box<SecurityChangeVO<'a>>),
    /// Only that it changed; the data itself is in the lists of reference data.
    Reference,
    /// Only that there is one; the samples themselves are the value history.
    ValueSample,
    Refused(RefusedCommandVO<'a>),
    MassCancel(MassCancelVO<'a>),
}

impl<'a> EventVO<'a> {
    pub(crate) fn from_domain(published: &'a PublishedEvent, reference: &'a ReferenceData) -> Self {
        let at = published.at;
        match &published.event {
            Event::Tick(tick) => Self::Tick(TickVO::from_domain(tick)),
            Event::Trade(trade) => Self::Trade(TradeVO::from_domain(trade)),
            Event::Book(book) => Self::OrderBook(OrderBookVO::from_domain(book)),
            Event::Bar(bar) => Self::Bar(BarVO::from_domain(bar)),
            Event::Order(order) => Self::Order(Box::new(OrderVO::from_domain(order))),
            Event::OrderStatus(status) => Self::OrderStatus(OrderStatusVO::from_domain(status)),
            Event::Fill(fill) => Self::Fill(FillVO::from_domain(fill)),
            Event::Transaction(booked) => Self::Transaction(Box::new(TransactionVO::from_domain(booked))),
            Event::Position(position) => Self::Position(PositionVO::from_domain(position)),
            Event::Cash(balance) => Self::CashBalance(CashBalanceVO::from_domain(balance)),
            Event::Portfolio(value) => Self::PortfolioValue(PortfolioValueVO::from_domain(value)),
            Event::Subscription(wish, is_wanted) => {
                Self::Subscription(SubscriptionVO::from_domain(*wish, *is_wanted, reference))
            }
            Event::LifeCycle(change) => Self::LifeCycle(LifeCycleVO::from_domain(at, change, reference)),
            Event::Session(change) => Self::Session(SessionEventVO::from_domain(at, change, reference)),
            Event::TradingState(change) => Self::TradingState(TradingStateVO::from_domain(change)),
            Event::Limits(scope, limits) => Self::Limits(Box::new(LimitsVO::from_domain(*scope, limits))),
            Event::Break(found) => Self::Break(Box::new(BreakVO::from_domain(found, reference))),
            Event::Alarm(alarm) => Self::LogEvent(LogEventVO::from_domain(at, alarm)),
            Event::Generic(event) => Self::Generic(GenericEventVO::from_domain(event, reference)),
            Event::Security(change) => {
                Self::Security(Box::new(SecurityChangeVO::from_domain(published.sequence, change)))
            }
            Event::Reference(_) => Self::Reference,
            Event::ValueSample(_) => Self::ValueSample,
            Event::Refused(refused) => Self::Refused(RefusedCommandVO::from_domain(refused)),
            Event::MassCancel(cancel) => Self::MassCancel(MassCancelVO::from_domain(cancel)),
        }
    }

    fn object_type(&self) -> &'static str {
        match self {
            Self::Tick(_) => "Tick",
            Self::Trade(_) => "Trade",
            Self::OrderBook(_) => "OrderBook",
            Self::Bar(_) => "Bar",
            Self::Order(_) => "Order",
            Self::OrderStatus(_) => "OrderStatus",
            Self::Fill(_) => "Fill",
            Self::Transaction(_) => "Transaction",
            Self::Position(_) => "Position",
            Self::CashBalance(_) => "CashBalance",
            Self::PortfolioValue(_) => "PortfolioValue",
            Self::Subscription(_) => "Subscription",
            Self::LifeCycle(_) => "LifeCycle",
            Self::Session(_) => "Session",
            Self::TradingState(_) => "TradingState",
            Self::Limits(_) => "Limits",
            Self::Break(_) => "Break",
            Self::LogEvent(_) => "LogEvent",
            Self::Generic(_) => "Generic",
            Self::Security(_) => "Security",
            Self::Reference => "Reference",
            Self::ValueSample => "ValueSample",
            Self::Refused(_) => "RefusedCommand",
            Self::MassCancel(_) => "MassCancel",
        }
    }
}

/// A command of a FIX session that was rejected.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefusedCommandVO<'a> {
    session: &'a str,
    /// The order that it refers to, where there is one.
    int_id: Option<&'a str>,
    code: &'a str,
    reason: &'a str,
}

impl<'a> RefusedCommandVO<'a> {
    fn from_domain(refused: &'a RefusedCommand) -> Self {
        Self {
            session: &refused.origin.session,
            int_id: refused.order.as_ref().map(|order| order.int_id.as_str()),
            code: &refused.code,
            reason: &refused.text,
        }
    }
}

/// How many orders of a FIX session are being cancelled at its request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MassCancelVO<'a> {
    session: &'a str,
    affected: u64,
    out_of_reach: u64,
}

impl<'a> MassCancelVO<'a> {
    fn from_domain(cancel: &'a MassCancelReport) -> Self {
        Self { session: &cancel.origin.session, affected: cancel.affected, out_of_reach: cancel.not_cancellable }
    }
}

value_object! {
    /// A generic event between strategies.
    pub struct GenericEventVO<'a> ("GenericEvent")
    from (event: &'a GenericEvent, reference: &'a ReferenceData) {
        strategyName: Option<&'a str> = reference.strategies.get(&event.strategy).map(|strategy| &*strategy.name),
        name: &'a str = &event.name,
        body: &'a str = &event.body,
    }
}
