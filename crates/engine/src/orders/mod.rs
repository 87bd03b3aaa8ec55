//! Orders: entry, requests, venue reports, fills. Kept while they are open or of today.

pub(crate) mod ticket;
pub(crate) mod inquiries;
pub(crate) mod terms_check;
mod external;
mod claims;
pub(crate) mod fills;
pub(crate) mod expiry_cancels;
pub(crate) mod legs;
mod order_entry;
pub(crate) mod reconciliation;
pub(crate) mod registry;
pub(crate) mod reports;
pub(crate) mod requests;
mod reduce_only;
pub(crate) mod order_events;
pub(crate) mod waiting_orders;
pub(crate) mod transitions;

pub(crate) use registry::OrderRegistry;
