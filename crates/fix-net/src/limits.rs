//! Limits. What happens when one is reached stands beside it.

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

/// Callers that have not yet said who they are; more wait in the listening queue of the system.
pub const UNKNOWN_CALLERS_MAX: usize = 256;

/// How long a caller has for its Logon, and a callee for taking our call.
pub const HANDSHAKE_SECONDS: u64 = 10;

/// Messages of the mailbox that are taken before the socket is looked at again.
pub const MAILBOX_BATCH: usize = 256;

/// How long a caller waits for the one before it to be gone; then it is turned away (`AlreadyConnected`).
pub const HAND_OVER_MILLISECONDS: u64 = 100;

/// How long a peer may take to hang up after we have; then the socket is closed hard.
pub const PARTING_SECONDS: u64 = 1;
