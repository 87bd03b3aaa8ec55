//! The read model behind the journal: the events that it has, and how far it has applied them. It can lose its end. And every event
//! that ever left the platform, which no restart may change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bus::History;
use bus::history::{
    ChangePage, Found, HistoryError, OrderSearch, PageRequest, SortOrder, StoredEvent, StoredSample, Stretch,
    TradedSearch, TransactionSearch, ValueSearch,
};
use domain::{Event, Order, OrderStatus, PublishedEvent, Transaction, TransactionId};
use storage::read_model::encode_event;

/// A damaged row is one of so many: the newest ones are those that clients may not have.
const ROWS_DAMAGED_OF: usize = 12;
/// No event begins so.
const DAMAGED_PAYLOAD: [u8; 1] = [0xff];

#[derive(Clone, Default)]
pub(crate) struct SimulatedReadModel(Arc<Mutex<ReadModelState>>);

#[derive(Default)]
struct ReadModelState {
    applied: u64,
    /// Events that left the platform, by the input that caused them.
    released: BTreeMap<u64, Vec<Event>>,
    /// What it can be asked for, by input.
    stored: BTreeMap<u64, Vec<StoredEvent>>,
}

impl SimulatedReadModel {
    pub(crate) fn applied(&self) -> u64 {
        self.lock().applied
    }

    /// Durable events of the running platform.
    pub(crate) fn append(&self, through: u64, events: &[PublishedEvent]) {
        let mut state = self.lock();
        state.store(through, events);
        for published in events {
            state.released.entry(published.sequence).or_default().push(published.event.clone());
        }
    }

    /// Events that recovery offers again: those that left were kept when they did.
    pub(crate) fn catch_up(&self, through: u64, events: &[PublishedEvent]) {
        let mut state = self.lock();
        if through > state.applied {
            state.store(through, events);
        }
    }

    /// Forgets what came after.
    pub(crate) fn roll_back_to(&self, sequence: u64) {
        let mut state = self.lock();
        state.applied = state.applied.min(sequence);
        state.stored.split_off(&(sequence + 1));
    }

    /// The input before its newest rows, of which there are so many.
    pub(crate) fn before_newest(&self, rows: usize) -> u64 {
        let state = self.lock();
        state.stored.keys().nth_back(rows).copied().unwrap_or(0).min(state.applied)
    }

    /// One of its newest rows cannot be read any more; which.
    pub(crate) fn damage_row(&self, draw: u64) -> Option<u64> {
        let mut state = self.lock();
        let newest: Vec<u64> = state.stored.keys().rev().take(ROWS_DAMAGED_OF).copied().collect();
        let sequence = *newest.get(usize::try_from(draw % newest.len().max(1) as u64).ok()?)?;
        state.stored.get_mut(&sequence)?.last_mut()?.payload = DAMAGED_PAYLOAD.to_vec();
        Some(sequence)
    }

    /// The newest input whose events it still has.
    pub(crate) fn newest_event(&self) -> u64 {
        let state = self.lock();
        state.released.keys().next_back().copied().unwrap_or(0).min(state.applied)
    }

    /// What left the platform behind a sequence, by input, to the first error.
    pub(crate) fn for_each_released<E>(
        &self,
        behind: u64,
        mut visit: impl FnMut(u64, &Vec<Event>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.lock().released.range(behind + 1..).try_for_each(|(sequence, events)| visit(*sequence, events))
    }

    /// Events behind a sequence, in order, as far as a caller may see them.
    fn read<T>(&self, as_of: u64, read: impl FnOnce(&ReadModelState) -> T) -> Result<T, HistoryError> {
        let state = self.lock();
        if state.applied < as_of {
            return Err(HistoryError::Behind { applied: state.applied, wanted: as_of });
        }
        Ok(read(&state))
    }

    fn lock(&self) -> MutexGuard<'_, ReadModelState> {
        // One thread uses it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadModelState {
    fn store(&mut self, through: u64, events: &[PublishedEvent]) {
        self.applied = through;
        let mut payload = Vec::new();
        for PublishedEvent { sequence, at, event } in events {
            if encode_event(event, &mut payload) {
                let class = event.class() as u8;
                let stored = StoredEvent { sequence: *sequence, at: *at, class, payload: payload.clone() };
                self.stored.entry(*sequence).or_default().push(stored);
            }
        }
    }
}

/// Orders and transactions are asked for by interfaces that are not simulated; what happened, by FIX sessions and subscribers.
impl History for SimulatedReadModel {
    fn orders(&self, _: u64, _: &OrderSearch, _: SortOrder, _: PageRequest) -> Result<Vec<Arc<Order>>, HistoryError> {
        Err(not_simulated())
    }

    fn traded_orders(&self, _: u64, _: &TradedSearch, _: ChangePage) -> Result<Vec<Arc<Order>>, HistoryError> {
        Err(not_simulated())
    }

    fn order_events(&self, _: u64, _: &str) -> Result<Vec<OrderStatus>, HistoryError> {
        Err(not_simulated())
    }

    fn transactions(
        &self,
        _: u64,
        _: &TransactionSearch,
        _: SortOrder,
        _: PageRequest,
    ) -> Result<Vec<Arc<Transaction>>, HistoryError> {
        Err(not_simulated())
    }

    fn transaction(&self, _: u64, _: TransactionId) -> Result<Option<Arc<Transaction>>, HistoryError> {
        Err(not_simulated())
    }

    fn value_samples(&self, _: u64, _: &ValueSearch, _: PageRequest) -> Result<Vec<StoredSample>, HistoryError> {
        Err(not_simulated())
    }

    /// All events of an input or none, so that a page ends between two inputs.
    fn events(&self, as_of: u64, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        self.read(as_of, |state| {
            let mut found = Vec::new();
            for (_, events) in state.stored.range(page.after + 1..) {
                if found.len() >= page.limit {
                    break;
                }
                found.extend(events.iter().cloned());
            }
            found
        })
    }

    fn events_behind(&self, as_of: u64, stretch: Stretch) -> Result<Found, HistoryError> {
        self.read(as_of, |state| {
            let placed = state.stored.range(stretch.after.0..).flat_map(|(_, events)| (0..).zip(events));
            let mut behind = placed.filter(|(place, event)| (event.sequence, *place) > stretch.after).peekable();
            let (mut found, mut octets) = (Found::default(), 0);
            while let Some((place, event)) = behind.next_if(|_| found.events.len() < stretch.limit) {
                octets += event.payload.len();
                found.events.push((place, event.clone()));
                if octets >= stretch.octets {
                    break;
                }
            }
            found.is_cut = behind.peek().is_some();
            found
        })
    }

    fn answers_at_once(&self) -> bool {
        true
    }
}

fn not_simulated() -> HistoryError {
    HistoryError::Failed("the simulated read model has events only".to_owned())
}
