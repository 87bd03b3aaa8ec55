//! Queue dispatcher: each message goes to one consumer and is redelivered if it is not acknowledged.

use std::sync::Arc;

use stomp::lanes::Delivery;
use stomp::queues::{DEAD_LETTERS, QueueDelivery, Queues};
use stomp::session::{Marks, Token};
use stomp::{Kind, Message, Pattern};

use crate::seats::{ConnectionId, Consumer, Seats};

/// The queues and their consumers.
#[derive(Default)]
pub(crate) struct FedQueues(Queues<Consumer>);

impl FedQueues {
    pub(crate) fn join(
        &mut self,
        seats: &Seats,
        queue: &str,
        consumer: Consumer,
        prefetch: usize,
    ) -> Result<(), String> {
        self.0.join(queue, consumer, prefetch).map_err(|full| full.to_string())?;
        self.feed(seats, queue);
        Ok(())
    }

    /// Unacknowledged messages of a consumer are redelivered at once, or become dead letters.
    pub(crate) fn leave(&mut self, seats: &Seats, queue: &str, consumer: Consumer) {
        self.0.leave(queue, consumer);
        self.feed(seats, queue);
        self.feed(seats, DEAD_LETTERS);
    }

    /// Whether all of these fit, each with its queue and size.
    pub(crate) fn check<'a>(&self, sent: impl IntoIterator<Item = (&'a str, usize)>) -> Result<(), String> {
        self.0.check(sent).map_err(|full| full.to_string())
    }

    pub(crate) fn send(
        &mut self,
        seats: &Seats,
        queue: &str,
        message: Arc<Message>,
        size: usize,
    ) -> Result<(), String> {
        self.0.send(queue, message, size).map_err(|full| full.to_string())?;
        self.feed(seats, queue);
        Ok(())
    }

    pub(crate) fn settle(&mut self, seats: &Seats, consumer: Consumer, tokens: &[Token]) {
        for queue in queues_of(seats, consumer) {
            self.0.settle(queue, consumer, tokens);
            self.feed(seats, queue);
        }
    }

    pub(crate) fn give_back(&mut self, seats: &Seats, consumer: Consumer, tokens: &[Token]) {
        for queue in queues_of(seats, consumer) {
            self.0.give_back(queue, consumer, tokens);
            self.feed(seats, queue);
        }
        self.feed(seats, DEAD_LETTERS);
    }

    /// Every queue that a connection consumes.
    pub(crate) fn feed_all(&mut self, seats: &Seats, connection: ConnectionId) {
        let keys = seats.get(connection).into_iter().flat_map(|seat| seat.subscriptions.keys());
        for queue in keys.flat_map(|key| queues_of(seats, (connection, *key))) {
            self.feed(seats, queue);
        }
    }

    /// Octets that wait in all of them.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Delivers messages of a queue to consumers with room.
    fn feed(&mut self, seats: &Seats, queue: &str) {
        let takes_more =
            |(connection, _): Consumer| seats.get(connection).is_some_and(|seat| seat.mailbox.takes_more());
        while let Some(QueueDelivery { consumer, token, message, redelivered }) = self.0.next(queue, takes_more) {
            let marks = Marks { redelivered, ..Marks::default() };
            let delivery = Delivery { subscription: consumer.1, message, token: Some(token), marks };
            if let Some(seat) = seats.get(consumer.0) {
                seat.mailbox.deliver(delivery);
            }
        }
    }
}

/// The queues of a subscription.
fn queues_of(seats: &Seats, consumer: Consumer) -> impl Iterator<Item = &str> {
    let patterns = seats.subscription(consumer).into_iter().flat_map(|subscription| &*subscription.patterns);
    patterns.filter(|pattern| pattern.kind() == Kind::Queue).map(Pattern::name)
}
