//! Hub handle: the operations of one connection on the hub. Dropping it removes the connection.

use std::sync::Arc;

use access::Pass;
use domain::ReferenceData;
use domain::command::GenericEvent;
use stomp::Time;
use stomp::lanes::Delivery;
use stomp::session::{Publication, Subscription, SubscriptionKey, Token};

use crate::hub::{Begun, Hub};
use crate::mailbox::Mailbox;
use crate::recent::Position;
use crate::replay::{Next, Replay};
use crate::seats::ConnectionId;
use crate::snapshot::{Found, Snapshot};
use crate::telling::MessageNumbers;

/// Dropping it removes the connection from the hub.
pub(crate) struct Place {
    hub: Arc<Hub>,
    pub(crate) id: ConnectionId,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Place {
    pub(crate) fn take(hub: &Arc<Hub>, mailbox: Arc<Mailbox>) -> Self {
        let id = hub.lock().seats.take(mailbox.clone());
        Self { hub: hub.clone(), id, mailbox }
    }

    /// The connection is open as long as this pass is valid.
    pub(crate) fn admit(&self, pass: Pass) {
        if let Some(seat) = self.hub.lock().seats.get_mut(self.id) {
            seat.pass = Some(pass);
        }
    }

    /// From now on the subscription receives matching messages. Its snapshot is queued separately.
    pub(crate) fn subscribe(&self, subscription: Subscription) -> Result<Begun, String> {
        self.hub.lock().subscribe(self.id, subscription)
    }

    /// Continues a replay at the end of history; once it is complete, the subscription starts after the returned
    /// broadcast.
    pub(crate) fn join(
        &self,
        replay: &mut Replay,
        reference: &ReferenceData,
        found: &mut Vec<Delivery>,
    ) -> (Next, Option<u64>) {
        self.hub.lock().join(self.id, replay, reference, found)
    }

    /// The newest published position.
    pub(crate) fn reached(&self) -> Option<Position> {
        self.hub.lock().reached()
    }

    pub(crate) fn message_numbers(&self) -> MessageNumbers {
        self.hub.lock().message_numbers()
    }

    /// Its unacknowledged messages are redelivered to others at once.
    pub(crate) fn unsubscribe(&self, key: SubscriptionKey) {
        self.hub.lock().unsubscribe(self.id, key);
    }

    /// Removes the connection, and redelivers its unacknowledged messages to others, in one step.
    pub(crate) fn leave(&self) {
        self.hub.lock().leave(self.id);
    }

    /// Finds more values of a snapshot and returns whether it is complete.
    pub(crate) fn go_on(&self, snapshot: &mut Snapshot, reference: &ReferenceData, found: &mut Vec<Found>) -> bool {
        self.hub.lock().go_on(snapshot, reference, found)
    }

    /// The engine is about to receive this event and will publish it. Where the engine refuses it, the connection ends.
    pub(crate) fn expect(&self, event: GenericEvent) {
        self.hub.lock().expect(self.id, event);
    }

    /// A message of a client to a topic that is not the engine's.
    pub(crate) fn send_to_topic(&self, now: Time, sent: &Publication) {
        self.hub.lock().send_to_topic(now, self.id, sent);
    }

    pub(crate) fn send_to_queue(&self, sent: &Publication) -> Result<(), String> {
        self.hub.lock().send_to_queue(sent)
    }

    /// Whether all of these fit, each with its queue and size.
    pub(crate) fn check_queues<'a>(&self, sent: impl IntoIterator<Item = (&'a str, usize)>) -> Result<(), String> {
        self.hub.lock().queues.check(sent)
    }

    pub(crate) fn settle(&self, subscription: SubscriptionKey, tokens: &[Token]) {
        let mut state = self.hub.lock();
        let (queues, seats) = state.queues_and_seats();
        queues.settle(seats, (self.id, subscription), tokens);
    }

    pub(crate) fn give_back(&self, subscription: SubscriptionKey, tokens: &[Token]) {
        let mut state = self.hub.lock();
        let (queues, seats) = state.queues_and_seats();
        queues.give_back(seats, (self.id, subscription), tokens);
    }

    /// Queues that waited for this connection may send again.
    pub(crate) fn take_more(&self) {
        let mut state = self.hub.lock();
        let (queues, seats) = state.queues_and_seats();
        queues.feed_all(seats, self.id);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}
