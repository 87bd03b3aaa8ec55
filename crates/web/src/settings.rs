//! What the HTTP server is given: its settings, its limits, and the services of the program around the engine.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bus::operations::{BrokerEndpoints, FixSessionStatus};
use bus::{BarStore, CommandForwarder, FixSessionAdmin, HealthChecks, PastStates, ServerAdmin, StrategyAdmin};
use domain::{AdapterName, VenueFacts};
use net::ConnectionLimits;

#[derive(Debug, Clone, Default)]
pub struct WebSettings {
    pub limits: HttpLimits,
    /// Valid hosts beside localhost and the bound address: `name`, or `name:port` for one port.
    pub hosts: Vec<String>,
    /// Our other HTTP(S) and WebSocket ports.
    pub ports: Vec<u16>,
    /// Foreign origins whose pages may read and act.
    pub allowed_origins: Vec<String>,
    /// Names the journal that answers are from, in 32 hexadecimal digits.
    pub journal: String,
    /// What is known of the venues from their configuration.
    pub venues: BTreeMap<AdapterName, VenueFacts>,
    /// Routes of other crates on the same ports, such as a WebSocket; without a fallback, which is ours. Hosts, origins
    /// and limits are checked for them too.
    pub others: Router,
}

/// Limits of the HTTP server. Each has an outcome in `docs/limits.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLimits {
    /// A longer body is 413.
    pub body_bytes: usize,
    /// The same for an unauthenticated caller, as at the login.
    pub unauthenticated_body_bytes: usize,
    /// Longer headers, request line included, are 431.
    pub header_bytes: usize,
    /// A longer path with its query is 414.
    pub url_bytes: usize,
    /// A longer TLS handshake is aborted.
    pub handshake_timeout: Duration,
    /// A connection whose headers have not arrived by then is closed; so is an idle one.
    pub header_timeout: Duration,
    /// A body that has not arrived by then is 408; a reply that has not arrived by then is 503.
    pub request_timeout: Duration,
    /// A connection whose peer reads nothing for this long is closed.
    pub write_timeout: Duration,
    /// One more connection is turned away, over HTTP with 503, over HTTPS without a word, unless a stranger can give way.
    pub connections: usize,
    /// Concurrent queries of history, and imports; one more is 503.
    pub blocking_calls: usize,
    /// Requests of a peer per second; one more is 429.
    pub requests_per_second: u32,
    /// Further limits of an HTTP/2 connection.
    pub http2: Http2Limits,
    /// Time for requests in progress when the server stops.
    pub shutdown_grace: Duration,
}

/// Limits of HTTP/2: concurrent requests on one connection, and their abuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http2Limits {
    /// Concurrent requests; one more is refused and may be sent again.
    pub streams: u32,
    /// Requests that were reset before they were processed; one more ends the connection (rapid reset).
    pub pending_resets: usize,
    /// Requests that violated the protocol; one more ends the connection.
    pub faulty_streams: usize,
    /// Send buffer of one stream.
    pub send_buffer_bytes: usize,
    /// Ping interval of a silent peer.
    pub ping_interval: Duration,
    /// A peer that does not answer a ping by then is disconnected.
    pub ping_timeout: Duration,
}

impl HttpLimits {
    /// Peers that have not logged in get three quarters, the rest is kept for those that have. This machine has as many,
    /// because proxies are there; another address has a quarter.
    pub(crate) fn connection_limits(&self) -> ConnectionLimits {
        let unauthenticated = (self.connections / 4 * 3).max(1);
        ConnectionLimits {
            all: self.connections,
            unauthenticated,
            per_address: (self.connections / 4).max(1),
            per_local_address: unauthenticated,
        }
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            unauthenticated_body_bytes: 4 << 10,
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

/// What the handlers need besides the bus.
#[derive(Clone)]
pub struct WebServices {
    /// Readiness checks.
    pub health: Arc<dyn HealthChecks>,
    /// Parameters, metrics, log, reference data, stop.
    pub admin: Arc<dyn ServerAdmin>,
    /// Bars of earlier days.
    pub bars: Arc<dyn BarStore>,
    /// States of the past, for `at`.
    pub past: Arc<dyn PastStates>,
    /// Absent while the FIX gateway is off.
    pub fix_sessions: Option<Arc<dyn FixSessionAdmin>>,
    /// The strategies of this server.
    pub strategies: Arc<dyn StrategyAdmin>,
    /// Where clients reach the broker.
    pub broker: BrokerEndpoints,
    /// A follower's way to the leader of its cluster.
    pub forwarder: Option<Arc<dyn CommandForwarder>>,
}

impl WebServices {
    /// The sessions of the FIX gateway; none where it is off.
    pub(crate) fn fix_session_states(&self) -> Vec<FixSessionStatus> {
        self.fix_sessions.as_ref().map(|gateway| gateway.sessions()).unwrap_or_default()
    }
}
