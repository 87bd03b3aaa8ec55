//! Journal replay of a live session: to the same digest and, where prices were journalled, with its strategies.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use domain::{ReferenceData, StrategyId, Text};
use runtime::RecoveryError;
use runtime::simulation::{Differs, FromJournal, Replayed, SeatMaker, replay_journal};
use storage::Snapshots;
use storage::lock::FolderLock;
use strategy::{Registry, Seat, Who};

use crate::compose::strategies::explain;
use crate::config::Config;
use crate::config::strategies::StrategyInstance;
use crate::failure::{Exit, Failure};
use crate::instance::Instance;
use crate::progress::Progress;

const NOT_RECORDED: &str = "the journal does not tell what strategies heard, so they can't run again: it is recorded in \
                            sessions with journal.ticks=all";

/// The last line is the digest. A state or a command that differs is a failure, and so is a strategy that cannot be
/// replayed.
pub(super) fn replay(
    folder: &Path,
    with_strategies: bool,
    config: &Config,
    registry: &Registry,
) -> Result<String, Failure> {
    if !folder.join(storage::journal::FOLDER).is_dir() {
        return Err(Failure::new(Exit::Refused, format!("there is no journal in {}", folder.display())));
    }
    let instances = &config.strategies_instances;
    let lock = FolderLock::take(folder)?;
    let snapshots = Snapshots::open(&lock, Instance::of(&lock)?.journal_id())?;
    let seat =
        |id, name: &Text, run, reference: &Arc<ReferenceData>| sit(instances, registry, id, name, run, reference);
    let seat = with_strategies.then_some(&seat as SeatMaker<'_>);
    let what = FromJournal { folder, snapshot: snapshots.newest_good(None)?, seat };
    let mut bar = Progress::of("replaying the journal");
    let found = replay_journal(&what, &mut |step| bar.show(step.read, step.total)).map_err(not_replayed)?;
    verdict(&found, with_strategies)
}

fn verdict(found: &Replayed, with_strategies: bool) -> Result<String, Failure> {
    if !found.unseated.is_empty() {
        let lines: String = found.unseated.iter().map(|(name, reason)| format!("\n  {name}: {reason}")).collect();
        return Err(Failure::new(Exit::Refused, format!("strategies of the session can't run again:{lines}")));
    }
    if with_strategies && found.lives == 0 && (found.untold > 0 || found.prices == 0) {
        return Err(Failure::new(Exit::Refused, NOT_RECORDED.to_owned()));
    }
    let told = told(found, with_strategies);
    if found.differs.is_some() || matches!(found.snapshot, Some((_, false))) {
        return Err(Failure::new(Exit::Differs, format!("the session came out otherwise\n{}", told.trim_end())));
    }
    Ok(told)
}

fn sit(
    instances: &[StrategyInstance],
    registry: &Registry,
    id: StrategyId,
    name: &Text,
    run: u64,
    reference: &Arc<ReferenceData>,
) -> Result<Seat, String> {
    let instance = instances.iter().map(|instance| &instance.0).find(|instance| instance.name == *name);
    let instance = instance.ok_or("strategies.instances does not have it")?;
    let strategy = registry.build(&instance.of, &instance.written, reference);
    let strategy = strategy.map_err(|problem| explain(&problem, registry))?;
    Ok(Seat::new(Who { id, name: name.clone(), run }, strategy, reference.clone()))
}

fn not_replayed(problem: RecoveryError) -> Failure {
    match problem {
        RecoveryError::Storage(error) => error.into(),
        other => Failure::new(Exit::Damaged, other.to_string()),
    }
}

fn told(found: &Replayed, with_strategies: bool) -> String {
    let Replayed { records, prices, orders, fills, digest, .. } = found;
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
        strategies_told(found).into_iter().for_each(&mut line);
    }
    line(format!("digest: {digest}"));
    text
}

fn strategies_told(found: &Replayed) -> Vec<String> {
    let mut lines = Vec::new();
    if found.lives == 0 {
        lines.push("no strategy ran in the session".to_owned());
    } else {
        lines.push(format!("{} commands of strategies came out the same", found.agreed));
    }
    if found.untold > 0 {
        lines.push(format!("{} lives of strategies were not recorded: journal.ticks was not all", found.untold));
    }
    if let Some(Differs { sequence, at, strategy, recorded, again }) = &found.differs {
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

    fn refused(found: &Replayed) -> (Exit, String) {
        let failure = verdict(found, true).unwrap_err();
        (failure.exit, failure.to_string())
    }

    #[test]
    fn a_state_that_is_not_reached_is_a_failure() {
        let digest = "d1".to_owned();
        let found = Replayed { records: 9, prices: 3, snapshot: Some((7, false)), digest, ..Replayed::default() };
        let text = "the session came out otherwise
9 records replayed: 3 prices, 0 orders, 0 fills
THE STATE AT 7 IS NOT the one that the session wrote
no strategy ran in the session
digest: d1";
        assert_eq!(refused(&found), (Exit::Differs, text.to_owned()));
    }

    #[test]
    fn strategies_whose_session_was_not_recorded_cannot_run_again() {
        let recorded_of = |lives, untold, prices| Replayed { lives, untold, prices, ..Replayed::default() };
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
        let found = Replayed { unseated: unseated.into(), ..Replayed::default() };
        let text = "strategies of the session can't run again:\n  A: one reason\n  B: another";
        assert_eq!(refused(&found), (Exit::Refused, text.to_owned()));
    }
}
