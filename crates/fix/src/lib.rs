//! FIX 4.4 without socket or clock: codec, dictionary, session layer, settings file. A driver such as `fix-net` adds
//! the bytes and the time.

pub mod tag;
mod codec;
mod reject;
mod dictionary;

mod settings;
mod schedule;

mod message_store;
mod session;
mod session_engine;
mod echo_application;
mod masked;

pub use codec::*;
pub use dictionary::*;
pub use echo_application::{ECHO_ORDERS_MAX, EchoApplication};
pub use masked::{masked, masked_with};
pub use message_store::{
    MEMORY_STORE_BYTES_MAX, MemoryStore, MessageStore, MessageVisitor, SEQ_NUM_MAX, SeqNum, StoreError, Traffic,
};
pub use reject::{BusinessRejectReason, MessageFault, SessionRejectReason};
pub use schedule::{Schedule, SessionHours, SessionPeriod, Weekdays};
pub use session::*;
pub use session_engine::{
    Application, Direction, LogonDecision, LogonTicket, PreparedDecision, SessionEngine, SessionSender,
};
pub use settings::*;
