//! TCP driver for the sessions of `fix`: acceptor, initiator, one task per session, bounded queues. The task of a
//! session runs as long as the process; connections come and go.

pub mod limits;
mod clock;
mod stream;
mod session_queue;
mod durable_store;
mod dictionary_cache;
mod connection;
mod session_task;
mod session_directory;
mod acceptor;

pub use acceptor::{Acceptor, AuthFuture, CallerStream, LogonAuthenticator, StreamAcceptor};
pub use clock::{SessionClock, now};
pub use dictionary_cache::DictionaryCache;
pub use durable_store::DurableStore;
pub use session_directory::SessionDirectory;
pub use session_queue::{NumbersError, SessionHandle, SessionQueue, SessionQueueFull, session_queue};
pub use session_task::{run_session, run_session_over};
pub use stream::{SessionStream, StreamDialer, TlsHandshake, TlsWrapper};
