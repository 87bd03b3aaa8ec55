//! A venue behind a real adapter: the venue lab with its exchange, ledger and FIX sessions, and the FIX adapter of the running process, with
//! a simulated network between them.

mod adapter_sessions;
mod lab_counts;
mod lab_machine;
mod lab_setup;
mod lab_listener;
mod lost_trades;
mod number_disk;

pub(crate) use adapter_sessions::{AdapterParts, LabAdapterSessions, open_adapter};
pub(crate) use lab_counts::LabCounts;
pub(crate) use lab_listener::LabListener;
pub(crate) use lab_machine::LabMachine;
