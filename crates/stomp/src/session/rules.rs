//! What holds for every connection of a door, and what one client may do.

use std::time::Duration;

use crate::destination::{Destination, Pattern};
use crate::limits::Limits;

/// How long a connection may wait with its CONNECT.
pub const CONNECT_WAIT_MAX: Duration = Duration::from_secs(30);
/// Subscriptions of one connection.
pub const SUBSCRIPTIONS_MAX: usize = 1_000;
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
}

impl Rules {
    pub fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            limits: Limits::default(),
            connect_wait: CONNECT_WAIT_MAX,
            subscriptions_max: SUBSCRIPTIONS_MAX,
            heart_beat_grace: 2,
        }
    }
}

/// What a client may do, by destination.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    pub send: Vec<Pattern>,
    pub subscribe: Vec<Pattern>,
}

impl Rights {
    pub fn may_send(&self, destination: &Destination) -> bool {
        self.send.iter().any(|pattern| pattern.matches(destination))
    }

    pub fn may_subscribe(&self, wanted: &Pattern) -> bool {
        self.subscribe.iter().any(|pattern| pattern.covers(wanted))
    }
}
