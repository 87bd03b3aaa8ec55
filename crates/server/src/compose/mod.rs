//! Composition: configuration in, running parts out. The only place where the interfaces, the engine and the venues meet.

/// The engine as it was when it stopped, and what it is told first.
mod startup;
/// The engine's thread.
mod engine_thread;
/// Alarms of the engine, in the log too.
mod alarms;
/// Bars that outlive a restart, and the prices that were seen last before it.
mod bar_storage;
/// States of the past, for those who ask.
mod past_states;
/// A disk that does not answer.
mod stall;
/// The venues.
pub(crate) mod venues;
/// Strategies in the server.
pub mod strategies;
/// The ports: HTTP, publish-subscribe, FIX.
pub(crate) mod servers;
/// Reference data while the server runs.
mod reference_import;
/// Metrics of the program.
mod metrics;
/// What an operator may ask of the program.
mod operations;

use std::sync::Arc;

use bus::{Bus, EventFeed};
use crossbeam_channel::{Receiver, Sender, bounded};
use fix_gateway::FixSessionFile;
use runtime::LiveExit;
use runtime::strategies::StrategyHost;
use tokio::task::AbortHandle;
use tracing::info;
use web::WebServices;

use crate::config::Config;
use crate::control::{self, KillSwitch};
use crate::data_dir::DataDir;
use crate::data_dir::server_file::ServerFile;
use crate::exit_failure::{Exit, ExitFailure};
use crate::ready_line::Endpoints;
use crate::tls::{Certificate, CertificateSource};
use crate::{bind_policy, open_files, reference, signals};
use engine_thread::EngineThread;
use metrics::{MetricSources, ProgramMetrics};
use operations::{Health, ServerOperations};
use past_states::PastQueries;
use reference_import::ReferenceImporter;
use servers::broker_server::{BrokerServer, RunningBroker};
use servers::fix::FixServer;
use servers::web_server::WebServer;
use stall::JournalWatch;
use startup::recovered_core::Core;
use startup::{demo_history, startup_commands};
use strategies::StrategyControls;
use venues::RunningVenues;
use venues::adapter_sessions::AdapterSessions;

/// Runs the server until it is told to stop.
pub fn serve(config: &Config, registry: strategy::StrategyRegistry) -> Result<(), ExitFailure> {
    CertificateSource::of(config)?.check()?;
    let data_dir = DataDir::open(config)?;
    ServerFile::clear(data_dir.lock.folder())?;
    let access = Arc::new(bind_policy::open(config, data_dir.clock.shared())?);
    let (stop, stopped) = stop_requests()?;
    let kill_signals = kill_signals()?;
    let reference = data_dir.reference.clone();
    let core = Core::recover(config, &data_dir)?;
    let (watch, bus) = FeedListeners::start(&core)
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start a thread: {error}")))?;
    let read_model = core.read_model.clone();
    let past = Arc::new(PastQueries::new(core.folder.clone(), core.instance, core.journal.monitor()));
    let mut engine = EngineThread::start(config, core, bus)?;
    let is_first_start = startup_commands::is_first_start(&engine.bus);
    startup_commands::send_all(config, &data_dir, &reference, &engine.bus)?;

    let sessions = servers::fix::sessions(config)?;
    let connections = open_files::share(sessions.as_ref().map_or(0, |sessions| sessions.names().len()))?;
    let certificate = certificate(config, sessions.as_ref())?;
    let topics = BrokerServer::open(config, connections.broker, &engine.bus, access.clone())?;
    let FeedListeners { journal, adapters, metrics } = watch;
    let health = Arc::new(Health { journal, read_model, sessions: adapters.clone(), broker: topics.monitor() });
    let switch = KillSwitch { bus: engine.bus.clone(), health: health.clone(), access: access.clone() };
    control::serve(data_dir.lock.folder(), switch, kill_signals)
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start the control thread: {error}")))?;

    let bars = bar_storage::start(config, data_dir.lock.folder(), &engine.bus.feed)?;
    let mut seen_prices = std::collections::BTreeMap::new();
    if is_first_start {
        demo_history::generate(config, &reference, data_dir.clock.now(), &bars)?;
    } else {
        seen_prices = bar_storage::last_prices(&reference, &engine.bus, &bars, data_dir.clock.now());
    }
    let strategies = strategies::start(config, registry, &engine, bars.clone())?;
    let instance = data_dir.instance.number();
    let (venues, imports) =
        venues::open(config, &reference, &seen_prices, &mut engine, &adapters, instance, is_first_start)?;

    let fix = FixServer::open(config, sessions, certificate.as_ref(), &data_dir, &engine, &access, connections)?;
    let Bus { inbox, catalogue, .. } = engine.bus.clone();
    let admin = ServerOperations {
        parameters: config.parameters(),
        importer: ReferenceImporter::new(config.reference_path.clone(), inbox, catalogue, imports),
        metrics: ProgramMetrics::new(metrics, topics.monitor()),
        stop,
    };
    let services = WebServices {
        health,
        admin: Arc::new(admin),
        bars,
        past,
        fix_sessions: fix.as_ref().map(|fix| Arc::new(fix.operations.clone()) as _),
        strategies: Arc::new(StrategyControls(strategies.handle())),
        broker: topics.endpoints(config),
    };
    let bus = (&engine.bus, services);
    let web = WebServer::open(config, connections.http, bus, access.clone(), certificate.as_ref(), &topics)?;
    let endpoints = endpoints(&web, &topics, fix.as_ref());
    let topics = topics.serve(config, certificate, [web.http, web.https]);
    adapters.wait_for_venues();
    strategies.start_all();
    let bridge = config.strategies_distributed.then(|| topics.bridge(strategies.handle(), engine.clock.clone()));
    let beacon = ServerFile::write(data_dir.lock.folder(), &endpoints)?;
    print_ready_line(&endpoints)?;
    info!("serving on {web}");
    let ended = engine.wait(&stopped);
    drop(beacon);
    stop_in_order(fix, (topics, bridge), web, strategies, venues, engine, ended)
}

