//! TCP driver for the sessions of `fix`: acceptor, initiator, one task per session, bounded queues. The task of a
//! session runs as long as the process; connections come and go.

pub mod limits;
mod clock;
mod stream;
mod mailbox;
mod durable;
mod dictionaries;
mod connection;
mod session_task;
mod callers;
mod acceptor;

pub use acceptor::{Acceptor, Deliberation, Doorman};
pub use clock::{Clock, now};
pub use dictionaries::Dictionaries;
pub use durable::Durable;
pub use mailbox::{Mailbox, MailboxFull, SessionHandle, mailbox};
pub use session_task::run_session;
pub use stream::{Secure, Securing, Stream};
