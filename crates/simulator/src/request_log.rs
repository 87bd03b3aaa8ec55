//! What a client asked for and what became of it, in its own log.

use domain::command::{Command, PlaceOrder};
use domain::{IntId, OrderId, Price, Quantity, Side};

use crate::error_codes::OUTCOME_UNKNOWN;

/// One request and what became of it.
#[derive(Debug, Clone)]
pub(crate) struct LogEntry {
    pub(crate) intent: Intent,
    pub(crate) outcome: RequestOutcome,
}

#[derive(Debug, Clone)]
pub(crate) enum Intent {
    Place(Box<PlaceOrder>, IntId),
    /// The order, and its new quantity and limit where they change.
    Modify(IntId, Option<Quantity>, Option<Price>),
    Cancel(IntId),
    /// Trading states, the kill switch and limits: in words, and as the command.
    Operate(String, Box<Command>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestOutcome {
    Waiting,
    Accepted {
        sequence: u64,
        order: Option<OrderId>,
    },
    Refused {
        sequence: u64,
        code: &'static str,
    },
    /// Refused over HTTP, which does not tell the input.
    Declined {
        code: &'static str,
    },
    /// The platform says that it does not know, as it may while its disk hangs.
    SaidUnknown {
        code: &'static str,
    },
    /// The platform ended before it answered, or did not take the request.
    Unknown,
    /// The platform was not there, or had no room: the request had no effect.
    NotSent,
}

impl RequestOutcome {
    /// Of a refusal, or of an answer that the outcome is unknown; empty where it is neither.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Refused { code, .. } | Self::Declined { code } | Self::SaidUnknown { code } => code,
            Self::Waiting | Self::Accepted { .. } | Self::Unknown | Self::NotSent => "",
        }
    }

    /// Whether the platform has no answer of its engine: it was dropped, or the platform says so.
    pub(crate) fn is_without_answer(&self) -> bool {
        matches!(self, Self::Unknown | Self::SaidUnknown { code: OUTCOME_UNKNOWN })
    }

    /// Whether the client knows that the request had no effect.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Declined { .. } | Self::NotSent)
    }
}

impl Intent {
    /// What the operator asks for, in words and as the command.
    pub(crate) fn operate(what: String, command: Command) -> (Self, Command) {
        (Self::Operate(what, Box::new(command.clone())), command)
    }

    /// The order that it names.
    pub(crate) fn order(&self) -> Option<&IntId> {
        match self {
            Self::Place(_, int_id) | Self::Modify(int_id, ..) | Self::Cancel(int_id) => Some(int_id),
            Self::Operate(..) => None,
        }
    }

    /// Whether the command asks for the same, on the terms that it sends.
    pub(crate) fn is_asked_by(&self, command: &Command) -> bool {
        let terms =
            |order: &PlaceOrder| (order.side, order.quantity, order.kind, order.tif, order.account, order.security);
        match (self, command) {
            (Self::Place(order, _), Command::Place(asked)) => terms(order) == terms(asked),
            (Self::Modify(_, quantity, limit), Command::Modify(asked)) => {
                (*quantity, *limit) == (asked.quantity, asked.limit)
            }
            (Self::Cancel(_), Command::Cancel(_)) => true,
            (Self::Operate(_, asked), command) => **asked == *command,
            _ => false,
        }
    }
}

impl LogEntry {
    pub(crate) fn placed(&self) -> Option<&IntId> {
        match &self.intent {
            Intent::Place(_, int_id) => Some(int_id),
            Intent::Modify(..) | Intent::Cancel(_) | Intent::Operate(..) => None,
        }
    }
}

impl std::fmt::Display for Intent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Place(order, int_id) => {
                let (side, quantity, security) = (order.side, order.quantity, order.security);
                let side = if side == Side::Buy { "buy" } else { "sell" };
                write!(
                    f,
                    "{int_id}: {side} {quantity} of security {security}, {} {}",
                    order.kind.name(),
                    order.tif.name()
                )?;
                order.kind.limit().map_or(Ok(()), |limit| write!(f, " at {limit}"))
            }
            Self::Modify(order, Some(quantity), None) => write!(f, "modify {order}, quantity {quantity}"),
            Self::Modify(order, Some(quantity), Some(limit)) => {
                write!(f, "modify {order}, quantity {quantity}, limit {limit}")
            }
            Self::Modify(order, None, Some(limit)) => write!(f, "modify {order}, limit {limit}"),
            Self::Modify(order, None, None) => write!(f, "note {order}"),
            Self::Cancel(order) => write!(f, "cancel {order}"),
            Self::Operate(what, _) => f.write_str(what),
        }
    }
}

impl std::fmt::Display for RequestOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Waiting => f.write_str("no answer yet"),
            Self::Accepted { sequence, .. } => write!(f, "accepted at {sequence}"),
            Self::Refused { sequence, code } => write!(f, "refused at {sequence}, {code}"),
            Self::Declined { code } => write!(f, "refused, {code}"),
            Self::SaidUnknown { code } => write!(f, "the platform says that the outcome is unknown, {code}"),
            Self::Unknown => f.write_str("no answer, the outcome is unknown"),
            Self::NotSent => f.write_str("not sent"),
        }
    }
}
