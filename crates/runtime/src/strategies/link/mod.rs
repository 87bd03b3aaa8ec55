//! Strategy link: delivery guarantees, the same in process and over the network.
//!
//! Prices are delivered at most once, and the newest of a security may replace older ones that were not acknowledged
//! yet. Events of the strategy's own orders, positions and cash, of sessions and of trading states are delivered at least once to
//! the link and once to the strategy, in the order of their sequence; after a gap they are replayed from its start. A command is answered or
//! refused, once, and its key (the id of its order) makes a retry harmless.

pub(crate) mod strategy_queue;
mod unrecorded_events;
pub(crate) mod local_link;
pub(crate) mod reply_collector;
mod dispatcher;
pub(crate) mod strategy_thread;
pub(crate) mod remote;

use std::sync::Arc;
use std::time::Duration;

use domain::command::StrategyPhase;
use domain::{Command, PublishedEvent};
use strategy::{CommandRejection, PriceHistory};

/// A delivery to a strategy.
#[derive(Debug, Clone)]
pub enum StrategyDelivery {
    Event(PublishedEvent),
    /// A command was not carried out.
    Refused(Box<CommandRejection>),
    /// From here on everything after the last acknowledged event is replayed, in order.
    Replay,
    /// The next phase, with the history for PREFEED.
    Enter(StrategyPhase, Arc<PriceHistory>),
}

/// The link is lost for good: it was closed by the host, or the other side refused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkLost(pub String);

/// The link of one strategy.
pub trait StrategyLink: Send {
    /// Waits for deliveries or a timeout, and takes all of them, in order.
    fn receive(&mut self, patience: Duration, into: &mut Vec<StrategyDelivery>) -> Result<(), LinkLost>;

    /// Sends a command. A refusal comes as a delivery.
    fn send(&mut self, command: Command) -> Result<(), LinkLost>;

    /// Sends a record of the strategy's delivery log; it is in the journal before every later command.
    fn write_delivery_log(&mut self, leaf: Vec<u8>) -> Result<(), LinkLost>;
}
