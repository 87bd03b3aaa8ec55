//! Strategy link: delivery guarantees, the same in process and over the network.
//!
//! Prices are delivered at most once, and the newest of a security may replace older ones that were not acknowledged
//! yet. Events of the strategy's own orders, positions and cash are delivered at least once to the link and once to the
//! strategy, in the order of their sequence; after a gap they are replayed from its start. A command is answered or
//! refused, once, and its key (the id of its order) makes a retry harmless.

use std::sync::Arc;
use std::time::Duration;

use domain::command::Phase;
use domain::{Command, Published};
use strategy::{Past, Refused};

/// A delivery to a strategy.
#[derive(Debug, Clone)]
pub enum Delivery {
    Event(Published),
    /// A command was not carried out.
    Refused(Box<Refused>),
    /// From here on everything after the last acknowledged event is replayed, in order.
    Replay,
    /// The next phase, with the history for PREFEED.
    Enter(Phase, Arc<Past>),
}

/// The link is lost for good: it was closed by the host, or the other side refused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost(pub String);

/// The link of one strategy.
pub trait Link: Send {
    /// Waits for deliveries or a timeout, and takes all of them, in order.
    fn receive(&mut self, patience: Duration, into: &mut Vec<Delivery>) -> Result<(), Lost>;

    /// Sends a command. A refusal comes as a delivery.
    fn send(&mut self, command: Command) -> Result<(), Lost>;

    /// Sends a record of the strategy's delivery log; it is in the journal before every later command.
    fn write(&mut self, leaf: Vec<u8>) -> Result<(), Lost>;
}
