//! Operation of the server: health, metrics, log, shutdown, venue sessions, FIX sessions, broker.

pub(crate) mod health;
pub(crate) mod cluster;
pub(crate) mod metrics;
pub(crate) mod log;
pub(crate) mod runtime;
pub(crate) mod adapter;
pub(crate) mod fix;
pub(crate) mod broker;
