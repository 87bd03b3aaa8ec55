//! Durability gate: replies, instructions and events wait until the input that caused them is durable.

use std::collections::VecDeque;

use bus::reply::{Reply, ReplySender};
use domain::{AdapterName, Instruction, MessageOrigin, PlantedBug, PublishedEvent, RiskScope};

/// Output of one input, waiting for durability.
pub(crate) struct GatedOutput {
    pub(crate) sequence: u64,
    pub(crate) reply: Option<(ReplySender, Reply)>,
    pub(crate) events: Vec<PublishedEvent>,
    pub(crate) instructions: Vec<(AdapterName, Instruction)>,
    /// A ledger record that may be read from now on.
    pub(crate) ledger_record: Option<Vec<u8>>,
    /// The session message of the input: its number is durable from now on.
    pub(crate) origin: Option<Box<MessageOrigin>>,
    /// The scope of a kill or a trading state: what was held back for it need not be any more.
    pub(crate) gate_scope: Option<RiskScope>,
}

impl GatedOutput {
    pub(crate) fn reply(sequence: u64, promise: ReplySender, reply: Reply) -> Self {
        let reply = Some((promise, reply));
        Self {
            sequence,
            reply,
            events: vec![],
            instructions: vec![],
            ledger_record: None,
            origin: None,
            gate_scope: None,
        }
    }
}

#[derive(Default)]
pub(crate) struct Gate(VecDeque<GatedOutput>);

impl Gate {
    pub(crate) fn push(&mut self, held: GatedOutput) {
        self.0.push_back(held);
    }

    /// The next output that may be released.
    pub(crate) fn pop_durable(&mut self, durable: u64) -> Option<GatedOutput> {
        let ahead = u64::from(PlantedBug::ReleaseAtWrongSequence.is_planted());
        self.0.pop_front_if(|held| held.sequence <= durable + ahead)
    }

    /// What is journalled and not released, in the journal's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &GatedOutput> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
