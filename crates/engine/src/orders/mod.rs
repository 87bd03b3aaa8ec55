//! Orders: entry, requests, venue reports, fills. Kept while they are open or of today.

pub(crate) mod wait_queue;
pub(crate) mod ticket;
pub(crate) mod timeout_queue;
pub(crate) mod inquiry_queue;
mod inquiries;
pub(crate) mod mass_cancel_results;
pub(crate) mod terms_check;
pub(crate) mod executions;
mod external;
mod claims;
pub(crate) mod fills;
pub(crate) mod order_entry;
pub(crate) mod mass_cancels;
mod cl_ord_ids;
mod orders_by_id;
mod number_runs;
pub(crate) mod retired_keys;
mod forgetting;
pub(crate) mod reconciliation;
pub(crate) mod registry;
pub(crate) mod reports;
pub(crate) mod requests;
mod resting;
mod reduce_only;
mod repeated_fills;
mod reduce_position;
pub(crate) mod order_events;
pub(crate) mod venue_timeouts;
pub(crate) mod waiting_orders;
pub(crate) mod transitions;

pub(crate) use registry::OrderRegistry;
