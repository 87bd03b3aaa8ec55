//! Interfaces between the edges and the engine: a bounded inbox with reply channels, an event feed by class, reference
//! data, and the traits for history, ledger and operations.

#![warn(missing_docs)]

pub mod catalogue;
pub mod cluster_overview;
pub mod feed;
pub mod forwarding;
pub mod history;
pub mod inbox;
pub mod ledger;
pub mod operations;
pub mod instruction_queue;
pub mod past;

pub use inbox::{lanes, outbound_gate, quotas, reply};

pub use catalogue::Catalogue;
pub use feed::{EventFeed, EventReceiver};
pub use forwarding::CommandForwarder;
pub use history::History;
pub use inbox::inbox_metrics::{InboxMetrics, PriceDrop};
pub use inbox::outbound_gate::OutboundGate;
pub use inbox::quotas::{InFlightPermit, QuotaClient, Quotas};
pub use inbox::reply::{Reply, ReplyReceiver};
pub use inbox::{EngineRequest, Inbox, InboxError, RequestPayload};
pub use instruction_queue::{InstructionQueue, InstructionRouter};
pub use ledger::Ledger;
pub use operations::{BarStore, FixSessionAdmin, HealthChecks, JournalStatus, ServerAdmin, StrategyAdmin};
pub use past::PastStates;

/// What every edge is given.
#[derive(Clone)]
pub struct Bus {
    /// Requests to the engine.
    pub inbox: Inbox,
    /// Events of the engine.
    pub feed: EventFeed,
    /// Reference data.
    pub catalogue: Catalogue,
    /// What happened before.
    pub history: std::sync::Arc<dyn History>,
    /// How far the journal is durable.
    pub journal: std::sync::Arc<dyn JournalStatus>,
}
