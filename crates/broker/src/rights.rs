//! Permissions: which destinations a role may send to and subscribe to.

use access::Role;
use stomp::session::Rights;
use stomp::{Kind, Pattern, encode_segment};

use crate::translate::{GENERIC_EVENT, STRATEGY_BUS};

/// `destinations` are those to which clients may send at all; the queues of the strategy bus are open where the mode is
/// `distributed`.
pub(crate) fn rights(role: &Role, destinations: &[Pattern], distributed: bool) -> Rights {
    let mut rights = by_role(role, destinations);
    rights.reserved = Kind::ALL.map(bus).into();
    match role {
        Role::Strategy(_) | Role::Admin => rights.subscribe.push(bus(Kind::Topic)),
        Role::Viewer | Role::Trader => return rights,
    }
    if distributed {
        rights.send.push(bus(Kind::Queue));
        rights.subscribe.push(role.strategy().map_or(bus(Kind::Queue), |name| own_queues(name)));
    }
    rights
}

fn by_role(role: &Role, destinations: &[Pattern]) -> Rights {
    let queues = || destinations.iter().filter(|pattern| pattern.kind() == Kind::Queue).cloned();
    let mut subscribe = vec![pattern("/topic/>")];
    let send = match role {
        Role::Viewer => return Rights { subscribe, ..Rights::default() },
        Role::Trader | Role::Admin => destinations.to_vec(),
        Role::Strategy(name) => own_events(name, destinations).into_iter().chain(queues()).collect(),
    };
    subscribe.extend(queues());
    Rights { send, subscribe, ..Rights::default() }
}

fn bus(kind: Kind) -> Pattern {
    pattern(&format!("{}{STRATEGY_BUS}.>", kind.prefix()))
}

/// A strategy receives only the answers to its own requests.
fn own_queues(name: &str) -> Pattern {
    pattern(&format!("{}{STRATEGY_BUS}.{}.>", Kind::Queue.prefix(), encode_segment(name)))
}

/// A strategy sends only under its own name.
fn own_events(name: &str, destinations: &[Pattern]) -> Option<Pattern> {
    let own = pattern(&format!("/topic/{GENERIC_EVENT}.{}.>", encode_segment(name)));
    destinations.iter().any(|wide| wide.covers(&own)).then_some(own)
}

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).expect("it has a prefix and a name")
}

#[cfg(test)]
mod tests {
    use stomp::Destination;

    use super::*;

    /// Destinations to send to, and to subscribe to.
    fn with(role: &Role, distributed: bool) -> (Vec<String>, Vec<String>) {
        let destinations = ["/topic/generic-event.>", "/queue/tasks.>"].map(pattern);
        let Rights { send, subscribe, .. } = rights(role, &destinations, distributed);
        let texts = |patterns: Vec<Pattern>| patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
        (texts(send), texts(subscribe))
    }

    fn of(role: &Role) -> (Vec<String>, Vec<String>) {
        with(role, false)
    }

    #[test]
    fn a_viewer_listens_and_a_trader_also_sends() {
        assert_eq!(of(&Role::Viewer), (vec![], vec!["/topic/>".into()]));
        let (send, subscribe) = of(&Role::Trader);
        assert_eq!(send, ["/topic/generic-event.>", "/queue/tasks.>"]);
        assert_eq!(subscribe, ["/topic/>", "/queue/tasks.>"]);
        let (send, subscribe) = of(&Role::Admin);
        assert_eq!(send, ["/topic/generic-event.>", "/queue/tasks.>"]);
        assert_eq!(subscribe, ["/topic/>", "/queue/tasks.>", "/topic/strategy-bus.>"]);
    }

    #[test]
    fn a_strategy_speaks_in_its_own_name_alone() {
        let (send, _) = of(&Role::Strategy("my.own".into()));
        assert_eq!(send, ["/topic/generic-event.my%2Eown.>", "/queue/tasks.>"]);
    }

    #[test]
    fn the_strategy_bus_is_for_strategies_and_admins() {
        let bus = "/topic/strategy-bus.market-data";
        let may = |role: &Role| rights(role, &[pattern("/queue/>")], true).may_subscribe(&pattern(bus));
        let strategy = Role::Strategy("MOMENTUM".into());
        assert_eq!([&Role::Viewer, &Role::Trader, &strategy, &Role::Admin].map(may), [false, false, true, true]);
        let trader = rights(&Role::Trader, &[pattern("/queue/>")], true);
        let commands = Destination::parse("/queue/strategy-bus.commands").unwrap();
        assert!(!trader.may_send(&commands));
        let (send, subscribe) = with(&strategy, true);
        assert_eq!(send.last().unwrap(), "/queue/strategy-bus.>");
        assert_eq!(subscribe.last().unwrap(), "/queue/strategy-bus.MOMENTUM.>");
        assert_eq!(with(&Role::Admin, true).1.last().unwrap(), "/queue/strategy-bus.>");
    }

    #[test]
    fn where_events_are_not_listed_a_strategy_sends_none() {
        let role = Role::Strategy("my.own".into());
        assert_eq!(rights(&role, &[pattern("/queue/tasks.>")], false).send, [pattern("/queue/tasks.>")]);
    }
}
