//! The venue's protocol without a socket: requests to bytes, bytes to answers and events.
//!
//! Fields and values that are not known are kept or skipped, never an error; what is needed and missing is one.

pub mod wire_values;
pub mod venue_enums;
pub mod parameters;
pub mod signing;
pub mod calls;
pub mod requests;
pub mod encoding;
pub mod error_codes;
pub mod answers;
pub mod refusal_codes;
pub mod order_answers;
pub mod account_answers;
pub mod key_restrictions;
pub mod market_answers;
pub mod exchange_info;
pub mod user_events;
pub mod market_events;
