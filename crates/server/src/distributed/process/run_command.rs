//! `rialto strategy run`: one strategy in a process of its own.

use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use runtime::strategies::protocol::StrategyRequestBody;
use runtime::strategies::{LinkLost, RunnerEvent, RunnerExit, StrategyConfig, StrategyThread};
use strategy::{StrategyRegistry, StrategyRunner};
use tracing::{info, warn};

use super::bus_handle::BusHandle;
use super::current_run::StrategyRun;
use crate::config::Config;
use crate::config::sources::environment::TOKEN_VARIABLE;
use crate::distributed::nats_file::NatsBusConfig;
use crate::exit_failure::{Exit, ExitFailure};
use crate::signals;

/// Notes that are queued; the strategy waits with one more.
const NOTES_MAX: usize = 64;
const ADDRESS_TIMEOUT: Duration = Duration::from_secs(5);
/// A member that does not say so soon that it leads does not: others are asked.
const LEADER_TIMEOUT: Duration = Duration::from_secs(1);
/// How often the bus client of a silent strategy is checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(250);

/// Runs the instance of that name until the strategy or the server stops.
pub fn run(
    config: &Config,
    registry: &StrategyRegistry,
    name: &str,
    server: Option<&str>,
    takes_over: bool,
) -> Result<(), ExitFailure> {
    let instance = instance(config, name)?;
    let conversation = match (NatsBusConfig::of(config)?, server) {
        (Some(nats), _) => BusHandle::connect_nats(nats, instance.name.clone(), takes_over).map_err(cannot)?,
        (None, Some(server)) => connect_to_broker(server, &instance, takes_over)?,
        (None, None) => {
            let reason = "--server must name the server, because strategies.nats names no file";
            return Err(ExitFailure::new(Exit::Refused, reason));
        }
    };
    let leave = conversation.sender();
    signals::on_stop(move || leave(StrategyRequestBody::Exit)).map_err(cannot)?;
    while let Some(life) = conversation.next_run() {
        let run = life.identity.run;
        match run_once(life, &conversation, &instance, registry)? {
            RunnerExit::Exited => return stopped(name, conversation.close()),
            RunnerExit::Disconnected(_) => {}
            RunnerExit::Panicked(reason) => return fail(conversation, run, format!("it panicked: {reason}")),
            RunnerExit::Flooded => return fail(conversation, run, "one call-back asked for too much".to_owned()),
        }
    }
    let LinkLost(reason) = conversation.close().err().unwrap_or_else(|| LinkLost("it left".to_owned()));
    Err(ExitFailure::new(Exit::Failed, format!("strategy {name}: {reason}")))
}

/// How a strategy that has passed its EXIT ended. It may have asked there for the cancel of its orders.
fn stopped(name: &str, left: Result<(), LinkLost>) -> Result<(), ExitFailure> {
    let Err(LinkLost(reason)) = left else {
        info!("strategy stopped");
        return Ok(());
    };
    let advice = "the server may not have its last requests, such as the cancels of EXIT: look at its open orders";
    Err(ExitFailure::new(Exit::Failed, format!("strategy {name} stopped, and {advice} ({reason})")))
}

fn cannot(error: std::io::Error) -> ExitFailure {
    ExitFailure::new(Exit::Failed, format!("can't start a thread: {error}"))
}

fn connect_to_broker(server: &str, instance: &StrategyConfig, takes_over: bool) -> Result<BusHandle, ExitFailure> {
    // An unreachable server is reported at once.
    broker_address(server)?;
    let asked = server.to_owned();
    let broker = move || broker_address(&asked).map_err(std::io::Error::other);
    let token = std::env::var(TOKEN_VARIABLE).ok();
    BusHandle::connect(broker, instance.name.clone(), token, takes_over).map_err(cannot)
}

fn fail(conversation: BusHandle, run: u64, reason: String) -> Result<(), ExitFailure> {
    conversation.send(run, StrategyRequestBody::Failed { reason: reason.clone().into() });
    if let Err(LinkLost(lost)) = conversation.close() {
        warn!(%lost, "the server may not know why the strategy ended");
    }
    Err(ExitFailure::new(Exit::Failed, reason))
}

