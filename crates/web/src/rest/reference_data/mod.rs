//! Reference data: import, and the lists of exchanges, securities, accounts and strategies.

pub(crate) mod reference;
pub(crate) mod account;
pub(crate) mod exchange;
pub(crate) mod security;
pub(crate) mod strategy;
