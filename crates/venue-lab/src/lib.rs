//! Venue lab: an exchange in its own process that speaks the protocols of real venues, for trying clients against it.
//!
//! One truth, several faces. The exchange matches with the engine of the simulated venues; its ledger is appended and
//! synced before any answer leaves. The faces are written from the venues' public documentation.

pub(crate) mod listener;
mod admin;
mod binance;
mod book_view;
mod certify;
mod config;
mod exchange;
mod faults;
mod fix_face;
mod keys;
mod lab;
mod lab_clock;
mod ledger;
mod publisher;
mod sequencer;
mod sessions;
mod signature;
mod stepped_lab;

pub use certify::{Certificate, CertifyRequest, certify};
pub use config::LabConfig;
pub use config::config_error::LabConfigError;
pub use fix_face::ReportedTrade;
pub use lab::{LabError, RunningLab};
pub use lab_clock::LabClock;
pub use ledger::LedgerError;
pub use stepped_lab::SteppedLab;
