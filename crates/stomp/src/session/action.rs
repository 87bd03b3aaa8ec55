//! Actions of a session, which the driver executes in order.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::protocol_error::ProtocolError;
use super::subscriptions::AckMode;
use crate::destination::{Destination, DestinationPattern};
use crate::frame::StompCommand;
use crate::headers::Headers;
use crate::session::delivery::{DeliveryToken, SubscriptionKey};

/// What the driver does next. Where it cannot execute an action, it calls [`StompSession::close_with_error`](super::StompSession::close_with_error)
/// and drops the actions that follow.
#[derive(Debug, PartialEq, Eq)]
pub enum StompAction {
    /// A whole frame or a heart-beat for the control lane.
    Send(Cow<'static, [u8]>),
    /// Answer, at any later time, by [`StompSession::on_authenticated`](super::StompSession::on_authenticated) or
    /// [`StompSession::close_with_error`](super::StompSession::close_with_error).
    Authenticate(ConnectCredentials),
    /// From now on matching messages go to this subscription. An earlier action has sent its RECEIPT.
    Subscribe(Subscription),
    /// From now on nothing goes to it, not even what is queued in a lane; unacknowledged messages are requeued.
    Unsubscribe(SubscriptionKey),
    Execute {
        work: BrokerRequest,
        receipt: Option<String>,
    },
    /// A transaction: executed as a whole or, with [`StompSession::close_with_error`](super::StompSession::close_with_error), not at all.
    Commit {
        work: Vec<BrokerRequest>,
        receipt: Option<String>,
    },
    /// A client lacks the permission: for the audit. The ERROR frame follows.
    Forbidden {
        command: StompCommand,
        destination: String,
    },
    /// Flush what was sent, then close. Nothing follows.
    Close(CloseCause),
}

/// What a client requests of the broker beside subscriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerRequest {
    Publish(Publication),
    /// These messages of queues are acknowledged, in the order of their delivery.
    Acknowledge {
        subscription: SubscriptionKey,
        tokens: Vec<DeliveryToken>,
    },
    /// These messages of queues are queued again and redelivered.
    Requeue {
        subscription: SubscriptionKey,
        tokens: Vec<DeliveryToken>,
    },
}

/// A SEND, with the headers that subscribers receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    pub destination: Destination,
    pub headers: Headers,
    pub body: Vec<u8>,
}

/// A SUBSCRIBE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    pub key: SubscriptionKey,
    /// More than one where the client joined several with commas.
    pub patterns: Arc<[DestinationPattern]>,
    pub mode: AckMode,
    /// How many messages may be in flight without acknowledgement.
    pub prefetch: usize,
    /// Omit what this connection itself publishes.
    pub no_local: bool,
    /// First deliver the last value of each topic.
    pub snapshot: bool,
    /// First deliver the events after this point.
    pub after: Option<ReplayStart>,
}

/// A point in history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayStart {
    pub sequence: u64,
    /// After this event of the sequence; after all of them where none is given.
    pub index: Option<u32>,
}

/// Credentials in a CONNECT.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConnectCredentials {
    pub login: Option<String>,
    pub passcode: Option<String>,
    pub host: Option<String>,
}

/// Prints everything but the password.
impl fmt::Debug for ConnectCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passcode = self.passcode.as_ref().map(|_| "***");
        let mut shown = f.debug_struct("Credentials");
        shown.field("login", &self.login).field("passcode", &passcode).field("host", &self.host).finish()
    }
}

/// Why a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloseCause {
    /// The client sent DISCONNECT.
    Disconnected,
    Breach(ProtocolError),
    /// The application closed the connection, with this text.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_printed() {
        let credentials =
            ConnectCredentials { passcode: Some("swordfish".to_owned()), ..ConnectCredentials::default() };
        assert!(!format!("{:?}", StompAction::Authenticate(credentials)).contains("swordfish"));
    }
}
