//! Drives the FIX sessions of `fix` over TCP: one task a session, sockets that know nothing, bounded queues between.
//! A session's task lives as long as the process; connections come and go.

/// The limits that stand between a peer and our memory, each with its outcome.
pub mod limits;
/// By which clock a session goes; read once for each thing that happens.
mod clock;
/// Sockets, plain or secured by whoever composes the program.
mod stream;
/// How the rest of the program reaches a session.
mod mailbox;
/// What a store must add so that nothing is written to a socket that a crash could undo.
mod durable;
/// Dictionaries by the choice of the settings.
mod dictionaries;
/// One connection, from its first byte to the reason of its end.
mod connection;
/// A session over all its connections.
mod session_task;
/// Callers that have not yet logged on.
mod callers;
/// The listening side: who calls, and for which session.
mod acceptor;

pub use acceptor::{Acceptor, Deliberation, Doorman};
pub use clock::{Clock, now};
pub use dictionaries::Dictionaries;
pub use durable::Durable;
pub use mailbox::{Mailbox, MailboxFull, SessionHandle, mailbox};
pub use session_task::run_session;
pub use stream::{Secure, Securing, Stream};
