//! Audit trail: refusals, failed logins, privileged actions.

pub(crate) mod entry;
pub(crate) mod aggregator;
pub(crate) mod view;
pub(crate) mod writer;
