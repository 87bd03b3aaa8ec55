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
    /// A TLS handshake that is not done by then is cut.
    pub handshake_timeout: Duration,
    /// A connection that has not sent its headers by then is closed; so is an idle one.
    pub header_timeout: Duration,
    /// A body that is not there by then is 408; a reply that is not there by then is 503.
    pub request_timeout: Duration,
    /// A connection whose reader takes nothing for so long is closed.
    pub write_timeout: Duration,
    /// One more connection is turned away: over HTTP with 503, over HTTPS without a word.
    pub connections: usize,
    /// Questions about the past, and imports, at a time; one more is 503.
    pub blocking_calls: usize,
    /// A peer's requests in any second; one more is 429.
    pub requests_per_second: u32,
    /// What other limits an HTTP/2 connection has.
    pub http2: Http2Limits,
    /// Requests that have begun when the server stops get so long to finish.
    pub shutdown_grace: Duration,
}

/// What HTTP/2 adds: many requests at a time on one connection, and ways to misuse that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http2Limits {
    /// Requests at a time; one more is refused and may be sent again.
    pub streams: u32,
    /// Requests that were begun and taken back before we looked at them; one more ends the connection (rapid reset).
    pub pending_resets: usize,
    /// Requests that broke the protocol; one more ends the connection.
    pub faulty_streams: usize,
    /// What waits to be sent on one stream.
    pub send_buffer_bytes: usize,
    /// So often a silent peer is asked whether it is still there.
    pub ping_interval: Duration,
    /// A peer that does not answer that by then loses the connection.
    pub ping_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            header_bytes: 16 << 10,
            url_bytes: 8 << 10,
            handshake_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(15),
            request_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            connections: 1_024,
            blocking_calls: 16,
            requests_per_second: 5_000,
            http2: Http2Limits::default(),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}

impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            streams: 100,
            pending_resets: 20,
            faulty_streams: 100,
            send_buffer_bytes: 64 << 10,
            ping_interval: Duration::from_secs(10),
            ping_timeout: Duration::from_secs(10),
        }
    }
}
