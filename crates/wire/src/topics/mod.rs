//! Topic names and bodies of events.

pub mod topic_families;
pub mod asyncapi;
pub mod decode_topics;

use std::borrow::Cow;

use domain::event::AlarmLevel;
use domain::{Event, PublishedEvent, ReferenceData, StrategyId};

use crate::json;
use crate::operations::notifications::split_adapter;
use crate::trading::stored_event::{EventVO, GenericEventVO};

/// Every price, for strategies in processes of their own.
pub const SHARED_MARKET_DATA: &str = "strategy-bus.market-data";
/// Every generic event, for strategies in processes of their own.
pub const SHARED_GENERIC_EVENT: &str = "strategy-bus.generic-event";

/// Initial capacity: few names are longer.
const TYPICAL_TOPIC_BYTES: usize = 64;

/// The first segments of the topics that carry an event, all with the same body; none where no topic does.
pub fn roots(event: &Event) -> &'static [&'static str] {
    topic_families::for_class(event.class()).map_or(&[], |family| family.roots)
}

/// The topic of an event under one of its roots.
pub fn topic(root: &str, event: &Event, reference: &ReferenceData) -> String {
    let name = |id: StrategyId| strategy(id, reference);
    let under = |segments: &[&str]| rooted(root, segments);
    match event {
        Event::Tick(tick) => under(&[&tick.security.to_string()]),
        Event::Trade(trade) => under(&[&trade.security.to_string()]),
        Event::Book(book) => under(&[&book.security.to_string()]),
        Event::Bar(bar) => under(&[&bar.security.to_string(), bar.size.name()]),
        Event::Order(order) => under(&[&name(order.strategy), order.int_id.as_str()]),
        Event::OrderStatus(status) => under(&[&name(status.strategy), status.int_id.as_str()]),
        Event::Fill(fill) => under(&[&name(fill.strategy), fill.int_id.as_str()]),
        Event::Position(position) => under(&[&name(position.strategy), &position.id.to_string()]),
        Event::Transaction(booked) => under(&[&name(booked.strategy), &booked.id.to_string()]),
        Event::Cash(balance) => under(&[&name(balance.strategy), balance.currency.as_str()]),
        Event::Portfolio(value) => under(&[&name(value.strategy)]),
        Event::Subscription(wish, _) => under(&[&name(wish.strategy), &wish.security.to_string()]),
        Event::LifeCycle(change) => under(&[&name(change.strategy)]),
        Event::Session(change) => under(&[split_adapter(&change.adapter, reference).0]),
        Event::TradingState(change) => under(&[&change.scope.to_string()]),
        Event::Break(found) => under(&[&found.id.to_string()]),
        Event::Security(change) => under(&[&change.id.to_string()]),
        Event::Alarm(alarm) => under(&[level(alarm.level)]),
        Event::Generic(event) => under(&[&name(event.strategy), &event.name]),
        // They have no root.
        Event::Limits(..) | Event::Reference(_) | Event::Refused(_) | Event::MassCancel(_) | Event::ValueSample(_) => {
            under(&[])
        }
    }
}

/// The body of a message on the topics of an event.
pub fn body(published: &PublishedEvent, reference: &ReferenceData) -> Vec<u8> {
    match &published.event {
        // Generic events between strategies are forwarded as they are.
        Event::Generic(event) => event.body.as_bytes().to_vec(),
        _ => json::encode(&EventVO::from_domain(published, reference)),
    }
}

/// The shared topic on which all strategy processes receive an event too.
pub fn shared_topic(event: &Event) -> Option<&'static str> {
    match event {
        Event::Generic(_) => Some(SHARED_GENERIC_EVENT),
        _ if event.is_market_data() => Some(SHARED_MARKET_DATA),
        _ => None,
    }
}

/// The body on the shared topic, where its name lacks what the event's own topic has; else the same body.
pub fn shared_body(event: &Event, reference: &ReferenceData) -> Option<Vec<u8>> {
    match event {
        Event::Generic(event) => Some(json::encode(&GenericEventVO::from_domain(event, reference))),
        _ => None,
    }
}

