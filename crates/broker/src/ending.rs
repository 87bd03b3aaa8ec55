//! Close reasons: the text of the ERROR frame and the close code of a WebSocket.

use stomp::Fault;
use stomp::lanes::SlowConsumer;
use stomp::session::{Breach, Closing};

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
pub(crate) enum End {
    /// It does not read, and nothing may be dropped.
    Slow(SlowConsumer),
    /// Its credentials are no longer valid.
    NotAdmitted,
    /// The broker has lost events.
    EventsLost,
    ServerStops,
    /// What it missed could not be read for long.
    NotReplayed(String),
    /// Too many connections have not logged in, and it was the oldest of them.
    GaveWay,
}

impl End {
    /// Text of the ERROR frame.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Slow(slow) => slow.to_string(),
            Self::NotAdmitted => "credentials were revoked or changed; log in again".to_owned(),
            Self::EventsLost => "events were lost; reconnect and request a snapshot".to_owned(),
            Self::ServerStops => "the server stops".to_owned(),
            Self::NotReplayed(why) => format!("from-sequence: {why}; connect again in a moment"),
            Self::GaveWay => "too many unauthenticated connections; reconnect".to_owned(),
        }
    }

    fn code(&self) -> u16 {
        match self {
            Self::Slow(_) | Self::NotAdmitted => codes::POLICY,
            Self::EventsLost | Self::NotReplayed(_) | Self::GaveWay => codes::AGAIN,
            Self::ServerStops => codes::AWAY,
        }
    }
}

/// Text of the ERROR frame for a WebSocket error below STOMP.
pub(crate) fn fault_text(code: u16) -> &'static str {
    match code {
        codes::SIZE => "a message of the WebSocket is too long",
        codes::INVALID => "a text of the WebSocket is not UTF-8",
        _ => "a frame of the WebSocket is broken",
    }
}

/// The close code of a WebSocket; the broker's own reason wins over the session's.
pub(crate) fn close_code(closing: &Closing, end: Option<&End>) -> u16 {
    match (end, closing) {
        (Some(end), _) => end.code(),
        (None, Closing::Disconnected) => codes::NORMAL,
        (None, Closing::Refused(_)) => codes::POLICY,
        (None, Closing::Breach(breach)) => code_of(breach),
    }
}

fn code_of(breach: &Breach) -> u16 {
    match breach {
        Breach::Framing(fault) if is_too_much(fault) => codes::SIZE,
        Breach::MayNotSend
        | Breach::MayNotSubscribe
        | Breach::Topic(_)
        | Breach::SelectorNotSupported
        | Breach::DurableNotSupported { .. }
        | Breach::ConnectTimeout
        | Breach::NoHeartBeat { .. }
        | Breach::EarlyBytes { .. }
        | Breach::TooManySubscriptions { .. }
        | Breach::TooManyDestinations { .. }
        | Breach::TooManyTransactions { .. }
        | Breach::TransactionTooLong { .. }
        | Breach::TransactionTooLarge { .. } => codes::POLICY,
        _ => codes::PROTOCOL,
    }
}

fn is_too_much(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::CommandTooLong { .. }
            | Fault::HeaderTooLong { .. }
            | Fault::TooManyHeaders { .. }
            | Fault::HeadersTooLong { .. }
            | Fault::BodyTooLong { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_websocket_close_code_has_the_reason() {
        let breach = |breach| close_code(&Closing::Breach(breach), None);
        assert_eq!(close_code(&Closing::Disconnected, None), 1000);
        assert_eq!(close_code(&Closing::Refused("no".into()), Some(&End::ServerStops)), 1001);
        assert_eq!(breach(Breach::Framing(Fault::UnknownCommand)), 1002);
        assert_eq!(breach(Breach::AlreadyConnected), 1002);
        assert_eq!(breach(Breach::MayNotSend), 1008);
        assert_eq!(close_code(&Closing::Refused("wrong password".into()), None), 1008);
        assert_eq!(close_code(&Closing::Refused("slow".into()), Some(&End::NotAdmitted)), 1008);
        assert_eq!(breach(Breach::Framing(Fault::BodyTooLong { limit: 1 })), 1009);
        assert_eq!(close_code(&Closing::Refused("lost".into()), Some(&End::EventsLost)), 1013);
    }
}
