//! Close reasons: the text of the ERROR frame and the close code of a WebSocket.

use stomp::FramingError;
use stomp::lanes::SlowConsumer;
use stomp::session::{CloseCause, ProtocolError};

/// Codes with which a WebSocket closes (RFC 6455, section 7.4, and the registry that it names).
pub(crate) mod codes {
    pub(crate) const NORMAL: u16 = 1000;
    pub(crate) const AWAY: u16 = 1001;
    pub(crate) const PROTOCOL: u16 = 1002;
    pub(crate) const INVALID: u16 = 1007;
    pub(crate) const POLICY: u16 = 1008;
    pub(crate) const SIZE: u16 = 1009;
    pub(crate) const AGAIN: u16 = 1013;
}

/// Why the broker closes a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CloseReason {
    /// It does not read, and nothing may be dropped.
    Slow(SlowConsumer),
    /// Its credentials are no longer valid.
    CredentialsRevoked,
    /// The broker has lost events.
    EventsLost,
    ServerStopping,
    /// What it missed could not be read for long.
    NotReplayed(String),
    /// Too many connections have not logged in, and it was the oldest of them.
    Evicted,
}

impl CloseReason {
    /// Text of the ERROR frame.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Slow(slow) => slow.to_string(),
            Self::CredentialsRevoked => "credentials were revoked or changed; log in again".to_owned(),
            Self::EventsLost => "events were lost; reconnect and request a snapshot".to_owned(),
            Self::ServerStopping => "the server stops".to_owned(),
            Self::NotReplayed(why) => format!("from-sequence: {why}; connect again in a moment"),
            Self::Evicted => "too many unauthenticated connections; reconnect".to_owned(),
        }
    }

    fn code(&self) -> u16 {
        match self {
            Self::Slow(_) | Self::CredentialsRevoked => codes::POLICY,
            Self::EventsLost | Self::NotReplayed(_) | Self::Evicted => codes::AGAIN,
            Self::ServerStopping => codes::AWAY,
        }
    }
}

/// Text of the ERROR frame for a WebSocket error below STOMP.
pub(crate) fn transport_error_text(code: u16) -> &'static str {
    match code {
        codes::SIZE => "a message of the WebSocket is too long",
        codes::INVALID => "a text of the WebSocket is not UTF-8",
        _ => "a frame of the WebSocket is broken",
    }
}

/// The close code of a WebSocket; the broker's own reason wins over the session's.
pub(crate) fn close_code(closing: &CloseCause, end: Option<&CloseReason>) -> u16 {
    match (end, closing) {
        (Some(end), _) => end.code(),
        (None, CloseCause::Disconnected) => codes::NORMAL,
        (None, CloseCause::Refused(_)) => codes::POLICY,
        (None, CloseCause::Breach(breach)) => code_of(breach),
    }
}

fn code_of(breach: &ProtocolError) -> u16 {
    match breach {
        ProtocolError::Framing(fault) if is_limit_exceeded(fault) => codes::SIZE,
        ProtocolError::MayNotSend
        | ProtocolError::MayNotSubscribe
        | ProtocolError::Topic(_)
        | ProtocolError::SelectorNotSupported
        | ProtocolError::DurableNotSupported { .. }
        | ProtocolError::ConnectTimeout
        | ProtocolError::NoHeartBeat { .. }
        | ProtocolError::EarlyBytes { .. }
        | ProtocolError::TooManySubscriptions { .. }
        | ProtocolError::TooManyDestinations { .. }
        | ProtocolError::TooManyTransactions { .. }
        | ProtocolError::TransactionTooLong { .. }
        | ProtocolError::TransactionTooLarge { .. } => codes::POLICY,
        _ => codes::PROTOCOL,
    }
}

fn is_limit_exceeded(fault: &FramingError) -> bool {
    matches!(
        fault,
        FramingError::CommandTooLong { .. }
            | FramingError::HeaderTooLong { .. }
            | FramingError::TooManyHeaders { .. }
            | FramingError::HeadersTooLong { .. }
            | FramingError::BodyTooLong { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_websocket_close_code_has_the_reason() {
        let breach = |breach| close_code(&CloseCause::Breach(breach), None);
        assert_eq!(close_code(&CloseCause::Disconnected, None), 1000);
        assert_eq!(close_code(&CloseCause::Refused("no".into()), Some(&CloseReason::ServerStopping)), 1001);
        assert_eq!(breach(ProtocolError::Framing(FramingError::UnknownCommand)), 1002);
        assert_eq!(breach(ProtocolError::AlreadyConnected), 1002);
        assert_eq!(breach(ProtocolError::MayNotSend), 1008);
        assert_eq!(close_code(&CloseCause::Refused("wrong password".into()), None), 1008);
        assert_eq!(close_code(&CloseCause::Refused("slow".into()), Some(&CloseReason::CredentialsRevoked)), 1008);
        assert_eq!(breach(ProtocolError::Framing(FramingError::BodyTooLong { limit: 1 })), 1009);
        assert_eq!(close_code(&CloseCause::Refused("lost".into()), Some(&CloseReason::EventsLost)), 1013);
    }
}
