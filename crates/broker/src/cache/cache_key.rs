//! Cache key of an event: what its message is the last value of. It is computed without building a topic name, because
//! most topics have no subscriber.

use domain::breaks::{BreakId, BreakState};
use domain::{
    AccountId, AdapterName, BarSize, Currency, Event, EventClass, OrdStatus, OrderId, PositionId, RiskScope,
    SecurityId, StrategyId,
};

/// What has a last value. Prices come first and orders last, the oldest of them first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CacheKey {
    Price(EventClass, SecurityId),
    Bar(SecurityId, BarSize),
    /// One topic may carry several of these: all adapters of a kind.
    Session(AdapterName),
    TradingState(RiskScope),
    Break(BreakId),
    LifeCycle(StrategyId),
    Portfolio(StrategyId),
    /// And here all accounts.
    Cash(StrategyId, Currency, AccountId),
    Position(PositionId),
    Subscription(StrategyId, SecurityId),
    Order(OrderId, Aspect),
}

/// An order is published in two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aspect {
    Whole,
    Status,
}

impl Aspect {
    pub(crate) const ALL: [Self; 2] = [Self::Whole, Self::Status];
}

/// Treatment of the messages of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeliveryClass {
    /// Only the newest price counts, and it is cached.
    Market(CacheKey),
    /// Nothing is lost, and the newest is cached.
    State(CacheKey),
    /// As state, but final: the subject does not change any more.
    FinalState(CacheKey),
    /// Nothing is lost, and nothing is cached: these topics have no end.
    Transient,
}

impl DeliveryClass {
    pub(crate) fn of(event: &Event) -> Self {
        match event {
            Event::Tick(tick) => Self::Market(CacheKey::Price(EventClass::Tick, tick.security)),
            Event::Trade(trade) => Self::Market(CacheKey::Price(EventClass::Trade, trade.security)),
            Event::Book(book) => Self::Market(CacheKey::Price(EventClass::Book, book.security)),
            Event::Bar(bar) => Self::Market(CacheKey::Bar(bar.security, bar.size)),
            Event::Order(order) => Self::of_order(order.is_open(), order.id, Aspect::Whole),
            Event::OrderStatus(status) => Self::of_order(!is_final(status.status), status.order, Aspect::Status),
            Event::Position(position) => Self::State(CacheKey::Position(position.id)),
            Event::Cash(cash) => Self::State(CacheKey::Cash(cash.strategy, cash.currency, cash.account)),
            Event::Portfolio(value) => Self::State(CacheKey::Portfolio(value.strategy)),
            Event::Subscription(wish, _) => Self::State(CacheKey::Subscription(wish.strategy, wish.security)),
            Event::LifeCycle(change) => Self::State(CacheKey::LifeCycle(change.strategy)),
            Event::Session(change) => Self::State(CacheKey::Session(change.adapter.clone())),
            Event::TradingState(change) => Self::State(CacheKey::TradingState(change.scope)),
            Event::Break(found) if found.state == BreakState::Open => Self::State(CacheKey::Break(found.id)),
            Event::Break(found) => Self::FinalState(CacheKey::Break(found.id)),
            _ => Self::Transient,
        }
    }

    fn of_order(is_open: bool, order: OrderId, aspect: Aspect) -> Self {
        let subject = CacheKey::Order(order, aspect);
        if is_open { Self::State(subject) } else { Self::FinalState(subject) }
    }
}

fn is_final(status: OrdStatus) -> bool {
    matches!(status, OrdStatus::Executed | OrdStatus::Canceled | OrdStatus::Rejected)
}
