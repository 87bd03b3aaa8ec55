//! One client session: logon, inbound messages, reports.

mod application;
mod local_rejects;
mod logon;
mod principal;
mod credential_watch;
mod rate_limiter;
mod report_feeder;
mod read_confirmation;
mod event_router;
mod command_submission;
mod status_request;
mod cancel_on_disconnect;
mod session_status;
mod message_log;

pub(crate) use application::GatewayApplication;
pub(crate) use cancel_on_disconnect::{Absent, run};
pub(crate) use command_submission::Waits;
pub(crate) use event_router::EventRouter;
pub(crate) use logon::{LogonAttempt, LogonCredentials};
pub(crate) use message_log::MessageLog;
pub(crate) use session_status::SessionStatus;
