//! One client session: logon, inbound messages, reports; and what all sessions share.

mod application;
mod client_connection;
mod market_data;
mod logon;
mod credential_watch;
mod rate_limiter;
mod reports;
mod command_submission;
mod questions;
mod cancel_on_disconnect;
mod session_status;
mod message_log;

use std::sync::Arc;

use access::Access;
use bus::Bus;
use fix::Dictionary;
use fix_net::SessionClock;

use crate::translate::ExecIds;

pub(crate) use application::GatewayApplication;
pub(crate) use cancel_on_disconnect::{Absent, run};
pub(crate) use client_connection::ClientConnection;
pub(crate) use command_submission::Waits;
pub(crate) use logon::{LogonAttempt, LogonCredentials};
pub(crate) use market_data::{MarketDataApplication, PriceRouter};
pub(crate) use message_log::MessageLog;
pub(crate) use reports::{EventRouter, unknown_names};
pub(crate) use session_status::SessionStatus;

/// Gateway context: what all sessions share.
pub(crate) struct GatewayContext {
    pub(crate) bus: Bus,
    pub(crate) access: Arc<Access>,
    pub(crate) clock: SessionClock,
    pub(crate) exec_ids: ExecIds,
    pub(crate) event_router: EventRouter,
    pub(crate) price_router: PriceRouter,
    /// The standard messages of FIX 4.4, whatever dictionary a session validates with.
    pub(crate) dictionary: Arc<Dictionary>,
}
