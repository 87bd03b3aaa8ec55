//! Limits of the broker. Each has an outcome in `docs/limits.md`.

use std::time::Duration;

use net::ConnectionLimits;
use stomp::lanes::{RELIABLE_BYTES_MAX, StallLimits};

/// Connections of all ports of the broker together, `/stomp` included; one more is closed without an answer.
pub const CONNECTIONS_MAX: usize = 16_384;
/// Those of them from one address, with an IPv6 network (/64) counted as one; one more is closed as above.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 1_024;
/// The same for this machine itself, where proxies and strategies are.
pub const CONNECTIONS_PER_LOCAL_ADDRESS_MAX: usize = 12_288;
/// Connections that have not logged in; for one more the oldest is evicted.
pub const UNAUTHENTICATED_MAX: usize = 1_024;
/// A longer TLS handshake is aborted.
pub const HANDSHAKE_WAIT_MAX: Duration = Duration::from_secs(10);
/// A WebSocket port waits this long for the upgrade request, then closes.
pub const UPGRADE_WAIT_MAX: Duration = Duration::from_secs(15);
/// Octets of one WebSocket message before the login, in which CONNECT and what follows it have room; a larger one ends the
/// connection before it is read.
pub const WEBSOCKET_CONNECT_BYTES_MAX: usize = 16 * 1_024;
/// The same after the login.
pub const WEBSOCKET_MESSAGE_BYTES_MAX: usize = 2 * 1_024 * 1_024;
/// Interval of WebSocket pings; a pong counts as a heart-beat.
pub const PING_EVERY: Duration = Duration::from_secs(10);
/// Interval of the credential check of open connections.
pub const ADMISSION_CHECK_EVERY: Duration = Duration::from_secs(1);
/// How long the final frame may take before the connection is cut.
pub const CLOSE_WAIT_MAX: Duration = Duration::from_secs(2);
/// What a client may still send during the close; one that sends more is cut at once.
pub const CLOSE_BYTES_MAX: usize = 4 << 20;
/// How long a WebSocket with a transport error stays open for its final frame, because nothing more can be read from
/// it.
pub const FAULT_LINGER: Duration = Duration::from_secs(1);
/// How long all connections together may take for that when the server stops.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// Events of the engine that are queued for the broker: more than the cancellation of 20,000 orders by one command
/// produces. Beyond this all connections are closed and must reconnect.
pub const EVENTS_MAX: usize = 262_144;
/// Maximum age of an unpublished event; beyond this the server is not ready.
pub const OLDEST_EVENT_MAX: Duration = Duration::from_secs(5);
/// Octets that may be queued for all connections together, each message counted once plus 64 octets for every
/// connection; beyond this those with the most are disconnected, first those that read nothing.
pub const WAITING_BYTES_MAX: usize = 512 * 1_024 * 1_024;
/// Market data topics with a last value; events of further ones are not conflated.
pub const MARKET_TOPICS_MAX: usize = 262_144;
/// Other topics with a last value. Beyond this the oldest orders are evicted and missing in snapshots; where no order
/// is left, the new ones are.
pub const STATE_TOPICS_MAX: usize = 65_536;
/// Events that are kept between history and the live feed; a replay that is further behind reads history.
pub const RECENT_EVENTS_MAX: usize = 4_096;
/// Octets of these events; of larger ones fewer are kept.
pub const RECENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Events of history that a replay reads at once.
pub const REPLAY_PAGE_EVENTS: usize = 1_000;
/// Octets of these; of larger ones fewer are read. Until they are put in they count in [`WAITING_BYTES_MAX`], and with more
/// than half of that held no replay reads on.
pub const REPLAY_PAGE_BYTES: usize = 1024 * 1024;
/// A replay that cannot read, because too many ask about the past or too much is held, tries again after this.
pub const REPLAY_PAUSE: Duration = Duration::from_millis(250);
/// With nothing read for so long its connection ends, and joins again.
pub const REPLAY_WAIT_MAX: Duration = Duration::from_secs(60);
/// Concurrent reads of history for replays; others wait.
pub const REPLAY_READS_MAX: usize = 2;
/// Messages that followers of a cluster forward to this server and that are published at once; more wait for them.
pub const FORWARDED_EVENTS_MAX: usize = 1_024;
/// Log lines that are queued for the broker, and published per second; of more only the count is published.
pub const LOG_LINES_PER_SECOND_MAX: u32 = 100;

