//! Link of a strategy process to the server: its states and the one table of their transitions.

/// Where the link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkState {
    /// No run goes on: the server has not accepted the process yet, or has ended its run.
    Connecting,
    /// A run goes on, and the server has not accepted a connection for it since the last one was lost.
    Resuming,
    /// The server has accepted the connection.
    Live,
    /// The same, and the server was told that the strategy leaves.
    Leaving,
    /// It does not come back.
    Lost,
}

/// What happens to the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkEvent {
    /// The server accepted the connection, for the run or for a new one.
    Welcomed,
    ConnectionLost,
    /// The server ended the run; the process may begin another.
    RunEnded,
    /// The server was told that the strategy leaves.
    ExitSent,
    /// Left, refused, or away for too long.
    Closed,
}

impl LinkState {
    /// The state after an event; `None` where it is not legal. A pair that is not listed is refused.
    pub(crate) fn after(self, event: LinkEvent) -> Option<Self> {
        use LinkState::{Connecting, Leaving, Live, Lost, Resuming};
        Some(match (self, event) {
            (Connecting | Resuming, LinkEvent::Welcomed) => Live,
            (Connecting, LinkEvent::ConnectionLost) => Connecting,
            (Resuming | Live | Leaving, LinkEvent::ConnectionLost) => Resuming,
            // The end of a run may be all that a process hears that comes back for it.
            (Connecting | Resuming | Live | Leaving, LinkEvent::RunEnded) => Connecting,
            (Live | Leaving, LinkEvent::ExitSent) => Leaving,
            (Connecting | Resuming | Live | Leaving, LinkEvent::Closed) => Lost,
            _ => return None,
        })
    }

    /// Whether requests can be sent.
    pub(crate) fn is_attached(self) -> bool {
        matches!(self, Self::Live | Self::Leaving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [LinkState; 5] =
        [LinkState::Connecting, LinkState::Resuming, LinkState::Live, LinkState::Leaving, LinkState::Lost];
    const EVENTS: [LinkEvent; 5] =
        [LinkEvent::Welcomed, LinkEvent::ConnectionLost, LinkEvent::RunEnded, LinkEvent::ExitSent, LinkEvent::Closed];

    #[test]
    fn the_grid_of_the_documentation_is_that_of_the_table() {
        let columns: Vec<_> = EVENTS.iter().map(|event| format!("{event:?}")).collect();
        let mut grid = format!("| State | {} |\n|---|---|---|---|---|---|\n", columns.join(" | "));
        for state in STATES {
            let next = EVENTS.map(|event| state.after(event).map_or("–".into(), |next| format!("{next:?}")));
            grid += &format!("| {state:?} | {} |\n", next.join(" | "));
        }
        let page = include_str!("../../../../../docs/strategies.md");
        assert!(page.contains(&grid), "docs/strategies.md has another table than link_state.rs, which is:\n{grid}");
    }
}
