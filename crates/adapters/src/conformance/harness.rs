//! The test environment that the author of an adapter supplies, and the verdict about a rule.

use domain::order::OrderTerms;
use domain::report::{LineKind, VenueSnapshot};
use domain::{Order, Timestamp};

use crate::venue::Adapter;

/// Test environment of the adapter. It begins disconnected, with the market open.
pub trait Harness {
    /// Always the same adapter, until `restart`.
    fn adapter(&mut self) -> &mut dyn Adapter;

    /// The time at the venue.
    fn now(&self) -> Timestamp;

    /// Lets enough time pass for the venue to answer.
    fn advance(&mut self);

    /// A new order with an id that was not used before; all for one security.
    fn order(&mut self, aim: OrderIntent) -> Order;

    /// New terms for a resting order, with which it would still rest.
    fn other_terms(&self, order: &Order) -> OrderTerms;

    /// The same, with which a venue that cancels an order and places another one makes a new leg.
    fn new_leg_terms(&self, order: &Order) -> OrderTerms {
        self.other_terms(order)
    }

    /// Cuts the connection to the venue. Earlier requests have reached it; its reports are lost from now on.
    fn disconnect(&mut self);

    /// Restores the connection.
    fn reconnect(&mut self);

    /// From now on every report is lost on a session that stays up, until it is switched off; false where the harness
    /// cannot do that.
    fn lose_reports(&mut self, lost: bool) -> bool;

    /// Takes a line of a session that stays up down, or up again. False where the harness cannot do that, or where the
    /// adapter has no such line apart; then the rules about lines are not shown.
    fn switch_line(&mut self, line: LineKind, up: bool) -> bool {
        let _ = (line, up);
        false
    }

    /// Somebody places an order on the account that the adapter did not send; false where the harness cannot do that.
    fn place_elsewhere(&mut self, aim: OrderIntent) -> bool;

    /// The venue changes what it takes of the security of the orders, as it never did before, and the adapter looks at the
    /// venue's list again where it is logged on. False where the harness cannot do that; then the rules about listings are
    /// not shown.
    fn change_listing(&mut self) -> bool {
        false
    }

    /// This half of the next replace fails, at a venue that cancels an order and places another one; the venue may cut the
    /// connection with it. False where the harness cannot do that; then the rules about that half are not shown.
    fn fail_half(&mut self, half: FailedHalf) -> bool {
        let _ = half;
        false
    }

    /// Adapter and, where it runs in the same process, venue crash and start again from their files.
    fn restart(&mut self);

    /// Reads the venue's durable state, where that is possible.
    fn durable_view(&self) -> Option<DurableView>;
}

/// Which half of a cancel-replace fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailedHalf {
    /// Neither: it succeeds again.
    None,
    /// The order is not cancelled, and the new one is placed.
    Cancel,
    /// The order is cancelled, and the new one refused.
    Place,
    /// Nothing is done.
    Both,
}

/// The venue's state if it crashed now.
pub type DurableView = Box<dyn Fn() -> VenueSnapshot>;

/// What an order does in the market of the harness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderIntent {
    /// Rest in the book.
    Rest,
    /// Be filled in full at once.
    Trade,
}

/// Whether a rule was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleVerdict {
    /// It was kept.
    Passed,
    /// What happened instead.
    Failed(String),
    /// It was not kept under a fault, and the adapter said what it could not do.
    Admitted {
        /// What happened instead.
        seen: String,
        /// The adapter's own words, oldest first.
        admitted: Vec<String>,
    },
    /// The harness cannot test it.
    NotSupported(&'static str),
}