/// What listens from before the engine runs, so that nothing is missed.
struct FeedListeners {
    journal: Arc<JournalWatch>,
    adapters: Arc<AdapterSessions>,
    metrics: MetricSources,
}

impl FeedListeners {
    /// With the bus of the engine that is about to run.
    fn start(core: &Core) -> std::io::Result<(Self, Bus)> {
        let feed = EventFeed::default();
        let journal = JournalWatch::start(core.journal.monitor())?;
        let adapters = AdapterSessions::follow(&feed)?;
        let metrics = MetricSources::start(core, feed.clone())?;
        alarms::log(feed.clone())?;
        let bus = core.bus(feed, journal.clone());
        Ok((Self { journal, adapters, metrics }, bus))
    }
}

fn print_ready_line(endpoints: &Endpoints) -> Result<(), ExitFailure> {
    let failed = |error| ExitFailure::new(Exit::Failed, format!("can't print the ready line: {error}"));
    endpoints.print().map_err(failed)
}

/// Where a stop is asked for, by a signal too, and where it is read.
fn stop_requests() -> Result<(Sender<()>, Receiver<()>), ExitFailure> {
    let (stop, stopped) = bounded(1);
    let ask_to_stop = stop.clone();
    // A stop that was asked for already is as good.
    signals::on_stop(move || ask_to_stop.try_send(()).unwrap_or(()))
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    Ok((stop, stopped))
}

/// Taken before the engine runs, so that none is lost; one that waits already is as good.
fn kill_signals() -> Result<control::Signals, ExitFailure> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    signals::on_kill(move || sender.try_send(()).unwrap_or(()))
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    Ok(receiver)
}

/// One certificate for every door that speaks TLS; none where no door does.
fn certificate(config: &Config, fix: Option<&FixSessionFile>) -> Result<Option<Arc<Certificate>>, ExitFailure> {
    let [tcp, tls, _] = config.broker_addresses();
    let is_wanted = config.https_address().or(tcp).or(tls).is_some() || fix.is_some_and(FixSessionFile::use_tls);
    is_wanted.then(|| Certificate::open(CertificateSource::of(config)?)).transpose()
}

fn endpoints(web: &WebServer, topics: &BrokerServer, fix: Option<&FixServer>) -> Endpoints {
    Endpoints {
        http: web.http,
        https: web.https,
        broker_tcp: topics.tcp,
        broker_tls: topics.tls,
        broker_ws: topics.ws,
        fix: fix.map(|fix| fix.address),
        fix_uses_tls: fix.is_some_and(|fix| fix.uses_tls),
    }
}

/// Brings the reference data of the ground's desk into the journal and says how much changed.
pub fn import(config: &Config, data_dir: DataDir) -> Result<usize, ExitFailure> {
    let reference = data_dir.reference.clone();
    let core = Core::recover(config, &data_dir)?;
    let journal = Arc::new(core.journal.monitor());
    let bus = core.bus(EventFeed::default(), journal);
    let engine = EngineThread::start(config, core, bus)?;
    let changes = reference::differences(&engine.bus.catalogue.current(), &reference.data);
    let count = changes.len();
    startup_commands::send_reference_changes(&engine.bus, changes)?;
    match engine.stop() {
        LiveExit::Stopped(_) => Ok(count),
        LiveExit::JournalFailed(error) => Err(ExitFailure::new(Exit::Failed, error)),
    }
}

/// First nobody new comes in, then strategies take their leave, then the venues are left, then the engine writes its last word.
fn stop_in_order(
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
