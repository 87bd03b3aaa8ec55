//! Limits. What happens when one is reached stands beside it.

use std::time::Duration;

/// Messages and requests that wait for a session's task; more are refused at once with `MailboxFull`.
pub const MAILBOX_MESSAGES_MAX: usize = 8_192;

/// Bytes that wait for a slow peer. Beyond this we neither read from it nor take messages for it, so its own heart-beat
/// or ours ends the connection; nothing is dropped.
pub const WIRE_BYTES_MAX: usize = 1 << 20;

/// Bytes taken from a socket at once.
pub const READ_BYTES: usize = 64 << 10;

/// A peer whose socket takes nothing for so long is cut off (`SlowPeer`).
pub const WRITE_STALL_SECONDS: u64 = 20;

/// What a caller may send before it is known; more closes the connection.
pub const UNKNOWN_CALLER_BYTES_MAX: usize = 64 << 10;

/// Callers that have not yet logged on; for one more the oldest silent one of the address with the most of them gives way.
pub const UNKNOWN_CALLERS_MAX: usize = 256;

/// Those of one address; for one more its oldest silent one gives way, and where none is silent the caller is turned away.
pub const UNKNOWN_CALLERS_PER_ADDRESS_MAX: usize = 64;

/// How long a caller has for its Logon, and a callee for taking our call.
pub const HANDSHAKE_SECONDS: u64 = 10;

/// How long it may take to make up one's mind about a Logon: longer than a guess is ever held.
pub const JUDGEMENT_SECONDS: u64 = 30;

/// Messages of the mailbox that are taken before the socket is looked at again.
pub const MAILBOX_BATCH: usize = 256;

/// How long a caller waits for the one before it to be gone; then it is turned away (`AlreadyConnected`).
pub const HAND_OVER_MILLISECONDS: u64 = 100;

/// How long a peer may take to hang up after we have; then the socket is closed hard.
pub const PARTING_SECONDS: u64 = 1;

/// How long the end of a connection waits until the last numbers are durable; then the session goes on, and perhaps asks for
/// its peer's last message again.
pub const REST_SECONDS: u64 = 2;

/// A peer that has not confirmed what was sent to it by then is gone, whatever its heart-beats.
#[cfg(target_os = "linux")]
pub const UNCONFIRMED_MAX: Duration = Duration::from_secs(30);

/// A line that is silent for so long is tried by the system, again and again; where nobody answers so many times the peer is
/// gone. It is what notices the end of a peer that asked for no heart-beats (108=0).
pub const PROBE_AFTER: Duration = Duration::from_secs(30);
pub const PROBE_AGAIN_AFTER: Duration = Duration::from_secs(10);
pub const PROBES_MAX: u32 = 3;

/// Messages that may wait for a session's task on behalf of one that sends many; it goes on when they are taken, and leaves
/// room for others.
pub const PAGE_MESSAGES: usize = 256;
