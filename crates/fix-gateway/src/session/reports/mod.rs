//! Reports of a session: whose orders it is told of, from where, and what the client has read.

mod event_router;
mod read_confirmation;
mod report_feeder;
mod report_scope;

pub(crate) use event_router::{EventRouter, ReportSource};
pub(crate) use read_confirmation::{ConfirmationStep, ReadConfirmation};
pub(crate) use report_feeder::{ReportFeeder, ReportItem, ResumePoint, SessionWaker};
pub(crate) use report_scope::{ReportScope, unknown_names};
