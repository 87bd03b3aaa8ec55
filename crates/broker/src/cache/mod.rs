//! What the broker keeps of events: last values, state, and recent events for clients that come back.

pub(crate) mod cache_key;
pub(crate) mod last_value_cache;
pub(crate) mod snapshot;
pub(crate) mod recent_events;
pub(crate) mod subscription_replay;
