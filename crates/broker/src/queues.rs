//! Queues at the hub: each message goes to one consumer, and comes back if that one does not confirm it.

use std::sync::Arc;

use stomp::lanes::Delivery;
use stomp::queues::QueueDelivery;
use stomp::session::{Marks, SubscriptionKey, Token};
use stomp::{Kind, Message, Time};

use crate::hub::{Consumer, Place, State};

impl State {
    pub(super) fn join_queue(
        &mut self,
        now: Time,
        queue: &str,
        consumer: Consumer,
        prefetch: usize,
    ) -> Result<(), String> {
        self.queues.join(queue, consumer, prefetch).map_err(|full| full.to_string())?;
        self.feed(now, queue);
        Ok(())
    }

    pub(super) fn leave_queue(&mut self, queue: &str, consumer: Consumer) {
        self.queues.leave(queue, consumer);
    }

    pub(super) fn send_to_queue(
        &mut self,
        now: Time,
        queue: &str,
        message: Arc<Message>,
        size: usize,
    ) -> Result<(), String> {
        self.queues.send(queue, message, size).map_err(|full| full.to_string())?;
        self.feed(now, queue);
        Ok(())
    }

    /// Gives a queue's messages to those who have room for them.
    fn feed(&mut self, now: Time, queue: &str) {
        let seats = &self.seats;
        let takes_more = |(connection, _): Consumer| {
            seats.get(&connection).is_some_and(|seat| seat.mailbox.open().lanes.takes_more())
        };
        while let Some(QueueDelivery { consumer, token, message, redelivered }) = self.queues.next(queue, takes_more) {
            let marks = Marks { redelivered, ..Marks::default() };
            let delivery = Delivery { subscription: consumer.1, message, token: Some(token), marks };
            if let Some(seat) = seats.get(&consumer.0) {
                seat.mailbox.reliable(now, delivery);
            }
        }
    }

    /// The queues that a subscription takes from.
    fn queues_of(&self, (connection, key): Consumer) -> Vec<String> {
        let subscription = self.seats.get(&connection).and_then(|seat| seat.subscriptions.get(&key));
        let patterns = subscription.into_iter().flat_map(|subscription| &subscription.patterns);
        patterns.filter(|pattern| pattern.kind() == Kind::Queue).map(|pattern| pattern.name().to_owned()).collect()
    }
}

impl Place {
    /// Whether all of these fit, each with its queue and size.
    pub(crate) fn check_queues<'a>(&self, sent: impl IntoIterator<Item = (&'a str, usize)>) -> Result<(), String> {
        self.hub().lock().queues.check(sent).map_err(|full| full.to_string())
    }

    pub(crate) fn settle(&self, now: Time, subscription: SubscriptionKey, tokens: &[Token]) {
        self.change(now, subscription, |state, queue, consumer| state.queues.settle(queue, consumer, tokens));
    }

    pub(crate) fn give_back(&self, now: Time, subscription: SubscriptionKey, tokens: &[Token]) {
        self.change(now, subscription, |state, queue, consumer| state.queues.give_back(queue, consumer, tokens));
    }

    /// Room was made for queues that waited because of this connection.
    pub(crate) fn take_more(&self, now: Time) {
        let mut state = self.hub().lock();
        let keys = state.seats.get(&self.id).map(|seat| seat.subscriptions.keys().copied().collect::<Vec<_>>());
        for key in keys.unwrap_or_default() {
            state.queues_of((self.id, key)).iter().for_each(|queue| state.feed(now, queue));
        }
    }

    fn change(&self, now: Time, key: SubscriptionKey, mut change: impl FnMut(&mut State, &str, Consumer)) {
        let mut state = self.hub().lock();
        for queue in state.queues_of((self.id, key)) {
            change(&mut state, &queue, (self.id, key));
            state.feed(now, &queue);
        }
    }
}
