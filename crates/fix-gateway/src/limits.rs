//! Limits of the FIX gateway, each with its outcome.

/// Messages of one Ledger record; the next begins a new record.
pub(crate) const RECORD_MESSAGES_MAX: u64 = 256;
/// Bytes of one Ledger record, with room for the largest message; the next message begins a new record.
pub(crate) const RECORD_BYTES_MAX: usize = 256 << 10;
/// Characters of an id that BusinessRejectRefID (379) repeats, and of a value that Text (58) shows; a longer id is left out, a longer
/// value is cut.
pub(crate) const REPEATED_CHARS_MAX: usize = 64;
/// Characters of Text (58); what is behind them is left out.
pub(crate) const TEXT_CHARS_MAX: usize = 4_096;
/// Bytes of a field that an answer repeats; a longer one is left out. An answer stays below what a Ledger record takes.
pub(crate) const ECHO_BYTES_MAX: usize = 16 << 10;
/// Bytes of a field that goes on to a venue; an order with a longer one is rejected.
pub(crate) const PASSED_BYTES_MAX: usize = 255;
/// How long a session waits for the engine's inbox before it ends its connection.
pub(crate) const BUSY_MILLISECONDS_MAX: u64 = 5_000;
/// Between two attempts.
pub(crate) const BUSY_PAUSE_MILLISECONDS: u64 = 2;

/// Events that are queued for the event router; when it falls behind, every session catches up from history.
pub(crate) const EVENTS_MAX: usize = 65_536;
/// Live events that are queued for one session; when it falls behind, it catches up from history.
pub(crate) const LIVE_EVENTS_MAX: usize = 8_192;
/// Reports that are queued for a session's task; its report feeder waits with one more.
pub(crate) const REPORTS_QUEUED_MAX: usize = 1_024;
/// Reports that a session sends before other sessions have their turn.
pub(crate) const REPORTS_PER_TURN: usize = 128;
/// Events that are routed to sessions before the router gives way to them.
pub(crate) const EVENTS_PER_TURN: usize = 1_024;
/// Events per query of history.
pub(crate) const HISTORY_PAGE: usize = 1_000;
/// Pause after a failed query of history.
pub(crate) const HISTORY_PAUSE_MILLISECONDS: u64 = 500;

/// Questions (H, AF, AD, AN) of one session in progress; one more is j with 380=4.
pub(crate) const STATUS_REQUESTS_MAX: usize = 1_024;

/// Trades of one answer to a Trade Capture Report Request (AD); where more match, it is refused as a whole, or it has asked for the
/// oldest of them (7007).
pub(crate) const CAPTURED_TRADES_MAX: usize = 10_000;
/// Orders of a session among which its trades are looked for; where there are more, the request has to name an order or a later time.
pub(crate) const CAPTURED_ORDERS_MAX: usize = 100_000;
/// Trade Capture Report Requests (AD) of one session in progress that name no order; one more is j with 380=4.
pub(crate) const TRADE_LISTS_MAX: usize = 4;
/// Ended orders that a mass status (AF with 7004=Y) has besides the open ones: the newest.
pub(crate) const ENDED_ORDERS_MAX: usize = 10_000;
/// Ended orders that were placed before are not in a mass status.
pub(crate) const ENDED_ORDERS_SECONDS: i64 = 48 * 3_600;

/// Levels of a side that the platform's books can have; a request for more is refused.
pub(crate) const BOOK_LEVELS_MAX: usize = 20;
/// Securities of one Market Data Request (V); one more is Y with 281=2.
pub(crate) const REQUESTED_SECURITIES_MAX: usize = 500;
/// Bytes of MDReqID (262); a longer one is refused.
pub(crate) const REQUEST_ID_BYTES_MAX: usize = 255;
/// Price events that are queued for the price router; when it falls behind, sessions read the prices again.
pub(crate) const PRICE_EVENTS_MAX: usize = 65_536;
/// Trades of a security that wait for a session; of more the newest are told.
pub(crate) const TRADES_WAITING_MAX: usize = 64;
/// Securities whose prices a session sends before other sessions have their turn.
pub(crate) const PRICES_PER_TURN: usize = 64;
/// Securities of one part of a Security List (y).
pub(crate) const LISTED_PER_PART: usize = 100;
/// Security lists of one session that are being sent; one more is j with 380=4.
pub(crate) const LISTS_SENDING_MAX: usize = 8;

/// Lines that are queued for the message log; more are dropped and counted.
pub(crate) const LOG_LINES_MAX: usize = 65_536;

/// Interval of the search for orders to be cancelled after a disconnect, until none is left; also the pause before the
/// first repetition of a refused cancel. Each further one is twice as long.
pub(crate) const CANCEL_RETRY_SECONDS: u64 = 1;
/// No pause between two cancels of one order is longer.
pub(crate) const CANCEL_RETRY_MAX_SECONDS: u64 = 30;

/// Interval of the credential check of logged-on clients.
pub(crate) const CREDENTIAL_CHECK_SECONDS: u64 = 1;

/// How long a stop waits for clients to answer the Logout.
pub(crate) const STOP_SECONDS: u64 = 5;

/// A longer message log is renamed and started anew; the one before that is deleted.
pub(crate) const LOG_FILE_BYTES_MAX: u64 = 64 << 20;

/// Numbers that a session leaves out after a loss of the journal: more than it can have sent behind what is known.
pub(crate) const NUMBERS_SKIPPED: u64 = 1_000_000;
