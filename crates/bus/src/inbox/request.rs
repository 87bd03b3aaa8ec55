//! Requests to the engine and their classes.

use std::fmt;

use domain::command::CommandEnvelope;
use domain::{Command, Query};

/// What is asked of the engine.
#[derive(Debug)]
pub enum RequestPayload {
    /// A command: journalled and applied.
    Command(Box<CommandEnvelope>),
    /// A query: answered from the state.
    Query(Box<Query>),
    /// A ledger record: journalled, not applied.
    LedgerRecord(Vec<u8>),
    /// A record of a strategy's delivery log: journalled, not applied, not answered.
    DeliveryLog(Vec<u8>),
}

/// Why a request was not accepted: it had no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxError {
    /// Too many requests wait.
    Busy,
    /// The engine has stopped.
    Stopped,
}

impl fmt::Display for InboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the engine has too much to do",
            Self::Stopped => "the engine has stopped",
        })
    }
}

/// Classes with separate capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestClass {
    /// Orders, other commands, queries and delivery log records.
    Request,
    /// Cancels and mass cancels.
    Cancel,
    /// Kills, trading states and renewals of dead-man timers.
    Kill,
    /// Ledger records.
    Record,
}

impl RequestClass {
    /// The class of a command.
    pub fn from_command(command: &Command) -> Self {
        match command {
            Command::Cancel(_) | Command::MassCancel(_) => Self::Cancel,
            Command::Kill { .. } | Command::SetTradingState { .. } | Command::ArmDeadMan { .. } => Self::Kill,
            _ => Self::Request,
        }
    }

    pub(crate) fn from_payload(wanted: &RequestPayload) -> Self {
        match wanted {
            RequestPayload::Command(envelope) => Self::from_command(&envelope.command),
            RequestPayload::Query(_) | RequestPayload::DeliveryLog(_) => Self::Request,
            RequestPayload::LedgerRecord(_) => Self::Record,
        }
    }

    /// A record of a session keeps its place among what that session sent, and need not wait for others.
    pub(crate) fn is_urgent(self, has_session: bool) -> bool {
        matches!(self, Self::Cancel | Self::Kill) || self == Self::Record && has_session
    }
}
