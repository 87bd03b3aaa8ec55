//! Instruction queues: one bounded queue per adapter. Cancels that find it full wait behind it and are never refused.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use domain::{AdapterName, Instruction, Order, OrderId};

/// Instructions that may wait for an adapter; another one is returned as a `NotSent` report, unless it is a cancel.
pub const INSTRUCTIONS_MAX: usize = 8_192;

/// The adapter's end.
pub type InstructionQueue = Receiver<Instruction>;

/// The queues of all adapters.
#[derive(Default)]
pub struct InstructionRouter(BTreeMap<AdapterName, VenueQueue>);

/// The queue of one adapter.
struct VenueQueue {
    queue: Sender<Instruction>,
    cancels: PendingCancels,
}

/// Cancels that found the queue full, in order of request. Clients rely on a cancel, so none is refused; there is at
/// most one per order, so no more wait than there are orders.
#[derive(Default)]
struct PendingCancels {
    queue: VecDeque<OrderId>,
    orders: BTreeMap<OrderId, Arc<Order>>,
}

/// Why an instruction was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionError {
    /// No adapter of that name is configured.
    UnknownAdapter,
    /// Its queue is full.
    Full,
    /// It has stopped.
    Stopped,
}

impl fmt::Display for InstructionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownAdapter => "it is not configured",
            Self::Full => "too many instructions wait for it already",
            Self::Stopped => "it has stopped",
        })
    }
}

impl InstructionRouter {
    /// Opens the queue of an adapter.
    pub fn open(&mut self, adapter: AdapterName) -> InstructionQueue {
        let (queue, outlet) = bounded(INSTRUCTIONS_MAX);
        self.0.insert(adapter, VenueQueue { queue, cancels: PendingCancels::default() });
        outlet
    }

    /// A cancel is refused only where its adapter is gone; other instructions also where the queue is full.
    pub fn send(&mut self, adapter: &AdapterName, instruction: Instruction) -> Result<(), InstructionError> {
        self.0.get_mut(adapter).ok_or(InstructionError::UnknownAdapter)?.send(instruction)
    }

    /// Moves waiting cancels into the queues as far as there is room. Returns cancels whose adapter is gone.
    pub fn flush(&mut self) -> Vec<(AdapterName, Instruction)> {
        let mut lost = Vec::new();
        for (adapter, way) in &mut self.0 {
            if way.flush() == Err(InstructionError::Stopped) {
                lost.extend(way.cancels.drain().map(|cancel| (adapter.clone(), cancel)));
            }
        }
        lost
    }

    /// Whether cancels wait behind a full queue.
    pub fn has_waiting(&self) -> bool {
        self.0.values().any(|way| !way.cancels.queue.is_empty())
    }

    /// The adapters.
    pub fn names(&self) -> impl Iterator<Item = &AdapterName> {
        self.0.keys()
    }
}

impl VenueQueue {
    /// Waiting cancels go first, so that no later instruction overtakes them.
    fn send(&mut self, instruction: Instruction) -> Result<(), InstructionError> {
        let sent = self.flush().and_then(|()| try_send(&self.queue, instruction.clone()));
        match (sent, instruction) {
            (Err(InstructionError::Full), Instruction::Cancel(order)) => {
                self.cancels.push(order);
                Ok(())
            }
            (sent, _) => sent,
        }
    }

    fn flush(&mut self) -> Result<(), InstructionError> {
        while let Some(order) = self.cancels.first() {
            try_send(&self.queue, Instruction::Cancel(order.clone()))?;
            self.cancels.pop_first();
        }
        Ok(())
    }
}

fn try_send(queue: &Sender<Instruction>, instruction: Instruction) -> Result<(), InstructionError> {
    queue.try_send(instruction).map_err(|refused| match refused {
        TrySendError::Full(_) => InstructionError::Full,
        TrySendError::Disconnected(_) => InstructionError::Stopped,
    })
}

impl PendingCancels {
    /// A repeated cancel keeps its position.
    fn push(&mut self, order: Arc<Order>) {
        let id = order.id;
        if self.orders.insert(id, order).is_none() {
            self.queue.push_back(id);
        }
    }

    fn first(&self) -> Option<&Arc<Order>> {
        self.queue.front().and_then(|id| self.orders.get(id))
    }

    fn pop_first(&mut self) -> Option<Arc<Order>> {
        self.queue.pop_front().and_then(|id| self.orders.remove(&id))
    }

    fn drain(&mut self) -> impl Iterator<Item = Instruction> {
        std::iter::from_fn(|| self.pop_first().map(Instruction::Cancel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn venue() -> AdapterName {
        AdapterName("SIM-A".into())
    }

    fn order(id: u64) -> Arc<Order> {
        Arc::new(samples::order(id))
    }

    /// A queue that is full.
    fn full() -> (InstructionRouter, InstructionQueue) {
        let mut outlets = InstructionRouter::default();
        let outlet = outlets.open(venue());
        for id in 1..=INSTRUCTIONS_MAX as u64 {
            outlets.send(&venue(), Instruction::Submit(order(id))).unwrap();
        }
        (outlets, outlet)
    }

    fn cancel(outlets: &mut InstructionRouter, id: u64) -> Result<(), InstructionError> {
        outlets.send(&venue(), Instruction::Cancel(order(id)))
    }

    fn cancels(outlet: &InstructionQueue, count: usize) -> Vec<u64> {
        let taken = outlet.try_iter().take(count).filter_map(|instruction| match instruction {
            Instruction::Cancel(order) => Some(order.id.0),
            _ => None,
        });
        taken.collect()
    }

    #[test]
    fn cancels_wait_for_room_and_keep_their_order_and_other_instructions_are_refused() {
        let (mut outlets, outlet) = full();
        for id in [7, 3, 7, 5] {
            assert_eq!(cancel(&mut outlets, id), Ok(()));
        }
        let submit = Instruction::Submit(order(9_000));
        assert_eq!(outlets.send(&venue(), submit.clone()), Err(InstructionError::Full));
        assert!(cancels(&outlet, 2).is_empty());
        // Room for two: waiting cancels go first.
        assert_eq!(outlets.send(&venue(), submit.clone()), Err(InstructionError::Full));
        assert!(outlets.has_waiting());
        assert!(cancels(&outlet, INSTRUCTIONS_MAX - 2).is_empty());
        assert_eq!(outlets.flush(), []);
        assert_eq!(cancels(&outlet, 9), [7, 3, 5]);
        assert!(!outlets.has_waiting());
        assert_eq!(outlets.send(&venue(), submit), Ok(()));
    }

    #[test]
    fn cancels_that_wait_for_an_adapter_that_stops_are_given_back() {
        let (mut outlets, outlet) = full();
        cancel(&mut outlets, 3).unwrap();
        drop(outlet);
        assert_eq!(outlets.flush(), [(venue(), Instruction::Cancel(order(3)))]);
        assert_eq!(cancel(&mut outlets, 4), Err(InstructionError::Stopped));
        assert_eq!(
            outlets.send(&AdapterName("SIM-B".into()), Instruction::LogOn),
            Err(InstructionError::UnknownAdapter)
        );
    }
}
