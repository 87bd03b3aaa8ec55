//! Venue timeouts: an order whose request the venue has not answered in time is put in doubt, and an alarm is raised. A
//! connection that is up but silent must not look like a slow order.

use std::collections::VecDeque;

use domain::order::{BaseState, Order, Pending};
use domain::{OrderId, Text, Timestamp};
use minicbor::{Decode, Encode};

use super::reports::Word;
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::trading::Trading;

/// In the order of their deadlines: all have the same timeout.
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
    /// A request goes to the venue; without a timeout it may stay unanswered for ever.
    pub(crate) fn await_answer(&mut self, moment: Moment, order: OrderId) {
        let limit_seconds = i64::from(self.settings.answer_within_seconds);
        if limit_seconds > 0 {
            self.awaited.0.push_back((moment.at.plus_seconds(limit_seconds), order));
        }
    }

    /// Drops answered requests from the front, so that they cause no deadline.
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