fn strategy(id: StrategyId, reference: &ReferenceData) -> Cow<'_, str> {
    reference.strategies.get(&id).map_or_else(|| id.to_string().into(), |strategy| Cow::Borrowed(&*strategy.name))
}

fn level(level: AlarmLevel) -> &'static str {
    match level {
        AlarmLevel::Info => "info",
        AlarmLevel::Warn => "warn",
        AlarmLevel::Error => "error",
    }
}

/// The root is ours and is not encoded; each value from outside is one segment, whatever it contains.
fn rooted(root: &str, rest: &[&str]) -> String {
    let mut topic = String::with_capacity(TYPICAL_TOPIC_BYTES);
    topic.push_str(root);
    for segment in rest {
        topic.push('.');
        encode_segment(segment, &mut topic);
    }
    topic
}

/// A character outside `A-Z a-z 0-9 _ -` is percent-encoded, so that one id is one segment.
fn encode_segment(segment: &str, topic: &mut String) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if segment.bytes().all(is_plain) {
        return topic.push_str(segment);
    }
    for byte in segment.bytes() {
        if is_plain(byte) {
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
    use domain::risk::TradingStateChange;
    use domain::{RiskScope, SecurityId, StrategyRecord, Timestamp, Trade, TradingState};

    use super::*;

    fn desk() -> ReferenceData {
        let strategy = |id: u64, name: &str| {
            let id = StrategyId(id);
            (id, Arc::new(StrategyRecord { id, name: name.into(), auto_activate: false }))
        };
        ReferenceData { strategies: [strategy(1, "SERVER"), strategy(2, "my.strategy")].into(), ..Default::default() }
    }

    fn told(event: Event) -> Option<(Vec<String>, String)> {
        let (published, desk) = (PublishedEvent { sequence: 7, at: Timestamp(1_000_000), event }, desk());
        let topics: Vec<_> = roots(&published.event).iter().map(|root| topic(root, &published.event, &desk)).collect();
        let body = String::from_utf8(body(&published, &desk)).unwrap();
        (!topics.is_empty()).then_some((topics, body))
    }

    #[test]
    fn a_name_with_a_dot_stays_one_segment() {
        let event = GenericEvent { strategy: StrategyId(2), name: "fair value".into(), body: r#"{"x":1}"#.into() };
        let expected = (vec!["generic-event.my%2Estrategy.fair%20value".into()], r#"{"x":1}"#.into());
        assert_eq!(told(Event::Generic(Arc::new(event))), Some(expected));
    }

    #[test]
    fn strategies_share_a_topic_of_prices_and_one_of_events() {
        let shared = |event: Event| shared_topic(&event).map(|topic| (topic, shared_body(&event, &desk())));
        let event = GenericEvent { strategy: StrategyId(2), name: "fair value".into(), body: r#"{"x":1}"#.into() };
        let body = br#"{"strategyName":"my.strategy","name":"fair value","body":"{\"x\":1}"}"#;
        let expected = ("strategy-bus.generic-event", Some(body.to_vec()));
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
        assert_eq!(shared(Event::Trade(Arc::new(trade))), Some(("strategy-bus.market-data", None)));
        let change = LifeCycle {
            strategy: StrategyId(1),
            mode: domain::command::Mode::RealTime,
            phase: domain::command::StrategyPhase::Run,
            failure: None,
        };
        assert_eq!(shared(Event::LifeCycle(Arc::new(change))), None);
    }

    #[test]
    fn alarms_are_published_by_level_and_states_by_scope() {
        let alarm = Alarm { level: AlarmLevel::Error, code: "late-fill".into(), text: "order 7".into() };
        assert_eq!(told(Event::Alarm(Arc::new(alarm))).unwrap().0, ["log-event.error"]);
        let change = TradingStateChange {
            scope: RiskScope::Platform,
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
            phase: domain::command::StrategyPhase::Run,
            failure: None,
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
