//! Server whose interfaces are open: it waits for its venues, starts the strategies, says that it serves, and stops in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Receiver;
use runtime::LiveExit;
use runtime::strategies::StrategyHost;
use tokio::task::AbortHandle;
use tracing::info;

use super::administration::Administration;
use super::engine_thread::EngineThread;
use super::servers::broker_server::RunningBroker;
use super::servers::fix::FixServer;
use super::servers::web_server::WebServer;
use super::start_context::print_ready_line;
use super::venues::RunningVenues;
use super::venues::adapter_sessions::{AdapterSessions, StartWaits};
use crate::cluster::cluster_state::ClusterState;
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::data_dir::server_file::ServerFile;
use crate::exit_failure::{Exit, ExitFailure};
use crate::ready_line::Endpoints;

/// Where a step fails, the fields are dropped in this order: the interfaces first, the engine last.
pub(super) struct OpenServer {
    pub(super) web: WebServer,
    pub(super) topics: RunningBroker,
    pub(super) fix: Option<FixServer>,
    pub(super) venues: RunningVenues,
    pub(super) strategies: StrategyHost,
    pub(super) administration: Administration,
    pub(super) adapters: Arc<AdapterSessions>,
    pub(super) engine: EngineThread,
    /// None where it leads no cluster.
    pub(super) leader: Option<Arc<ClusterState>>,
    /// Set before a stop that is for another member to lead.
    pub(super) hands_over: Arc<AtomicBool>,
}

/// What exists once the server serves; none where its start was over before.
#[derive(Default)]
struct ServingParts {
    /// Strategies in processes of their own.
    bridge: Option<AbortHandle>,
    server_file: Option<ServerFile>,
}

impl OpenServer {
    /// Until a stop is asked for, or the engine ends by itself.
    pub(super) fn run(
        mut self,
        config: &Config,
        data_dir: &DataDir,
        endpoints: &Endpoints,
        stopped: &Receiver<()>,
    ) -> Result<(), ExitFailure> {
        // Orders are acknowledged from here on, also while venues are waited for.
        self.leader.iter().for_each(|leader| leader.begin_serving());
        self.wait_for_venues(stopped);
        let parts = match self.is_over(stopped) {
            true => ServingParts::default(),
            false => self.serve(config, data_dir, endpoints)?,
        };
        let ended = self.engine.wait(stopped);
        drop(parts.server_file);
        self.leader.iter().for_each(|leader| leader.limit_stop());
        self.stop(parts.bridge, ended)
    }

    fn is_over(&self, stopped: &Receiver<()>) -> bool {
        !stopped.is_empty() || self.engine.has_ended()
    }

    fn wait_for_venues(&mut self, stopped: &Receiver<()>) {
        let waits = StartWaits::new(self.leader.is_some(), self.fix.as_ref().map(|fix| fix.opened.elapsed()));
        let Self { adapters, engine, fix, .. } = self;
        let is_over = || !stopped.is_empty() || engine.has_ended();
        adapters.wait_at_start(waits, || fix.iter_mut().for_each(FixServer::begin), is_over);
    }

    fn serve(&self, config: &Config, data_dir: &DataDir, endpoints: &Endpoints) -> Result<ServingParts, ExitFailure> {
        self.strategies.start_all();
        let bridge = self.topics.bridge(config, &self.engine.bus, self.strategies.handle(), self.engine.clock.clone());
        let server_file = ServerFile::write(data_dir.lock.folder(), endpoints)?;
        print_ready_line(endpoints)?;
        info!("serving on {}", self.web);
        Ok(ServingParts { bridge, server_file: Some(server_file) })
    }

    /// No client is accepted any more, then strategies exit, then the adapters log off, then the engine writes its last record.
    fn stop(self, bridge: Option<AbortHandle>, ended: Option<LiveExit>) -> Result<(), ExitFailure> {
        let Self { web, topics, fix, venues, strategies, administration, engine, hands_over, .. } = self;
        let is_asked_for = ended.is_none();
        administration.stop_around(is_asked_for, || {
            info!("stopping");
            // An engine that failed answers no request, so there is nothing to finish.
            if is_asked_for {
                fix.into_iter().for_each(FixServer::close);
                web.close();
            }
            // Strategies in processes of their own hear of a stop over the broker. Where another server goes on, so do their runs.
            match is_asked_for && !hands_over.load(Ordering::Acquire) {
                true => strategies.close(),
                false => strategies.close_and_leave_processes(),
            }
            if is_asked_for {
                topics.close(bridge);
            }
            venues.stop();
            exit_of(ended.unwrap_or_else(|| engine.stop()))
        })
    }
}

fn exit_of(ended: LiveExit) -> Result<(), ExitFailure> {
    match ended {
        LiveExit::Stopped(digest) => {
            let digest = digest.as_deref().unwrap_or("not known, because the journal is older than it");
            info!(digest, "stopped in order");
            Ok(())
        }
        LiveExit::JournalFailed(error) => Err(ExitFailure::new(Exit::Failed, format!("the journal failed: {error}"))),
    }
}
