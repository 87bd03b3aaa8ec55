//! Injected faults: what a network and a disk do to requests, answers and entries on their way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storage::replication::{LoadReply, LogPosition, LogStore, MessageId, StoreReply};

/// What happens to the next request to append.
#[derive(Debug, Clone)]
pub enum StoreFault {
    /// It never reaches the log; the client gets this answer instead, or `NoAnswer`.
    NotDelivered(StoreReply),
    /// It reaches the log; the client gets this answer instead of the log's.
    Answered(StoreReply),
    /// It reaches the log twice; the client gets the second answer.
    Twice,
    /// It is under way until [`FaultQueue::release`]; the client gets `NoAnswer`.
    Delayed,
}

impl StoreFault {
    pub const LOST_REQUEST: Self = Self::NotDelivered(StoreReply::NoAnswer);
    pub const LOST_ANSWER: Self = Self::Answered(StoreReply::NoAnswer);

    /// The log says no, for a reason of its own.
    pub fn rejection() -> Self {
        Self::NotDelivered(StoreReply::Rejected { reason: "no space left".to_owned() })
    }
}

/// What a client finds at a position, as long as the fault lasts.
#[derive(Debug, Clone)]
pub enum LoadFault {
    /// One bit is another; `byte` counts from the start, and from the end where negative.
    FlippedBit { position: u64, byte: isize },
    /// The entry is not found, and the log says no more than that.
    Hidden { position: u64 },
    /// The entry is that of another position.
    Replaced { position: u64, by: u64 },
    /// As [`Self::FlippedBit`], but on one machine alone: another copy is good.
    FlippedOnce { position: u64, byte: isize },
    /// As [`Self::Hidden`], but on one machine alone.
    HiddenOnce { position: u64 },
}

/// The faults of one client, and how a rule sets them.
#[derive(Debug, Clone, Default)]
pub struct FaultQueue(Arc<Mutex<QueuedFaults>>);

#[derive(Debug, Default)]
struct QueuedFaults {
    store: VecDeque<StoreFault>,
    load: Vec<LoadFault>,
    delayed: Vec<DelayedRequest>,
    copies_asked: u64,
    is_released: bool,
}

#[derive(Debug)]
struct DelayedRequest {
    expected: LogPosition,
    id: MessageId,
    entry: Vec<u8>,
}

impl FaultQueue {
    /// For the next request that has no fault yet.
    pub fn on_store(&self, fault: StoreFault) {
        self.state().store.push_back(fault);
    }

    /// From now on, until they are cleared.
    pub fn on_load(&self, fault: LoadFault) {
        self.state().load.push(fault);
    }

    pub fn clear_load(&self) {
        self.state().load.clear();
    }

    /// Delayed requests reach the log before the client's next call does.
    pub fn release(&self) {
        self.state().is_released = true;
    }

    fn state(&self) -> MutexGuard<'_, QueuedFaults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An engine behind an unreliable network.
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    faults: FaultQueue,
}

impl<S: LogStore> FaultyStore<S> {
    pub fn new(inner: S, faults: FaultQueue) -> Self {
        Self { inner, faults }
    }

    fn deliver_released(&mut self) {
        let mut faults = self.faults.state();
        if !std::mem::take(&mut faults.is_released) {
            return;
        }
        let delayed = std::mem::take(&mut faults.delayed);
        drop(faults);
        for DelayedRequest { expected, id, entry } in delayed {
            let _ = self.inner.store(expected, &id, &entry);
        }
    }

    fn load_with(&mut self, fault: Option<LoadFault>, position: LogPosition) -> LoadReply {
        match fault {
            None => self.inner.load(position),
            Some(LoadFault::Replaced { by, .. }) => self.inner.load(LogPosition(by)),
            Some(LoadFault::FlippedBit { byte, .. } | LoadFault::FlippedOnce { byte, .. }) => {
                flipped(self.inner.load(position), byte)
            }
            Some(LoadFault::Hidden { .. } | LoadFault::HiddenOnce { .. }) => match self.inner.load(position.next()) {
                LoadReply::Entry(_) => LoadReply::Missing { next: position.next() },
                other => other,
            },
        }
    }
}

fn is_meant(fault: &LoadFault, position: LogPosition) -> bool {
    let (LoadFault::FlippedBit { position: at, .. }
    | LoadFault::FlippedOnce { position: at, .. }
    | LoadFault::Hidden { position: at }
    | LoadFault::HiddenOnce { position: at }
    | LoadFault::Replaced { position: at, .. }) = fault;
    *at == position.0
}

fn flipped(reply: LoadReply, byte: isize) -> LoadReply {
    let LoadReply::Entry(mut entry) = reply else { return reply };
    let at = if byte < 0 { entry.len().saturating_add_signed(byte) } else { byte.unsigned_abs() };
    if let Some(found) = entry.get_mut(at) {
        *found ^= 1;
    }
    LoadReply::Entry(entry)
}

impl<S: LogStore> LogStore for FaultyStore<S> {
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply {
        self.deliver_released();
        let fault = self.faults.state().store.pop_front();
        match fault {
            None => self.inner.store(expected, id, entry),
            Some(StoreFault::NotDelivered(reply)) => reply,
            Some(StoreFault::Answered(reply)) => {
                self.inner.store(expected, id, entry);
                reply
            }
            Some(StoreFault::Twice) => {
                self.inner.store(expected, id, entry);
                self.inner.store(expected, id, entry)
            }
            Some(StoreFault::Delayed) => {
                let delayed = DelayedRequest { expected, id: id.clone(), entry: entry.to_vec() };
                self.faults.state().delayed.push(delayed);
                StoreReply::NoAnswer
            }
        }
    }

    fn load(&mut self, position: LogPosition) -> LoadReply {
        self.deliver_released();
        let fault = self.faults.state().load.iter().find(|fault| is_meant(fault, position)).cloned();
        self.load_with(fault, position)
    }

    /// The third machine that is asked has a good copy, where any has.
    fn load_copy(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        let mut faults = self.faults.state();
        let fault = faults.load.iter().find(|fault| is_meant(fault, position)).cloned();
        faults.copies_asked += 1;
        let is_good = matches!(fault, Some(LoadFault::FlippedOnce { .. } | LoadFault::HiddenOnce { .. }) | None);
        let is_asked = faults.copies_asked.is_multiple_of(3);
        drop(faults);
        match self.load_with(fault.filter(|_| !(is_good && is_asked)), position) {
            LoadReply::Entry(entry) => Some(entry),
            _ => None,
        }
    }

    fn discard(&mut self, below: LogPosition) -> Result<(), String> {
        self.deliver_released();
        self.inner.discard(below)
    }
}
