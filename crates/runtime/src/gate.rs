//! Durability gate: replies, instructions and events wait until the input that caused them is durable.

use std::collections::VecDeque;

use bus::ticket::{Promise, Reply};
use domain::{AdapterName, Instruction, Origin, Published};

/// Output of one input, waiting for durability.
pub(crate) struct Held {
    pub(crate) sequence: u64,
    pub(crate) reply: Option<(Promise, Reply)>,
    pub(crate) events: Vec<Published>,
    pub(crate) instructions: Vec<(AdapterName, Instruction)>,
    /// A ledger record that may be read from now on.
    pub(crate) remembered: Option<Vec<u8>>,
    /// The session message of the input: its number is durable from now on.
    pub(crate) origin: Option<Box<Origin>>,
}

impl Held {
    pub(crate) fn reply(sequence: u64, promise: Promise, reply: Reply) -> Self {
        let reply = Some((promise, reply));
        Self { sequence, reply, events: vec![], instructions: vec![], remembered: None, origin: None }
    }
}

#[derive(Default)]
pub(crate) struct Gate(VecDeque<Held>);

impl Gate {
    pub(crate) fn hold(&mut self, held: Held) {
        self.0.push_back(held);
    }

    /// The next output that may be released.
    pub(crate) fn pass(&mut self, durable: u64) -> Option<Held> {
        self.0.pop_front_if(|held| held.sequence <= durable)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
