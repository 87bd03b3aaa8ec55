//! Venue lab: an exchange in its own process that speaks the protocols of real venues, for trying clients against it.
//!
//! One truth, several faces. The exchange matches with the engine of the simulated venues; its ledger is appended and
//! synced before any answer leaves. The faces are written from the venues' public documentation.

mod admin;
mod binance;
mod book_view;
mod catalogue;
mod certify;
mod config;
mod config_error;
mod exchange;
mod fault_request;
mod fault_script;
mod faults;
mod fix_config;
mod fix_face;
mod keys;
mod lab;
mod ledger;
mod publisher;
mod sequencer;
mod sessions;
mod signature;
mod tls;
mod tls_listener;
mod websocket;

pub use certify::{Certificate, CertifyRequest, certify};
pub use config::LabConfig;
pub use config_error::LabConfigError;
pub use lab::{LabError, RunningLab};
pub use ledger::LedgerError;
