//! What holds for every connection of a door, and what one client may do.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::destination::{Destination, Pattern};
use crate::limits::Limits;

/// How long a connection may wait with its CONNECT.
pub const CONNECT_WAIT_MAX: Duration = Duration::from_secs(30);
/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 1_000;
/// Destinations of all subscriptions of one connection, each of those that commas join counted.
pub const DESTINATIONS_MAX: usize = 2_000;
/// Octets that a client may send while its login is looked at.
pub const EARLY_BYTES_MAX: usize = 64 * 1_024;

/// What holds for every connection of a door.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Name and version, for the `server` header.
    pub server: String,
    pub limits: Limits,
    pub connect_wait: Duration,
    pub subscriptions_max: usize,
    /// How many heart-beat intervals of silence are borne: 2, and 3 where a browser may delay its timers.
    pub heart_beat_grace: u32,
    pub topics: Arc<dyn Topics>,
}

/// What the application knows of the topics that subscriptions name.
pub trait Topics: fmt::Debug + Send + Sync {
    /// Why a subscription can never hear what it asks for; `is_replay` where it begins in the past.
    fn check(&self, wanted: &Pattern, is_replay: bool) -> Result<(), String>;
}

/// Where every name may be published one day, and nothing is kept.
#[derive(Debug)]
pub struct AnyTopic;

impl Topics for AnyTopic {
    fn check(&self, _: &Pattern, is_replay: bool) -> Result<(), String> {
        if is_replay { Err("from-sequence: nothing is kept here".to_owned()) } else { Ok(()) }
    }
}

impl Rules {
    pub fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            limits: Limits::default(),
            connect_wait: CONNECT_WAIT_MAX,
            subscriptions_max: SUBSCRIPTIONS_MAX,
            heart_beat_grace: 2,
            topics: Arc::new(AnyTopic),
        }
    }
}

/// What a client may do, by destination.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    pub send: Vec<Pattern>,
    pub subscribe: Vec<Pattern>,
    /// What no wider right opens: only one that names it.
    pub reserved: Vec<Pattern>,
}

impl Rights {
    pub fn may_send(&self, destination: &Destination) -> bool {
        self.is_opened(&self.send, destination.pattern())
    }

    /// A subscription that begins with a wildcard selects nothing that is reserved; to see to that is the application's.
    pub fn may_subscribe(&self, wanted: &Pattern) -> bool {
        self.is_opened(&self.subscribe, wanted)
    }

    fn is_opened(&self, rights: &[Pattern], wanted: &Pattern) -> bool {
        let reserved = self.reserved.iter().find(|reserved| reserved.covers(wanted));
        let opens = |right: &Pattern| right.covers(wanted) && reserved.is_none_or(|by| by.covers(right));
        rights.iter().any(opens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_right_does_not_open_what_is_reserved() {
        let pattern = |text| Pattern::parse(text).unwrap();
        let mut rights = Rights {
            send: vec![pattern("/topic/>")],
            subscribe: vec![pattern("/topic/>")],
            reserved: vec![pattern("/topic/inner.>")],
        };
        let may = |rights: &Rights| {
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
