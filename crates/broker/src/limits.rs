//! How much of everything is held, and for how long. Each limit has an outcome in `docs/limits.md`.

use std::time::Duration;

use stomp::lanes::{Patience, RELIABLE_BYTES_MAX};

/// Connections of all doors of the broker together, `/stomp` included; one more is closed without a word.
pub const CONNECTIONS_MAX: usize = 16_384;
/// Those of them that come from one address, all of one IPv6 network (/64) counted as one; one more is closed as above.
pub const CONNECTIONS_PER_ADDRESS_MAX: usize = 1_024;
/// The same for this machine itself, where proxies and strategies are.
pub const CONNECTIONS_PER_LOCAL_ADDRESS_MAX: usize = 12_288;
/// Callers at a time who have not logged in; for one more the oldest gives way.
pub const CALLERS_MAX: usize = 1_024;
/// A TLS handshake that is not done by then is cut.
pub const HANDSHAKE_WAIT_MAX: Duration = Duration::from_secs(10);
/// A WebSocket whose upgrade has not been asked for by then is closed.
pub const UPGRADE_WAIT_MAX: Duration = Duration::from_secs(15);
/// Octets of one WebSocket message; a larger one ends the connection.
pub const WEBSOCKET_MESSAGE_BYTES_MAX: usize = 2 * 1_024 * 1_024;
/// So often a WebSocket is asked whether it is still there; its answer counts as a heart-beat.
pub const PING_EVERY: Duration = Duration::from_secs(10);
/// So often it is looked whether those who are connected still may be.
pub const ADMISSION_CHECK_EVERY: Duration = Duration::from_secs(1);
/// How long the last words may take to reach a client before its connection is cut.
pub const FAREWELL_MAX: Duration = Duration::from_secs(2);
/// What a client may still send while it is told its last words; one that sends more is cut off at once.
pub const FAREWELL_BYTES_MAX: usize = 4 << 20;
/// How long a WebSocket that is broken below STOMP stays open for its last words, because nothing more can be read of it.
pub const FAULT_LINGER: Duration = Duration::from_secs(1);
/// How long all connections together may take for that when the server stops.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);
/// Events of the engine that wait for the broker: more than the cancelling of 20,000 orders by one command makes. With more
/// everybody is disconnected and joins again.
pub const EVENTS_MAX: usize = 262_144;
/// How long an event may wait to be published; when one waits for longer the server is not ready.
pub const OLDEST_EVENT_MAX: Duration = Duration::from_secs(5);
/// Octets that may wait for all connections together, each message counted once and 64 octets for everyone it waits for;
/// with more those are disconnected who hold the most, first those among them who take nothing.
pub const WAITING_BYTES_MAX: usize = 512 * 1_024 * 1_024;
/// Topics of market data that have a last value; events of further ones are not conflated.
pub const MARKET_TOPICS_MAX: usize = 262_144;
/// Other topics that have a last value. For more of them the oldest orders give way and are left out of snapshots; where
/// no order is left, the new ones are.
pub const STATE_TOPICS_MAX: usize = 65_536;
/// Events that are held between history and those who listen now; a replay that is further behind reads history.
pub const RECENT_EVENTS_MAX: usize = 4_096;
/// Octets that the same events may hold; of larger ones fewer are kept.
pub const RECENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Events of history that a replay reads at once; those of one sequence stay together.
pub const REPLAY_PAGE_EVENTS: usize = 1_000;
/// Pages of history that are read for replays at the same time; others wait.
pub const REPLAY_READS_MAX: usize = 2;
/// Lines of the log that wait for the broker, and those that are published in a second; of more only the count is told.
pub const LOG_LINES_PER_SECOND_MAX: u32 = 100;

/// Those limits that somebody may want to set otherwise, such as a test that cannot wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// [`CONNECTIONS_MAX`]
    pub connections: usize,
    /// [`CONNECTIONS_PER_ADDRESS_MAX`]
    pub connections_per_address: usize,
    /// [`CONNECTIONS_PER_LOCAL_ADDRESS_MAX`]
    pub connections_per_local_address: usize,
    /// [`CALLERS_MAX`]
    pub callers: usize,
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
    /// [`stomp::lanes::RELIABLE_BYTES_MARK`], [`stomp::lanes::RELIABLE_STALL_MAX`] and [`stomp::lanes::RELIABLE_WAIT_MAX`]
    pub patience: Patience,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: CONNECTIONS_MAX,
            connections_per_address: CONNECTIONS_PER_ADDRESS_MAX,
            connections_per_local_address: CONNECTIONS_PER_LOCAL_ADDRESS_MAX,
            callers: CALLERS_MAX,
            events: EVENTS_MAX,
            state_topics: STATE_TOPICS_MAX,
            connect_wait: stomp::session::CONNECT_WAIT_MAX,
            body_bytes: stomp::BODY_BYTES_MAX,
            handshake_wait: HANDSHAKE_WAIT_MAX,
            upgrade_wait: UPGRADE_WAIT_MAX,
            ping_every: PING_EVERY,
            connection_bytes: RELIABLE_BYTES_MAX,
            waiting_bytes: WAITING_BYTES_MAX,
            patience: Patience::default(),
        }
    }
}

/// Events that are taken from the engine's feed at once.
pub(crate) const EVENTS_AT_ONCE: usize = 256;
/// Those among them that are published before others may have the hub.
pub(crate) const EVENTS_PER_LOCK: usize = 32;
/// Octets between the broker and somebody in the same process.
pub(crate) const LOCAL_BYTES: usize = 64 * 1_024;
/// Octets that the system holds for a socket, sent or not, until the peer has confirmed them.
pub(crate) const SEND_BUFFER_BYTES: usize = 64 * 1_024;
/// Octets of these that are not even sent: with more, the socket has no room.
#[cfg(target_os = "linux")]
pub(crate) const UNSENT_BYTES_MAX: u32 = 16 * 1_024;
/// A peer that has not confirmed what was sent to it by then is gone.
#[cfg(target_os = "linux")]
pub(crate) const UNHEARD_MAX: Duration = Duration::from_secs(30);
/// Octets that are handed to a socket at once; what has not been handed over can still be replaced by newer prices.
pub(crate) const BATCH_BYTES: usize = 16 * 1_024;
/// Octets that are read at once.
pub(crate) const READ_BYTES: usize = 4 * 1_024;
/// Octets of a snapshot that are put into a lane at once.
pub(crate) const SNAPSHOT_STEP_BYTES: usize = 64 * 1_024;
/// Octets of a replay that are put into a lane at once.
pub(crate) const REPLAY_STEP_BYTES: usize = 64 * 1_024;
/// A replay that is ahead of the hub looks again after this.
pub(crate) const REPLAY_RETRY: Duration = Duration::from_millis(5);
/// Subjects that are looked at in one go for a snapshot, whether it selects them or not.
pub(crate) const SNAPSHOT_STEP_SUBJECTS: usize = 4_096;
