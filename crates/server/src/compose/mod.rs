//! Composition: configuration in, running parts out. Nowhere else do the rooms of the house meet.

/// Alarms of the engine, in the log too.
mod alarms;
/// Bars that outlive a restart.
mod bars;
/// Lines to venues that come and go on purpose.
mod cuts;
/// The engine's thread.
mod engine;
/// The FIX door.
pub(crate) mod fix;
/// The engine with everything that it stands on, as it was when it stopped.
mod foundation;
/// Whether the parts are well, for those who ask.
mod health;
/// Reference data while the server runs.
mod importing;
/// Ports.
mod listening;
/// What simulated markets list.
mod listings;
/// Numbers of the program for whoever watches it.
mod metrics;
/// What the engine is told at every start, and what only at the first.
mod opening;
/// What the program around the engine can do for an edge.
mod program;
/// Where simulated prices go on after a restart.
mod resumed_prices;
/// A disk that does not answer.
mod stall;
/// How the parts stop.
mod stopping;
/// Strategies in the server.
pub mod strategies;
/// The publish-subscribe door.
mod topics;
/// The simulated venues.
mod venues;
/// The HTTP and HTTPS door.
mod web;
/// The past of a demo.
mod yesterday;

use std::sync::Arc;

use crossbeam_channel::bounded;
use fix_gateway::Sessions;
use runtime::Ended;
use tracing::info;

use crate::beacon::Beacon;
use crate::config::Config;
use crate::control::{self, Switch};
use crate::entrance;
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::open_files;
use crate::ready::Doors;
use crate::reference;
use crate::signals;
use crate::tls::{Certificate, Wanted};
use engine::Engine;
use fix::Fix;
use foundation::Foundation;
use health::Health;
use program::Program;
use topics::Topics;
use web::Web;

/// Runs the server until it is told to stop.
pub fn serve(config: &Config, registry: strategy::Registry) -> Result<(), Failure> {
    Wanted::of(config)?.check()?;
    let ground = Ground::prepare(config)?;
    Beacon::clear(ground.lock.folder())?;
    let access = Arc::new(entrance::open(config, ground.clock.shared())?);
    let (stop, stopped) = bounded(1);
    let ask_to_stop = stop.clone();
    // A stop that was asked for already is as good.
    signals::on_stop(move || ask_to_stop.try_send(()).unwrap_or(()))
        .map_err(|error| Failure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    let kill_signals = kill_signals()?;
    let mut desk = ground.desk.clone();
    let foundation = Foundation::lay(config, &ground)?;
    let health = Arc::new(Health::new(&foundation));
    let program = Program::new(config, &foundation, health.clone(), stop);
    let (broker_doors, watched_topics, markets) = (program.broker_doors(), program.topics(), program.markets());
    let (controls, fix_operators) = (program.strategy_controls(), program.fix_operators());
    let stored_bars = program.stored_bars();
    let listening = health.listen().and_then(|()| program.count_orders()).and_then(|()| alarms::log(health.feed()));
    listening.map_err(|error| Failure::new(Exit::Failed, format!("can't start a thread: {error}")))?;
    let bus = program.bus(&foundation);
    let mut engine = Engine::start(config, foundation, bus)?;
    let is_first_start = engine.bus.catalogue.now().accounts.is_empty();
    opening::tell(config, &ground, &desk, &engine.bus)?;
    let switch = Switch { bus: engine.bus.clone(), access: access.clone() };
    control::serve(ground.lock.folder(), switch, kill_signals)
        .map_err(|error| Failure::new(Exit::Failed, format!("can't start the control thread: {error}")))?;
    let bars = bars::store(config, ground.lock.folder(), &engine.bus.feed)?;
    if is_first_start {
        yesterday::make_up(config, &desk, ground.clock.now(), &bars)?;
    } else {
        resumed_prices::resume(config, &mut desk, &engine.bus, &bars, ground.clock.now());
    }
    // Only this start tells it.
    let _ = stored_bars.set(bars.clone());
    let strategies = strategies::open(config, registry, &engine, bars, &controls)?;
    let venues = venues::open(config, &ground, &desk, &mut engine, (&health, &markets))?;
    let sessions = fix::sessions(config)?;
    let connections = open_files::share(sessions.as_ref().map_or(0, |sessions| sessions.names().len()))?;
    let certificate = certificate(config, sessions.as_ref())?;
    let topics = Topics::open(config, connections.broker, &engine.bus, access.clone())?;
    // Only this start tells it.
    let _ = (broker_doors.set(topics.doors(config)), watched_topics.set(topics.watch()));
    health.watch_topics(topics.watch());
    let web = Web::open(config, connections.http, &engine.bus, access.clone(), certificate.as_ref(), &topics)?;
    let fix =
        Fix::open(config, sessions, certificate.as_ref(), &ground, &engine, &access, (&fix_operators, connections))?;
    let doors = doors(&web, &topics, fix.as_ref());
    let topics = topics.serve(config, certificate, [web.http, web.https]);
    health.wait_for_venues();
    strategies.start_all();
    if config.strategies_distributed {
        topics.bridge(strategies.controls(), engine.clock.clone());
    }
    let beacon = Beacon::light(ground.lock.folder(), &doors)?;
    doors.announce().map_err(|error| Failure::new(Exit::Failed, format!("can't print the ready line: {error}")))?;
    info!("serving on {web}");
    let ended = engine.wait(&stopped);
    drop(beacon);
    stopping::stop(fix, topics, web, strategies, venues, engine, ended)
}

/// Taken before the engine runs, so that none is lost; one that waits already is as good.
fn kill_signals() -> Result<control::Signals, Failure> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    signals::on_kill(move || sender.try_send(()).unwrap_or(()))
        .map_err(|error| Failure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    Ok(receiver)
}

/// One certificate for every door that speaks TLS; none where no door does.
fn certificate(config: &Config, fix: Option<&Sessions>) -> Result<Option<Arc<Certificate>>, Failure> {
    let [tcp, tls, _] = config.broker_addresses();
    let is_wanted = config.https_address().or(tcp).or(tls).is_some() || fix.is_some_and(Sessions::use_tls);
    is_wanted.then(|| Certificate::open(Wanted::of(config)?)).transpose()
}

fn doors(web: &Web, topics: &Topics, fix: Option<&Fix>) -> Doors {
    Doors {
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
pub fn import(config: &Config, ground: Ground) -> Result<usize, Failure> {
    let desk = ground.desk.clone();
    let foundation = Foundation::lay(config, &ground)?;
    let (stop, _stopped) = bounded(1);
    let health = Arc::new(Health::new(&foundation));
    let program = Program::new(config, &foundation, health, stop);
    let bus = program.bus(&foundation);
    let engine = Engine::start(config, foundation, bus)?;
    let changes = reference::differences(&engine.bus.catalogue.now(), &desk.data);
    let count = changes.len();
    opening::tell_changes(&engine.bus, changes)?;
    match engine.stop() {
        Ended::InOrder(_) => Ok(count),
        Ended::JournalFailed(error) => Err(Failure::new(Exit::Failed, error)),
    }
}
