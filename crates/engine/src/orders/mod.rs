//! Orders: entry, requests, venue reports, fills. Kept while they are open or of today.

mod executions;
pub(crate) mod fills;
pub(crate) mod intake;
pub(crate) mod mass_cancels;
mod names;
mod numbered;
pub(crate) mod reconcile;
pub(crate) mod registry;
pub(crate) mod reports;
pub(crate) mod requests;
mod resting;
mod reducing;
pub(crate) mod telling;
pub(crate) mod awaited;
pub(crate) mod waiting;
pub(crate) mod transitions;

pub(crate) use registry::Registry;
