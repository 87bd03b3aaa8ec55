//! Composition: configuration in, running parts out. The only place where the interfaces, the engine and the venues meet.

/// The engine as it was when it stopped, and what it is told first.
mod startup;
/// The engine's thread.
mod engine_thread;
/// Users, tokens and audit.
mod administration;
/// Alarms of the engine, in the log too.
mod alarms;
/// Bars that outlive a restart, and the prices that were seen last before it.
mod bar_storage;
/// States of the past, for those who ask.
mod past_states;
/// What a server has before its engine.
mod start_context;
/// A server of a cluster while it follows.
mod following;
/// A disk that does not answer.
mod stall;
/// The venues.
pub(crate) mod venues;
/// Strategies in the server.
pub mod strategies;
/// The ports: HTTP, publish-subscribe, FIX.
pub(crate) mod servers;
/// A server whose interfaces are open, until its end.
mod open_server;
/// Reference data while the server runs.
mod reference_import;
/// Metrics of the program.
mod metrics;
/// What an operator may ask of the program.
mod operations;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bus::{Bus, EventFeed};
use domain::OrderMode;
use fix_gateway::FixOperations;
use replication_nats::MemberRequests;
use runtime::LiveExit;
use web::WebServices;

use crate::cluster::cluster_file::ClusterConfig;
use crate::cluster::cluster_state::ClusterState;
use crate::cluster::command_forwarding::ForwardedCommands;
use crate::cluster::price_feed::{self, PriceRoute, PriceThread};
use crate::config::{Config, HistoryStore, JournalTicks};
use crate::control::{self, KillSwitch};
use crate::data_dir::DataDir;
use crate::exit_failure::{Exit, ExitFailure};
use crate::input_problem::Problems;
use crate::{open_files, reference};
use administration::Administration;
use engine_thread::EngineThread;
use following::{Followed, FollowerServers};
use metrics::{MetricSources, ProgramMetrics};
use open_server::OpenServer;
use operations::{Health, ServerOperations};
use past_states::PastQueries;
use reference_import::ReferenceImporter;
use servers::broker_server::BrokerServer;
use servers::fix::FixServer;
use servers::web_server::WebServer;
use stall::JournalWatch;
use start_context::{StartContext, certificate, endpoints};
use startup::recovered_core::Core;
use startup::{demo_history, startup_commands};
use strategies::StrategyControls;
use venues::adapter_sessions::AdapterSessions;

/// Runs the server until it is told to stop.
pub fn serve(config: &Config, registry: strategy::StrategyRegistry) -> Result<(), ExitFailure> {
    let context = StartContext::open(config)?;
    let core = Core::recover(config, &context.data_dir)?;
    serve_core(config, registry, context, core, None)
}

/// Runs a server of a cluster: it follows, and leads when no other does.
pub fn serve_cluster(
    config: &Config,
    registry: strategy::StrategyRegistry,
    file: &ClusterConfig,
) -> Result<(), ExitFailure> {
    check_for_cluster(config)?;
    let context = StartContext::open(config)?;
    let cluster = ClusterState::new(file, context.data_dir.clock.wall())?;
    // Another server may lead also while this one hands in the end of its own journal, before it serves as a leader.
    follow_and_lead(config, registry, (file, &cluster), context).map_err(|failure| cluster.explain_end(failure))
}

fn follow_and_lead(
    config: &Config,
    registry: strategy::StrategyRegistry,
    (file, cluster): (&ClusterConfig, &Arc<ClusterState>),
    mut context: StartContext,
) -> Result<(), ExitFailure> {
    let Some(Followed { core, servers: follower, requests }) = following::follow(config, &mut context, file, cluster)?
    else {
        return Ok(());
    };
    cluster.watch_stop(context.stopped.clone()).map_err(no_thread)?;
    let prices = (config.journal_ticks != JournalTicks::All).then(|| PriceRoute::of(file));
    let leader = ClusterLeader { cluster: cluster.clone(), follower, requests, prices };
    serve_core(config, registry, context, core, Some(leader))
}

/// A server that leads a cluster from now on.
struct ClusterLeader {
    cluster: Arc<ClusterState>,
    /// The interfaces that it had before.
    follower: FollowerServers,
    /// The way to the other members.
    requests: MemberRequests,
    /// Where prices go to followers; none where the journal has them.
    prices: Option<PriceRoute>,
}

