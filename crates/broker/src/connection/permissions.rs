//! Permissions: which destinations a role may send to and subscribe to. Connections whose token, user or session is no
//! longer valid are closed.

use std::sync::Arc;

use access::{AccessGrant, Identity, UserRole};
use domain::rights::TradingInterface;
use stomp::session::Permissions;
use stomp::{DestinationKind, DestinationPattern, encode_segment};
use tokio::time::{MissedTickBehavior, interval};

use crate::limits::ADMISSION_CHECK_EVERY;
use crate::state::BrokerState;
use crate::translate::{GENERIC_EVENT, STRATEGY_BUS};

/// `destinations` are those to which clients may send at all; the queues of the strategy bus are open where the mode is
/// `distributed`.
pub(crate) fn rights(role: &UserRole, destinations: &[DestinationPattern], distributed: bool) -> Permissions {
    let mut rights = by_role(role, destinations);
    rights.reserved = DestinationKind::ALL.map(strategy_bus).into();
    match role {
        UserRole::Strategy(_) | UserRole::Admin => rights.subscribe.push(strategy_bus(DestinationKind::Topic)),
        UserRole::Viewer | UserRole::Trader => return rights,
    }
    if distributed {
        rights.send.push(strategy_bus(DestinationKind::Queue));
        rights.subscribe.push(role.strategy().map_or(strategy_bus(DestinationKind::Queue), |name| own_queues(name)));
    }
    rights
}

/// Whether the commands of strategies may be sent. The strategy bus knows only the strategy that sends them, not the user:
/// who may trade only some accounts or securities may not use it.
pub(crate) fn may_run_strategies(identity: &Identity) -> bool {
    let Some(rights) = &identity.rights else { return true };
    rights.allows_interface(TradingInterface::Stomp) && rights.accounts.is_none() && rights.securities.is_none()
}

fn by_role(role: &UserRole, destinations: &[DestinationPattern]) -> Permissions {
    let queues = || destinations.iter().filter(|pattern| pattern.kind() == DestinationKind::Queue).cloned();
    let mut subscribe = vec![pattern("/topic/>")];
    let send = match role {
        UserRole::Viewer => return Permissions { subscribe, ..Permissions::default() },
        UserRole::Trader | UserRole::Admin => destinations.to_vec(),
        UserRole::Strategy(name) => own_events(name, destinations).into_iter().chain(queues()).collect(),
    };
    subscribe.extend(queues());
    Permissions { send, subscribe, ..Permissions::default() }
}

fn strategy_bus(kind: DestinationKind) -> DestinationPattern {
    pattern(&format!("{}{STRATEGY_BUS}.>", kind.prefix()))
}

/// A strategy receives only the answers to its own requests.
fn own_queues(name: &str) -> DestinationPattern {
    pattern(&format!("{}{STRATEGY_BUS}.{}.>", DestinationKind::Queue.prefix(), encode_segment(name)))
}

/// A strategy sends only under its own name.
fn own_events(name: &str, destinations: &[DestinationPattern]) -> Option<DestinationPattern> {
    let own = pattern(&format!("/topic/{GENERIC_EVENT}.{}.>", encode_segment(name)));
    destinations.iter().any(|wide| wide.covers(&own)).then_some(own)
}

fn pattern(text: &str) -> DestinationPattern {
    DestinationPattern::parse(text).expect("it has a prefix and a name")
}

/// Checks periodically until it is dropped.
pub(crate) async fn watch_credentials(broker: Arc<BrokerState>) {
    let mut turns = interval(ADMISSION_CHECK_EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        broker.hub.disconnect_revoked(|pass| is_still_valid(&broker, pass));
    }
}

/// Where the users file is not readable no new client is accepted, and connected clients stay.
fn is_still_valid(broker: &BrokerState, pass: &AccessGrant) -> bool {
    broker.access.is_valid(pass).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot check credentials of connections: users file not readable; they stay open");
        true
    })
}

#[cfg(test)]
mod tests {
    use stomp::Destination;

    use super::*;

    /// Destinations to send to, and to subscribe to.
    fn with(role: &UserRole, distributed: bool) -> (Vec<String>, Vec<String>) {
        let destinations = ["/topic/generic-event.>", "/queue/tasks.>"].map(pattern);
        let Permissions { send, subscribe, .. } = rights(role, &destinations, distributed);
        let texts =
            |patterns: Vec<DestinationPattern>| patterns.iter().map(|pattern| pattern.text().to_owned()).collect();
        (texts(send), texts(subscribe))
    }

    fn of(role: &UserRole) -> (Vec<String>, Vec<String>) {
        with(role, false)
    }

    #[test]
    fn a_viewer_listens_and_a_trader_also_sends() {
        assert_eq!(of(&UserRole::Viewer), (vec![], vec!["/topic/>".into()]));
        let (send, subscribe) = of(&UserRole::Trader);
        assert_eq!(send, ["/topic/generic-event.>", "/queue/tasks.>"]);
        assert_eq!(subscribe, ["/topic/>", "/queue/tasks.>"]);
        let (send, subscribe) = of(&UserRole::Admin);
        assert_eq!(send, ["/topic/generic-event.>", "/queue/tasks.>"]);
        assert_eq!(subscribe, ["/topic/>", "/queue/tasks.>", "/topic/strategy-bus.>"]);
    }

    #[test]
    fn a_strategy_speaks_in_its_own_name_alone() {
        let (send, _) = of(&UserRole::Strategy("my.own".into()));
        assert_eq!(send, ["/topic/generic-event.my%2Eown.>", "/queue/tasks.>"]);
    }

    #[test]
    fn the_strategy_bus_is_for_strategies_and_admins() {
        let bus = "/topic/strategy-bus.market-data";
        let may = |role: &UserRole| rights(role, &[pattern("/queue/>")], true).may_subscribe(&pattern(bus));
        let strategy = UserRole::Strategy("MOMENTUM".into());
        assert_eq!(
            [&UserRole::Viewer, &UserRole::Trader, &strategy, &UserRole::Admin].map(may),
            [false, false, true, true]
        );
        let trader = rights(&UserRole::Trader, &[pattern("/queue/>")], true);
        let commands = Destination::parse("/queue/strategy-bus.commands").unwrap();
        assert!(!trader.may_send(&commands));
        let (send, subscribe) = with(&strategy, true);
        assert_eq!(send.last().unwrap(), "/queue/strategy-bus.>");
        assert_eq!(subscribe.last().unwrap(), "/queue/strategy-bus.MOMENTUM.>");
        assert_eq!(with(&UserRole::Admin, true).1.last().unwrap(), "/queue/strategy-bus.>");
    }

    #[test]
    fn a_token_with_limited_rights_runs_no_strategy() {
        let may = |rights: Option<&str>| {
            let rights = rights.map(|text| Arc::new(text.parse().unwrap()));
            may_run_strategies(&Identity { name: None, role: UserRole::Strategy("MOMENTUM".into()), rights })
        };
        assert!(may(None) && may(Some("interfaces STOMP")));
        assert!(!may(Some("interfaces REST,FIX")) && !may(Some("accounts 1")) && !may(Some("securities 1")));
    }

    #[test]
    fn where_events_are_not_listed_a_strategy_sends_none() {
        let role = UserRole::Strategy("my.own".into());
        assert_eq!(rights(&role, &[pattern("/queue/tasks.>")], false).send, [pattern("/queue/tasks.>")]);
    }
}
