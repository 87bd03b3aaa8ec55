//! What an event is the last word about. It is found without putting a name together, because every event needs it and
//! most topics have no listener.

use domain::{
    AccountId, AdapterName, BarSize, Currency, Event, EventClass, OrderId, PositionId, Scope, SecurityId, Status,
    StrategyId,
};

/// What has a last value. Prices come first and orders last, the oldest of them first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Price(EventClass, SecurityId),
    Bar(SecurityId, BarSize),
    /// Of these, one topic may speak about several: all adapters of a kind.
    Session(AdapterName),
    TradingState(Scope),
    LifeCycle(StrategyId),
    Portfolio(StrategyId),
    /// And here all accounts.
    Cash(StrategyId, Currency, AccountId),
    Position(PositionId),
    Subscription(StrategyId, SecurityId),
    Order(OrderId, Aspect),
}

/// An order is told in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aspect {
    Whole,
    Status,
}

impl Aspect {
    pub(crate) const ALL: [Self; 2] = [Self::Whole, Self::Status];
}

/// How the messages of an event are treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Family {
    /// Of prices the newest counts, and it is remembered.
    Market(Subject),
    /// Nothing is lost, and the newest is remembered.
    State(Subject),
    /// As state, but its subject is done with: this is the last that is heard of it.
    LastOfState(Subject),
    /// Nothing is lost, and nothing remembered: these topics come without end.
    Passing,
}

impl Family {
    pub(crate) fn of(event: &Event) -> Self {
        match event {
            Event::Tick(tick) => Self::Market(Subject::Price(EventClass::Tick, tick.security)),
            Event::Trade(trade) => Self::Market(Subject::Price(EventClass::Trade, trade.security)),
            Event::Book(book) => Self::Market(Subject::Price(EventClass::Book, book.security)),
            Event::Bar(bar) => Self::Market(Subject::Bar(bar.security, bar.size)),
            Event::Order(order) => Self::of_order(order.is_open(), order.id, Aspect::Whole),
            Event::OrderStatus(status) => Self::of_order(!is_final(status.status), status.order, Aspect::Status),
            Event::Position(position) => Self::State(Subject::Position(position.id)),
            Event::Cash(cash) => Self::State(Subject::Cash(cash.strategy, cash.currency, cash.account)),
            Event::Portfolio(value) => Self::State(Subject::Portfolio(value.strategy)),
            Event::Subscription(wish, _) => Self::State(Subject::Subscription(wish.strategy, wish.security)),
            Event::LifeCycle(change) => Self::State(Subject::LifeCycle(change.strategy)),
            Event::Session(change) => Self::State(Subject::Session(change.adapter.clone())),
            Event::TradingState(change) => Self::State(Subject::TradingState(change.scope)),
            _ => Self::Passing,
        }
    }

    fn of_order(is_open: bool, order: OrderId, aspect: Aspect) -> Self {
        let subject = Subject::Order(order, aspect);
        if is_open { Self::State(subject) } else { Self::LastOfState(subject) }
    }
}

fn is_final(status: Status) -> bool {
    matches!(status, Status::Executed | Status::Canceled | Status::Rejected)
}
