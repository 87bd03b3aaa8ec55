//! How all parts stop, in order.

use runtime::Ended;
use runtime::strategies::Host;
use tracing::info;

use super::engine::Engine;
use super::fix::Fix;
use super::topics::Serving;
use super::venues::Venues;
use super::web::Web;
use crate::failure::{Exit, Failure};

/// First nobody new comes in, then strategies take their leave, then the venues are left, then the engine writes its last word.
pub(super) fn stop(
    fix: Option<Fix>,
    topics: Serving,
    web: Web,
    strategies: Host,
    venues: Venues,
    engine: Engine,
    ended: Option<Ended>,
) -> Result<(), Failure> {
    info!("stopping");
    // An engine that failed answers nobody, so there is nothing to finish.
    if ended.is_none() {
        fix.into_iter().for_each(Fix::close);
        web.close();
    }
    // Strategies in processes of their own hear of it over the broker.
    strategies.close();
    if ended.is_none() {
        topics.close();
    }
    venues.leave();
    match ended.unwrap_or_else(|| engine.stop()) {
        Ended::InOrder(digest) => {
            let digest = digest.as_deref().unwrap_or("not known, because the journal is older than it");
            info!(digest, "stopped in order");
            Ok(())
        }
        Ended::JournalFailed(error) => Err(Failure::new(Exit::Failed, format!("the journal failed: {error}"))),
    }
}
