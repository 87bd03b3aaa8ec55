//! A data folder of an earlier release, as a run finds it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::{Event, Input, IntId, Mark, Order, OrderId, PublishedEvent, SecurityId, Timestamp};
use storage::StorageError;
use storage::journal::{self, InstanceId, JournalEntry, JournalReader};

use super::recorded::Release;
use super::replayed_state::ReplayedState;
use super::{archive, shown};
use crate::invariants::broken_invariant::InvariantResult;
use crate::market::Market;

/// The kind of an input in the journal: see docs/journal-format.md.
const INPUT: u8 = 1;
/// What a run goes on with; the read model is simulated, and the sessions of the FIX clients are those of the run.
const KEPT: [&str; 3] = [journal::FOLDER, storage::snapshot::FOLDER, "venues"];

pub(crate) struct EarlierFolder {
    release: &'static Release,
    /// As it was recorded, beside the one that the run changes.
    folder: PathBuf,
    pub(crate) instance: InstanceId,
    /// The files of which this build makes something, by their paths in the folder.
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
    /// The last record, and its time.
    end: u64,
    pub(crate) at: Timestamp,
    /// As the journal has them, from its first record on.
    orders: BTreeMap<OrderId, Arc<Order>>,
    pub(crate) events: Vec<(u64, Vec<PublishedEvent>)>,
    pub(crate) market: Arc<Market>,
}

impl EarlierFolder {
    /// Unpacks the folder and reads it from its first record on.
    pub(crate) fn open(release: &'static Release, beside: &Path) -> Result<Self, String> {
        let folder = beside.join("earlier");
        let mut files = vec![];
        for (path, bytes) in archive::unpack(release.packed)? {
            let Ok(path) = path.strip_prefix("data").map(Path::to_owned) else { continue };
            let to = folder.join(&path);
            to.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| error.to_string())?;
            fs::write(to, &bytes).map_err(|error| error.to_string())?;
            files.push((path, bytes));
        }
        let instance = journal::instance_of(&folder.join(journal::FOLDER)).map_err(|error| error.to_string())?;
        let instance = instance.ok_or("the journal has no segment")?;
        files.retain(|(path, _)| KEPT.iter().any(|kept| path.starts_with(kept)));
        let (end, marks) = read_marks(&folder)?;
        let (mut orders, mut events) = (BTreeMap::new(), vec![]);
        let mut keep = |sequence: u64, published: &[PublishedEvent]| {
            for order in published.iter().filter_map(changed_order) {
                orders.insert(order.id, order.clone());
            }
            events.push((sequence, published.to_vec()));
        };
        let state = ReplayedState::replay((&folder, instance), end, 0, &mut keep)?;
        let market = Arc::new(Market::of_engine(&state.engine, &marks)?);
        let at = state.recovered.at;
        Ok(Self { release, folder, instance, files, end, at, orders, events, market })
    }

    pub(crate) fn release(&self) -> &'static str {
        self.release.name
    }

    /// The last record that the release wrote.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The state by the newest snapshot of the release. What this build makes of it differs from a replay of the whole journal where the
    /// release did not keep what this build does; both are right.
    pub(crate) fn by_snapshot(&self) -> Result<ReplayedState, String> {
        ReplayedState::replay((&self.folder, self.instance), self.end, self.end, &mut |_, _| {})
    }

    pub(crate) fn has_order(&self, int_id: &IntId) -> bool {
        self.orders.values().any(|order| order.int_id == *int_id)
    }

    /// What the release left in the market.
    pub(crate) fn open_orders(&self) -> Vec<IntId> {
        self.orders.values().filter(|order| order.is_open()).map(|order| order.int_id.clone()).collect()
    }

    /// Orders, positions and cash are what the release showed: by its snapshot, and by its journal alone.
    pub(crate) fn check(&self) -> InvariantResult {
        let whole = ReplayedState::replay((&self.folder, self.instance), self.end, 0, &mut |_, _| {});
        let states = [("the snapshot", self.by_snapshot()), ("the journal", whole)];
        states.into_iter().try_for_each(|(source, state)| shown::compare(self.release, source, state, &self.orders))
    }
}

/// The last sequence, and the last price of every security.
fn read_marks(folder: &Path) -> Result<(u64, BTreeMap<SecurityId, Mark>), String> {
    let (mut end, mut marks) = (0, BTreeMap::new());
    let mut visit = |entry: JournalEntry<'_>| -> Result<(), StorageError> {
        end = entry.sequence;
        if entry.kind == INPUT
            && let Ok(Input::Marks(new)) = minicbor::decode(entry.payload)
        {
            marks.extend(new.into_iter().map(|mark: Mark| (mark.security, mark)));
        }
        Ok(())
    };
    JournalReader::open(&folder.join(journal::FOLDER), 1)
        .and_then(|reader| reader.replay(&mut visit, &mut |_| {}))
        .map_err(|error| error.to_string())?;
    Ok((end, marks))
}

fn changed_order(published: &PublishedEvent) -> Option<&Arc<Order>> {
    match &published.event {
        Event::Order(order) => Some(order),
        _ => None,
    }
}
