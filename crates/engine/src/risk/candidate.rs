//! Orders before and after the checks.

use domain::order::{Order, OrderTerms, Side};
use domain::risk::RiskScope;
use domain::{Caller, OrderId, Overflow, Quantity};

use super::exposure::Reservation;
use super::scopes::scopes;
use crate::orders::ticket::OrderRoute;

/// An order, or new terms for one, before the checks.
pub(crate) struct Candidate<'a> {
    pub(crate) route: &'a OrderRoute,
    pub(crate) side: Side,
    pub(crate) terms: OrderTerms,
    /// The open order whose terms these would become.
    pub(crate) replaces: Option<&'a Order>,
    pub(crate) reduce_only: bool,
    /// What orders of its side give up before it is sent, so that it may close that much more.
    pub(crate) freed: Quantity,
    /// An accepted order that waited for others: the rates have counted it.
    pub(crate) is_released: bool,
    pub(crate) caller: &'a Caller,
}

/// An order that passed the checks.
pub(crate) struct RiskApproval {
    pub(crate) reservation: Reservation,
    /// Orders of the same account that must be cancelled before it is sent.
    pub(crate) self_trades: Vec<OrderId>,
}

impl Candidate<'_> {
    /// The remaining quantity.
    pub(crate) fn leaves_quantity(&self) -> Result<Quantity, Overflow> {
        self.terms.quantity.minus(self.replaces.map_or(Quantity::ZERO, |order| order.filled))
    }

    pub(crate) fn scopes(&self) -> [RiskScope; 4] {
        scopes(self.route.account, self.route.strategy, self.route.security.id)
    }
}
