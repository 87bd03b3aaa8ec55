//! Instruction queues: one bounded queue per adapter. Cancels that find it full wait behind it and are never refused.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use domain::{AdapterName, Instruction, Order, OrderId};

/// Instructions that may wait for an adapter; another one is returned as a `NotSent` report, unless it is a cancel.
pub const INSTRUCTIONS_MAX: usize = 8_192;

/// The adapter's end.
pub type Outlet = Receiver<Instruction>;

/// The queues of all adapters.
#[derive(Default)]
pub struct Outlets(BTreeMap<AdapterName, Way>);

/// The queue of one adapter.
struct Way {
    queue: Sender<Instruction>,
    cancels: Cancels,
}

/// Cancels that found the queue full, in order of request. Clients rely on a cancel, so none is refused; there is at
/// most one per order, so no more wait than there are orders.
#[derive(Default)]
struct Cancels {
    turns: VecDeque<OrderId>,
    orders: BTreeMap<OrderId, Arc<Order>>,
}

/// Why an instruction was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotHandedOver {
    /// No adapter of that name is configured.
    NoAdapter,
    /// Its queue is full.
    Full,
    /// It has stopped.
    Stopped,
}

impl fmt::Display for NotHandedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAdapter => "it is not configured",
            Self::Full => "too many instructions wait for it already",
            Self::Stopped => "it has stopped",
        })
    }
}

impl Outlets {
    pub fn open(&mut self, adapter: AdapterName) -> Outlet {
        let (queue, outlet) = bounded(INSTRUCTIONS_MAX);
        self.0.insert(adapter, Way { queue, cancels: Cancels::default() });
        outlet
    }

    /// A cancel is refused only where its adapter is gone; other instructions also where the queue is full.
    pub fn hand_over(&mut self, adapter: &AdapterName, instruction: Instruction) -> Result<(), NotHandedOver> {
        self.0.get_mut(adapter).ok_or(NotHandedOver::NoAdapter)?.take(instruction)
    }

    /// Moves waiting cancels into the queues as far as there is room. Returns cancels whose adapter is gone.
    pub fn bring_on(&mut self) -> Vec<(AdapterName, Instruction)> {
        let mut lost = Vec::new();
        for (adapter, way) in &mut self.0 {
            if way.bring_on() == Err(NotHandedOver::Stopped) {
                lost.extend(way.cancels.drain().map(|cancel| (adapter.clone(), cancel)));
            }
        }
        lost
    }

    pub fn has_waiting(&self) -> bool {
        self.0.values().any(|way| !way.cancels.turns.is_empty())
    }

    pub fn names(&self) -> impl Iterator<Item = &AdapterName> {
        self.0.keys()
    }
}

impl Way {
    /// Waiting cancels go first, so that no later instruction overtakes them.
    fn take(&mut self, instruction: Instruction) -> Result<(), NotHandedOver> {
        let sent = self.bring_on().and_then(|()| send(&self.queue, instruction.clone()));
        match (sent, instruction) {
            (Err(NotHandedOver::Full), Instruction::Cancel(order)) => {
                self.cancels.put(order);
                Ok(())
            }
            (sent, _) => sent,
        }
    }

    fn bring_on(&mut self) -> Result<(), NotHandedOver> {
        while let Some(order) = self.cancels.first() {
            send(&self.queue, Instruction::Cancel(order.clone()))?;
            self.cancels.take_first();
        }
        Ok(())
    }
}

fn send(queue: &Sender<Instruction>, instruction: Instruction) -> Result<(), NotHandedOver> {
    queue.try_send(instruction).map_err(|refused| match refused {
        TrySendError::Full(_) => NotHandedOver::Full,
        TrySendError::Disconnected(_) => NotHandedOver::Stopped,
    })
}

impl Cancels {
    /// A repeated cancel keeps its position.
    fn put(&mut self, order: Arc<Order>) {
        let id = order.id;
        if self.orders.insert(id, order).is_none() {
            self.turns.push_back(id);
        }
    }

    fn first(&self) -> Option<&Arc<Order>> {
        self.turns.front().and_then(|id| self.orders.get(id))
    }

    fn take_first(&mut self) -> Option<Arc<Order>> {
        self.turns.pop_front().and_then(|id| self.orders.remove(&id))
    }

    fn drain(&mut self) -> impl Iterator<Item = Instruction> {
        std::iter::from_fn(|| self.take_first().map(Instruction::Cancel))
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
    fn full() -> (Outlets, Outlet) {
        let mut outlets = Outlets::default();
        let outlet = outlets.open(venue());
        for id in 1..=INSTRUCTIONS_MAX as u64 {
            outlets.hand_over(&venue(), Instruction::Submit(order(id))).unwrap();
        }
        (outlets, outlet)
    }

    fn cancel(outlets: &mut Outlets, id: u64) -> Result<(), NotHandedOver> {
        outlets.hand_over(&venue(), Instruction::Cancel(order(id)))
    }

    fn cancels(outlet: &Outlet, count: usize) -> Vec<u64> {
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
        assert_eq!(outlets.hand_over(&venue(), submit.clone()), Err(NotHandedOver::Full));
        assert!(cancels(&outlet, 2).is_empty());
        // Room for two: waiting cancels go first.
        assert_eq!(outlets.hand_over(&venue(), submit.clone()), Err(NotHandedOver::Full));
        assert!(outlets.has_waiting());
        assert!(cancels(&outlet, INSTRUCTIONS_MAX - 2).is_empty());
        assert_eq!(outlets.bring_on(), []);
        assert_eq!(cancels(&outlet, 9), [7, 3, 5]);
        assert!(!outlets.has_waiting());
        assert_eq!(outlets.hand_over(&venue(), submit), Ok(()));
    }

    #[test]
    fn cancels_that_wait_for_an_adapter_that_stops_are_given_back() {
        let (mut outlets, outlet) = full();
        cancel(&mut outlets, 3).unwrap();
        drop(outlet);
        assert_eq!(outlets.bring_on(), [(venue(), Instruction::Cancel(order(3)))]);
        assert_eq!(cancel(&mut outlets, 4), Err(NotHandedOver::Stopped));
        assert_eq!(outlets.hand_over(&AdapterName("SIM-B".into()), Instruction::LogOn), Err(NotHandedOver::NoAdapter));
    }
}
