//! Credential watch: closes connections whose token, user or session is no longer valid.

use std::sync::Arc;

use access::AccessGrant;
use tokio::time::{MissedTickBehavior, interval};

use crate::limits::ADMISSION_CHECK_EVERY;
use crate::state::BrokerState;

/// Checks periodically until it is dropped.
pub(crate) async fn watch_credentials(broker: Arc<BrokerState>) {
    let mut turns = interval(ADMISSION_CHECK_EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        broker.hub.disconnect_revoked(|pass| is_still_valid(&broker, pass));
    }
}

/// Where the users file is not readable no new client is accepted, and connected clients stay.
fn is_still_valid(broker: &BrokerState, pass: &AccessGrant) -> bool {
    broker.access.is_valid(pass).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot check credentials of connections: users file not readable; they stay open");
        true
    })
}
