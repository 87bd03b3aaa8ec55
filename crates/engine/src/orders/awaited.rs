//! Requests that a venue has not answered. One that stays silent for too long puts the order in doubt, and a person is told:
//! a connection that is there but mute must not look like an order that is merely slow.

use std::collections::VecDeque;

use domain::order::{BaseState, Order, Pending};
use domain::{OrderId, Text, Timestamp};
use minicbor::{Decode, Encode};

use super::reports::Word;
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

/// In the order in which they fall due: all wait equally long.
#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct Awaited(#[n(0)] VecDeque<(Timestamp, OrderId)>);

impl Awaited {
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.0.front().map(|(due, _)| *due)
    }
}

pub(crate) fn is_unanswered(order: &Order) -> bool {
    order.state == BaseState::PendingNew || order.pending != Pending::Nothing
}

impl Trading {
    /// A request goes to the venue; without a limit it may wait for ever.
    pub(crate) fn await_answer(&mut self, moment: Moment, order: OrderId) {
        let limit_seconds = i64::from(self.settings.answer_within_seconds);
        if limit_seconds > 0 {
            self.awaited.0.push_back((moment.at.plus_seconds(limit_seconds), order));
        }
    }

    /// Drops what was answered in time from the front, so that nobody wakes for it.
    pub(crate) fn drop_answered(&mut self) {
        let is_waiting = |id: OrderId| self.orders.get(id).is_some_and(|order| is_unanswered(order) && !order.in_doubt);
        while self.awaited.0.front().is_some_and(|(_, id)| !is_waiting(*id)) {
            self.awaited.0.pop_front();
        }
    }

    pub(crate) fn doubt_overdue(&mut self, moment: Moment, out: &mut Outbox) {
        while let Some((_, order)) = self.awaited.0.pop_front_if(|(due, _)| *due <= moment.at) {
            let waits = self.orders.get(order).filter(|order| is_unanswered(order) && !order.in_doubt);
            let Some(int_id) = waits.map(|order| order.int_id.clone()) else { continue };
            let reason = format!("the venue has not answered for {} s", self.settings.answer_within_seconds);
            out.warn("no-answer", format!("order {int_id}: {reason}"));
            self.doubted(Word { moment, order, ext_at: None }, &Text::from(reason), out);
        }
    }
}
