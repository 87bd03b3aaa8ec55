//! Why a request does not leave. Each reason has a stable code; the text is for people.

use std::fmt;

use domain::Timestamp;

use super::{HoldKind, HoldScope, RequestLane};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetRefusal {
    /// The lane's part of a rate limit is used up.
    Exhausted { lane: RequestLane, limit: String, used: u64, weight: u32, ceiling: u64, free_at: Option<Timestamp> },
    /// The request weighs more than the lane may ever use.
    TooHeavy { lane: RequestLane, limit: String, weight: u32, ceiling: u64 },
    /// The venue told us to wait.
    Held { kind: HoldKind, scope: HoldScope, until: Timestamp },
    /// A hold is not on the disk yet; a crash now would forget it.
    Unsaved,
    /// Too many requests have no answer yet.
    Unanswered { count: usize },
    /// Too many requests of the lane wait for the connection.
    LaneFull { lane: RequestLane, count: usize },
}

impl BudgetRefusal {
    pub fn code(&self) -> &'static str {
        match self {
            Self::Exhausted { .. } => "venue-rate",
            Self::TooHeavy { .. } => "venue-rate-weight",
            Self::Held { kind: HoldKind::RetryAfter, .. } => "venue-retry-after",
            Self::Held { kind: HoldKind::Ban, .. } => "venue-ban",
            Self::Unsaved => "venue-rate-unsaved",
            Self::Unanswered { .. } => "venue-unanswered",
            Self::LaneFull { .. } => "venue-lane-full",
        }
    }
}

impl fmt::Display for BudgetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code())?;
        match self {
            Self::Exhausted { lane, limit, used, weight, ceiling, free_at } => {
                write!(f, "{limit} has {used} used, {lane} may go to {ceiling}, this needs {weight}")?;
                free_at.map_or(Ok(()), |at| write!(f, "; free at {at}"))
            }
            Self::TooHeavy { lane, limit, weight, ceiling } => {
                write!(f, "this needs {weight} of {limit}, {lane} may never go above {ceiling}")
            }
            Self::Held { kind, scope, until } => write!(f, "{} holds {scope} until {until}", kind.name()),
            Self::Unsaved => f.write_str("the venue's order to wait is not on the disk yet"),
            Self::Unanswered { count } => write!(f, "{count} requests have no answer"),
            Self::LaneFull { lane, count } => write!(f, "{count} requests of {lane} wait for the connection"),
        }
    }
}

impl std::error::Error for BudgetRefusal {}