/// What lives in one data folder alone cannot be followed.
fn check_for_cluster(config: &Config) -> Result<(), ExitFailure> {
    let mut problems = Problems::default();
    for venue in config.venues.iter().filter(|venue| venue.kind.order_mode(&venue.settings) != OrderMode::Live) {
        let reason = "its venue would live in the leader's process and end with it; use one in a process of its own, such as rialto venue serve";
        problems.add("--cluster", format!("venues.{}: {reason}", venue.settings.name()));
    }
    if matches!(config.history_store, HistoryStore::Postgres(_)) {
        problems.add("--cluster", "history.store: each member keeps a read model of its own, in SQLite");
    }
    problems.none_or(()).map_err(|problems| ExitFailure::configuration(&problems))
}

/// `leader` where it leads a cluster.
fn serve_core(
    config: &Config,
    registry: strategy::StrategyRegistry,
    context: StartContext,
    core: Core,
    leader: Option<ClusterLeader>,
) -> Result<(), ExitFailure> {
    let (leader, follower, requests, prices) = split(leader);
    let StartContext { data_dir, old_users, stop, stopped, kill_signals } = context;
    let (reference, audit) = (data_dir.reference.clone(), administration::open_audit(config, &core, old_users)?);
    let (FeedListeners { journal, adapters, metrics }, bus) = FeedListeners::start(&core).map_err(no_thread)?;
    let read_model = core.read_model.clone();
    let past = Arc::new(PastQueries::new(core.folder.clone(), core.instance, bus.journal.clone()));
    let mut engine = EngineThread::start(config, core, bus, leader.as_ref())?;
    leave_following(leader.as_deref().zip(follower), || !stopped.is_empty() || engine.has_ended());
    let _prices = publish_prices(leader.as_deref().zip(prices), &engine.bus)?;
    let administration = Administration::open(config, &data_dir, &engine, audit)?;
    let (access, is_first_start) = (administration.access.clone(), startup_commands::is_first_start(&engine.bus));
    startup_commands::send_all(config, &data_dir, &reference, &engine.bus)?;
    let sessions = servers::fix::sessions(config)?;
    let connections = open_files::share(config.connections(), sessions.iter().map(|all| all.names().len()).sum())?;
    let certificate = certificate(config, sessions.as_ref())?;
    let topics = BrokerServer::open(config, connections.broker, &engine.bus, access.clone(), None)?;
    let (venue_lines, broker, cluster) = (adapters.clone(), topics.monitor(), leader.clone());
    let health = Arc::new(Health { journal, read_model, sessions: venue_lines, broker, cluster });
    let switch = KillSwitch::new(&engine.bus, &health, &access, &stop);
    let fix_port = open_control(&data_dir, switch.clone(), kill_signals)?;
    let bars = bar_storage::start(config, data_dir.lock.folder(), &engine.bus.feed)?;
    let seen_prices = prices_at_start(config, &data_dir, &engine.bus, &bars, is_first_start)?;
    let strategies = strategies::start(config, registry, &engine, bars.clone())?;
    let begin = (data_dir.instance.number(), is_first_start);
    let (venues, imports) = venues::open(config, &reference, &seen_prices, &mut engine, &adapters, begin)?;

    let fix = FixServer::open(config, sessions, certificate.as_ref(), &data_dir, &engine, &access, connections)?;
    let Bus { inbox, catalogue, .. } = engine.bus.clone();
    let admin = ServerOperations {
        parameters: config.parameters(),
        importer: ReferenceImporter::new(config.reference_path.clone(), inbox, catalogue, imports),
        metrics: ProgramMetrics::new(metrics, topics.monitor(), leader.clone()),
        stop,
    };
    let services = WebServices {
        health,
        admin: Arc::new(admin),
        bars,
        past,
        fix_sessions: fix.as_ref().map(|fix| fix.publish(&fix_port) as _),
        strategies: Arc::new(StrategyControls(strategies.handle())),
        broker: topics.endpoints(config),
        forwarder: None,
    };
    let hands_over = switch.hands_over.clone();
    let bus = (&engine.bus, services, data_dir.instance.page_journal(leader.is_some()));
    let mut forwarded = forwarded_commands(leader.as_deref().zip(requests), &data_dir, switch)?;
    let forwarded_events = forwarded.as_mut().and_then(|forwarded| forwarded.events.take());
    let web = WebServer::open(config, connections.http, bus, access.clone(), certificate.as_ref(), &topics, forwarded)?;
    let endpoints = endpoints(&web, &topics, fix.as_ref(), leader.as_deref());
    let topics = topics.serve(config, certificate, [web.http, web.https], forwarded_events);
    let open =
        OpenServer { web, topics, fix, venues, strategies, administration, adapters, engine, leader, hands_over };
    open.run(config, &data_dir, &endpoints, &stopped)
}

