//! Hub handle: the operations of one connection on the hub. Dropping it removes the connection.

use std::sync::Arc;

use access::AccessGrant;
use domain::ReferenceData;
use domain::command::GenericEvent;
use stomp::MonotonicTime;
use stomp::lanes::SubscriptionDelivery;
use stomp::session::{DeliveryToken, Publication, Subscription, SubscriptionKey};

use crate::cache::snapshot::{SnapshotValue, SubscriptionSnapshot};
use crate::cache::subscription_replay::{ReplayStep, SubscriptionReplay};
use crate::hub::connections::ConnectionId;
use crate::hub::event_message::MessageIds;
use crate::hub::event_message::ReplayPosition;
use crate::hub::outbound_queue::OutboundQueue;
use crate::hub::{Hub, SubscriptionStart};

/// Dropping it removes the connection from the hub.
pub(crate) struct HubHandle {
    hub: Arc<Hub>,
    pub(crate) id: ConnectionId,
    pub(crate) mailbox: Arc<OutboundQueue>,
}

impl HubHandle {
    pub(crate) fn register(hub: &Arc<Hub>, queue: Arc<OutboundQueue>) -> Self {
        let id = hub.lock().connections.add_connection(queue.clone());
        Self { hub: hub.clone(), id, mailbox: queue }
    }

    /// The connection is open as long as this pass is valid.
    pub(crate) fn on_authenticated(&self, pass: AccessGrant) {
        if let Some(entry) = self.hub.lock().connections.get_mut(self.id) {
            entry.pass = Some(pass);
        }
    }

    /// From now on the subscription receives matching messages. Its snapshot is queued separately.
    pub(crate) fn subscribe(&self, subscription: Subscription) -> Result<SubscriptionStart, String> {
        self.hub.lock().subscribe(self.id, subscription)
    }

    /// Continues a replay at the end of history; once it is complete, the subscription starts after the returned
    /// broadcast.
    pub(crate) fn join_live(
        &self,
        replay: &mut SubscriptionReplay,
        reference: &ReferenceData,
        found: &mut Vec<SubscriptionDelivery>,
    ) -> (ReplayStep, Option<u64>) {
        self.hub.lock().join_live(self.id, replay, reference, found)
    }

    /// The newest published position.
    pub(crate) fn last_position(&self) -> Option<ReplayPosition> {
        self.hub.lock().last_position()
    }

    pub(crate) fn message_numbers(&self) -> MessageIds {
        self.hub.lock().message_ids()
    }

    /// Its unacknowledged messages are redelivered to others at once.
    pub(crate) fn unsubscribe(&self, key: SubscriptionKey) {
        self.hub.lock().unsubscribe(self.id, key);
    }

    /// Removes the connection, and redelivers its unacknowledged messages to others, in one step.
    pub(crate) fn disconnect(&self) {
        self.hub.lock().remove_connection(self.id);
    }

    /// Finds more values of a snapshot and returns whether it is complete.
    pub(crate) fn next_snapshot_step(
        &self,
        snapshot: &mut SubscriptionSnapshot,
        reference: &ReferenceData,
        found: &mut Vec<SnapshotValue>,
    ) -> bool {
        self.hub.lock().next_snapshot_step(snapshot, reference, found)
    }

    /// The engine is about to receive this event and will publish it. Where the engine refuses it, the connection ends.
    pub(crate) fn expect_own_event(&self, event: GenericEvent) {
        self.hub.lock().expect_own_event(self.id, event);
    }

    /// A message of a client to a topic that is not the engine's.
    pub(crate) fn send_to_topic(&self, now: MonotonicTime, sent: &Publication) {
        self.hub.lock().send_to_topic(now, self.id, sent);
    }

    pub(crate) fn send_to_queue(&self, sent: &Publication) -> Result<(), String> {
        self.hub.lock().send_to_queue(sent)
    }

    /// Whether all of these fit, each with its queue and size.
    pub(crate) fn check_queues<'a>(&self, sent: impl IntoIterator<Item = (&'a str, usize)>) -> Result<(), String> {
        self.hub.lock().queues.check(sent)
    }

    pub(crate) fn acknowledge(&self, subscription: SubscriptionKey, tokens: &[DeliveryToken]) {
        let mut state = self.hub.lock();
        let (queues, connections) = state.queues_and_connections();
        queues.acknowledge(connections, (self.id, subscription), tokens);
    }

    pub(crate) fn negative_acknowledge(&self, subscription: SubscriptionKey, tokens: &[DeliveryToken]) {
        let mut state = self.hub.lock();
        let (queues, connections) = state.queues_and_connections();
        queues.negative_acknowledge(connections, (self.id, subscription), tokens);
    }

    /// Queues that waited for this connection may send again.
    pub(crate) fn resume_queues(&self) {
        let mut state = self.hub.lock();
        let (queues, connections) = state.queues_and_connections();
        queues.dispatch_all(connections, self.id);
    }
}

impl Drop for HubHandle {
    fn drop(&mut self) {
        self.disconnect();
    }
}
