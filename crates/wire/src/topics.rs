//! Topics: which names an event is published under, and what subscribers read there.

use domain::event::AlarmLevel;
use domain::{Event, Published, ReferenceData, StrategyId};

use crate::json;
use crate::notice::parted;
use crate::past::{EventVO, GenericEventVO};

/// An event on its way to subscribers: one body, encoded once, under one or more names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    pub topics: Vec<String>,
    pub body: Vec<u8>,
    pub shared: Option<Shared>,
}

/// The same event on a topic that all strategies in processes of their own share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    pub topic: &'static str,
    /// Where the topic's name does not tell what the event's own topics tell; else it is the same body.
    pub body: Option<Vec<u8>>,
}

/// Every price, for strategies in processes of their own.
pub const SHARED_MARKET_DATA: &str = "strategy-bus.market-data";
/// Every generic event, for strategies in processes of their own.
pub const SHARED_GENERIC_EVENT: &str = "strategy-bus.generic-event";

/// The first segments under which the status of an order is published: ours, and the specification's own, with its space.
const ORDER_STATUS_ROOTS: [&str; 3] = ["order-status", "the service", "rialto"];

/// What subscribers hear of an event; absent where no topic carries it.
pub fn publication(published: &Published, reference: &ReferenceData) -> Option<Publication> {
    let topics = topics(&published.event, reference)?;
    let body = match &published.event {
        // The platform only carries what strategies tell each other.
        Event::Generic(event) => event.body.as_bytes().to_vec(),
        _ => json::encode(&EventVO::from_domain(published, reference)),
    };
    Some(Publication { topics, body, shared: shared(&published.event, reference) })
}

fn shared(event: &Event, reference: &ReferenceData) -> Option<Shared> {
    match event {
        Event::Generic(event) => {
            let body = json::encode(&GenericEventVO::from_domain(event, reference));
            Some(Shared { topic: SHARED_GENERIC_EVENT, body: Some(body) })
        }
        _ if event.is_market_data() => Some(Shared { topic: SHARED_MARKET_DATA, body: None }),
        _ => None,
    }
}

fn topics(event: &Event, reference: &ReferenceData) -> Option<Vec<String>> {
    let name = |id: StrategyId| strategy(id, reference);
    let one = |segments: &[&str]| vec![topic(segments)];
    Some(match event {
        Event::Tick(tick) => one(&["tick", &tick.security.to_string()]),
        Event::Trade(trade) => one(&["trade", &trade.security.to_string()]),
        Event::Book(book) => one(&["order-book", &book.security.to_string()]),
        Event::Bar(bar) => one(&["bar", &bar.security.to_string(), bar.size.name()]),
        Event::Order(order) => one(&["order", &name(order.strategy), order.int_id.as_str()]),
        Event::OrderStatus(status) => {
            let strategy = name(status.strategy);
            let under = |root: &&str| rooted(root, &[&strategy, status.int_id.as_str()]);
            ORDER_STATUS_ROOTS.iter().map(under).collect()
        }
        Event::Fill(fill) => one(&["fill", &name(fill.strategy), fill.int_id.as_str()]),
        Event::Position(position) => one(&["position", &name(position.strategy), &position.id.to_string()]),
        Event::Transaction(booked) => one(&["transaction", &name(booked.strategy), &booked.id.to_string()]),
        Event::Cash(balance) => one(&["cash-balance", &name(balance.strategy), balance.currency.as_str()]),
        Event::Portfolio(value) => one(&["portfolio-value", &name(value.strategy)]),
        Event::Subscription(wish, _) => {
            one(&["market-data-subscription", &name(wish.strategy), &wish.security.to_string()])
        }
        Event::LifeCycle(change) => one(&["life-cycle", &name(change.strategy)]),
        Event::Session(change) => one(&["session", parted(&change.adapter, reference).0]),
        Event::TradingState(change) => one(&["risk", &change.scope.to_string()]),
        Event::Alarm(alarm) => one(&["log-event", level(alarm.level)]),
        Event::Generic(event) => one(&["generic-event", &name(event.strategy), &event.name]),
        Event::Limits(..) | Event::Reference(_) | Event::Refused(_) => return None,
    })
}

fn strategy(id: StrategyId, reference: &ReferenceData) -> String {
    reference.strategies.get(&id).map_or_else(|| id.to_string(), |strategy| strategy.name.to_string())
}

fn level(level: AlarmLevel) -> &'static str {
    match level {
        AlarmLevel::Info => "info",
        AlarmLevel::Warn => "warn",
        AlarmLevel::Error => "error",
    }
}

