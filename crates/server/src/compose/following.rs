//! A server of a cluster while it follows: its engine applies what the log proves, and the interfaces answer from it. It ends with
//! what an ordinary start needs when this server leads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use access::AuditView;
use bus::cluster_overview::ClusterOverview;
use bus::operations::{BarStore, ClusterRole, ClusterView, HealthCheck, StrategyError};
use bus::{Bus, Catalogue, CommandForwarder, EventFeed, HealthChecks, JournalStatus, StrategyAdmin};
use crossbeam_channel::{Receiver, bounded, select};
use domain::{Bar, BarSize, SecurityId};
use replication_nats::MemberRequests;
use runtime::{FollowerEngine, FollowerError, FollowerExit, FollowerLoop, FollowerParts, PriceDemand};
use storage::{BarFiles, ReadModel};
use tracing::info;
use web::WebServices;

use super::administration;
use super::metrics::{MetricSources, ProgramMetrics};
use super::operations::ServerOperations;
use super::past_states::PastQueries;
use super::reference_import::ReferenceImporter;
use super::servers::broker_server::{BrokerServer, RunningBroker};
use super::servers::web_server::WebServer;
use super::start_context::{self, StartContext};
use super::startup::following_core::{FollowerStorage, FollowingCore};
use super::startup::recovered_core::{Core, recovery_failure};
use super::{alarms, bar_storage};
use crate::cluster::cluster_file::ClusterConfig;
use crate::cluster::cluster_state::ClusterState;
use crate::cluster::command_forwarding::LeaderLink;
use crate::cluster::follower_kill::{FollowerKill, KillWatch};
use crate::cluster::log_connection;
use crate::cluster::log_member::{FRAME_BATCHES_MAX, LogMember, MemberTask};
use crate::cluster::price_feed::{self, PriceRoute, PriceThread};
use crate::config::{Config, JournalTicks};
use crate::data_dir::server_file::ServerFile;
use crate::exit_failure::{Exit, ExitFailure};
use crate::open_files;
use crate::ready_line::Endpoints;
use crate::users::audit_view;
use crate::users::audit_watch::AuditWatch;

/// What a follower that leads hands to the ordinary start.
pub(super) struct Followed {
    pub(super) core: Core,
    pub(super) servers: FollowerServers,
    /// The way to the other members.
    pub(super) requests: MemberRequests,
}

/// Follows until this server leads; none where it was told to stop before. The interfaces of the follower are closed when the leader's
/// engine runs: it must not be silent meanwhile, or another member takes over.
pub(super) fn follow(
    config: &Config,
    context: &mut StartContext,
    file: &ClusterConfig,
    cluster: &Arc<ClusterState>,
) -> Result<Option<Followed>, ExitFailure> {
    let StartContext { data_dir, stopped, .. } = context;
    let Some(log) = log_connection::open(&file.log, cluster, data_dir, stopped)? else { return Ok(None) };
    let requests = log.requests.clone();
    // A stop that is seen here is asked for once more below.
    let is_stopped = || !stopped.is_empty();
    let Some(core) = FollowingCore::recover(config, data_dir, log, cluster, is_stopped)? else { return Ok(None) };
    let FollowingCore { storage, state, member, lanes, audit } = core;
    let bus = FollowerBus::new(config, &storage, cluster);
    let journal = member.follower().monitor().ok_or_else(|| failed(&"the journal is not open"))?;
    let metrics = MetricSources::start(journal, &storage.read_model, &storage.inbox, &storage.clock, &bus.bus.feed)
        .map_err(|error| failed(&error))?;
    let engine = FollowerEngine::new(state, bus.parts(config, &storage, cluster));
    // There is one in the life of a process.
    let _ = cluster.audit.set(audit.clone());
    let threads = FollowerThreads::start(engine, member, lanes, (&storage, &bus), cluster)?;
    let audit_watch = AuditWatch::start(storage.folder.clone(), audit.clone(), storage.ledger.clone());
    let audit_watch = audit_watch.map_err(|error| failed(&error))?;
    let parts = (&storage, &bus, &audit);
    let leader: Arc<dyn CommandForwarder> =
        Arc::new(LeaderLink::new(cluster, &requests, context.data_dir.clock.wall()));
    let servers = FollowerServers::open(config, context, parts, (cluster, &leader), metrics)?;
    let prices = follow_prices(config, file, (&bus, &servers), cluster)?;
    let server_file = ServerFile::write(context.data_dir.lock.folder(), &servers.endpoints)?;
    start_context::print_ready_line(&servers.endpoints)?;
    info!("following; serving on {}", servers.web);
    let kill = watch_kill(context, file, leader)?;
    let exit = threads.wait(&context.stopped, cluster);
    context.kill_signals = kill.end().ok_or_else(|| failed(&"the thread of the kill switch died"))?;
    drop((prices, audit_watch));
    drop(server_file);
    let Some(core) = finish(exit?, storage, audit, &*bus.bus.journal)? else {
        servers.close();
        return Ok(None);
    };
    // The old leader's clock may have been ahead of this one.
    context.data_dir.clock.start_after(core.recovered.at);
    cluster.set_role(ClusterRole::Leader);
    Ok(Some(Followed { core, servers, requests }))
}

