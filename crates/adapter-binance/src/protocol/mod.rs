//! The venue's protocol without a socket: requests to bytes, bytes to answers and events.
//!
//! Fields and values that are not known are kept or skipped, never an error; what is needed and missing is one.

pub mod wire_values;
pub mod venue_enums;
pub mod requests;
pub mod answers;
pub mod user_events;
pub mod market_events;

pub use answers::{account_answers, error_codes, exchange_info, market_answers, order_answers, refusal_codes};
pub use requests::{calls, encoding, parameters, signing};
