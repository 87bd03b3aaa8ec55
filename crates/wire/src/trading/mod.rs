//! Value objects of trading: orders, portfolio, prices, securities, risk, breaks.

pub mod reference;
pub mod security;
pub mod order;
pub mod portfolio;
pub mod market;
pub mod stored_event;
pub(crate) mod value_history;
pub(crate) mod breaks;
pub mod limits;
pub mod risk;
