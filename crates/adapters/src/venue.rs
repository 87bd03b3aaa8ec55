//! Venue adapter traits: order session and market data. No method has a default, so none can pretend success.
//!
//! All methods run on the adapter's own thread and get the current time, which never goes back; they must not block for
//! longer than an order may wait. An asynchronous adapter bridges inside and wakes the host.

use std::fmt;

use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::order::Terms;
use domain::report::{Picture, Profile, Said};
use domain::{Order, SecurityId, Text, Timestamp};

/// An order session at a venue. The venue's answers come out of `deliver`, never out of the request itself: sent does
/// not mean accepted.
pub trait Trading: Send {
    fn profile(&self) -> Profile;

    /// Connects to the venue and logs on. Until this succeeds, and after `disconnect`, everything is `NotSent`.
    fn connect(&mut self, at: Timestamp) -> Result<(), Broken>;

    /// All our orders and fills at the venue. Earlier reports are contained in it or never needed.
    fn picture(&mut self, at: Timestamp) -> Result<Picture, Broken>;

    fn submit(&mut self, at: Timestamp, order: &Order) -> Sending;

    fn modify(&mut self, at: Timestamp, order: &Order, terms: Terms) -> Sending;

    fn cancel(&mut self, at: Timestamp, order: &Order) -> Sending;

    /// Delivers everything that the venue has reported since the last call, in the venue's order.
    fn deliver(&mut self, at: Timestamp, sink: &mut dyn Sink) -> Result<(), Broken>;

    /// When `deliver` is due next, where that follows from the time alone.
    fn due(&self) -> Option<Timestamp>;

    /// Wakes the host when `deliver` has something before it is due.
    fn bell(&self) -> Receiver<()>;

    fn disconnect(&mut self, at: Timestamp);
}

/// Market data of a venue; it comes out of `deliver` too, so that both keep the venue's order.
pub trait MarketFeed: Send {
    fn subscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending;

    fn unsubscribe(&mut self, at: Timestamp, security: SecurityId) -> Sending;
}

/// Both halves of a venue.
pub trait Adapter: Trading + MarketFeed {}

impl<A: Trading + MarketFeed> Adapter for A {}

/// Receives the venue's reports and prices.
pub trait Sink {
    /// `at` is the venue's own time.
    fn report(&mut self, at: Option<Timestamp>, said: Said);

    fn price(&mut self, data: MarketData);
}

/// Result of sending a request to the venue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sending {
    /// Handed to the venue; its answer comes later.
    Sent,
    /// The venue certainly did not receive it.
    NotSent(Text),
    /// The venue may have received it. A timeout after sending is this, never a rejection.
    Unknown(Text),
}

/// There is no session, or it was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub Text);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Broken {}
