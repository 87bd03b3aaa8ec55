//! Caller of a command: the interface, the user, the session message, and what may be traded.

use minicbor::{Decode, Encode};

use crate::ids::Text;
use crate::order::order_terms::Source;
use crate::rights::TradingRights;

/// Who sent a command.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Caller {
    /// The interface that the command came through.
    #[n(0)]
    pub source: Source,
    /// The user or token that logged in; absent where no login is required, and for the platform itself.
    #[n(1)]
    pub user: Option<Text>,
    /// The session message behind the command; absent where it did not come from a FIX session.
    #[n(2)]
    pub origin: Option<Box<MessageOrigin>>,
    /// What the user or token may trade; absent: everything.
    #[n(3)]
    pub rights: Option<Box<TradingRights>>,
}

impl Caller {
    /// Without a session message, and with all rights.
    pub fn new(source: Source, user: Option<Text>) -> Self {
        Self { source, user, origin: None, rights: None }
    }

    /// The platform itself: kill switch, recovery, clock.
    pub fn platform() -> Self {
        Self::new(Source::Platform, None)
    }

    /// Whose messages are counted together: the session, else the user of the interface. The screen is a client of REST.
    /// The platform itself has none.
    pub fn message_source(&self) -> Option<Text> {
        let user = self.user.as_deref().unwrap_or_default();
        match &self.source {
            Source::Fix(_) => Some(self.source.to_string().into()),
            Source::Rest | Source::Ui => Some(format!("REST:{user}").into()),
            Source::Strategy => Some(format!("STRATEGY:{user}").into()),
            Source::Platform | Source::External => None,
        }
    }
}

/// The session message of a command: order and inbound MsgSeqNum become durable together.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct MessageOrigin {
    /// The session, named by the CompID of its client.
    #[n(0)]
    pub session: Text,
    /// The inbound MsgSeqNum of the message.
    #[n(1)]
    pub seq_num: u64,
    /// Fields of the request that a reject echoes.
    #[n(2)]
    pub request_echo: Option<Text>,
    /// PossResend: the sender may have sent the same message before.
    #[n(3)]
    #[cbor(default)]
    pub poss_resend: bool,
}
