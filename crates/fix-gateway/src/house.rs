//! Gateway context: what all sessions share.

use std::sync::Arc;

use access::Access;
use bus::Bus;
use fix::Dictionary;
use fix_net::Clock;

use crate::session::Switchboard;
use crate::words::ExecIds;

pub(crate) struct House {
    pub(crate) bus: Bus,
    pub(crate) access: Arc<Access>,
    pub(crate) clock: Clock,
    pub(crate) ids: ExecIds,
    pub(crate) switchboard: Switchboard,
    /// The standard messages of FIX 4.4, whatever dictionary a session validates with.
    pub(crate) shapes: Dictionary,
}
