//! FIX 4.4, without a socket and without a clock: bytes, dictionary, session rules, settings. A driver such as
//! `fix-net` brings the bytes and the time.

/// The numbers of fields.
pub mod tag;
/// Bytes on the wire: frames, messages read in place, messages written.
mod codec;
/// Why a message is rejected, in the words of the standard.
mod reject;
/// What a message may look like, and the checks.
mod dictionary;

/// The session file in QuickFIX's format.
mod settings;
/// When a session is open, and when its numbers start again.
mod schedule;

/// What a session must remember.
mod store;
/// The rules of a session: an event and a time in, actions out.
mod session;
/// Session, application and bytes put together; all that a driver needs.
mod conversation;
/// The stock application that sends back what it gets.
mod echo;
/// Messages as a log may show them.
mod masked;

pub use codec::*;
pub use conversation::{Application, Conversation, Direction, Introduction, Line, LogonTicket, Verdict};
pub use dictionary::*;
pub use echo::{ECHO_ORDERS_MAX, Echo};
pub use masked::masked;
pub use reject::{BusinessRejectReason, Fault, RejectReason};
pub use schedule::{Hours, Period, Schedule};
pub use session::*;
pub use settings::*;
pub use store::{MEMORY_STORE_BYTES_MAX, MemoryStore, SEQ_NUM_MAX, SeqNum, Store, StoreError, Traffic, Visit};
