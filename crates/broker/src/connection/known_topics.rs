//! Topic catalogue: a subscription that can never match a topic is rejected with the reason, because a misspelt name
//! would look like a quiet market.

use stomp::session::TopicCatalog;
use stomp::{DestinationKind, DestinationPattern};
use wire::topic_families::{FAMILIES, TopicFamily, by_root, nearest};

/// The published families, and the destinations to which clients may send.
#[derive(Debug)]
pub(crate) struct KnownTopics {
    client_destinations: Vec<DestinationPattern>,
}

impl KnownTopics {
    pub(crate) fn new(client_destinations: Vec<DestinationPattern>) -> Self {
        Self { client_destinations }
    }

    fn is_client_destination(&self, root: &str) -> bool {
        let selects =
            |pattern: &DestinationPattern| pattern.kind() == DestinationKind::Topic && pattern.may_match(root);
        self.client_destinations.iter().any(selects)
    }
}

impl TopicCatalog for KnownTopics {
    fn check(&self, wanted: &DestinationPattern, is_replay: bool) -> Result<(), String> {
        let root = wanted.segments().next().unwrap_or_default();
        match wanted.kind() {
            DestinationKind::Queue if is_replay => Err("from-sequence: queues keep nothing for a replay".to_owned()),
            DestinationKind::Queue => Ok(()),
            // It matches the published topics and, for a replay, the stored ones.
            DestinationKind::Topic if matches!(root, "*" | ">") => Ok(()),
            DestinationKind::Topic if is_replay => check_replayable(root),
            DestinationKind::Topic if self.is_client_destination(root) => Ok(()),
            DestinationKind::Topic => check_name(root, wanted),
        }
    }
}

fn check_replayable(root: &str) -> Result<(), String> {
    match by_root(root) {
        Some(family) if family.is_replayable => Ok(()),
        Some(family) if family.has_snapshot => Err(format!(
            "from-sequence: {root} is not kept, only its last value, which snapshot:true delivers; kept are {}",
            replayable_roots()
        )),
        _ => Err(format!("from-sequence: {root} is not kept; kept are {}", replayable_roots())),
    }
}

fn replayable_roots() -> String {
    let kept = FAMILIES.iter().filter(|family| family.is_replayable);
    kept.map(|family| family.roots[0]).collect::<Vec<_>>().join(", ")
}

fn check_name(root: &str, wanted: &DestinationPattern) -> Result<(), String> {
    let families: Vec<_> = FAMILIES.iter().filter(|family| family.roots.contains(&root)).collect();
    if families.is_empty() {
        let near = nearest(root).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(format!("no topic begins with {root}{near}"));
    }
    if families.iter().any(|family| can_match(family, wanted)) {
        return Ok(());
    }
    let shapes: Vec<_> = families.iter().map(|family| documented_name(root, family)).collect();
    Err(format!("{} selects no topic: those of {root} are {}", wanted.text(), shapes.join(" and ")))
}

/// Whether some topic of the family matches. `*` and `>` are whole segments; characters other than letters, digits, `_`
/// and `-` are percent-encoded in every topic.
fn can_match(family: &TopicFamily, wanted: &DestinationPattern) -> bool {
    let mut known = family.segments.iter();
    let mut segments = wanted.segments().skip(1);
    while let Some(segment) = segments.next() {
        if segment == ">" {
            return segments.next().is_none();
        }
        let fits = known.next().is_some_and(|known| match known.strip_prefix('=') {
            _ if segment == "*" => true,
            Some(literal) => literal == segment,
            None => segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'%')),
        });
        if !fits {
            return false;
        }
    }
    known.next().is_none()
}

/// As in the documentation.
fn documented_name(root: &str, family: &TopicFamily) -> String {
    let segment = |known: &&str| known.strip_prefix('=').map_or_else(|| format!(".<{known}>"), |it| format!(".{it}"));
    std::iter::once(root.to_owned()).chain(family.segments.iter().map(segment)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str, is_replay: bool) -> Result<(), String> {
        let destinations = ["/topic/generic-event.>", "/topic/weather.*", "/queue/>"];
        let known = KnownTopics::new(destinations.map(|text| DestinationPattern::parse(text).unwrap()).to_vec());
        known.check(&DestinationPattern::parse(wanted).unwrap(), is_replay)
    }

    #[test]
    fn what_may_be_published_may_be_subscribed_to() {
        let good = [
            "/topic/>",
            "/topic/*.SERVER.*",
            "/topic/tick.*",
            "/topic/tick.>",
            "/topic/tick.1",
            "/topic/the service.>",
            "/topic/bar.1.MIN_1",
            "/topic/order.my%2Estrategy.A-1",
            "/topic/strategy-bus.market-data",
            "/topic/strategy-bus.*",
            "/topic/generic-event.SERVER.x.y",
            "/topic/weather.zurich",
            "/queue/anything",
        ];
        for wanted in good {
            assert_eq!(check(wanted, false), Ok(()), "{wanted}");
        }
    }

    #[test]
    fn what_can_never_be_heard_is_refused_with_the_reason() {
        let refused = |wanted| check(wanted, false).unwrap_err();
        assert_eq!(refused("/topic/ticks.*"), "no topic begins with ticks; did you mean tick?");
        assert_eq!(refused("/topic/THE SERVICE.>"), "no topic begins with THE SERVICE; did you mean the service?");
        assert_eq!(refused("/topic/tick/1"), "no topic begins with tick/1; did you mean tick?");
        assert_eq!(refused("/topic/horoscope"), "no topic begins with horoscope");
        let tick = "selects no topic: those of tick are tick.<securityId>";
        for wanted in ["/topic/tick.**", "/topic/tick", "/topic/tick.1.2", "/topic/tick.1.>.2", "/topic/tick.a b"] {
            assert_eq!(refused(wanted), format!("{wanted} {tick}"));
        }
        let bus = "strategy-bus.market-data and strategy-bus.generic-event";
        let expected = format!("/topic/strategy-bus.prices selects no topic: those of strategy-bus are {bus}");
        assert_eq!(refused("/topic/strategy-bus.prices"), expected);
    }

    #[test]
    fn only_what_is_kept_can_be_replayed() {
        let kept = "order-status, fill, transaction, market-data-subscription, life-cycle, session, risk, break, \
                    log-event, generic-event";
        for wanted in ["/topic/>", "/topic/order-status.>", "/topic/the service.*.*", "/topic/fill.SERVER.*"] {
            assert_eq!(check(wanted, true), Ok(()), "{wanted}");
        }
        let refused = |wanted| check(wanted, true).unwrap_err();
        let last = "is not kept, only its last value, which snapshot:true delivers; kept are";
        assert_eq!(refused("/topic/order.>"), format!("from-sequence: order {last} {kept}"));
        assert_eq!(refused("/topic/tick.1"), format!("from-sequence: tick {last} {kept}"));
        let bus = "/topic/strategy-bus.market-data";
        assert_eq!(refused(bus), format!("from-sequence: strategy-bus is not kept; kept are {kept}"));
        assert_eq!(refused("/topic/weather.zurich"), format!("from-sequence: weather is not kept; kept are {kept}"));
        assert_eq!(refused("/queue/a"), "from-sequence: queues keep nothing for a replay");
    }
}
