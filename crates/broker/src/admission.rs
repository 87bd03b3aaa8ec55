//! Credential watch: closes connections whose token, user or session is no longer valid.

use std::sync::Arc;

use access::Pass;
use tokio::time::{MissedTickBehavior, interval};

use crate::house::House;
use crate::limits::ADMISSION_CHECK_EVERY;

/// Checks periodically until it is dropped.
pub(crate) async fn keep(house: Arc<House>) {
    let mut turns = interval(ADMISSION_CHECK_EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        house.hub.show_out(|pass| stands(&house, pass));
    }
}

/// Where the users file is not readable no new client is accepted, and connected clients stay.
fn stands(house: &House, pass: &Pass) -> bool {
    house.access.stands(pass).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot check credentials of connections: users file not readable; they stay open");
        true
    })
}
