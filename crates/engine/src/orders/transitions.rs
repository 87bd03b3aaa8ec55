//! Transition tables of an order: one for the base state, one for the pending request.

use domain::order::{BaseState, PendingRequest};

/// Events of the base state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderEvent {
    Accepted,
    Refused,
    FilledInPart,
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

#[cfg(test)]
impl OrderEvent {
    const ALL: [Self; 9] = [
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
pub(crate) fn next_state(state: BaseState, turn: OrderEvent) -> Option<BaseState> {
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

/// Whether a request may be made while another is pending.
pub(crate) fn may_request(pending: &PendingRequest, ask: RequestKind) -> bool {
    match (pending, ask) {
        (PendingRequest::Nothing, RequestKind::Cancel | RequestKind::Replace) => true,
        // A cancel overtakes a replace that the venue has not answered.
        (PendingRequest::Replace(..), RequestKind::Cancel) => true,
        (PendingRequest::Cancel(..), RequestKind::Cancel | RequestKind::Replace)
        | (PendingRequest::Replace(..), RequestKind::Replace) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_in_the_grid() {
        let mut grid = String::new();
        for state in BaseState::ALL {
            for turn in OrderEvent::ALL {
                let next = next_state(state, turn).map_or("–".into(), |next| format!("{next:?}"));
                grid += &format!("{state:?} | {turn:?} | {next}\n");
            }
        }
        let documented = include_str!("../../../../docs/order-states.md");
        let rows: String = documented
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
            .filter(|row| BaseState::ALL.iter().any(|state| row.starts_with(&format!("{state:?} |"))))
            .map(|row| format!("{row}\n"))
            .collect();
        assert_eq!(rows, grid, "docs/order-states.md has another table than transitions.rs");
    }
}
