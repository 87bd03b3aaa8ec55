//! Cache key of an event: what its message is the last value of. It is computed without building a topic name, because
//! most topics have no subscriber.

use domain::{
    AccountId, AdapterName, BarSize, Currency, Event, EventClass, OrderId, PositionId, Scope, SecurityId, Status,
    StrategyId,
};

/// What has a last value. Prices come first and orders last, the oldest of them first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subject {
    Price(EventClass, SecurityId),
    Bar(SecurityId, BarSize),
    /// One topic may carry several of these: all adapters of a kind.
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
pub(crate) enum Family {
    /// Only the newest price counts, and it is cached.
    Market(Subject),
    /// Nothing is lost, and the newest is cached.
    State(Subject),
    /// As state, but final: the subject does not change any more.
    LastOfState(Subject),
    /// Nothing is lost, and nothing is cached: these topics have no end.
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
