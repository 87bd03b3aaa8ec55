//! Why a connection of a strategy process ended.

use std::io;

use runtime::strategies::LinkLost;

use crate::distributed::{ALREADY_RUNNING, NOT_ATTACHED};

/// Why a connection ended.
pub(super) enum ConnectionEnd {
    Connection(io::Error),
    /// Another process runs the strategy; it may have just died.
    AlreadyRunning(String),
    /// The server does not know the process: it has just begun to serve, or does not serve now.
    NotAttached(String),
    /// The server has ended this run; another may begin.
    RunEnded(String),
    /// No reconnect is possible.
    Final(LinkLost),
}

impl From<io::Error> for ConnectionEnd {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Final(LinkLost(format!("refused: {error}"))),
            _ => Self::Connection(error),
        }
    }
}

/// The broker's error text does not say what to do.
pub(super) fn login_error(answer: &str) -> String {
    format!(
        "the server admits no strategy process under this name: it must run with --distributed, and where users are \
         configured RIALTO_TOKEN must hold a token of the role strategy for it ({answer})"
    )
}

pub(super) fn lost(reason: impl Into<String>) -> ConnectionEnd {
    ConnectionEnd::Final(LinkLost(reason.into()))
}

pub(super) fn rejected(code: &str, text: &str) -> ConnectionEnd {
    match code {
        ALREADY_RUNNING => ConnectionEnd::AlreadyRunning(text.to_owned()),
        NOT_ATTACHED => ConnectionEnd::NotAttached(text.to_owned()),
        _ => lost(format!("the server refused ({code}): {text}")),
    }
}
