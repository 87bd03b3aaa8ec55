//! What a session wants done. The driver does it in order.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::breach::Breach;
use super::ledger::Token;
use super::subscriptions::{AckMode, SubscriptionKey};
use crate::destination::{Destination, Pattern};
use crate::frame::Command;
use crate::headers::Headers;

/// What the driver does next. Where it cannot do what it is asked, it calls
/// [`Session::refuse`](super::Session::refuse) and forgets the actions behind.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// A whole frame or a heart-beat for the control lane.
    Send(Cow<'static, [u8]>),
    /// Answer, at any later time, by [`Session::admit`](super::Session::admit) or
    /// [`Session::refuse`](super::Session::refuse).
    Authenticate(Credentials),
    /// From now on messages that match go to this subscription. Its RECEIPT has been sent by an action before.
    Subscribe(Subscription),
    /// From now on nothing goes to it, not even what waits in a lane; what it had not acknowledged goes back.
    Unsubscribe(SubscriptionKey),
    Perform {
        work: Work,
        receipt: Option<String>,
    },
    /// A transaction: all of it or, with [`Session::refuse`](super::Session::refuse), nothing.
    Commit {
        work: Vec<Work>,
        receipt: Option<String>,
    },
    /// A client tried what it may not: for the audit. The ERROR frame follows.
    Forbidden {
        command: Command,
        destination: String,
    },
    /// Let what was sent reach the client, then close. Nothing follows.
    Close(Closing),
}

/// What a client asks of the broker beside subscriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    Publish(Publication),
    /// These messages of queues are done with, in the order of their delivery.
    Settle {
        subscription: SubscriptionKey,
        tokens: Vec<Token>,
    },
    /// These messages of queues go back and are delivered again.
    Return {
        subscription: SubscriptionKey,
        tokens: Vec<Token>,
    },
}

/// A SEND, with the headers that subscribers are to see.
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
    pub patterns: Arc<[Pattern]>,
    pub mode: AckMode,
    /// How many messages may be under way without acknowledgement.
    pub prefetch: usize,
    /// Leave out what this connection itself publishes.
    pub no_local: bool,
    /// First deliver the last value of each topic.
    pub snapshot: bool,
    /// First deliver what happened behind this.
    pub after: Option<After>,
}

/// A point in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    pub sequence: u64,
    /// Behind this event of the sequence; behind all of them where none is named.
    pub place: Option<u32>,
}

/// What a CONNECT says about its sender.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    pub login: Option<String>,
    pub passcode: Option<String>,
    pub host: Option<String>,
}

/// Shows everything but the password.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passcode = self.passcode.as_ref().map(|_| "***");
        let mut shown = f.debug_struct("Credentials");
        shown.field("login", &self.login).field("passcode", &passcode).field("host", &self.host).finish()
    }
}

/// Why a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    /// The client said DISCONNECT.
    Disconnected,
    Breach(Breach),
    /// The application said so, with this text.
    Refused(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_printed() {
        let credentials = Credentials { passcode: Some("swordfish".to_owned()), ..Credentials::default() };
        assert!(!format!("{:?}", Action::Authenticate(credentials)).contains("swordfish"));
    }
}
