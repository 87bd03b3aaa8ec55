//! Bodies of requests: their fields, and what each of them means.

pub mod fields;
pub mod nearest;
pub mod order_body;
pub(crate) mod strategy_name;
pub mod transaction_body;
