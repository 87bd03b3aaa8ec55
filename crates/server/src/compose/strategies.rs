//! Strategies in the server: checked before anything trades, started when the venues are there.

use std::sync::Arc;
use std::time::Duration;

use bus::StrategyAdmin;
use bus::operations::StrategyError;
use runtime::strategies::{HostError, HostHandle, HostSettings, StrategyConfig, StrategyHost};
use storage::BarFiles;
use strategy::StrategyRegistry;
use strategy::registry::BuildError;

use super::engine_thread::EngineThread;
use crate::config::{Config, JournalTicks};
use crate::exit_failure::{Exit, ExitFailure};
use crate::input_problem::Problems;
use wire::nearest::hint;

/// Starts and stops strategies for an operator.
pub(super) struct StrategyControls(pub(super) HostHandle);

impl StrategyAdmin for StrategyControls {
    fn start(&self, name: &str) -> Result<(), StrategyError> {
        self.0.start(name).map_err(to_edge_error)
    }

    fn stop(&self, name: &str) -> Result<(), StrategyError> {
        self.0.stop(name).map_err(to_edge_error)
    }
}

/// Every instance must be one that can be built, so that a misspelt parameter stops the start and not the trading day.
pub fn check(config: &Config, registry: &StrategyRegistry, reference: &domain::ReferenceData) -> Result<(), Problems> {
    let mut problems = Problems::default();
    let instances = instances(config);
    for (name, unbuildable) in StrategyHost::check(&instances, registry, reference) {
        problems.add(format!("strategies.instances: {name}"), explain(&unbuildable, registry));
    }
    problems.none_or(())
}

pub(super) fn start(
    config: &Config,
    registry: StrategyRegistry,
    engine: &EngineThread,
    bars: Arc<BarFiles>,
) -> Result<StrategyHost, ExitFailure> {
    check(config, &registry, &engine.bus.catalogue.current())
        .map_err(|problems| ExitFailure::configuration(&problems))?;
    StrategyHost::open(engine.bus.clone(), engine.clock.clone(), registry, settings(config, bars))
        .map_err(|error| ExitFailure::new(Exit::Failed, format!("can't start the strategy host: {error}")))
}

fn instances(config: &Config) -> Vec<StrategyConfig> {
    config.strategies_instances.iter().map(|instance| instance.0.clone()).collect()
}

fn settings(config: &Config, bars: Arc<BarFiles>) -> HostSettings {
    let hang_after = Duration::from_secs(config.strategies_hang_seconds.0.unsigned_abs());
    HostSettings {
        instances: instances(config),
        hang_after,
        reconnect_timeout: if config.strategies_distributed { hang_after } else { Duration::ZERO },
        on_failure: config.strategies_on_failure,
        orders_per_second: config.strategies_orders_per_second,
        logs_deliveries: config.journal_ticks == JournalTicks::All,
        bars,
    }
}

/// The problem with what was probably meant.
pub(crate) fn explain(problem: &BuildError, registry: &StrategyRegistry) -> String {
    match problem {
        BuildError::UnknownName { name, known } => format!("{problem}{}", hint(name, known.iter().copied())),
        BuildError::Parameter { name, problem: parameter } => {
            let blueprint = registry.get(name).ok();
            let known = blueprint.into_iter().flat_map(|blueprint| blueprint.parameters).map(|known| known.name);
            let is_known = known.clone().any(|known| known == parameter.parameter);
            let hint = if is_known { String::new() } else { hint(&parameter.parameter, known) };
            format!("{problem}{hint}")
        }
    }
}

/// What an edge may tell of the host's trouble.
fn to_edge_error(trouble: HostError) -> StrategyError {
    match trouble {
        HostError::NotConfigured => StrategyError::NotRunnable,
        HostError::AlreadyRunning | HostError::RunsInOtherProcess => StrategyError::AlreadyRunning,
        HostError::NotRunning => StrategyError::NotRunning,
        HostError::BuildFailed(_) | HostError::Failed(_) | HostError::Unavailable => {
            StrategyError::Failed(trouble.to_string())
        }
    }
}
