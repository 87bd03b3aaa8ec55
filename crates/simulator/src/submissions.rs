//! Submissions of orders to their venues, over the whole run: a process that starts again goes on with what the one before has sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{Instruction, Order, OrderId};

use crate::invariants::venue_books::OrderAtVenue;

#[derive(Default)]
pub(crate) struct Submissions {
    /// How far the journal was durable when an adapter took the order last.
    taken_at: BTreeMap<OrderId, u64>,
    pub(crate) repeated: Vec<RepeatedSubmission>,
}

/// An order that an adapter has taken before.
pub(crate) struct RepeatedSubmission {
    pub(crate) order: Arc<Order>,
    /// How far the journal was durable when it was taken before.
    pub(crate) before: u64,
    /// The same for this time.
    pub(crate) now: u64,
    /// What its venue had of it then; why that is not known.
    pub(crate) at_venue: Result<Option<OrderAtVenue>, String>,
}

impl Submissions {
    /// An adapter takes this for its venue. The venue swallows an order that it knows, so it is asked before.
    pub(crate) fn on_instruction(
        &mut self,
        now: u64,
        instruction: &Instruction,
        look_up: impl FnOnce(&Order) -> Result<Option<OrderAtVenue>, String>,
    ) {
        let Instruction::Submit(order) = instruction else { return };
        if let Some(before) = self.taken_at.insert(order.id, now) {
            let at_venue = look_up(order);
            self.repeated.push(RepeatedSubmission { order: order.clone(), before, now, at_venue });
        }
    }
}
