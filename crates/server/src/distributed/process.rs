//! `rialto strategy run`: one strategy in a process of its own.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use runtime::strategies::protocol::Request;
use runtime::strategies::{Ending, Instance, Lost, Note, Runner};
use strategy::{Registry, Seat};
use tracing::info;

use super::conversation::{Conversation, Life};
use crate::config::Config;
use crate::config::environment::TOKEN_VARIABLE;
use crate::failure::{Exit, Failure};
use crate::signals;

/// Notes that are queued; the strategy waits with one more.
const NOTES_MAX: usize = 64;
const ADDRESS_PATIENCE: Duration = Duration::from_secs(5);
/// How often the bus client of a silent strategy is checked.
const WATCH: Duration = Duration::from_millis(250);

/// Runs the instance of that name until the strategy or the server stops.
pub fn run(config: &Config, registry: &Registry, name: &str, server: &str, takes_over: bool) -> Result<(), Failure> {
    let instance = instance(config, name)?;
    // An unreachable server is reported at once.
    broker_of(server)?;
    let asked = server.to_owned();
    let broker = move || broker_of(&asked).map_err(std::io::Error::other);
    let token = std::env::var(TOKEN_VARIABLE).ok();
    let cannot = |error: std::io::Error| Failure::new(Exit::Failed, format!("can't start a thread: {error}"));
    let conversation = Conversation::begin(broker, instance.name.clone(), token, takes_over).map_err(cannot)?;
    let leave = conversation.sayer();
    signals::on_stop(move || leave(Request::Leave)).map_err(cannot)?;
    while let Some(life) = conversation.next_life() {
        let run = life.who.run;
        match live(life, &conversation, &instance, registry)? {
            Ending::Exited => {
                conversation.end();
                info!("strategy stopped");
                return Ok(());
            }
            Ending::Lost(_) => {}
            Ending::Panicked(reason) => return fail(conversation, run, format!("it panicked: {reason}")),
            Ending::Flooded => return fail(conversation, run, "one call-back asked for too much".to_owned()),
        }
    }
    let Lost(reason) = conversation.end();
    Err(Failure::new(Exit::Failed, format!("strategy {name}: {reason}")))
}

fn fail(conversation: Conversation, run: u64, reason: String) -> Result<(), Failure> {
    conversation.say(run, Request::Failed { reason: reason.clone().into() });
    conversation.end();
    Err(Failure::new(Exit::Failed, reason))
}

/// One run, from its first phase to its end.
fn live(life: Life, conversation: &Conversation, instance: &Instance, registry: &Registry) -> Result<Ending, Failure> {
    let Life { who, reference, link, has_diary } = life;
    let strategy = registry.build(&instance.of, &instance.written, &reference);
    let strategy = strategy.map_err(|problem| Failure::new(Exit::Refused, problem.to_string()))?;
    let (notes_in, notes) = bounded(NOTES_MAX);
    let runner = Runner::new(Seat::new(who, strategy, reference), link, conversation.clock(), notes_in);
    let runner = if has_diary { runner.with_diary() } else { runner };
    let running = std::thread::Builder::new().name("strategy".into()).spawn(|| runner.run());
    running.map_err(|error| Failure::new(Exit::Failed, format!("can't start a thread: {error}")))?;
    Ok(follow(&notes, conversation))
}

/// Reports each phase to the server. A hanging strategy sends nothing, so the bus client is checked as well.
fn follow(notes: &Receiver<Note>, conversation: &Conversation) -> Ending {
    loop {
        match notes.recv_timeout(WATCH) {
            Ok(Note::Entered(life, progress)) => {
                info!(phase = progress.phase.name(), "strategy phase completed");
                let wishes = progress.wishes.iter().map(Into::into).collect();
                conversation.say(life.run, Request::Entered { phase: progress.phase, wishes });
            }
            Ok(Note::Ended(_, ending)) => return ending,
            Err(RecvTimeoutError::Timeout) if conversation.is_over() => return Ending::Lost(String::new()),
            Err(RecvTimeoutError::Disconnected) => return Ending::Panicked("its thread ended without a word".into()),
            Ok(Note::RateRefused(_)) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn instance(config: &Config, name: &str) -> Result<Instance, Failure> {
    let instances = config.strategies_instances.iter().map(|instance| &instance.0);
    let found = instances.clone().find(|instance| &*instance.name == name);
    found.cloned().ok_or_else(|| {
        let known: Vec<_> = instances.map(|instance| &*instance.name).collect();
        let hint = crate::nearest::hint(name, known.iter().copied());
        let text = format!("strategies.instances has no strategy {name}; it has {}{hint}", known.join(", "));
        Failure::new(Exit::Refused, text)
    })
}

/// The broker's address, from the server.
fn broker_of(server: &str) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Failed, format!("the server at {server} did not return the address of its broker: {error}"))
    };
    let agent = ureq::Agent::config_builder().timeout_global(Some(ADDRESS_PATIENCE)).proxy(None).build();
    let mut request =
        ureq::Agent::new_with_config(agent).get(format!("{}/rest/broker/url/main", server.trim_end_matches('/')));
    if let Ok(token) = std::env::var(TOKEN_VARIABLE) {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    let mut answer = request.call().map_err(|error| failed(&error))?;
    let url = answer.body_mut().read_to_string().map_err(|error| failed(&error))?;
    let address = url.trim_matches('"').strip_prefix("tcp://");
    address.map(ToOwned::to_owned).ok_or_else(|| failed(&format!("it says {url}")))
}
