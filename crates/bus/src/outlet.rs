//! Instructions on their way to a venue: one bounded queue per adapter.

use std::collections::BTreeMap;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use domain::{AdapterName, Instruction};

/// Instructions that may wait for an adapter; one more is answered by an `Unsent` report.
pub const INSTRUCTIONS_MAX: usize = 8_192;

/// The adapter's end.
pub type Outlet = Receiver<Instruction>;

/// All adapters that instructions can go to.
#[derive(Default)]
pub struct Outlets(BTreeMap<AdapterName, Sender<Instruction>>);

/// The instruction was not handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotHandedOver {
    /// No adapter of that name is configured.
    NoAdapter,
    /// Its queue is full.
    Full,
    /// It has stopped.
    Stopped,
}

impl Outlets {
    pub fn open(&mut self, adapter: AdapterName) -> Outlet {
        let (sender, outlet) = bounded(INSTRUCTIONS_MAX);
        self.0.insert(adapter, sender);
        outlet
    }

    pub fn hand_over(&self, adapter: &AdapterName, instruction: Instruction) -> Result<(), NotHandedOver> {
        let queue = self.0.get(adapter).ok_or(NotHandedOver::NoAdapter)?;
        queue.try_send(instruction).map_err(|refused| match refused {
            TrySendError::Full(_) => NotHandedOver::Full,
            TrySendError::Disconnected(_) => NotHandedOver::Stopped,
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &AdapterName> {
        self.0.keys()
    }
}
