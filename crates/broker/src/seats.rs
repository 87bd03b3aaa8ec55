//! Who is connected, what each listens to, and how a message gets to those who do.

use std::collections::BTreeMap;
use std::sync::Arc;

use access::Pass;
use stomp::lanes::{Delivery, SlotKey};
use stomp::session::{Marks, Subscription, SubscriptionKey};
use stomp::topics::{Pace, TopicId};
use stomp::{Message, Time};

use crate::mailbox::Mailbox;

/// A connection, never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// One subscription of one connection.
pub(crate) type Consumer = (ConnectionId, SubscriptionKey);

/// The slot of a price and how often there is one; nothing for any other event.
pub(crate) type Price = Option<(TopicId, Pace)>;

/// What the hub knows of a connection.
pub(crate) struct Seat {
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) subscriptions: BTreeMap<SubscriptionKey, Subscription>,
    /// What let it in.
    pub(crate) pass: Option<Pass>,
}

impl Seat {
    pub(crate) fn does_not_want_its_own(&self) -> bool {
        self.subscriptions.values().any(|subscription| subscription.no_local)
    }
}

/// Everybody who is connected.
#[derive(Default)]
pub(crate) struct Seats {
    taken: BTreeMap<ConnectionId, Seat>,
    last: u64,
}

impl Seats {
    pub(crate) fn take(&mut self, mailbox: Arc<Mailbox>) -> ConnectionId {
        self.last += 1;
        let id = ConnectionId(self.last);
        self.taken.insert(id, Seat { mailbox, subscriptions: BTreeMap::new(), pass: None });
        id
    }

    pub(crate) fn leave(&mut self, id: ConnectionId) -> Option<Seat> {
        self.taken.remove(&id)
    }

    pub(crate) fn get(&self, id: ConnectionId) -> Option<&Seat> {
        self.taken.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Seat> {
        self.taken.get_mut(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Seat> + Clone {
        self.taken.values()
    }

    pub(crate) fn subscription(&self, (connection, key): Consumer) -> Option<&Subscription> {
        self.get(connection)?.subscriptions.get(&key)
    }

    /// To everybody who listens; not back to `from` where a subscription does not want its own.
    pub(crate) fn hand_out(
        &self,
        listeners: impl IntoIterator<Item = Consumer>,
        now: Time,
        message: &Arc<Message>,
        from: Option<ConnectionId>,
    ) {
        for (connection, subscription) in listeners {
            let Some(seat) = self.get(connection) else { continue };
            let is_own = from == Some(connection);
            if is_own && seat.subscriptions.get(&subscription).is_some_and(|found| found.no_local) {
                continue;
            }
            seat.mailbox.reliable(now, delivery(subscription, message, Marks::default()));
        }
    }

    /// To everybody who listens to a price, of which the newest counts.
    pub(crate) fn hand_out_price(
        &self,
        listeners: impl IntoIterator<Item = Consumer>,
        message: &Arc<Message>,
        (topic, pace): (TopicId, Pace),
    ) {
        for (connection, subscription) in listeners {
            if let Some(seat) = self.get(connection) {
                seat.mailbox.market(SlotKey { subscription, topic }, message, pace);
            }
        }
    }
}

pub(crate) fn delivery(subscription: SubscriptionKey, message: &Arc<Message>, marks: Marks) -> Delivery {
    Delivery { subscription, message: message.clone(), token: None, marks }
}