/// One run, from its first phase to its end.
fn run_once(
    life: StrategyRun,
    conversation: &BusHandle,
    instance: &StrategyConfig,
    registry: &StrategyRegistry,
) -> Result<RunnerExit, ExitFailure> {
    let StrategyRun { identity: who, reference, link, records_deliveries: has_diary } = life;
    let strategy = registry.build(&instance.strategy, &instance.parameters, &reference);
    let strategy = strategy.map_err(|problem| ExitFailure::new(Exit::Refused, problem.to_string()))?;
    let (notes_in, notes) = bounded(NOTES_MAX);
    let runner =
        StrategyThread::new(StrategyRunner::new(who, strategy, reference), link, conversation.clock(), notes_in);
    let runner = if has_diary { runner.with_delivery_log() } else { runner };
    let running = std::thread::Builder::new().name("strategy".into()).spawn(|| runner.run());
    running.map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start a thread: {error}")))?;
    Ok(follow_notes(&notes, conversation))
}

/// Reports each phase to the server. A hanging strategy sends nothing, so the bus client is checked as well.
fn follow_notes(notes: &Receiver<RunnerEvent>, conversation: &BusHandle) -> RunnerExit {
    loop {
        match notes.recv_timeout(WATCH_INTERVAL) {
            Ok(RunnerEvent::Entered(life, progress)) => {
                info!(phase = progress.phase.name(), "strategy phase completed");
                let wishes = progress.history_requests.iter().map(Into::into).collect();
                conversation.send(life.run, StrategyRequestBody::Entered { phase: progress.phase, wishes });
            }
            Ok(RunnerEvent::Ended(_, ending)) => return ending,
            Err(RecvTimeoutError::Timeout) if conversation.is_closed() => {
                return RunnerExit::Disconnected(String::new());
            }
            Err(RecvTimeoutError::Disconnected) => {
                return RunnerExit::Panicked("its thread ended without a word".into());
            }
            Ok(RunnerEvent::RateRefused(_)) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn instance(config: &Config, name: &str) -> Result<StrategyConfig, ExitFailure> {
    let instances = config.strategies_instances.iter().map(|instance| &instance.0);
    let found = instances.clone().find(|instance| &*instance.name == name);
    found.cloned().ok_or_else(|| {
        let known: Vec<_> = instances.map(|instance| &*instance.name).collect();
        let hint = wire::nearest::hint(name, known.iter().copied());
        let text = format!("strategies.instances has no strategy {name}; it has {}{hint}", known.join(", "));
        ExitFailure::new(Exit::Refused, text)
    })
}

/// The broker's address, from the server; of several, from the one that leads.
fn broker_address(servers: &str) -> Result<String, ExitFailure> {
    let servers: Vec<&str> = servers.split(',').map(|server| server.trim().trim_end_matches('/')).collect();
    match servers[..] {
        [server] => broker_of(server),
        _ => match servers.iter().find(|server| ask(server, "/health/leader", LEADER_TIMEOUT).is_ok()) {
            Some(leader) => broker_of(leader),
            None => Err(ExitFailure::new(Exit::Failed, format!("none of the servers leads: {}", servers.join(", ")))),
        },
    }
}

fn broker_of(server: &str) -> Result<String, ExitFailure> {
    let failed = |error: &str| {
        let text = format!("the server at {server} did not return the address of its broker: {error}");
        ExitFailure::new(Exit::Failed, text)
    };
    let url = ask(server, "/rest/broker/url/main", ADDRESS_TIMEOUT).map_err(|error| failed(&error.to_string()))?;
    let address = url.trim_matches('"').strip_prefix("tcp://");
    address.map(ToOwned::to_owned).ok_or_else(|| failed(&format!("it says {url}")))
}

fn ask(server: &str, path: &str, patience: Duration) -> Result<String, ureq::Error> {
    let agent = ureq::Agent::config_builder().timeout_global(Some(patience)).proxy(None).build();
    let mut request = ureq::Agent::new_with_config(agent).get(format!("{server}{path}"));
    if let Ok(token) = std::env::var(TOKEN_VARIABLE) {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    request.call()?.body_mut().read_to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_has_stopped_well_where_its_last_requests_have_left() {
        assert_eq!(stopped("ONE", Ok(())).map_err(|failure| failure.to_string()), Ok(()));
        let lost = stopped("ONE", Err(LinkLost("the server can't be reached: connection refused".to_owned())));
        let failure = lost.unwrap_err();
        let text = "strategy ONE stopped, and the server may not have its last requests, such as the cancels of EXIT: look at its open \
            orders (the server can't be reached: connection refused)";
        assert_eq!((failure.exit as u8, failure.to_string()), (1, text.to_owned()));
    }
}
