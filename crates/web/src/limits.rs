//! How much of everything is let in, and for how long. Each limit has an outcome in `docs/limits.md`.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// A longer body is 413.
    pub body_bytes: usize,
    /// Longer headers, request line included, are 431.
    pub header_bytes: usize,
    /// A longer path with its query is 414.
    pub url_bytes: usize,
    /// A connection that has not sent its headers by then is closed; so is an idle one.
    pub header_timeout: Duration,
    /// A body that is not there by then is 408; a reply that is not there by then is 503.
    pub request_timeout: Duration,
    /// A connection whose reader takes nothing for so long is closed.
    pub write_timeout: Duration,
    /// More connections wait in the operating system's queue.
    pub connections: usize,
    /// Requests that have begun when the server stops get so long to finish.
    pub shutdown_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            header_bytes: 16 << 10,
            url_bytes: 8 << 10,
            header_timeout: Duration::from_secs(15),
            request_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            connections: 1_024,
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
