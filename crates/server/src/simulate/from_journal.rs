//! A live session's journal, replayed: the same digest again, and, where prices were journalled, the strategies too.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use domain::{ReferenceData, StrategyId, Text};
use runtime::RecoveryError;
use runtime::simulation::{Differs, FromJournal, Replayed, replay_journal};
use storage::Snapshots;
use storage::lock::FolderLock;
use strategy::{Registry, Seat, Who};

use crate::config::Config;
use crate::config::strategies::StrategyInstance;
use crate::failure::{Exit, Failure};
use crate::instance::Instance;
use crate::progress::Progress;

/// The last line is the digest.
pub(super) fn replay(
    folder: &Path,
    with_strategies: bool,
    config: &Config,
    registry: &Registry,
) -> Result<String, Failure> {
    if !folder.join(storage::journal::FOLDER).is_dir() {
        return Err(Failure::new(Exit::Refused, format!("there is no journal in {}", folder.display())));
    }
    let instances = if with_strategies { config.strategies_instances.clone() } else { Vec::new() };
    let lock = FolderLock::take(folder)?;
    let snapshots = Snapshots::open(&lock, Instance::of(&lock)?.journal_id())?;
    let seat =
        |id, name: &Text, run, reference: &Arc<ReferenceData>| sit(&instances, registry, id, name, run, reference);
    let what = FromJournal { folder, snapshot: snapshots.newest_good(None)?, seat: &seat };
    let mut bar = Progress::of("replaying the journal");
    let found = replay_journal(&what, &mut |step| bar.show(step.read, step.total)).map_err(not_replayed)?;
    Ok(told(&found, with_strategies))
}

fn sit(
    instances: &[StrategyInstance],
    registry: &Registry,
    id: StrategyId,
    name: &Text,
    run: u64,
    reference: &Arc<ReferenceData>,
) -> Option<Seat> {
    let instance = &instances.iter().find(|instance| instance.0.name == *name)?.0;
    let strategy = registry.build(&instance.of, &instance.written, reference).ok()?;
    Some(Seat::new(Who { id, name: name.clone(), run }, strategy, reference.clone()))
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
        Some((sequence, true)) => line(format!("the state at {sequence} is the one that the session wrote")),
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
    if found.prices == 0 {
        lines.push("no prices are in the journal: strategies need journal.ticks = all".to_owned());
    }
    lines.push(format!("{} commands of strategies came out the same", found.agreed));
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
