//! Differences between current and wanted reference data, as commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::{Caller, Command, CommandEnvelope, ReferenceData};

/// The changes from the current reference data to the wanted, in an order in which each change finds what it refers to.
///
/// A security that is not wanted any more is retired. Exchanges, families, accounts and strategies that are missing
/// stay: orders and bookings refer to them for ever.
pub fn differences(current: &ReferenceData, wanted: &ReferenceData) -> Vec<ReferenceChange> {
    let mut changes = Vec::new();
    changes.extend(changed(&current.exchanges, &wanted.exchanges).map(ReferenceChange::Exchange));
    changes.extend(changed(&current.families, &wanted.families).map(ReferenceChange::Family));
    changes.extend(changed(&current.securities, &wanted.securities).map(ReferenceChange::Security));
    changes.extend(changed(&current.accounts, &wanted.accounts).map(ReferenceChange::Account));
    changes.extend(changed(&current.strategies, &wanted.strategies).map(ReferenceChange::Strategy));
    changes.extend(retired(current, wanted));
    changes
}

/// Changes in one command: far below the limit of a journal frame.
const CHANGES_PER_COMMAND_MAX: usize = 1_000;

/// The changes as the platform's own commands.
pub fn commands(changes: &[ReferenceChange]) -> impl Iterator<Item = CommandEnvelope> {
    let command = |part: &[ReferenceChange]| Command::Reference(part.to_vec());
    let parts = changes.chunks(CHANGES_PER_COMMAND_MAX);
    parts.map(move |part| CommandEnvelope { caller: Caller::platform(), command: command(part) })
}

fn changed<'a, K: Ord, V: PartialEq + Clone>(
    current: &'a BTreeMap<K, Arc<V>>,
    wanted: &'a BTreeMap<K, Arc<V>>,
) -> impl Iterator<Item = V> + 'a {
    let differs = |(id, item): &(&K, &Arc<V>)| current.get(id) != Some(*item);
    wanted.iter().filter(differs).map(|(_, item)| V::clone(item))
}

/// One that is not tradeable is retired already.
fn retired(current: &ReferenceData, wanted: &ReferenceData) -> impl Iterator<Item = ReferenceChange> {
    let missing = current.securities.values().filter(|security| !wanted.securities.contains_key(&security.id));
    missing.filter(|security| security.tradeable).map(|security| ReferenceChange::RetireSecurity(security.id))
}
