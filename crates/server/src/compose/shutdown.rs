//! How all parts stop, in order.

use runtime::LiveExit;
use runtime::strategies::StrategyHost;
use tokio::task::AbortHandle;
use tracing::info;

use super::broker_server::RunningBroker;
use super::engine_thread::EngineThread;
use super::fix::FixServer;
use super::venues::RunningVenues;
use super::web_server::WebServer;
use crate::exit_failure::{Exit, ExitFailure};

/// First nobody new comes in, then strategies take their leave, then the venues are left, then the engine writes its last word.
pub(super) fn stop(
    fix: Option<FixServer>,
    (topics, bridge): (RunningBroker, Option<AbortHandle>),
    web: WebServer,
    strategies: StrategyHost,
    venues: RunningVenues,
    engine: EngineThread,
    ended: Option<LiveExit>,
) -> Result<(), ExitFailure> {
    info!("stopping");
    // An engine that failed answers nobody, so there is nothing to finish.
    if ended.is_none() {
        fix.into_iter().for_each(FixServer::close);
        web.close();
    }
    // Strategies in processes of their own hear of it over the broker.
    strategies.close();
    if ended.is_none() {
        topics.close(bridge);
    }
    venues.stop();
    match ended.unwrap_or_else(|| engine.stop()) {
        LiveExit::Stopped(digest) => {
            let digest = digest.as_deref().unwrap_or("not known, because the journal is older than it");
            info!(digest, "stopped in order");
            Ok(())
        }
        LiveExit::JournalFailed(error) => Err(ExitFailure::new(Exit::Failed, format!("the journal failed: {error}"))),
    }
}
