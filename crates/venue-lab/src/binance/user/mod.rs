//! The stream of one user: events, listen keys, and faults of its delivery.

pub(crate) mod listen_key_methods;
pub(crate) mod listen_keys;
pub(crate) mod user_events;
pub(crate) mod user_faults;
pub(crate) mod user_streams;
