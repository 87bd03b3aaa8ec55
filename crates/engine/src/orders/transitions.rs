//! Transition tables of an order: one for the base state, one for the pending request. Both are in the documentation.

use domain::order::{BaseState, PendingRequest};

/// Events of the base state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderEvent {
    /// The venue accepted it.
    Accepted,
    /// The venue rejected it.
    Refused,
    /// A fill that leaves something open.
    FilledInPart,
    /// A fill that leaves nothing open.
    FilledInFull,
    /// Canceled or expired.
    Ended,
    /// New terms, with something left to fill.
    Replaced,
    /// New terms, and the filled quantity is all of them.
    ReplacedToFilled,
    /// Fills were busted; others remain.
    Reopened,
    /// Fills were busted; none remains.
    Emptied,
}

impl OrderEvent {
    /// All events, in the order of the enum.
    pub const ALL: [Self; 9] = [
        Self::Accepted,
        Self::Refused,
        Self::FilledInPart,
        Self::FilledInFull,
        Self::Ended,
        Self::Replaced,
        Self::ReplacedToFilled,
        Self::Reopened,
        Self::Emptied,
    ];
}

/// The state after an event; `None` where it is not legal. A pair that is not listed is refused.
pub fn next_state(state: BaseState, turn: OrderEvent) -> Option<BaseState> {
    use BaseState::{Canceled, Filled, New, PartiallyFilled, PendingNew, Rejected};
    Some(match (state, turn) {
        (PendingNew, OrderEvent::Accepted | OrderEvent::Replaced) => New,
        (PendingNew | New, OrderEvent::Refused) => Rejected,
        // The confirmation may come again, or after a fill that overtook it: nothing changes.
        (New | PartiallyFilled | Filled, OrderEvent::Accepted) => state,
        (PendingNew | New | PartiallyFilled, OrderEvent::FilledInPart) => PartiallyFilled,
        (PendingNew | New | PartiallyFilled, OrderEvent::FilledInFull) => Filled,
        (PendingNew | New | PartiallyFilled, OrderEvent::Ended) => Canceled,
        (New | PartiallyFilled, OrderEvent::Replaced) => state,
        // The fill may have come before the confirmation.
        (New | PartiallyFilled | Filled, OrderEvent::ReplacedToFilled) => Filled,
        // A filled order that was increased works again.
        (Filled, OrderEvent::Replaced) => PartiallyFilled,
        (PartiallyFilled | Filled, OrderEvent::Reopened) => PartiallyFilled,
        (PartiallyFilled | Filled, OrderEvent::Emptied) => New,
        // More than was ordered is an error of the venue, but its record is authoritative.
        (Filled, OrderEvent::FilledInPart | OrderEvent::FilledInFull) => Filled,
        // A late fill is booked, because the venue has traded it; the order keeps its state.
        (
            Canceled | Rejected,
            OrderEvent::FilledInPart | OrderEvent::FilledInFull | OrderEvent::Reopened | OrderEvent::Emptied,
        ) => state,
        _ => return None,
    })
}

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Cancel,
    Replace,
}

/// Which requests the venue has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PendingState {
    Nothing,
    Replace,
    Cancel,
    /// A cancel overtook a replace; each gets its own answer.
    CancelOverReplace,
}

impl PendingState {
    /// All states, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Nothing, Self::Replace, Self::Cancel, Self::CancelOverReplace];

    pub fn of(pending: &PendingRequest) -> Self {
        match pending {
            PendingRequest::Nothing => Self::Nothing,
            PendingRequest::Replace(..) => Self::Replace,
            PendingRequest::Cancel(_, None) => Self::Cancel,
            PendingRequest::Cancel(_, Some(_)) => Self::CancelOverReplace,
        }
    }
}

/// Events of the pending request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestEvent {
    CancelSent,
    ReplaceSent,
    CancelRejected,
    ReplaceRejected,
    /// The venue has new terms, also without a request.
    Replaced,
    /// The order was cancelled, expired or rejected.
    Ended,
}

impl RequestEvent {
    /// All events, in the order of the enum.
    pub const ALL: [Self; 6] =
        [Self::CancelSent, Self::ReplaceSent, Self::CancelRejected, Self::ReplaceRejected, Self::Replaced, Self::Ended];
}

impl From<RequestKind> for RequestEvent {
    fn from(request: RequestKind) -> Self {
        match request {
            RequestKind::Cancel => Self::CancelSent,
            RequestKind::Replace => Self::ReplaceSent,
        }
    }
}