fn topic(segments: &[&str]) -> String {
    let (root, rest) = segments.split_first().expect("a topic has a first segment");
    rooted(root, rest)
}

/// The root is ours and stands as it is; what comes from outside is one segment each, whatever it contains.
fn rooted(root: &str, rest: &[&str]) -> String {
    let mut topic = root.to_owned();
    for segment in rest {
        topic.push('.');
        encode_segment(segment, &mut topic);
    }
    topic
}

/// A character outside `A-Z a-z 0-9 _ -` is percent-encoded, so that one id is one segment.
fn encode_segment(segment: &str, topic: &mut String) {
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-".contains(&byte) {
            topic.push(char::from(byte));
        } else {
            topic.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::command::GenericEvent;
    use domain::event::{Alarm, LifeCycle};
    use domain::risk::StateChange;
    use domain::{Scope, SecurityId, Strategy, Timestamp, Trade, TradingState};

    use super::*;

    fn desk() -> ReferenceData {
        let strategy = |id: u64, name: &str| {
            let id = StrategyId(id);
            (id, Arc::new(Strategy { id, name: name.into(), auto_activate: false }))
        };
        ReferenceData { strategies: [strategy(1, "SERVER"), strategy(2, "my.strategy")].into(), ..Default::default() }
    }

    fn told(event: Event) -> Option<(Vec<String>, String)> {
        let published = Published { sequence: 7, at: Timestamp(1_000_000), event };
        let publication = publication(&published, &desk())?;
        Some((publication.topics, String::from_utf8(publication.body).unwrap()))
    }

    #[test]
    fn a_name_with_a_dot_stays_one_segment() {
        let event = GenericEvent { strategy: StrategyId(2), name: "fair value".into(), body: r#"{"x":1}"#.into() };
        let expected = (vec!["generic-event.my%2Estrategy.fair%20value".into()], r#"{"x":1}"#.into());
        assert_eq!(told(Event::Generic(Arc::new(event))), Some(expected));
    }

    #[test]
    fn strategies_share_a_topic_of_prices_and_one_of_events() {
        let shared = |event| {
            let published = Published { sequence: 7, at: Timestamp(0), event };
            publication(&published, &desk()).unwrap().shared
        };
        let event = GenericEvent { strategy: StrategyId(2), name: "fair value".into(), body: r#"{"x":1}"#.into() };
        let body = br#"{"strategyName":"my.strategy","name":"fair value","body":"{\"x\":1}"}"#;
        let expected = Shared { topic: "strategy-bus.generic-event", body: Some(body.to_vec()) };
        assert_eq!(shared(Event::Generic(Arc::new(event))), Some(expected));
        let trade = Trade {
            security: SecurityId(1),
            feed: "test".into(),
            at: Timestamp(0),
            price: 1.into(),
            quantity: 1.into(),
            aggressor: None,
            ext_id: None,
        };
        let expected = Shared { topic: "strategy-bus.market-data", body: None };
        assert_eq!(shared(Event::Trade(Arc::new(trade))), Some(expected));
        let change = LifeCycle {
            strategy: StrategyId(1),
            mode: domain::command::Mode::RealTime,
            phase: domain::command::Phase::Run,
        };
        assert_eq!(shared(Event::LifeCycle(Arc::new(change))), None);
    }

    #[test]
    fn alarms_are_published_by_level_and_states_by_scope() {
        let alarm = Alarm { level: AlarmLevel::Error, code: "late-fill".into(), text: "order 7".into() };
        assert_eq!(told(Event::Alarm(Arc::new(alarm))).unwrap().0, ["log-event.error"]);
        let change = StateChange {
            scope: Scope::Platform,
            state: TradingState::Halted,
            at: Timestamp(0),
            reason: None,
            changed_by: None,
        };
        assert_eq!(told(Event::TradingState(Arc::new(change))).unwrap().0, ["risk.PLATFORM"]);
    }

    #[test]
    fn the_body_is_the_value_object() {
        let change = LifeCycle {
            strategy: StrategyId(1),
            mode: domain::command::Mode::RealTime,
            phase: domain::command::Phase::Run,
        };
        let expected = r#"{"dateTime":1,"strategyName":"SERVER","mode":"REAL_TIME","phase":"RUN"}"#;
        let topic = vec!["life-cycle.SERVER".to_owned()];
        assert_eq!(told(Event::LifeCycle(Arc::new(change))), Some((topic, expected.into())));
    }

    #[test]
    fn reference_data_has_no_topic() {
        assert_eq!(told(Event::Reference(Arc::default())), None);
    }
}
