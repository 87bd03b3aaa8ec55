//! Authenticated client of a session.

use std::sync::Arc;

use access::AccessGrant;
use domain::Text;
use domain::rights::TradingRights;

/// The authenticated client.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    pub(crate) name: Option<Text>,
    /// Trades for this strategy alone.
    pub(crate) strategy: Option<Text>,
    /// The session ends when this is revoked; credentials of the session file are valid until the program stops.
    pub(crate) pass: Option<AccessGrant>,
    /// What it may trade; absent: everything.
    pub(crate) rights: Option<Arc<TradingRights>>,
}