/// The signals come back when it ends.
fn watch_kill(
    context: &mut StartContext,
    file: &ClusterConfig,
    leader: Arc<dyn CommandForwarder>,
) -> Result<FollowerKill, ExitFailure> {
    let (_, none) = tokio::sync::mpsc::channel(1);
    let signals = std::mem::replace(&mut context.kill_signals, none);
    let folder = context.data_dir.lock.folder().to_owned();
    FollowerKill::start(KillWatch::new(folder, signals, &file.member, leader)).map_err(|error| failed(&error))
}

/// Where the journal has prices, they come with it.
fn follow_prices(
    config: &Config,
    file: &ClusterConfig,
    (bus, servers): (&FollowerBus, &FollowerServers),
    cluster: &ClusterState,
) -> Result<Option<PriceThread>, ExitFailure> {
    if config.journal_ticks == JournalTicks::All {
        return Ok(None);
    }
    let parts = price_feed::follower::PriceFollowerParts {
        member: file.member.as_str().into(),
        bus: bus.bus.clone(),
        topics: servers.topics.monitor(),
        demand: bus.demand.clone(),
        counters: cluster.prices.clone(),
    };
    price_feed::follower::start(PriceRoute::of(file), parts).map(Some).map_err(|error| failed(&error))
}

fn finish(
    exit: FollowerExit,
    storage: FollowerStorage,
    audit: Arc<AuditView>,
    applied: &dyn JournalStatus,
) -> Result<Option<Core>, ExitFailure> {
    match exit {
        FollowerExit::Leads(handover) => {
            // Prices of the last leader that came late are no prices of this one's venues.
            drop(handover.inbox.drain_prices());
            Ok(Some(storage.into_core(*handover, audit)))
        }
        FollowerExit::Stopped => {
            storage.read_model.stop()?;
            audit_view::close(&audit, &storage.ledger, applied);
            info!("stopped in order");
            Ok(None)
        }
        FollowerExit::Failed(error @ FollowerError::Diverged { .. }) => {
            Err(ExitFailure::new(Exit::Differs, format!("this follower can't be believed: {error}")))
        }
        FollowerExit::Failed(FollowerError::Recovery(problem)) => Err(recovery_failure(problem)),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ExitFailure {
    ExitFailure::new(Exit::Failed, format!("can't follow: {error}"))
}

/// The bus of a follower, and how far its engine has come.
struct FollowerBus {
    bus: Bus,
    applied: Arc<AtomicU64>,
    demand: Arc<PriceDemand>,
}

/// What a follower has applied is durable: it was in its journal, synced, before.
struct AppliedSequence(Arc<AtomicU64>);

impl JournalStatus for AppliedSequence {
    fn durable(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl FollowerBus {
    fn new(config: &Config, storage: &FollowerStorage, cluster: &ClusterState) -> Self {
        let applied = cluster.applied.clone();
        let demand = match config.journal_ticks {
            JournalTicks::All => PriceDemand::default(),
            JournalTicks::None => PriceDemand::from_leader(Instant::now()),
        };
        let bus = Bus {
            inbox: storage.inbox.clone(),
            feed: EventFeed::default(),
            catalogue: Catalogue::default(),
            history: storage.read_model.clone(),
            journal: Arc::new(AppliedSequence(applied.clone())),
        };
        Self { bus, applied, demand: Arc::new(demand) }
    }

    fn parts(&self, config: &Config, storage: &FollowerStorage, cluster: &ClusterState) -> FollowerParts {
        let read_model = storage.read_model.clone();
        FollowerParts {
            ledger: storage.ledger.clone(),
            retired: Some(storage.retired.clone()),
            snapshots: storage.snapshots.clone(),
            feed: self.bus.feed.clone(),
            catalogue: self.bus.catalogue.clone(),
            digest_compared: cluster.digest_compared.clone(),
            // A follower may wait for its read model: nobody waits for the follower.
            event_sink: Box::new(move |through, events| read_model.append(through, events)),
            snapshot_schedule: super::engine_thread::snapshot_schedule(config),
            build: env!("CARGO_PKG_VERSION").into(),
            journal_ticks: config.journal_ticks == JournalTicks::All,
        }
    }
}

/// The reader of the log, and the engine.
struct FollowerThreads {
    stop: Arc<AtomicBool>,
    ended: Receiver<FollowerExit>,
    engine: JoinHandle<()>,
    member: JoinHandle<Result<(), ExitFailure>>,
}

impl FollowerThreads {
    fn start(
        engine: FollowerEngine,
        member: LogMember,
        lanes: bus::inbox::InboxReceiver,
        (storage, bus): (&FollowerStorage, &FollowerBus),
        cluster: &ClusterState,
    ) -> Result<Self, ExitFailure> {
        let (updates, received) = bounded(FRAME_BATCHES_MAX);
        let (end, ended) = bounded(1);
        bus.applied.store(engine.applied(), Ordering::Release);
        let following = FollowerLoop {
            engine,
            inbox: lanes,
            updates: received,
            applied: bus.applied.clone(),
            is_writing_snapshot: cluster.is_writing_snapshot.clone(),
            data_folder: storage.folder.clone(),
            clock: storage.clock.clone(),
            demand: bus.demand.clone(),
        };
        let run = move || drop(end.send(following.run()));
        let engine = thread::Builder::new().name("engine".into()).spawn(run).map_err(|error| failed(&error))?;
        let stop = Arc::new(AtomicBool::new(false));
        let task = MemberTask { updates, stop: stop.clone() };
        let read = move || member.run(&task);
        let member = thread::Builder::new().name("cluster-log".into()).spawn(read).map_err(|error| failed(&error))?;
        Ok(Self { stop, ended, engine, member })
    }

    /// Until this server leads, or somebody asks for a stop, or something fails.
    fn wait(self, stopped: &Receiver<()>, cluster: &ClusterState) -> Result<FollowerExit, ExitFailure> {
        let exit = select! {
            recv(stopped) -> _ => None,
            recv(self.ended) -> exit => exit.ok(),
        };
        let leads = matches!(exit, Some(FollowerExit::Leads(_)));
        self.stop.store(true, Ordering::Relaxed);
        if !leads {
            cluster.replication.stop();
        }
        let read = self.member.join().unwrap_or_else(|_| Err(failed(&"the reader of the log died")));
        let exit = exit.or_else(|| self.ended.recv().ok()).ok_or_else(|| failed(&"the engine's thread died"))?;
        drop(self.engine.join());
        match exit {
            // Nobody reads the log any more: the reader knows why.
            FollowerExit::Stopped => read.map(|()| exit),
            // The lead came together with the stop: the stop counts.
            FollowerExit::Leads(_) if !leads => Ok(FollowerExit::Stopped),
            exit => Ok(exit),
        }
    }
}

/// What a follower serves: questions and topics.
pub(super) struct FollowerServers {
    web: WebServer,
    topics: RunningBroker,
    feed: EventFeed,
    endpoints: Endpoints,
}

impl FollowerServers {
    fn open(
        config: &Config,
        context: &StartContext,
        (storage, bus, audit): (&FollowerStorage, &FollowerBus, &Arc<AuditView>),
        (cluster, leader): (&Arc<ClusterState>, &Arc<dyn CommandForwarder>),
        metrics: MetricSources,
    ) -> Result<Self, ExitFailure> {
        let users = (&context.data_dir, context.old_users);
        let (bus, access) = (&bus.bus, administration::of_follower(config, users, &storage.ledger, audit.clone())?);
        let feed = bus.feed.clone();
        alarms::log(bus.feed.clone()).map_err(|error| failed(&error))?;
        let (connections, certificate) =
            (open_files::share(config.connections(), 0)?, start_context::certificate(config, None)?);
        let topics = BrokerServer::open(config, connections.broker, bus, access.clone(), Some(leader.clone()))?;
        let importer =
            ReferenceImporter::new(config.reference_path.clone(), bus.inbox.clone(), bus.catalogue.clone(), vec![]);
        let services = WebServices {
            health: Arc::new(FollowerHealth { cluster: cluster.clone(), read_model: storage.read_model.clone() }),
            admin: Arc::new(ServerOperations {
                parameters: config.parameters(),
                importer,
                metrics: ProgramMetrics::new(metrics, topics.monitor(), Some(cluster.clone())),
                stop: context.stop.clone(),
            }),
            bars: Arc::new(FollowerBars {
                files: bar_storage::start(config, &storage.folder, &bus.feed)?,
                has_all_prices: config.journal_ticks == JournalTicks::All,
            }),
            past: Arc::new(PastQueries::of_follower(storage.folder.clone(), storage.instance, bus.journal.clone())),
            fix_sessions: None,
            strategies: Arc::new(NoStrategies),
            broker: topics.endpoints(config),
            forwarder: Some(leader.clone()),
        };
        let bus = (bus, services, storage.instance);
        let web = WebServer::open(config, connections.http, bus, access.clone(), certificate.as_ref(), &topics, None)?;
        let endpoints = start_context::endpoints(&web, &topics, None, Some(cluster.as_ref()));
        let topics = topics.serve(config, certificate, [web.http, web.https], None);
        Ok(Self { web, topics, feed, endpoints })
    }

    /// Questions that were asked are answered first: an engine must be there to answer them, or be gone.
    pub(super) fn close(self) {
        self.web.close();
        self.topics.close(None);
        self.feed.close();
    }
}

struct FollowerHealth {
    cluster: Arc<ClusterState>,
    read_model: Arc<ReadModel>,
}

impl HealthChecks for FollowerHealth {
    fn checks(&self) -> Vec<HealthCheck> {
        let problem = self.read_model.failure();
        let detail = problem.clone().unwrap_or_else(|| format!("applied up to {}", self.read_model.applied()));
        vec![self.cluster.check(), HealthCheck { name: "read-model".into(), ok: problem.is_none(), detail }]
    }

    /// Also while this server begins to lead: these interfaces never take commands.
    fn cluster(&self) -> Option<ClusterView> {
        Some(ClusterView { role: ClusterRole::Follower, ..self.cluster.view() })
    }

    fn cluster_overview(&self) -> Option<ClusterOverview> {
        Some(self.cluster.overview())
    }
}

struct FollowerBars {
    files: Arc<BarFiles>,
    has_all_prices: bool,
}

impl BarStore for FollowerBars {
    fn newest_bars(&self, security: SecurityId, size: BarSize, count: usize) -> Vec<Bar> {
        self.files.newest_bars(security, size, count)
    }

    fn are_of_leader(&self) -> bool {
        !self.has_all_prices
    }
}

/// Strategies run on the leader.
struct NoStrategies;

impl StrategyAdmin for NoStrategies {
    fn start(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunnable)
    }

    fn stop(&self, _: &str) -> Result<(), StrategyError> {
        Err(StrategyError::NotRunning)
    }
}
