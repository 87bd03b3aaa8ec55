//! Protocol errors: why a well-formed frame ends its connection. The text is sent in the ERROR frame: one sentence, no
//! internals.

use std::fmt;

use crate::destination::InvalidDestination;
use crate::frame::StompCommand;
use crate::limits::FramingError;
use crate::version::StompVersion;

/// A violation of the session rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolError {
    Framing(FramingError),
    NotConnected,
    AlreadyConnected,
    NotAClientFrame(StompCommand),
    NoCommonVersion,
    BadHeartBeat,
    ConnectTimeout,
    EarlyBytes {
        limit: usize,
    },
    NoHeartBeat {
        millis: u128,
    },
    Missing {
        command: StompCommand,
        header: &'static str,
    },
    Destination(InvalidDestination),
    WildcardQueue,
    SelectorNotSupported,
    DurableNotSupported {
        header: &'static str,
    },
    BadFromSequence,
    SnapshotAndReplay,
    /// The application does not have the topic of a subscription, for this reason.
    Topic(String),
    SubscriptionExists,
    UnknownSubscription,
    TooManySubscriptions {
        limit: usize,
    },
    TooManyDestinations {
        limit: usize,
    },
    TooManyJoined {
        limit: usize,
    },
    UnknownMessage,
    TransactionExists,
    UnknownTransaction,
    TooManyTransactions {
        limit: usize,
    },
    TransactionTooLong {
        limit: usize,
    },
    TransactionTooLarge {
        limit: usize,
    },
    MayNotSend,
    MayNotSubscribe,
}

impl ProtocolError {
    /// The `version` header of the ERROR frame, which the client needs to try again.
    pub(crate) fn supported_versions(&self) -> Option<&'static str> {
        matches!(self, Self::NoCommonVersion).then_some(StompVersion::SUPPORTED)
    }
}

impl From<FramingError> for ProtocolError {
    fn from(fault: FramingError) -> Self {
        Self::Framing(fault)
    }
}

impl From<InvalidDestination> for ProtocolError {
    fn from(why: InvalidDestination) -> Self {
        Self::Destination(why)
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Framing(fault) => fault.fmt(f),
            Self::NotConnected => f.write_str("the first frame is not CONNECT"),
            Self::AlreadyConnected => f.write_str("the connection is connected already"),
            Self::NotAClientFrame(command) => write!(f, "{} is a frame of servers", command.name()),
            Self::NoCommonVersion => write!(f, "supported versions are {}", StompVersion::SUPPORTED),
            Self::BadHeartBeat => f.write_str("heart-beat is not two numbers of milliseconds"),
            Self::ConnectTimeout => f.write_str("no CONNECT arrived in time"),
            Self::EarlyBytes { limit } => write!(f, "more than {limit} octets arrived before CONNECTED was sent"),
            Self::NoHeartBeat { millis } => write!(f, "nothing was heard for {millis} ms"),
            Self::Missing { command, header } => write!(f, "{} has no {header}", command.name()),
            Self::Destination(why) => why.fmt(f),
            Self::WildcardQueue => f.write_str("a queue is subscribed by its full name"),
            Self::SelectorNotSupported => {
                f.write_str("selectors are not supported: name the topics that you want, also by * and >")
            }
            Self::DurableNotSupported { header } => write!(
                f,
                "{header}: no subscription outlives its connection here; subscribe with the header from-sequence and \
                 the last event-id or sequence that you have seen, and what was missed is delivered first"
            ),
            Self::BadFromSequence => f.write_str("from-sequence is neither a sequence nor the event-id of a message"),
            Self::SnapshotAndReplay => f.write_str("snapshot and from-sequence exclude each other: subscribe twice"),
            Self::Topic(reason) => f.write_str(reason),
            Self::SubscriptionExists => f.write_str("a subscription of that id exists"),
            Self::UnknownSubscription => f.write_str("no subscription of that id exists"),
            Self::TooManySubscriptions { limit } => write!(f, "a connection has at most {limit} subscriptions"),
            Self::TooManyDestinations { limit } => write!(f, "a connection subscribes to at most {limit} destinations"),
            Self::TooManyJoined { limit } => write!(f, "one SUBSCRIBE joins at most {limit} destinations"),
            Self::UnknownMessage => f.write_str("no message of that id waits to be acknowledged"),
            Self::TransactionExists => f.write_str("a transaction of that id is open"),
            Self::UnknownTransaction => f.write_str("no transaction of that id is open"),
            Self::TooManyTransactions { limit } => write!(f, "a connection has at most {limit} open transactions"),
            Self::TransactionTooLong { limit } => write!(f, "a transaction has at most {limit} frames"),
            Self::TransactionTooLarge { limit } => write!(f, "open transactions hold at most {limit} octets"),
            Self::MayNotSend => f.write_str("you may not send to this destination"),
            Self::MayNotSubscribe => f.write_str("you may not subscribe to this destination"),
        }
    }
}
