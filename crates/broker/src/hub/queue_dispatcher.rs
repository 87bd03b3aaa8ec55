//! Queue dispatcher: each message goes to one consumer and is redelivered if it is not acknowledged.

use std::sync::Arc;

use stomp::lanes::SubscriptionDelivery;
use stomp::queues::{DEAD_LETTERS, MessageQueues, QueueDelivery};
use stomp::session::{DeliveryFlags, DeliveryToken};
use stomp::{DestinationKind, DestinationPattern, StompMessage};

use crate::hub::connections::{ConnectionId, Connections, Consumer};

/// The queues and their consumers.
#[derive(Default)]
pub(crate) struct QueueDispatcher(MessageQueues<Consumer>);

impl QueueDispatcher {
    pub(crate) fn subscribe(
        &mut self,
        connections: &Connections,
        queue: &str,
        consumer: Consumer,
        prefetch: usize,
    ) -> Result<(), String> {
        self.0.add_consumer(queue, consumer, prefetch).map_err(|full| full.to_string())?;
        self.dispatch(connections, queue);
        Ok(())
    }

    /// Unacknowledged messages of a consumer are redelivered at once, or become dead letters.
    pub(crate) fn unsubscribe(&mut self, connections: &Connections, queue: &str, consumer: Consumer) {
        self.0.remove_consumer(queue, consumer);
        self.dispatch(connections, queue);
        self.dispatch(connections, DEAD_LETTERS);
    }

    /// Whether all of these fit, each with its queue and size.
    pub(crate) fn check<'a>(&self, sent: impl IntoIterator<Item = (&'a str, usize)>) -> Result<(), String> {
        self.0.check(sent).map_err(|full| full.to_string())
    }

    pub(crate) fn send(
        &mut self,
        connections: &Connections,
        queue: &str,
        message: Arc<StompMessage>,
        size: usize,
    ) -> Result<(), String> {
        self.0.send(queue, message, size).map_err(|full| full.to_string())?;
        self.dispatch(connections, queue);
        Ok(())
    }

    pub(crate) fn acknowledge(&mut self, connections: &Connections, consumer: Consumer, tokens: &[DeliveryToken]) {
        for queue in queues_of(connections, consumer) {
            self.0.acknowledge(queue, consumer, tokens);
            self.dispatch(connections, queue);
        }
    }

    pub(crate) fn negative_acknowledge(
        &mut self,
        connections: &Connections,
        consumer: Consumer,
        tokens: &[DeliveryToken],
    ) {
        for queue in queues_of(connections, consumer) {
            self.0.requeue(queue, consumer, tokens);
            self.dispatch(connections, queue);
        }
        self.dispatch(connections, DEAD_LETTERS);
    }

    /// Every queue that a connection consumes.
    pub(crate) fn dispatch_all(&mut self, connections: &Connections, connection: ConnectionId) {
        let keys = connections.get(connection).into_iter().flat_map(|entry| entry.subscriptions.keys());
        for queue in keys.flat_map(|key| queues_of(connections, (connection, *key))) {
            self.dispatch(connections, queue);
        }
    }

    /// Octets that wait in all of them.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Delivers messages of a queue to consumers with room.
    fn dispatch(&mut self, connections: &Connections, queue: &str) {
        let takes_more =
            |(connection, _): Consumer| connections.get(connection).is_some_and(|entry| entry.mailbox.has_room());
        while let Some(QueueDelivery { consumer, token, message, redelivered }) =
            self.0.next_delivery(queue, takes_more)
        {
            let marks = DeliveryFlags { redelivered, ..DeliveryFlags::default() };
            let delivery = SubscriptionDelivery { subscription: consumer.1, message, token: Some(token), flags: marks };
            if let Some(entry) = connections.get(consumer.0) {
                entry.mailbox.push_delivery(delivery);
            }
        }
    }
}

/// The queues of a subscription.
fn queues_of(connections: &Connections, consumer: Consumer) -> impl Iterator<Item = &str> {
    let patterns = connections.subscription(consumer).into_iter().flat_map(|subscription| &*subscription.patterns);
    patterns.filter(|pattern| pattern.kind() == DestinationKind::Queue).map(DestinationPattern::name)
}
