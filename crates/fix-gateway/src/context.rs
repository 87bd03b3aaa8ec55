//! Gateway context: what all sessions share.

use std::sync::Arc;

use access::Access;
use bus::Bus;
use fix::Dictionary;
use fix_net::SessionClock;

use crate::session::EventRouter;
use crate::translate::ExecIds;

pub(crate) struct GatewayContext {
    pub(crate) bus: Bus,
    pub(crate) access: Arc<Access>,
    pub(crate) clock: SessionClock,
    pub(crate) exec_ids: ExecIds,
    pub(crate) event_router: EventRouter,
    /// The standard messages of FIX 4.4, whatever dictionary a session validates with.
    pub(crate) dictionary: Dictionary,
}