/// Gives what the kill switch stops FIX clients by, once that is known.
fn open_control(
    data_dir: &DataDir,
    switch: KillSwitch,
    kill_signals: control::Signals,
) -> Result<Arc<OnceLock<FixOperations>>, ExitFailure> {
    let fix_port = switch.fix.clone();
    control::serve(data_dir.lock.folder(), switch, kill_signals).map_err(no_thread)?;
    Ok(fix_port)
}

/// A server that is alone has none of it.
fn split(
    leader: Option<ClusterLeader>,
) -> (Option<Arc<ClusterState>>, Option<FollowerServers>, Option<MemberRequests>, Option<PriceRoute>) {
    match leader {
        Some(ClusterLeader { cluster, follower, requests, prices }) => {
            (Some(cluster), Some(follower), Some(requests), prices)
        }
        None => (None, None, None, None),
    }
}

/// What followers forward, where this server leads a cluster.
fn forwarded_commands(
    leader: Option<(&ClusterState, MemberRequests)>,
    data_dir: &DataDir,
    switch: KillSwitch,
) -> Result<Option<ForwardedCommands>, ExitFailure> {
    let Some((cluster, requests)) = leader else { return Ok(None) };
    let mut forwarded = ForwardedCommands::serve(cluster, &requests, data_dir.clock.wall())?;
    if let Some(kills) = forwarded.kills.take() {
        control::serve_forwarded(switch, kills).map_err(no_thread)?;
    }
    Ok(Some(forwarded))
}

/// Prices for followers, from before the venues send the first.
fn publish_prices(leader: Option<(&ClusterState, PriceRoute)>, bus: &Bus) -> Result<Option<PriceThread>, ExitFailure> {
    let Some((cluster, route)) = leader else { return Ok(None) };
    let epoch = cluster.view().epoch;
    price_feed::publisher::start(route, epoch, bus.clone(), cluster.prices.clone()).map(Some).map_err(no_thread)
}

/// Those who ask are answered by the interfaces of before until the leader has the standbys that it needs.
fn leave_following(leader: Option<(&ClusterState, FollowerServers)>, is_over: impl Fn() -> bool) {
    if let Some((cluster, follower)) = leader {
        cluster.wait_for_standbys(is_over);
        follower.close();
    }
}

fn no_thread(error: std::io::Error) -> ExitFailure {
    ExitFailure::new(Exit::Failed, format!("can't start a thread: {error}"))
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
        let Core { read_model, inbox, clock, .. } = core;
        let metrics = MetricSources::start(core.journal.monitor(), read_model, inbox, clock, &feed)?;
        alarms::log(feed.clone())?;
        let bus = core.bus(feed, journal.clone());
        Ok((Self { journal, adapters, metrics }, bus))
    }
}

/// Prices that were seen last before a restart; at the first start the demo's history is made.
fn prices_at_start(
    config: &Config,
    data_dir: &DataDir,
    bus: &Bus,
    bars: &storage::BarFiles,
    is_first_start: bool,
) -> Result<BTreeMap<domain::SecurityId, domain::Price>, ExitFailure> {
    let (reference, now) = (&data_dir.reference, data_dir.clock.now());
    if is_first_start {
        demo_history::generate(config, reference, now, bars)?;
        return Ok(BTreeMap::new());
    }
    Ok(bar_storage::last_prices(reference, bus, bars, now))
}

/// Brings the reference data of a data folder into the journal and says how much changed.
pub fn import(config: &Config, data_dir: DataDir) -> Result<usize, ExitFailure> {
    let reference = data_dir.reference.clone();
    let core = Core::recover(config, &data_dir)?;
    let journal = Arc::new(core.journal.monitor());
    let bus = core.bus(EventFeed::default(), journal);
    let engine = EngineThread::start(config, core, bus, None)?;
    let changes = reference::differences(&engine.bus.catalogue.current(), &reference.data);
    let count = changes.len();
    startup_commands::send_reference_changes(&engine.bus, changes)?;
    match engine.stop() {
        LiveExit::Stopped(_) => Ok(count),
        LiveExit::JournalFailed(error) => Err(ExitFailure::new(Exit::Failed, error)),
    }
}
