//! Who was let in stays only as long as what let him in stands: a token that is revoked or expires, a user who is changed
//! or removed and a session that ends take their connections with them.

use std::sync::Arc;

use access::Pass;
use tokio::time::{MissedTickBehavior, interval};

use crate::house::House;
use crate::limits::ADMISSION_CHECK_EVERY;

/// Looks again and again until it is dropped.
pub(crate) async fn keep(house: Arc<House>) {
    let mut turns = interval(ADMISSION_CHECK_EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        house.hub.show_out(|pass| stands(&house, pass));
    }
}

/// Where the file cannot be asked nobody new comes in, and whoever is there stays.
fn stands(house: &House, pass: &Pass) -> bool {
    house.access.stands(pass).unwrap_or_else(|error| {
        tracing::error!(%error, "whether a connection may stay cannot be looked up");
        true
    })
}
