//! Ids of retired orders: their keys go to the index on disk on a thread of their own, and what an input needs comes back before
//! it. Both are journalled, so a replay needs no index (decision 0040).

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use bus::inbox::{EngineRequest, RequestPayload};
use domain::{PlantedBug, RecalledKeys, Report, RetiredOrdersInput};
use engine::{Engine, RetiredKeyLookup, RetiredKeys};
use storage::{RetiredIndex, StorageError};
use tracing::{error, info, warn};

pub(crate) struct RetiredOrders {
    index: Arc<RetiredIndex>,
    has_thread: bool,
    writing: Option<JoinHandle<Option<u64>>>,
    /// Durable, and the engine was not told yet.
    stored: Option<u64>,
    /// The sequence of the keys that were handed over last: where that failed, the next day tries again.
    handed_over: u64,
}

impl RetiredOrders {
    pub(crate) fn new(index: Arc<RetiredIndex>) -> Self {
        Self { index, has_thread: true, writing: None, stored: None, handed_over: 0 }
    }

    /// Writes on the thread of the caller.
    pub(crate) fn without_thread(self) -> Self {
        Self { has_thread: false, ..self }
    }

    /// What the engine must be told now. `durable`: an index must not know more than the journal has.
    pub(crate) fn next_input(&mut self, engine: &Engine, durable: u64) -> Option<RetiredOrdersInput> {
        if !engine.has_retired_index() {
            return Some(RetiredOrdersInput::Begin);
        }
        self.collect();
        self.hand_over(engine, durable);
        self.stored.take().map(RetiredOrdersInput::Stored)
    }

    fn collect(&mut self) {
        if let Some(ended) = self.writing.take_if(|writing| writing.is_finished()) {
            self.stored = ended.join().ok().flatten();
        }
    }

    fn hand_over(&mut self, engine: &Engine, durable: u64) {
        let is_due = |through: &u64| *through <= durable && *through != self.handed_over && self.writing.is_none();
        let due = engine.stores_through().filter(is_due);
        let Some(keys) = due.and_then(|_| engine.keys_to_store()) else { return };
        self.handed_over = keys.through;
        let index = self.index.clone();
        if !self.has_thread {
            self.stored = store(&index, keys);
            return;
        }
        let spawned = thread::Builder::new().name("retired-ids".into()).spawn(move || store(&index, keys));
        match spawned {
            Ok(writing) => self.writing = Some(writing),
            Err(problem) => warn!(%problem, "ids of retired orders stay in memory: no thread could be started"),
        }
    }

    /// What the inputs of a turn need of the orders that the engine has forgotten.
    pub(crate) fn recall(
        &self,
        engine: &Engine,
        requests: &VecDeque<EngineRequest>,
        reports: &[Report],
    ) -> Option<RetiredOrdersInput> {
        let mut found = RecalledKeys::default();
        if !engine.has_retired_index() || self.index.is_empty() {
            return None;
        }
        let index = IndexLookup(&self.index);
        reports.iter().for_each(|report| engine.recall_for_report(report, &index, &mut found));
        for request in requests {
            match &request.payload {
                RequestPayload::Command(asked) => engine.recall_for_command(asked, &index, &mut found),
                RequestPayload::Query(query) => engine.recall_for_query(query, &index, &mut found),
                RequestPayload::LedgerRecord(_) | RequestPayload::DeliveryLog(_) => {}
            }
        }
        (!found.is_empty()).then_some(RetiredOrdersInput::Recalled(found))
    }
}

fn store(index: &RetiredIndex, keys: RetiredKeys) -> Option<u64> {
    let RetiredKeys { through, ids, others } = keys;
    let orders = ids.len();
    match index.store(through, ids, others) {
        Ok(()) => {
            info!(orders, through, "ids of retired orders are in the index");
            Some(through)
        }
        // Memory has them still.
        Err(problem) => {
            warn!(%problem, orders, "ids of retired orders could not be written and stay in memory until tomorrow");
            None
        }
    }
}

struct IndexLookup<'a>(&'a RetiredIndex);

impl RetiredKeyLookup for IndexLookup<'_> {
    /// An id that cannot be looked up counts as used: nothing must trade twice.
    fn has_id(&self, key: u128) -> bool {
        if PlantedBug::ForgetRetiredId.is_planted() {
            return false;
        }
        self.0.has_id(key).unwrap_or_else(|problem| unreadable(&problem, true))
    }

    fn has_name(&self, key: u128) -> bool {
        self.0.has_other(key).unwrap_or_else(|problem| unreadable(&problem, true))
    }

    /// A fill of an order that is gone is booked by hand where it is not known.
    fn has_fill(&self, key: u128) -> bool {
        self.0.has_other(key).unwrap_or_else(|problem| unreadable(&problem, false))
    }
}

fn unreadable(problem: &StorageError, answer: bool) -> bool {
    error!(%problem, "index of retired orders cannot be read: stop the server, delete the folder, and it is made again");
    answer
}