/// Limits that can be configured, for instance by tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerLimits {
    /// [`CONNECTIONS_MAX`]
    pub connections: usize,
    /// [`CONNECTIONS_PER_ADDRESS_MAX`]
    pub connections_per_address: usize,
    /// [`CONNECTIONS_PER_LOCAL_ADDRESS_MAX`]
    pub connections_per_local_address: usize,
    /// [`UNAUTHENTICATED_MAX`]
    pub unauthenticated: usize,
    /// [`EVENTS_MAX`]
    pub events: usize,
    /// [`STATE_TOPICS_MAX`]
    pub state_topics: usize,
    /// [`stomp::session::CONNECT_WAIT_MAX`]
    pub connect_wait: Duration,
    /// [`stomp::BODY_BYTES_MAX`]
    pub body_bytes: usize,
    /// [`HANDSHAKE_WAIT_MAX`]
    pub handshake_wait: Duration,
    /// [`UPGRADE_WAIT_MAX`]
    pub upgrade_wait: Duration,
    /// [`PING_EVERY`]
    pub ping_every: Duration,
    /// [`stomp::lanes::RELIABLE_BYTES_MAX`]
    pub connection_bytes: usize,
    /// [`WAITING_BYTES_MAX`]
    pub waiting_bytes: usize,
    /// [`REPLAY_WAIT_MAX`]
    pub replay_wait: Duration,
    /// [`stomp::lanes::RELIABLE_BYTES_MARK`], [`stomp::lanes::RELIABLE_STALL_MAX`] and
    /// [`stomp::lanes::RELIABLE_WAIT_MAX`]
    pub stall_limits: StallLimits,
}

impl BrokerLimits {
    pub(crate) fn connection_limits(&self) -> ConnectionLimits {
        ConnectionLimits {
            all: self.connections,
            unauthenticated: self.unauthenticated,
            per_address: self.connections_per_address,
            per_local_address: self.connections_per_local_address,
        }
    }
}

impl Default for BrokerLimits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS_MAX,
            connections_per_address: CONNECTIONS_PER_ADDRESS_MAX,
            connections_per_local_address: CONNECTIONS_PER_LOCAL_ADDRESS_MAX,
            unauthenticated: UNAUTHENTICATED_MAX,
            events: EVENTS_MAX,
            state_topics: STATE_TOPICS_MAX,
            connect_wait: stomp::session::CONNECT_WAIT_MAX,
            body_bytes: stomp::BODY_BYTES_MAX,
            handshake_wait: HANDSHAKE_WAIT_MAX,
            upgrade_wait: UPGRADE_WAIT_MAX,
            ping_every: PING_EVERY,
            connection_bytes: RELIABLE_BYTES_MAX,
            waiting_bytes: WAITING_BYTES_MAX,
            replay_wait: REPLAY_WAIT_MAX,
            stall_limits: StallLimits::default(),
        }
    }
}

/// Events that are received from the engine's feed at once.
pub(crate) const EVENTS_AT_ONCE: usize = 256;
/// Events that are published before the hub's lock is released.
pub(crate) const EVENTS_PER_LOCK: usize = 32;
/// Octets of the pipe to a client in the same process.
pub(crate) const LOCAL_BYTES: usize = 64 * 1_024;
/// Octets that the system buffers for a socket until the peer has acknowledged them.
pub(crate) const SEND_BUFFER_BYTES: usize = 64 * 1_024;
/// Octets of these that are not sent: with more, the socket is not writable.
pub(crate) const UNSENT_BYTES_MAX: u32 = 16 * 1_024;
/// Octets per write to a socket; what is still queued can be conflated.
pub(crate) const BATCH_BYTES: usize = 16 * 1_024;
/// Octets per read.
pub(crate) const READ_BYTES: usize = 4 * 1_024;
/// Octets of a snapshot that are queued at once.
pub(crate) const SNAPSHOT_STEP_BYTES: usize = 64 * 1_024;
/// Octets of a replay that are queued at once.
pub(crate) const REPLAY_STEP_BYTES: usize = 64 * 1_024;
/// Retry interval of a replay that is ahead of the hub.
pub(crate) const REPLAY_RETRY: Duration = Duration::from_millis(5);
/// Subjects that are checked in one step of a snapshot, whether they match or not.
pub(crate) const SNAPSHOT_STEP_SUBJECTS: usize = 4_096;
