//! Reduce-only orders never turn a position round: together with all other open orders of their side they are never
//! larger than the position. So a new one is cut to what is left to close, another order of the side waits until they
//! made room for it, and when the position shrinks without them they are reduced or cancelled, newest first.

mod reduce_position;

use std::cmp::Reverse;
use std::sync::Arc;

use domain::command::{Command, PlaceOrder};
use domain::order::{Order, OrderTerms};
use domain::report::{Report, ReportKind};
use domain::{Caller, Quantity, Refusal, Side};

use crate::orders::registry::PositionSide;
use crate::orders::terms_check::{check_terms, is_closing_side};
use crate::orders::ticket::{OrderRoute, Reduction};
use crate::orders::waiting_orders::wait_queue::{DisplaceReason, Displaced};
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Trading {
    /// The terms of a new order as it is sent, and the orders that must make room for it. A close brings its own plan.
    pub(super) fn size(
        &self,
        route: &OrderRoute,
        ask: &PlaceOrder,
        reduction: Option<Reduction>,
    ) -> Result<(OrderTerms, Reduction), Refusal> {
        let terms = OrderTerms { quantity: ask.quantity, kind: ask.kind, tif: ask.tif };
        match reduction {
            Some(reduction) => Ok((terms, reduction)),
            None if ask.properties.reduce_only => Ok((self.cut_to_position(route, ask, terms)?, Reduction::default())),
            None => Ok((terms, self.room_for(PositionSide::of_route(route, ask.side), ask.quantity)?)),
        }
    }

    /// A reduce-only order with no more than it can close beside other open orders of its side.
    fn cut_to_position(&self, route: &OrderRoute, ask: &PlaceOrder, terms: OrderTerms) -> Result<OrderTerms, Refusal> {
        let side = PositionSide::of_route(route, ask.side);
        let closable = self.reducible(side).minus(self.open_on(side)?)?.max(Quantity::ZERO);
        if closable.is_zero() {
            return Err(Refusal::WouldFlip { open: closable });
        }
        let terms = OrderTerms { quantity: terms.quantity.min(closable), ..terms };
        check_terms(&route.security, &terms)?;
        match ask.properties.min_quantity.filter(|least| *least > terms.quantity) {
            Some(least) => Err(Refusal::TooLarge { field: "minQuantity", value: least.0, limit: terms.quantity.0 }),
            None => Ok(terms),
        }
    }

    /// Reduce-only orders to reduce or cancel before so much more of another order of their side is sent.
    fn room_for(&self, side: PositionSide, quantity: Quantity) -> Result<Reduction, Refusal> {
        let orders = self.reduce_only_orders(side);
        if orders.is_empty() {
            return Ok(Reduction::default());
        }
        let excess = self.open_on(side)?.plus(quantity)?.minus(self.reducible(side))?;
        let reduction = self.plan_displacement(&orders, excess, DisplaceReason::ReduceOnly)?;
        if !reduction.displaced.is_empty() && self.waiting_orders.is_full() {
            return Err(Refusal::ReduceOnlyOrderOpen(orders[0].int_id.clone()));
        }
        Ok(reduction)
    }

    /// An order that is at the venue cannot wait, so it does not grow beyond what reduce-only orders leave.
    pub(super) fn check_growth(&self, order: &Order, terms: &OrderTerms) -> Result<(), Refusal> {
        let growth = terms.quantity.minus(order.filled)?.minus(self.risk.open_of(order.id)?)?;
        if order.properties.reduce_only || !growth.is_positive() {
            return Ok(());
        }
        let reduction = self.room_for(PositionSide::of_order(order), growth)?;
        match reduction.displaced.first().and_then(|first| self.orders.get(first.order)) {
            Some(blocking) => Err(Refusal::ReduceOnlyOrderOpen(blocking.int_id.clone())),
            None => Ok(()),
        }
    }

    /// A position may have changed by something else than reduce-only orders.
    pub(crate) fn trim_after_report(&mut self, moment: Moment, report: &Report, out: &mut Outbox) {
        if !self.orders.has_reduce_only() {
            return;
        }
        match &report.kind {
            ReportKind::Filled(fill) => {
                let Some(order) = self.orders.get(fill.order) else { return };
                let side = PositionSide::of_order(order);
                self.trim(moment, side, true, out);
                self.trim(moment, side.opposite(), true, out);
            }
            ReportKind::Snapshot(_)
            | ReportKind::External(_)
            | ReportKind::Busted { .. }
            | ReportKind::TakenBack { .. }
            | ReportKind::Corrected { .. } => {
                self.trim_all(moment, true, out);
            }
            // What the venue does not reduce is cancelled.
            ReportKind::ReplaceRejected { .. } => self.trim_all(moment, false, out),
            _ => {}
        }
    }

    pub(crate) fn trim_after_command(&mut self, moment: Moment, command: &Command, out: &mut Outbox) {
        if matches!(command, Command::Record(_) | Command::ResetPositions) {
            self.trim_all(moment, true, out);
        }
    }

    pub(crate) fn trim_all(&mut self, moment: Moment, may_reduce: bool, out: &mut Outbox) {
        for side in self.orders.reduce_only_sides() {
            self.trim(moment, side, may_reduce, out);
        }
    }

    fn trim(&mut self, moment: Moment, side: PositionSide, may_reduce: bool, out: &mut Outbox) {
        let orders = self.reduce_only_orders(side);
        if orders.is_empty() {
            return;
        }
        // The sums were checked when the orders were accepted.
        let Ok(trimmed) = self.plan_trim(side, &orders, may_reduce) else { return };
        let why = if self.reducible(side).is_zero() { "position-closed" } else { "position-reduced" };
        for first in trimmed {
            self.displace(moment, &Caller::platform(), &first, why.into(), out);
        }
    }

    fn plan_trim(
        &self,
        side: PositionSide,
        orders: &[Arc<Order>],
        may_reduce: bool,
    ) -> Result<Vec<Displaced>, Refusal> {
        let mut trimmed = Vec::new();
        let mut excess = self.open_on(side)?.minus(self.reducible(side))?;
        for order in orders {
            excess = excess.minus(self.risk.open_of(order.id)?.minus(self.open_after_requests(order)?)?)?;
        }
        for order in orders.iter().filter(|order| order.pending.cancel().is_none()) {
            if !excess.is_positive() {
                break;
            }
            let part = self.open_after_requests(order)?;
            let may_shrink = may_reduce && part > excess && !self.waiting_orders.contains(order.id);
            let security = self.reference.security(order.security)?;
            let leaves_quantity = if may_shrink { self.reduced(security, order, excess) } else { None };
            let given = if leaves_quantity.is_some() { excess } else { part };
            let reason = DisplaceReason::PositionClosed;
            trimmed.push(Displaced { order: order.id, leaves_quantity, reason, deferral: None });
            excess = excess.minus(given)?;
        }
        Ok(trimmed)
    }

    /// The open quantity of an order when the venue has carried out what is pending, and what it is still to be asked for.
    fn open_after_requests(&self, order: &Order) -> Result<Quantity, Refusal> {
        let mut open = self.risk.open_of(order.id)?;
        if order.pending.cancel().is_some() {
            return Ok(Quantity::ZERO);
        }
        let asked = order.pending.replace().map(|(_, terms)| terms.quantity);
        for quantity in asked.into_iter().chain(self.waiting_orders.deferred_quantity(order.id)) {
            open = open.min(quantity.minus(order.filled)?.max(Quantity::ZERO));
        }
        Ok(open)
    }

    /// Those that can still be cancelled, in the order in which they give way: pending cancels first, then the newest.
    fn reduce_only_orders(&self, side: PositionSide) -> Vec<Arc<Order>> {
        let mut orders: Vec<_> =
            self.orders.reduce_only(side).filter(|order| self.can_be_displaced(order)).cloned().collect();
        orders.sort_unstable_by_key(|order| (order.pending.cancel().is_none(), Reverse(order.id)));
        orders
    }

    /// How much of the position orders of this side could close.
    fn reducible(&self, side: PositionSide) -> Quantity {
        let held = self.portfolio.quantity(side.strategy, side.account, side.security);
        if is_closing_side(side.side, held) { held.abs() } else { Quantity::ZERO }
    }

    fn open_on(&self, side: PositionSide) -> Result<Quantity, Refusal> {
        Ok(self.risk.open_for_strategy(side.account, side.strategy, side.security, side.side)?)
    }
}

impl PositionSide {
    fn of_route(route: &OrderRoute, side: Side) -> Self {
        Self { strategy: route.strategy, account: route.account, security: route.security.id, side }
    }
}
