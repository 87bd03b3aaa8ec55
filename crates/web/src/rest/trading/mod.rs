//! Orders and what follows from them: positions, cash, transactions, risk, breaks, history.

pub(crate) mod order;
pub(crate) mod risk;
pub(crate) mod position;
pub(crate) mod portfolio;
pub(crate) mod value_search;
pub(crate) mod transaction;
pub(crate) mod breaks;
pub(crate) mod history;
pub(crate) mod order_search;
