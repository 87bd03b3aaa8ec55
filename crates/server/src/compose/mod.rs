//! Composition: configuration in, running parts out. Nowhere else do the rooms of the house meet.

/// The engine with everything that it stands on, as it was when it stopped.
mod foundation;
/// Whether the parts are well, for those who ask.
mod health;
/// What the engine is told at every start, and what only at the first.
mod opening;
/// The parts while they run, and how they stop.
mod running;
/// The simulated venues.
mod venues;

use std::sync::Arc;

use crossbeam_channel::bounded;
use runtime::Ended;
use tracing::info;

use crate::config::Config;
use crate::failure::{Exit, Failure};
use crate::ground::Ground;
use crate::ready::Doors;
use crate::reference;
use crate::signals;
use foundation::Foundation;
use health::Health;
use running::Engine;

/// Runs the server until it is told to stop.
pub fn serve(config: &Config) -> Result<(), Failure> {
    let ground = Ground::prepare(config)?;
    let (stop, stopped) = bounded(1);
    let ask_to_stop = stop.clone();
    // A stop that was asked for already is as good.
    signals::on_stop(move || ask_to_stop.try_send(()).unwrap_or(()))
        .map_err(|error| Failure::new(Exit::Failed, format!("can't listen for signals: {error}")))?;
    let desk = ground.desk.clone();
    let foundation = Foundation::lay(config, &ground)?;
    let health = Arc::new(Health::new(config, &foundation, stop));
    health.listen().map_err(|error| Failure::new(Exit::Failed, format!("can't start a thread: {error}")))?;
    let mut engine = Engine::start(config, foundation, health.clone())?;
    opening::tell(config, &ground, &desk, &engine.bus)?;
    let venues = venues::open(config, &ground, &desk, &mut engine, &health)?;
    let web = running::Web::open(config, &engine.bus)?;
    health.wait_for_venues();
    Doors { http: Some(web.address), ..Doors::default() }
        .announce()
        .map_err(|error| Failure::new(Exit::Failed, format!("can't print the ready line: {error}")))?;
    info!("serving on http://{}", web.address);
    let ended = running::wait(&stopped, &engine);
    running::stop(web, venues, engine, ended)
}

/// Brings the reference data of the ground's desk into the journal and says what changed.
pub fn import(config: &Config, ground: Ground) -> Result<String, Failure> {
    let desk = ground.desk.clone();
    let foundation = Foundation::lay(config, &ground)?;
    let (stop, _stopped) = bounded(1);
    let health = Arc::new(Health::new(config, &foundation, stop));
    let engine = Engine::start(config, foundation, health)?;
    let changes = reference::differences(&engine.bus.catalogue.now(), &desk.data);
    let count = changes.len();
    opening::tell_changes(&engine.bus, changes)?;
    match engine.stop() {
        Ended::InOrder => Ok(format!("{count} changes imported")),
        Ended::JournalFailed(error) => Err(Failure::new(Exit::Failed, error)),
    }
}
