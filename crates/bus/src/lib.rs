//! Interfaces between the edges and the engine: a bounded inbox with reply channels, an event feed by class, reference
//! data, and the traits for history, ledger and operations.

mod blocking;
pub mod catalogue;
pub mod feed;
pub mod history;
pub mod inbox;
pub mod lanes;
pub mod ledger;
pub mod operations;
pub mod outlet;
pub mod quotas;
mod tally;
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

/// Everything that an edge is given.
#[derive(Clone)]
pub struct Bus {
    pub inbox: Inbox,
    pub feed: Feed,
    pub catalogue: Catalogue,
    pub history: std::sync::Arc<dyn History>,
    pub operations: std::sync::Arc<dyn Operations>,
}
