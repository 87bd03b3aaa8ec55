//! Caller of a command: the interface, the user, the session message, and what may be traded.

use minicbor::{Decode, Encode};

use crate::ids::{StrategyId, Text};
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
    /// The request of a strategy process behind the command; absent where it did not come from one.
    #[n(4)]
    pub request: Option<Box<StrategyRequestKey>>,
}

impl Caller {
    /// Without a session message or the request of a strategy process, and with all rights.
    pub fn new(source: Source, user: Option<Text>) -> Self {
        Self { source, user, origin: None, rights: None, request: None }
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

/// The request of a strategy process: command and key become durable together, so that every later server knows what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct StrategyRequestKey {
    /// The strategy that the process runs.
    #[n(0)]
    pub strategy: StrategyId,
    /// Its run.
    #[n(1)]
    pub run: u64,
    /// Unique in the run; 0 is the platform's command by which the run begins.
    #[n(2)]
    pub key: u64,
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
