//! What a role may do at the broker.

use access::Role;
use stomp::session::Rights;
use stomp::{Kind, Pattern, encode_segment};

/// The family that traders may send to by default.
pub(crate) const GENERIC_EVENT: &str = "generic-event";

/// `destinations` are those that clients may send to at all.
pub(crate) fn rights(role: &Role, destinations: &[Pattern]) -> Rights {
    let queues = || destinations.iter().filter(|pattern| pattern.kind() == Kind::Queue).cloned();
    let mut subscribe = vec![pattern("/topic/>")];
    let send = match role {
        Role::Viewer => return Rights { send: vec![], subscribe },
        Role::Trader | Role::Admin => destinations.to_vec(),
        Role::Strategy(name) => own_events(name, destinations).into_iter().chain(queues()).collect(),
    };
    subscribe.extend(queues());
    Rights { send, subscribe }
}

/// A strategy speaks in its own name alone.
fn own_events(name: &str, destinations: &[Pattern]) -> Option<Pattern> {
    let own = pattern(&format!("/topic/{GENERIC_EVENT}.{}.>", encode_segment(name)));
    destinations.iter().any(|wide| wide.covers(&own)).then_some(own)
}

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).expect("it has a prefix and a name")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What may be sent to, and what may be listened to.
    fn of(role: &Role) -> (Vec<String>, Vec<String>) {
        let destinations = ["/topic/generic-event.>", "/queue/tasks.>"].map(pattern);
        let Rights { send, subscribe } = rights(role, &destinations);
        let texts = |patterns: Vec<Pattern>| patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
        (texts(send), texts(subscribe))
    }

    #[test]
    fn a_viewer_listens_and_a_trader_also_sends() {
        assert_eq!(of(&Role::Viewer), (vec![], vec!["/topic/>".into()]));
        let (send, subscribe) = of(&Role::Trader);
        assert_eq!(send, ["/topic/generic-event.>", "/queue/tasks.>"]);
        assert_eq!(subscribe, ["/topic/>", "/queue/tasks.>"]);
        assert_eq!(of(&Role::Admin), of(&Role::Trader));
    }

    #[test]
    fn a_strategy_speaks_in_its_own_name_alone() {
        let (send, _) = of(&Role::Strategy("my.own".into()));
        assert_eq!(send, ["/topic/generic-event.my%2Eown.>", "/queue/tasks.>"]);
    }

    #[test]
    fn where_events_are_not_listed_a_strategy_sends_none() {
        let role = Role::Strategy("my.own".into());
        assert_eq!(rights(&role, &[pattern("/queue/tasks.>")]).send, [pattern("/queue/tasks.>")]);
    }
}
