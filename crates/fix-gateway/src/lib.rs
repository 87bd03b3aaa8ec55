//! The FIX door: orders in, reports out, over FIX 4.4. It knows sessions and bytes through `fix` and `fix-net`, and the
//! engine through the bus like every other door; what a session must remember it keeps in the Ledger.

/// How much of everything is held, and for how long.
mod limits;
/// Waiting for a place in the engine's queue.
mod patience;
/// What all sessions share.
mod house;
/// What a session remembers.
mod ledger;
/// Their words and ours.
mod words;
/// One client's session.
mod session;
/// The session file, read and checked.
mod settings;
/// TLS in front of it.
mod tls;
/// The door itself: sessions, listener, operators.
mod gateway;

pub use fix_net::Secure;
pub use gateway::{Gateway, Operators, Parts};
pub use settings::{DEMO_SETTINGS, Sessions};
pub use tls::secured;
