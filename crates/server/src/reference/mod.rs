//! Reference data from CSV files: exchanges, families, securities, accounts, strategies, and the opening quotes of
//! simulated markets. `demo/reference/README.md` describes the files.
//!
//! All files are read first, then every reference between them is checked; all errors are reported at once.

mod cell;
mod check;
mod exchanges;
mod opening_quotes;
mod parties;
mod securities;
mod sheet;
mod source;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use domain::command::ReferenceChange;
use domain::{Caller, Command, CommandEnvelope, ReferenceData, SecurityId};
use venue_sim::OpeningQuotes;

pub use opening_quotes::OpeningQuote;
pub use source::FILE_BYTES_MAX;

use crate::config::ReferencePath;
use crate::input_problem::Problems;
use sheet::SheetRows;
use source::ReferenceFiles;

/// The contents of all files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceSet {
    pub data: ReferenceData,
    pub openings: Vec<OpeningQuote>,
}

impl ReferenceSet {
    /// The opening quotes by security.
    pub fn opening_quotes(&self) -> BTreeMap<SecurityId, OpeningQuotes> {
        let quotes = |opening: &OpeningQuote| {
            let OpeningQuote { security, mid, spread_ticks, size, volatility } = *opening;
            (security, OpeningQuotes { mid, spread_ticks, size, volatility })
        };
        self.openings.iter().map(quotes).collect()
    }
}

/// The built-in demo reference data.
pub fn demo() -> ReferenceSet {
    read(&ReferencePath::Demo).expect("a test reads the demo's files")
}

pub fn read(path: &ReferencePath) -> Result<ReferenceSet, Problems> {
    let files = ReferenceFiles::load(path)?;
    let mut problems = Problems::default();
    let exchanges = exchanges::read(&files, &mut problems);
    let families = parties::families(&files, &mut problems);
    let securities = securities::read(&files, &mut problems);
    let accounts = parties::accounts(&files, &mut problems);
    let strategies = parties::strategies(&files, &mut problems);
    let openings = opening_quotes::read(&files, &securities, &mut problems);
    check::listings(&exchanges, &families, &securities, &mut problems);
    let data = ReferenceData {
        exchanges: by_id(exchanges, |exchange| exchange.id),
        families: by_id(families, |family| family.id),
        securities: by_id(securities, |security| security.id),
        accounts: by_id(accounts, |account| account.id),
        strategies: by_id(strategies, |strategy| strategy.id),
        ..ReferenceData::default()
    };
    problems.none_or(ReferenceSet { data, openings })
}

fn by_id<T, K: Ord>(rows: SheetRows<T>, id: impl Fn(&T) -> K) -> BTreeMap<K, Arc<T>> {
    rows.rows.into_iter().map(|(_, item)| (id(&item), Arc::new(item))).collect()
}

impl fmt::Display for ReferenceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReferenceSet { data, openings } = self;
        write!(
            f,
            "{} exchanges, {} families, {} securities, {} accounts, {} strategies, {} opening quotes",
            data.exchanges.len(),
            data.families.len(),
            data.securities.len(),
            data.accounts.len(),
            data.strategies.len(),
            openings.len()
        )
    }
}

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
