//! Journal replay of a live session: to the same digest and, where prices were journalled, with its strategies.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use domain::{ReferenceData, StrategyId, Text};
use runtime::RecoveryError;
use runtime::simulation::{CommandDifference, JournalReplay, JournalReplayResult, RunnerFactory, replay_journal};
use storage::SnapshotStore;
use storage::lock::DataDirLock;
use strategy::{StrategyIdentity, StrategyRegistry, StrategyRunner};

use crate::compose::strategies::explain;
use crate::config::Config;
use crate::config::values::strategies::StrategyInstance;
use crate::data_dir::identity::DataDirIdentity;
use crate::exit_failure::{Exit, ExitFailure};
use crate::progress::ProgressReporter;

const NOT_RECORDED: &str = "the journal does not tell what strategies heard, so they can't run again: it is recorded in \
                            sessions with journal.ticks=all";

/// The last line is the digest. A state or a command that differs is a failure, and so is a strategy that cannot be
/// replayed.
pub(super) fn replay(
    folder: &Path,
    up_to: Option<u64>,
    with_strategies: bool,
    config: &Config,
    registry: &StrategyRegistry,
) -> Result<String, ExitFailure> {
    if !folder.join(storage::journal::FOLDER).is_dir() {
        return Err(ExitFailure::new(Exit::Refused, format!("there is no journal in {}", folder.display())));
    }
    let instances = &config.strategies_instances;
    let lock = DataDirLock::acquire(folder)?;
    let snapshots = SnapshotStore::open(&lock, DataDirIdentity::load(&lock)?.journal_id())?;
    let seat = |id, name: &Text, run, reference: &Arc<ReferenceData>| {
        make_runner(instances, registry, id, name, run, reference)
    };
    let seat = with_strategies.then_some(&seat as RunnerFactory<'_>);
    let up_to = up_to.unwrap_or(u64::MAX);
    let what = JournalReplay { folder, up_to, snapshot: snapshots.latest_valid(Some(up_to))?, runner_factory: seat };
    let mut bar = ProgressReporter::new_for("replaying the journal");
    let found = replay_journal(&what, &mut |step| bar.show(step.read, step.total)).map_err(not_replayed)?;
    verdict(&found, with_strategies)
}

fn verdict(found: &JournalReplayResult, with_strategies: bool) -> Result<String, ExitFailure> {
    if !found.not_runnable.is_empty() {
        let lines: String = found.not_runnable.iter().map(|(name, reason)| format!("\n  {name}: {reason}")).collect();
        return Err(ExitFailure::new(Exit::Refused, format!("strategies of the session can't run again:{lines}")));
    }
    if with_strategies && found.runs == 0 && (found.unlogged_runs > 0 || found.prices == 0) {
        return Err(ExitFailure::new(Exit::Refused, NOT_RECORDED.to_owned()));
    }
    let told = summary_text(found, with_strategies);
    if found.first_difference.is_some() || matches!(found.snapshot, Some((_, false))) {
        return Err(ExitFailure::new(Exit::Differs, format!("the session came out otherwise\n{}", told.trim_end())));
    }
    Ok(told)
}

fn make_runner(
    instances: &[StrategyInstance],
    registry: &StrategyRegistry,
    id: StrategyId,
    name: &Text,
    run: u64,
    reference: &Arc<ReferenceData>,
) -> Result<StrategyRunner, String> {
    let instance = instances.iter().map(|instance| &instance.0).find(|instance| instance.name == *name);
    let instance = instance.ok_or("strategies.instances does not have it")?;
    let strategy = registry.build(&instance.strategy, &instance.parameters, reference);
    let strategy = strategy.map_err(|problem| explain(&problem, registry))?;
    Ok(StrategyRunner::new(StrategyIdentity { id, name: name.clone(), run }, strategy, reference.clone()))
}

fn not_replayed(problem: RecoveryError) -> ExitFailure {
    match problem {
        RecoveryError::Storage(error) => error.into(),
        other => ExitFailure::new(Exit::Damaged, other.to_string()),
    }
}

fn summary_text(found: &JournalReplayResult, with_strategies: bool) -> String {
    let JournalReplayResult { records, prices, orders, fills, digest, .. } = found;
    let mut text = format!("{records} records replayed: {prices} prices, {orders} orders, {fills} fills\n");
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
    match found.snapshot {
        Some((sequence, true)) => {
            line(format!("the state at {sequence} is the one that the session wrote, and so is its digest"));
        }
        Some((sequence, false)) => line(format!("THE STATE AT {sequence} IS NOT the one that the session wrote")),
        None => line("the session wrote no state to compare with".into()),
    }
    if with_strategies {
        strategy_lines(found).into_iter().for_each(&mut line);
    }
    line(format!("digest: {digest}"));
    text
}

fn strategy_lines(found: &JournalReplayResult) -> Vec<String> {
    let mut lines = Vec::new();
    if found.runs == 0 {
        lines.push("no strategy ran in the session".to_owned());
    } else {
        lines.push(format!("{} commands of strategies came out the same", found.matching_commands));
    }
    if found.unlogged_runs > 0 {
        lines.push(format!("{} lives of strategies were not recorded: journal.ticks was not all", found.unlogged_runs));
    }
    if let Some(CommandDifference { sequence, at, strategy, recorded, replayed: again }) = &found.first_difference {
        lines.push(format!("the first that differs is of {strategy} at {sequence}, {at}:"));
        let shown = |command: &Option<domain::Command>| match command {
            Some(command) => format!("{command:?}"),
            None => "nothing".to_owned(),
        };
        lines.push(format!("  in the session: {}", shown(recorded)));
        lines.push(format!("  again:          {}", shown(again)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(found: &JournalReplayResult) -> (Exit, String) {
        let failure = verdict(found, true).unwrap_err();
        (failure.exit, failure.to_string())
    }

    #[test]
    fn a_state_that_is_not_reached_is_a_failure() {
        let digest = "d1".to_owned();
        let found = JournalReplayResult {
            records: 9,
            prices: 3,
            snapshot: Some((7, false)),
            digest,
            ..JournalReplayResult::default()
        };
        let text = "the session came out otherwise
9 records replayed: 3 prices, 0 orders, 0 fills
THE STATE AT 7 IS NOT the one that the session wrote
no strategy ran in the session
digest: d1";
        assert_eq!(refused(&found), (Exit::Differs, text.to_owned()));
    }

    #[test]
    fn strategies_whose_session_was_not_recorded_cannot_run_again() {
        let recorded_of = |lives, untold, prices| JournalReplayResult {
            runs: lives,
            unlogged_runs: untold,
            prices,
            ..JournalReplayResult::default()
        };
        let refusal = (Exit::Refused, NOT_RECORDED.to_owned());
        assert_eq!(refused(&recorded_of(0, 2, 0)), refusal);
        assert_eq!(refused(&recorded_of(0, 0, 0)), refusal);
        assert_eq!(refused(&recorded_of(0, 1, 9)), refusal);
        let told = verdict(&recorded_of(1, 2, 9), true).unwrap();
        assert!(told.contains("\n2 lives of strategies were not recorded: journal.ticks was not all\n"), "{told}");
    }

    #[test]
    fn every_strategy_that_cannot_run_again_is_named() {
        let unseated = [("A", "one reason"), ("B", "another")].map(|(name, why)| (name.into(), why.to_owned()));
        let found = JournalReplayResult { not_runnable: unseated.into(), ..JournalReplayResult::default() };
        let text = "strategies of the session can't run again:\n  A: one reason\n  B: another";
        assert_eq!(refused(&found), (Exit::Refused, text.to_owned()));
    }
}
