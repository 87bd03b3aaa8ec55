//! FIX 4.4 without socket or clock: codec, dictionary, session layer, settings file. A driver such as `fix-net` adds
//! the bytes and the time.

pub mod tag;
mod codec;
mod reject;
mod dictionary;

mod settings;
mod schedule;

mod store;
mod session;
mod conversation;
mod echo;
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
