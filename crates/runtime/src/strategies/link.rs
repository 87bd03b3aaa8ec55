//! What the bus promises to a strategy, whether it lives in the server or in a process far away.
//!
//! Prices come at most once, and the newest of a security may take the place of older ones that were not heard yet. Events of
//! the strategy's own orders, positions and cash come at least once to the link and once to the strategy, in the order of
//! their sequence; after a gap they are told again from where it began. A command is answered or refused, once, and its key
//! (the name of its order) makes a second try harmless.

use std::sync::Arc;
use std::time::Duration;

use domain::command::Phase;
use domain::{Command, Published};
use strategy::{Past, Refused};

/// What a strategy gets.
#[derive(Debug, Clone)]
pub enum Delivery {
    Event(Published),
    /// A command was not carried out.
    Refused(Box<Refused>),
    /// From here on everything after what was heard last is told again, in order.
    Replay,
    /// The next phase of its life, with the past for PREFEED.
    Enter(Phase, Arc<Past>),
}

/// The link is gone for good: it was cut by the host, or the other side refused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost(pub String);

/// The bus as one strategy sees it.
pub trait Link: Send {
    /// Waits until something is there or patience is over, and takes all of it, in order.
    fn receive(&mut self, patience: Duration, into: &mut Vec<Delivery>) -> Result<(), Lost>;

    /// Hands a command over. A refusal comes as a delivery.
    fn send(&mut self, command: Command) -> Result<(), Lost>;

    /// Hands a leaf of the strategy's diary over; it stands in the journal before every command that is sent after it.
    fn write(&mut self, leaf: Vec<u8>) -> Result<(), Lost>;
}
