//! The doors of the house. Edges know the engine only through these types: a bounded inbox with tickets,
//! a feed of events by class, the reference data, and the traits for history, ledger and operations.

/// Waiting without a runtime.
mod blocking;
/// The newest reference data, shared.
pub mod catalogue;
/// Events on their way out, to listeners by class.
pub mod feed;
/// What has been, from the read model.
pub mod history;
/// Commands, questions, reports and prices on their way in.
pub mod inbox;
/// Requests that wait for the engine: who goes first, and what never overtakes what.
pub mod lanes;
/// What edges must remember over a restart.
pub mod ledger;
/// What the program around the engine can do for an edge.
pub mod operations;
/// Instructions on their way to a venue.
pub mod outlet;
/// How many commands of one session, user and peer may be without an answer.
pub mod quotas;
/// What came through the inbox, for whoever watches.
mod tally;
/// The reply to one request.
pub mod ticket;

pub use catalogue::Catalogue;
pub use feed::{Feed, Listener};
pub use history::History;
pub use inbox::{Closed, Inbox, Request, Wanted};
pub use ledger::Ledger;
pub use operations::Operations;
pub use outlet::{Outlet, Outlets};
pub use quotas::{Allowance, Client, Quotas};
pub use tally::Tally;
pub use ticket::{Reply, Ticket};

/// All doors that an edge gets.
#[derive(Clone)]
pub struct Bus {
    pub inbox: Inbox,
    pub feed: Feed,
    pub catalogue: Catalogue,
    pub history: std::sync::Arc<dyn History>,
    pub operations: std::sync::Arc<dyn Operations>,
}
