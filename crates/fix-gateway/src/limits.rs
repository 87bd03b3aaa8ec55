//! Limits of the FIX door. What happens when one is reached stands beside it.

/// Messages of one page of the Ledger; the next begins a new page.
pub(crate) const PAGE_MESSAGES_MAX: u64 = 256;
/// Bytes of one page of the Ledger, with room for the largest message; the next message begins a new page.
pub(crate) const PAGE_BYTES_MAX: usize = 256 << 10;
/// How long a session waits for a place in the engine's queue before it gives up and ends its connection.
pub(crate) const BUSY_MILLISECONDS_MAX: u64 = 5_000;
/// Between two tries to get a place.
pub(crate) const BUSY_PAUSE_MILLISECONDS: u64 = 2;

/// Events that may wait for the switchboard; when it falls behind, every session catches up from history.
pub(crate) const EVENTS_MAX: usize = 65_536;
/// Live events that may wait for one session; when it falls behind, it catches up from history.
pub(crate) const LIVE_EVENTS_MAX: usize = 8_192;
/// Events that may wait in front of a session's task; its courier waits with one more.
pub(crate) const NEWS_MAX: usize = 1_024;
/// Events that are asked of history at once.
pub(crate) const HISTORY_PAGE: usize = 1_000;
/// When history can't answer, it is asked again after this.
pub(crate) const HISTORY_PAUSE_MILLISECONDS: u64 = 500;

/// Questions (H, AF) of one session that wait for their answer; one more is j with 380=4.
pub(crate) const QUESTIONS_MAX: usize = 1_024;

/// Lines that may wait for the message log; more are dropped and counted.
pub(crate) const LOG_LINES_MAX: usize = 65_536;

/// Orders that have to be cancelled after a disconnect are looked for again after this, until none is left.
pub(crate) const CANCEL_AGAIN_SECONDS: u64 = 1;

/// Whether what a client logged on with is still valid is looked at after this, again and again.
pub(crate) const ADMISSION_CHECK_SECONDS: u64 = 1;

/// How long a stop waits for clients to answer the Logout.
pub(crate) const STOP_SECONDS: u64 = 5;

/// A message log that is longer is renamed and begun anew; the one before that is deleted.
pub(crate) const LOG_FILE_BYTES_MAX: u64 = 64 << 20;
