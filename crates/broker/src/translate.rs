//! Translation: topic names and headers, SEND to `Command`.

use domain::command::GenericEvent;
use domain::{ReferenceData, StrategyId};
use stomp::session::Publication;
use stomp::{Destination, DestinationKind, Headers, decode_segment};

/// The family that traders may send to by default.
pub(crate) const GENERIC_EVENT: &str = "generic-event";

/// The first segment of the topics and queues of the strategies' bus.
pub(crate) const STRATEGY_BUS: &str = "strategy-bus";

/// By the sequence a subscriber joins messages with REST responses.
pub(crate) fn headers(sequence: u64) -> Headers {
    [("content-type", "application/json"), ("sequence", &sequence.to_string())].into_iter().collect()
}

pub(crate) fn topic_of(name: &str) -> Option<Destination> {
    Destination::parse(&[DestinationKind::Topic.prefix(), name].concat()).ok()
}

/// Whether a SEND is for the engine, which journals it before it is published.
pub(crate) fn is_generic_event(destination: &Destination) -> bool {
    destination.kind() == DestinationKind::Topic && destination.segments().next() == Some(GENERIC_EVENT)
}

/// A SEND to `generic-event.<strategy>.<name>`, or why it is rejected.
pub(crate) fn to_domain(sent: &Publication, reference: &ReferenceData) -> Result<GenericEvent, String> {
    let [_, strategy, name] = sent.destination.segments().collect::<Vec<_>>()[..] else {
        return Err("a generic event is sent to /topic/generic-event.<strategy>.<name>".into());
    };
    let (Some(strategy), Some(name)) = (decode_segment(strategy), decode_segment(name)) else {
        return Err("the percent-encoding of the destination is broken".into());
    };
    let strategy = strategy_by_name(&strategy, reference).ok_or("no strategy of that name exists")?;
    let body = std::str::from_utf8(&sent.body).map_err(|_| "the body is not UTF-8")?;
    wire::json::check(body).map_err(|reason| format!("the body is not JSON: {reason}"))?;
    Ok(GenericEvent { strategy, name: (&*name).into(), body: body.into() })
}

fn strategy_by_name(name: &str, reference: &ReferenceData) -> Option<StrategyId> {
    reference.strategies.values().find(|strategy| &*strategy.name == name).map(|strategy| strategy.id)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::StrategyRecord;

    use super::*;

    fn desk() -> ReferenceData {
        let id = StrategyId(2);
        let strategy = Arc::new(StrategyRecord { id, name: "my.strategy".into(), auto_activate: false });
        ReferenceData { strategies: [(id, strategy)].into(), ..Default::default() }
    }

    fn sent(destination: &str, body: &[u8]) -> Result<GenericEvent, String> {
        let destination = Destination::parse(destination).unwrap();
        assert!(is_generic_event(&destination));
        to_domain(&Publication { destination, headers: Headers::default(), body: body.to_vec() }, &desk())
    }

    #[test]
    fn a_send_becomes_a_generic_event() {
        let event = GenericEvent { strategy: StrategyId(2), name: "fair value".into(), body: r#"{"x":1}"#.into() };
        assert_eq!(sent("/topic/generic-event.my%2Estrategy.fair%20value", br#"{"x":1}"#), Ok(event));
    }

    #[test]
    fn an_invalid_send_is_rejected_with_the_reason() {
        let refused = |destination: &str, body: &[u8]| sent(destination, body).unwrap_err();
        let shape = "a generic event is sent to /topic/generic-event.<strategy>.<name>";
        assert_eq!(refused("/topic/generic-event.a", b"{}"), shape);
        assert_eq!(refused("/topic/generic-event.a.b.c", b"{}"), shape);
        assert_eq!(refused("/topic/generic-event.a.b", b"{}"), "no strategy of that name exists");
        assert_eq!(refused("/topic/generic-event.%.b", b"{}"), "the percent-encoding of the destination is broken");
        let known = "/topic/generic-event.my%2Estrategy.b";
        assert_eq!(refused(known, b"\xff"), "the body is not UTF-8");
        for (body, reason) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("hello", "expected value at line 1 column 1"),
            ("{} {}", "trailing characters at line 1 column 4"),
        ] {
            assert_eq!(refused(known, body.as_bytes()), format!("the body is not JSON: {reason}"));
        }
    }
}
