//! Session rules of a port, and permissions of a client.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::destination::{Destination, DestinationPattern};
use crate::limits::FrameLimits;

/// How long a connection may wait before its CONNECT.
pub const CONNECT_WAIT_MAX: Duration = Duration::from_secs(30);
/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 1_000;
/// Destinations of all subscriptions of one connection, each of those that commas join counted.
pub const DESTINATIONS_MAX: usize = 2_000;
/// Octets that a client may send while its login is checked.
pub const EARLY_BYTES_MAX: usize = 64 * 1_024;

/// Rules for every connection of a port.
#[derive(Debug, Clone)]
pub struct StompRules {
    /// Name and version, for the `server` header.
    pub server: String,
    pub limits: FrameLimits,
    pub connect_wait: Duration,
    pub subscriptions_max: usize,
    /// Heart-beat intervals of silence before the connection is closed: 2, and 3 where a browser may delay its timers.
    pub heart_beat_grace: u32,
    pub topics: Arc<dyn TopicCatalog>,
}

/// The topics that the application has.
pub trait TopicCatalog: fmt::Debug + Send + Sync {
    /// Why a subscription can never match a topic; `is_replay` where it starts in history.
    fn check(&self, wanted: &DestinationPattern, is_replay: bool) -> Result<(), String>;
}

/// Any topic may be published, and there is no replay.
#[derive(Debug)]
pub struct AnyTopic;

impl TopicCatalog for AnyTopic {
    fn check(&self, _: &DestinationPattern, is_replay: bool) -> Result<(), String> {
        if is_replay { Err("from-sequence: nothing is kept here".to_owned()) } else { Ok(()) }
    }
}

impl StompRules {
    pub fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            limits: FrameLimits::default(),
            connect_wait: CONNECT_WAIT_MAX,
            subscriptions_max: SUBSCRIPTIONS_MAX,
            heart_beat_grace: 2,
            topics: Arc::new(AnyTopic),
        }
    }
}

/// Permissions of a client, by destination.
#[derive(Debug, Clone, Default)]
pub struct Permissions {
    pub send: Vec<DestinationPattern>,
    pub subscribe: Vec<DestinationPattern>,
    /// Destinations that a wider permission does not include: only one that names them.
    pub reserved: Vec<DestinationPattern>,
}

impl Permissions {
    pub fn may_send(&self, destination: &Destination) -> bool {
        self.is_permitted(&self.send, destination.pattern())
    }

    /// A subscription that begins with a wildcard must match nothing that is reserved; the application ensures that.
    pub fn may_subscribe(&self, wanted: &DestinationPattern) -> bool {
        self.is_permitted(&self.subscribe, wanted)
    }

    fn is_permitted(&self, rights: &[DestinationPattern], wanted: &DestinationPattern) -> bool {
        let reserved = self.reserved.iter().find(|reserved| reserved.covers(wanted));
        let opens = |right: &DestinationPattern| right.covers(wanted) && reserved.is_none_or(|by| by.covers(right));
        rights.iter().any(opens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_right_does_not_open_what_is_reserved() {
        let pattern = |text| DestinationPattern::parse(text).unwrap();
        let mut rights = Permissions {
            send: vec![pattern("/topic/>")],
            subscribe: vec![pattern("/topic/>")],
            reserved: vec![pattern("/topic/inner.>")],
        };
        let may = |rights: &Permissions| {
            ["/topic/tick.1", "/topic/>", "/topic/inner.x"].map(|text| rights.may_subscribe(&pattern(text)))
        };
        assert_eq!(may(&rights), [true, true, false]);
        rights.subscribe.push(pattern("/topic/inner.>"));
        assert_eq!(may(&rights), [true, true, true]);
        let destination = |text| Destination::parse(text).unwrap();
        assert!(rights.may_send(&destination("/topic/outer")));
        assert!(!rights.may_send(&destination("/topic/inner.x")));
    }
}