/// What is pending after an event; `None` where it is not legal. A pair that is not listed is refused.
pub fn next_pending(pending: PendingState, event: RequestEvent) -> Option<PendingState> {
    use PendingState::{Cancel, CancelOverReplace, Nothing, Replace};
    Some(match (pending, event) {
        (Nothing, RequestEvent::CancelSent) => Cancel,
        // A cancel overtakes a replace that the venue has not answered.
        (Replace, RequestEvent::CancelSent) => CancelOverReplace,
        (Nothing, RequestEvent::ReplaceSent) => Replace,
        (Cancel, RequestEvent::CancelRejected) => Nothing,
        (CancelOverReplace, RequestEvent::CancelRejected) => Replace,
        (Replace, RequestEvent::ReplaceRejected | RequestEvent::Replaced) => Nothing,
        (CancelOverReplace, RequestEvent::ReplaceRejected | RequestEvent::Replaced) => Cancel,
        (Nothing | Cancel, RequestEvent::Replaced) => pending,
        (_, RequestEvent::Ended) => Nothing,
        _ => return None,
    })
}

/// The requests that are left after an answer of the venue.
pub(crate) fn settled(pending: PendingRequest, event: RequestEvent) -> PendingRequest {
    match event {
        RequestEvent::CancelRejected => pending.without_cancel(),
        RequestEvent::ReplaceRejected | RequestEvent::Replaced => pending.without_replace(),
        RequestEvent::Ended => PendingRequest::Nothing,
        RequestEvent::CancelSent | RequestEvent::ReplaceSent => pending,
    }
}

/// Whether a request may be made while another is pending.
pub(crate) fn may_request(pending: &PendingRequest, ask: RequestKind) -> bool {
    next_pending(PendingState::of(pending), ask.into()).is_some()
}

#[cfg(test)]
mod tests {
    use domain::order::{OrderKind, OrderRequest, OrderTerms, Source, TimeInForce};

    use super::*;

    /// The rows of the documentation that begin with one of these states.
    fn documented(states: &[String]) -> String {
        let page = include_str!("../../../../docs/order-states.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        let of_states = rows.filter(|row| states.iter().any(|state| row.starts_with(&format!("{state} |"))));
        of_states.map(|row| format!("{row}\n")).collect()
    }

    #[test]
    fn every_pair_is_in_the_grid() {
        let mut grid = String::new();
        for state in BaseState::ALL {
            for turn in OrderEvent::ALL {
                let next = next_state(state, turn).map_or("–".into(), |next| format!("{next:?}"));
                grid += &format!("{state:?} | {turn:?} | {next}\n");
            }
        }
        let rows = documented(&BaseState::ALL.map(|state| format!("{state:?}")));
        assert_eq!(rows, grid, "docs/order-states.md has another table than transitions.rs");
    }

    #[test]
    fn every_pair_of_the_pending_request_is_in_the_grid() {
        let mut grid = String::new();
        for pending in PendingState::ALL {
            for event in RequestEvent::ALL {
                let next = next_pending(pending, event).map_or("–".into(), |next| format!("{next:?}"));
                grid += &format!("{pending:?} | {event:?} | {next}\n");
            }
        }
        let rows = documented(&PendingState::ALL.map(|pending| format!("{pending:?}")));
        assert_eq!(rows, grid, "docs/order-states.md has another table than transitions.rs");
    }

    fn request() -> OrderRequest {
        OrderRequest { cl_ord_id: None, source: Source::Rest, requested_by: None, reason: None }
    }

    fn terms() -> OrderTerms {
        OrderTerms { quantity: 1.into(), kind: OrderKind::Market, tif: TimeInForce::Day }
    }

    fn pending(state: PendingState) -> PendingRequest {
        let replace = PendingRequest::Replace(Box::new(request()), Box::new(terms()));
        match state {
            PendingState::Nothing => PendingRequest::Nothing,
            PendingState::Replace => replace,
            PendingState::Cancel => PendingRequest::Nothing.overtaken_by(request()),
            PendingState::CancelOverReplace => replace.overtaken_by(request()),
        }
    }

    #[test]
    fn a_pending_request_changes_as_the_table_says() {
        for state in PendingState::ALL {
            for event in RequestEvent::ALL {
                let Some(next) = next_pending(state, event) else { continue };
                let before = pending(state);
                let after = match event {
                    RequestEvent::CancelSent => before.overtaken_by(request()),
                    RequestEvent::ReplaceSent => pending(PendingState::Replace),
                    answered => settled(before, answered),
                };
                assert_eq!(PendingState::of(&after), next, "{state:?} {event:?}");
            }
        }
    }
}
