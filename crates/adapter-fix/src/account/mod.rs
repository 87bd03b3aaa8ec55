//! What the venue says about an account as a whole: executions (AD, AQ, AE), positions (AN, AO, AP), and the snapshot of orders and
//! executions after a log-on (AF with AD).

pub(crate) mod fill_list;
pub(crate) mod open_captures;
pub(crate) mod open_order_list;
pub(crate) mod position_request;
pub(crate) mod snapshot;
pub(crate) mod trade_capture;

#[cfg(test)]
mod tests;
