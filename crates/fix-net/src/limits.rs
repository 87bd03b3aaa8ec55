//! Limits of the TCP driver, each with its outcome.

use net::TcpKeepalive;
use std::time::Duration;

/// Messages and requests that are queued for a session's task; more are rejected at once with `SessionQueueFull`.
pub const SESSION_QUEUE_MAX: usize = 8_192;

/// Bytes that wait for a slow peer. Beyond this we neither read from it nor take messages for it; nothing is dropped. One that
/// takes nothing at all is cut off below.
pub const WIRE_BYTES_MAX: usize = 1 << 20;

/// Bytes read from a socket at once.
pub const READ_BYTES: usize = 16 << 10;

/// Bytes that a session reads and makes before other sessions have the thread.
pub const TURN_BYTES: usize = 16 << 10;

/// A peer whose socket accepts nothing for this long is disconnected (`SlowPeer`); so is one that takes longer for what TLS holds at the
/// end of a batch, some 64 KiB at most.
pub const WRITE_STALL_SECONDS: u64 = 20;

/// What a connection may send before its session is known; more closes it.
pub const UNAUTHENTICATED_BYTES_MAX: usize = 64 << 10;

/// Connections without a Logon; for one more the oldest silent one of the address with the most of them is evicted.
pub const UNAUTHENTICATED_CONNECTIONS_MAX: usize = 256;

/// Those of one address; for one more its oldest silent one is evicted, and where none is silent the new one is
/// rejected.
pub const UNAUTHENTICATED_PER_ADDRESS_MAX: usize = 64;

/// How long a peer may take for its Logon, and to accept our connection.
pub const HANDSHAKE_SECONDS: u64 = 10;

/// How long the authentication of a Logon may take: longer than a wrong password is delayed.
pub const AUTHENTICATION_SECONDS: u64 = 30;

/// Queued requests that are handled before the socket is read again.
pub const SESSION_QUEUE_BATCH: usize = 256;

/// How long a new connection waits for the end of the previous one; then it is rejected (`AlreadyConnected`).
pub const SLOT_WAIT_MILLISECONDS: u64 = 100;

/// How long a peer may take to close after we have; then the socket is closed hard.
pub const CLOSE_WAIT_SECONDS: u64 = 1;

/// How long the end of a connection waits until the last sequence numbers are durable; then the session continues, and
/// may request its peer's last message again.
pub const FINAL_FLUSH_SECONDS: u64 = 2;

/// TCP keep-alive after this long without traffic; a peer that does not answer several of them is gone. It detects the
/// end of a peer without heartbeats (108=0).
pub const KEEPALIVE: TcpKeepalive =
    TcpKeepalive { after: Duration::from_secs(30), interval: Duration::from_secs(10), probes: 3 };

/// Messages that one bulk sender may queue for a session's task; it continues when they are handled, and leaves room
/// for others.
pub const PAGE_MESSAGES: usize = 256;
