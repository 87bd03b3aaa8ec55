//! The trait pair that every venue implements. No method has a default, so none can pretend success.
//!
//! All methods run on the adapter's own thread and get the present time, which never goes back; they must not block for
//! longer than an order may wait. An adapter that works asynchronously bridges inside and rings its bell.

use std::fmt;

use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::Terms;
use domain::report::{Picture, Profile, Said};
use domain::{Order, SecurityId, Text, Timestamp};

/// A session at a venue where orders are sent. What the venue answers comes out of `deliver`, never out of the
/// request itself: being sent is not being accepted.
pub trait Trading: Send {
    fn profile(&self) -> Profile;

    /// Reaches the venue and logs on. Until this succeeds, and after `disconnect`, everything is `NotSent`.
    fn connect(&mut self, at: Timestamp) -> Result<(), Broken>;

    /// All orders and fills that the venue knows of us. What it said before is in it, or is never needed.
    fn picture(&mut self, at: Timestamp) -> Result<Picture, Broken>;

    fn submit(&mut self, at: Timestamp, order: &Order) -> Sending;

    fn modify(&mut self, at: Timestamp, order: &Order, terms: Terms) -> Sending;

    fn cancel(&mut self, at: Timestamp, order: &Order) -> Sending;

    /// Gives the sink everything that the venue has said since the last call, in the venue's order.
    fn deliver(&mut self, at: Timestamp, sink: &mut dyn Sink) -> Result<(), Broken>;

    /// When `deliver` wants to be called next, where that follows from the time alone.
    fn due(&self) -> Option<Timestamp>;

    /// Rings when `deliver` has something before it is due.
    fn bell(&self) -> Receiver<()>;

    fn disconnect(&mut self, at: Timestamp);
}

/// The prices of a venue; they come out of `Trading::deliver` too, so that both keep the venue's order.
pub trait MarketFeed: Send {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending;

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending;
}

/// Both halves of a venue.
pub trait Adapter: Trading + MarketFeed {}

impl<A: Trading + MarketFeed> Adapter for A {}

/// Where an adapter puts what its venue says.
pub trait Sink {
    /// `at` is the venue's own time.
    fn report(&mut self, at: Option<Timestamp>, said: Said);

    fn price(&mut self, data: MarketData);
}

/// What became of a request on its way to the venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sending {
    /// Handed to the venue; its answer comes later.
    Sent,
    /// The venue certainly did not get it.
    NotSent(Text),
    /// The venue may have got it. A timeout after sending is this, never a rejection.
    Unknown(Text),
}

/// The session is not there, or no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub Text);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Broken {}
