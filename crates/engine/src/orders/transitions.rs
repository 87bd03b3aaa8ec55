//! Transition tables of an order: one for the base state, one for the pending request.

use domain::order::{BaseState, Pending};

/// Events of the base state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
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
impl Turn {
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
pub(crate) fn after(state: BaseState, turn: Turn) -> Option<BaseState> {
    use BaseState::{Canceled, Filled, New, PartiallyFilled, PendingNew, Rejected};
    Some(match (state, turn) {
        (PendingNew, Turn::Accepted | Turn::Replaced) => New,
        (PendingNew | New, Turn::Refused) => Rejected,
        // The confirmation may come again, or after a fill that overtook it: nothing changes.
        (New | PartiallyFilled | Filled, Turn::Accepted) => state,
        (PendingNew | New | PartiallyFilled, Turn::FilledInPart) => PartiallyFilled,
        (PendingNew | New | PartiallyFilled, Turn::FilledInFull) => Filled,
        (PendingNew | New | PartiallyFilled, Turn::Ended) => Canceled,
        (New | PartiallyFilled, Turn::Replaced) => state,
        // The fill may have come before the confirmation.
        (New | PartiallyFilled | Filled, Turn::ReplacedToFilled) => Filled,
        // A filled order that was increased works again.
        (Filled, Turn::Replaced) => PartiallyFilled,
        (PartiallyFilled | Filled, Turn::Reopened) => PartiallyFilled,
        (PartiallyFilled | Filled, Turn::Emptied) => New,
        // More than was ordered is an error of the venue, but its record is authoritative.
        (Filled, Turn::FilledInPart | Turn::FilledInFull) => Filled,
        // A late fill is booked, because the venue has traded it; the order keeps its state.
        (Canceled | Rejected, Turn::FilledInPart | Turn::FilledInFull | Turn::Reopened | Turn::Emptied) => state,
        _ => return None,
    })
}

/// Kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Cancel,
    Replace,
}

/// Whether a request may be made while another is pending.
pub(crate) fn may_ask(pending: &Pending, ask: Ask) -> bool {
    match (pending, ask) {
        (Pending::Nothing, Ask::Cancel | Ask::Replace) => true,
        // A cancel overtakes a replace that the venue has not answered.
        (Pending::Replace(..), Ask::Cancel) => true,
        (Pending::Cancel(..), Ask::Cancel | Ask::Replace) | (Pending::Replace(..), Ask::Replace) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_in_the_grid() {
        let mut grid = String::new();
        for state in BaseState::ALL {
            for turn in Turn::ALL {
                let next = after(state, turn).map_or("–".into(), |next| format!("{next:?}"));
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
