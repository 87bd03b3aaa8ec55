//! Strategies in the server: checked before anything trades, started when the venues are there.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bus::operations::StrategyTrouble;
use runtime::strategies::{Controls, Host, HostSettings, Instance, Trouble};
use storage::BarFiles;
use strategy::Registry;
use strategy::registry::Unbuildable;

use super::engine::Engine;
use crate::config::{Config, JournalTicks};
use crate::failure::{Exit, Failure};
use crate::nearest::hint;
use crate::problem::Problems;

/// Where strategies can be started and stopped, once there is a host.
pub(super) type ControlsSlot = Arc<OnceLock<Controls>>;

/// Every instance must be one that can be built, so that a misspelt parameter stops the start and not the trading day.
pub fn check(config: &Config, registry: &Registry, reference: &domain::ReferenceData) -> Result<(), Problems> {
    let mut problems = Problems::default();
    let instances = instances(config);
    for (name, unbuildable) in Host::check(&instances, registry, reference) {
        problems.add(format!("strategies.instances: {name}"), explain(&unbuildable, registry));
    }
    problems.none_or(())
}

pub(super) fn open(
    config: &Config,
    registry: Registry,
    engine: &Engine,
    bars: Arc<BarFiles>,
    slot: &ControlsSlot,
) -> Result<Host, Failure> {
    check(config, &registry, &engine.bus.catalogue.now()).map_err(|problems| Failure::configuration(&problems))?;
    let host = Host::open(engine.bus.clone(), engine.clock.clone(), registry, settings(config, bars))
        .map_err(|error| Failure::new(Exit::Failed, format!("can't start the strategy host: {error}")))?;
    // Only this start tells it.
    let _ = slot.set(host.controls());
    Ok(host)
}

fn instances(config: &Config) -> Vec<Instance> {
    config.strategies_instances.iter().map(|instance| instance.0.clone()).collect()
}

fn settings(config: &Config, bars: Arc<BarFiles>) -> HostSettings {
    let hang_after = Duration::from_secs(config.strategies_hang_seconds.0.unsigned_abs());
    HostSettings {
        instances: instances(config),
        hang_after,
        return_within: if config.strategies_distributed { hang_after } else { Duration::ZERO },
        on_failure: config.strategies_on_failure,
        orders_per_second: config.strategies_orders_per_second,
        keeps_diaries: config.journal_ticks == JournalTicks::All,
        bars,
    }
}

/// The problem with what was probably meant.
pub(crate) fn explain(problem: &Unbuildable, registry: &Registry) -> String {
    match problem {
        Unbuildable::UnknownName { name, known } => format!("{problem}{}", hint(name, known.iter().copied())),
        Unbuildable::Parameter { name, problem: parameter } => {
            let blueprint = registry.get(name).ok();
            let known = blueprint.into_iter().flat_map(|blueprint| blueprint.parameters).map(|known| known.name);
            let is_known = known.clone().any(|known| known == parameter.parameter);
            let hint = if is_known { String::new() } else { hint(&parameter.parameter, known) };
            format!("{problem}{hint}")
        }
    }
}

/// What an edge may tell of the host's trouble.
pub(super) fn trouble(trouble: Trouble) -> StrategyTrouble {
    match trouble {
        Trouble::NotConfigured => StrategyTrouble::NotRunnable,
        Trouble::RunsAlready | Trouble::LivesElsewhere => StrategyTrouble::RunsAlready,
        Trouble::DoesNotRun => StrategyTrouble::DoesNotRun,
        Trouble::Unbuildable(_) | Trouble::Failed(_) | Trouble::Unavailable => {
            StrategyTrouble::Failed(trouble.to_string())
        }
    }
}
