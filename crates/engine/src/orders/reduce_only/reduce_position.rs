//! Close and reduce: an opposite market order of at most the open quantity. Protective orders on the same side would
//! flip the position together with it, so they are cancelled or reduced first, newest first.

use std::cmp::Reverse;
use std::sync::Arc;

use domain::command::{PlaceOrder, ReducePosition};
use domain::order::{Order, OrderKind, OrderTerms, PendingRequest, Side};
use domain::query::EngineResult;
use domain::{Caller, OrderProperties, Position, Quantity, Refusal, Security, TimeInForce};

use crate::orders::terms_check::{check_terms, may_rest};
use crate::orders::ticket::Reduction;
use crate::orders::waiting_orders::wait_queue::{Deferral, DisplaceReason, Displaced};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Trading {
    pub(crate) fn reduce(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &ReducePosition,
        out: &mut Outbox,
    ) -> EngineResult {
        let (order, reduction) = self.reducing_order(ask)?;
        self.place_with_reduction(moment, caller, &order, Some(reduction), out)
    }

    /// An opposite market order that cannot flip the position. Orders already sent close their part.
    fn reducing_order(&self, ask: &ReducePosition) -> Result<(PlaceOrder, Reduction), Refusal> {
        let holding = self.portfolio.position(ask.position).ok_or(Refusal::UnknownPosition(ask.position.0))?;
        let open = holding.quantity.abs();
        if open.is_zero() {
            return Err(Refusal::PositionClosed(ask.position.0));
        }
        if let Some(quantity) = ask.quantity.filter(|quantity| *quantity > open) {
            return Err(Refusal::TooLarge { field: "quantity", value: quantity.0, limit: open.0 });
        }
        let side = if holding.quantity.is_negative() { Side::Buy } else { Side::Sell };
        let all = self.risk.open_for_strategy(holding.account, holding.strategy, holding.security, side)?;
        let protective = self.protective_orders(&holding, side, all);
        let resting = self.open_quantity(&protective)?;
        let security = self.reference.security(holding.security)?;
        let deliverable = self.portfolio.deliverable(holding.strategy, holding.account, security).abs();
        let closable = deliverable.minus(all.minus(resting)?)?.max(Quantity::ZERO);
        let quantity = ask.quantity.unwrap_or(closable);
        if quantity > closable || closable.is_zero() {
            return Err(Refusal::WouldFlip { open: closable });
        }
        let excess = resting.plus(quantity)?.minus(closable)?;
        let reduction = self.plan_displacement(&protective, excess, DisplaceReason::PositionClosed)?;
        if !reduction.displaced.is_empty() && self.waiting_orders.is_full() {
            return Err(Refusal::WouldFlip { open: open.minus(all)?.max(Quantity::ZERO) });
        }
        Ok((market_order(&holding, side, quantity), reduction))
    }

    /// Working orders of the same side, in the order in which they are displaced: pending cancels first, then the
    /// newest.
    fn protective_orders(&self, holding: &Position, side: Side, all: Quantity) -> Vec<Arc<Order>> {
        if all.is_zero() {
            return Vec::new();
        }
        let working = self.orders.working(holding.account, holding.security, side);
        let mut orders: Vec<_> = working
            .filter(|order| order.strategy == holding.strategy && self.can_be_displaced(order))
            .cloned()
            .collect();
        orders.sort_unstable_by_key(|order| (order.pending.cancel().is_none(), Reverse(order.id)));
        orders
    }

    /// No order that trades or ends at once, such as another close, and none that its venue cannot cancel.
    pub(super) fn can_be_displaced(&self, order: &Order) -> bool {
        may_rest(&order.terms) && self.can_cancel(order)
    }

    fn open_quantity(&self, orders: &[Arc<Order>]) -> Result<Quantity, Refusal> {
        orders.iter().try_fold(Quantity::ZERO, |sum, order| Ok(sum.plus(self.risk.open_of(order.id)?)?))
    }

    /// The orders to displace until nothing is in excess, and how far.
    pub(super) fn plan_displacement(
        &self,
        orders: &[Arc<Order>],
        mut excess: Quantity,
        reason: DisplaceReason,
    ) -> Result<Reduction, Refusal> {
        let mut reduction = Reduction::default();
        for order in orders {
            if !excess.is_positive() {
                break;
            }
            let part = self.risk.open_of(order.id)?;
            let security = self.reference.security(order.security)?;
            // A waiting order is not at the venue: it can be withdrawn, but not replaced.
            let may_shrink = part > excess && !self.waiting_orders.contains(order.id);
            let leaves = if may_shrink { self.reduced_in_turn(security, order, part.minus(excess)?) } else { None };
            let given = if leaves.is_some() { excess } else { part };
            let deferral = order.pending.replace().and(leaves).map(|_| Deferral::ReplacePending);
            reduction.displaced.push(Displaced { order: order.id, leaves_quantity: leaves, reason, deferral });
            reduction.freed = reduction.freed.plus(given)?;
            excess = excess.minus(given)?;
        }
        Ok(reduction)
    }

    /// The quantity of an order that keeps so much open, if need be after a replace that is on its way.
    fn reduced_in_turn(&self, security: &Security, order: &Order, open: Quantity) -> Option<Quantity> {
        let quantity = order.filled.plus(open).ok()?;
        (order.pending.cancel().is_none() && self.can_have(security, order, quantity)).then_some(quantity)
    }

    /// The quantity of an order that is reduced by this much at once; absent where it can only be cancelled.
    pub(super) fn reduced(&self, security: &Security, order: &Order, by: Quantity) -> Option<Quantity> {
        let quantity = order.terms.quantity.minus(by).ok()?;
        let is_possible = order.pending == PendingRequest::Nothing && self.can_have(security, order, quantity);
        is_possible.then_some(quantity)
    }

    fn can_have(&self, security: &Security, order: &Order, quantity: Quantity) -> bool {
        let terms = OrderTerms { quantity, ..order.terms };
        quantity > order.filled
            && check_terms(security, &terms).is_ok()
            && self.check_listing(&order.adapter, order.security, &terms).is_ok()
            && self.check_replace(order, &terms).is_ok()
    }
}

fn market_order(holding: &Position, side: Side, quantity: Quantity) -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security: holding.security,
        account: Some(holding.account),
        strategy: Some(holding.strategy),
        exchange: None,
        side,
        quantity,
        kind: OrderKind::Market,
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
        properties: OrderProperties::REDUCE_ONLY,
        pass_through: None,
    }
}
