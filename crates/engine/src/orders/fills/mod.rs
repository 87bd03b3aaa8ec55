//! Fills. A fill changes order, transaction, position and cash in one step; a repeated one is
//! counted and dropped; a late one is booked, because the venue's record is authoritative.

pub(crate) mod executions;
pub(crate) mod inferred_fills;
mod repeated_fills;
mod busts;

use std::sync::Arc;

use domain::order::{BaseState, ExecType, Fill, Order};
use domain::report::VenueFill;
use domain::{
    AccountId, AdapterName, Amount, Charge, Decimal, Event, Overflow, PlantedBug, Price, Quantity, Refusal, Security,
    Side, Text, Timestamp, Transaction, TransactionKind,
};

use self::executions::{BookedExecution, Costs, ExecutionId};
use super::legs::count_leg_fill;
use super::order_events::{OrderChange, publish_order};
use super::transitions::{OrderEvent, next_state};
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::portfolio::BookingPlan;
use crate::trading::{Trading, valuer};

/// All changes of one execution, computed before anything is changed.
struct FillEffect {
    state: BaseState,
    step: ExecType,
    filled: Quantity,
    turnover: Amount,
    costs: Costs,
    booking: BookingPlan,
    /// In other currencies, each booked as its own transaction.
    charges: Vec<Charge>,
}

impl Trading {
    pub(crate) fn on_fill(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        fill: &VenueFill,
        ext_at: Option<Timestamp>,
        out: &mut Outbox,
    ) {
        let report = OrderReport { moment, order: fill.order, ext_at: fill.at.or(ext_at) };
        self.apply_fill(report, adapter, fill, None, out);
    }

    /// Returns whether it was booked; `instead_of` is the execution that it corrects.
    pub(super) fn apply_fill(
        &mut self,
        report: OrderReport,
        adapter: &AdapterName,
        fill: &VenueFill,
        instead_of: Option<&Text>,
        out: &mut Outbox,
    ) -> bool {
        let Some(account) = self.account_of(report, out) else { return false };
        let id = execution_id(adapter, account, fill);
        if PlantedBug::ForgetFill.is_planted() && id.key().is_multiple_of(8) {
            return false;
        }
        if self.is_booked_before(report.moment, &id, fill, instead_of, out)
            && !PlantedBug::BookRepeatedFill.is_planted()
        {
            self.orders.repeated_executions += 1;
            return false;
        }
        let Some(order) = self.orders.get(fill.order) else {
            let text = format!(
                "execution {} of order number {}, {} @ {}, is not known and comes days late: record it by hand",
                fill.exec_id, fill.order, fill.quantity, fill.price
            );
            out.error("fill-not-booked", text);
            self.note_unbooked(adapter, fill);
            return false;
        };
        match self.effect_of(report, order, fill) {
            Ok(effect) => {
                warn_unusual_fill(order, &effect, out);
                let published = Arc::new(published_fill(report, order, fill));
                self.book_fill(report, &id, &published, effect, instead_of, out);
                true
            }
            Err(refusal) => {
                let text = format!("order {}: execution {} cannot be booked: {refusal}", order.int_id, fill.exec_id);
                out.error("fill-not-booked", text);
                self.note_unbooked(adapter, fill);
                false
            }
        }
    }

    /// A correction may keep the id of what it corrects. What it corrects was booked by itself, so it is no part of what was inferred.
    fn is_booked_before(
        &mut self,
        moment: Moment,
        id: &ExecutionId<'_>,
        fill: &VenueFill,
        instead_of: Option<&Text>,
        out: &mut Outbox,
    ) -> bool {
        match instead_of {
            Some(corrected) => *corrected != fill.exec_id && self.is_repeated(id, fill, out),
            None => self.is_repeated(id, fill, out) || self.is_inferred_before(moment, id, fill, out),
        }
    }

    /// Also of an order that is no longer kept.
    pub(super) fn account_of(&self, report: OrderReport, out: &mut Outbox) -> Option<AccountId> {
        let retired = self.orders.retired_account(report.order);
        if retired.is_none() && self.orders.is_forgotten(report.order) {
            let text =
                format!("order number {} is long gone and its account is not known: record by hand", report.order);
            out.error("fill-not-booked", text);
            return None;
        }
        retired.or_else(|| self.find_order(report, out).map(|order| order.account))
    }

    fn effect_of(&self, report: OrderReport, order: &Order, fill: &VenueFill) -> Result<FillEffect, Refusal> {
        if !fill.quantity.is_positive() {
            return Err(Refusal::NotPositive { field: "quantity", value: fill.quantity.0 });
        }
        let filled = order.filled.plus(fill.quantity)?;
        let turnover = order.turnover_with(fill.quantity, fill.price)?;
        let (turn, step) = if filled >= order.terms.quantity {
            (OrderEvent::FilledInFull, ExecType::Fill)
        } else {
            (OrderEvent::FilledInPart, ExecType::PartialFill)
        };
        let state = next_state(order.state, turn).expect("the table lets every state be filled");
        let security = self.reference.security(order.security)?;
        let costs = self.costs_of_fill(security, fill)?;
        let charges = foreign_charges(security, fill);
        let mut transaction = self.transaction_of(report, order, security, fill, costs);
        if PlantedBug::BookWrongPrice.is_planted() {
            transaction.price = Price(transaction.price.0 + Decimal::ONE);
        }
        if PlantedBug::BookWrongSide.is_planted() && order.id.0.is_multiple_of(8) {
            let opposite = Order { side: order.side.opposite(), ..order.clone() };
            transaction = self.transaction_of(report, &opposite, security, fill, costs);
        }
        let booking = self.plan_fill(Transaction { charges: charges.clone(), ..transaction }, security)?;
        Ok(FillEffect { state, step, filled, turnover, costs, booking, charges })
    }

    /// A kind of charge that the venue reports replaces the family's.
    pub(super) fn costs_of_fill(&self, security: &Security, fill: &VenueFill) -> Result<Costs, Refusal> {
        let mut costs = self.costs(security, fill.quantity)?;
        fill.charges.iter().for_each(|charge| *costs.of_kind(charge.kind) = Amount::ZERO);
        costs.fee = fill.fee.unwrap_or(costs.fee);
        for charge in fill.charges.iter().filter(|charge| charge.currency == security.currency) {
            let sum = costs.of_kind(charge.kind);
            *sum = sum.plus(charge.amount)?;
        }
        Ok(costs)
    }

    /// Charges in other currencies are planned too, so that the fill and all charges are booked, or nothing.
    pub(super) fn plan_fill(&self, transaction: Transaction, security: &Security) -> Result<BookingPlan, Refusal> {
        for charge in &transaction.charges {
            self.portfolio.plan(charge_of(&transaction, charge), None)?;
        }
        self.portfolio.plan(transaction, Some(security))
    }

    /// Each is its own transaction, in the same step as its fill.
    fn book_charges(&mut self, moment: Moment, fill: &Transaction, out: &mut Outbox) {
        for charge in &fill.charges {
            let (id, uuid) = self.ids.next_booking(self.settings.instance);
            let transaction = Transaction { id, uuid, ..charge_of(fill, charge) };
            if let Err(refusal) = self.book(moment, transaction, None, out) {
                let text =
                    format!("transaction {}: {} {} is not booked: {refusal}", fill.id, charge.amount, charge.currency);
                out.error("charge-not-booked", text);
            }
        }
    }

    fn book_fill(
        &mut self,
        report: OrderReport,
        id: &ExecutionId<'_>,
        fill: &Arc<Fill>,
        effect: FillEffect,
        instead_of: Option<&Text>,
        out: &mut Outbox,
    ) {
        let execution = BookedExecution {
            order: fill.order,
            quantity: fill.quantity,
            price: fill.price,
            busted: false,
            costs: effect.costs,
            charges: effect.charges,
            ext_order: id.ext_order.cloned(),
            inferred: inferred_fills::inferred(fill),
            replaced_by: None,
        };
        self.orders.executions.insert(id, execution);
        out.publish(Event::Fill(fill.clone()));
        self.commit_fill(report.moment, effect.booking, out);
        let named = id.ext_order.filter(|_| self.settings.ids_by_fills);
        let order = self.orders.change(fill.order, |order| {
            order.state = effect.state;
            order.filled = effect.filled;
            count_leg_fill(order, id.ext_order, fill.quantity);
            if order.ext_id.is_none() {
                order.ext_id = named.cloned();
            }
            order.turnover = effect.turnover;
            // A venue that fills an order has it.
            if order.in_doubt {
                order.in_doubt = false;
                order.reason = None;
            }
            order.changed_at = report.moment.at;
        });
        self.risk.on_fill(&order);
        let is_first = instead_of.is_none() && order.filled == fill.quantity;
        let step = instead_of.map_or(effect.step, |_| ExecType::TradeCorrect);
        let change = OrderChange {
            fill: Some(fill),
            exec_ref_id: instead_of.cloned(),
            ..OrderChange::from_venue(step, report.ext_at)
        };
        publish_order(report.moment, &order, change, out);
        // What is left of a leg of an order that is filled must not trade.
        if order.legs.is_some() {
            self.settle_stray_legs(report.moment, order.id, out);
        }
        // Parts of one order are one execution of a strategy's decision.
        if is_first {
            self.count_execution(report.moment, &order, out);
        }
    }

    pub(super) fn commit_fill(&mut self, moment: Moment, booking: BookingPlan, out: &mut Outbox) {
        let transaction = booking.transaction().clone();
        self.ids.consume_booking_id();
        self.portfolio.commit(booking, &valuer(&self.marks, &self.reference, &self.settings, moment.at), out);
        self.book_charges(moment, &transaction, out);
    }

    fn transaction_of(
        &self,
        report: OrderReport,
        order: &Order,
        security: &Security,
        fill: &VenueFill,
        costs: Costs,
    ) -> Transaction {
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        Transaction {
            id,
            uuid,
            at: report.moment.at,
            settlement_date: None,
            ext_id: Some(fill.exec_id.clone()),
            int_order_id: Some(order.int_id.clone()),
            ext_order_id: fill.ext_order.as_ref().or(order.ext_id.as_ref()).cloned(),
            kind: match order.side {
                Side::Buy => TransactionKind::Buy,
                Side::Sell => TransactionKind::Sell,
            },
            quantity: order.side.signed(fill.quantity),
            price: fill.price,
            execution_commission: costs.execution,
            clearing_commission: costs.clearing,
            fee: costs.fee,
            currency: security.currency,
            account: order.account,
            security: Some(security.id),
            strategy: order.strategy,
            description: inferred_fills::description(&fill.exec_id),
            charges: vec![],
            venue_kind: None,
            liquidity: fill.liquidity,
        }
    }

    /// Commissions and fee of the family for so many units.
    pub(crate) fn costs(&self, security: &Security, quantity: Quantity) -> Result<Costs, Overflow> {
        let unit = self.unit_costs(security);
        Ok(Costs {
            execution: unit.execution.times(quantity.0)?,
            clearing: unit.clearing.times(quantity.0)?,
            fee: unit.fee.times(quantity.0)?,
        })
    }

    pub(crate) fn unit_costs(&self, security: &Security) -> Costs {
        let family = self.reference.data().family_of(security);
        family.map_or_else(Costs::default, |family| Costs {
            execution: family.execution_commission,
            clearing: family.clearing_commission,
            fee: family.fee,
        })
    }
}

pub(super) fn execution_id<'a>(adapter: &'a AdapterName, account: AccountId, fill: &'a VenueFill) -> ExecutionId<'a> {
    let VenueFill { order, ext_order, exec_id, .. } = fill;
    ExecutionId::new(adapter, account, *order, ext_order.as_ref(), exec_id)
}

fn foreign_charges(security: &Security, fill: &VenueFill) -> Vec<Charge> {
    let is_foreign = |charge: &&Charge| charge.currency != security.currency && !charge.amount.is_zero();
    fill.charges.iter().filter(is_foreign).copied().collect()
}

/// The transaction of a charge in another currency than its fill's; a rebate is booked as a refund.
fn charge_of(fill: &Transaction, charge: &Charge) -> Transaction {
    let kind = if charge.amount.is_negative() { TransactionKind::Refund } else { TransactionKind::Fees };
    Transaction {
        kind,
        quantity: kind.cash_sign().unwrap_or_default(),
        price: Price(charge.amount.abs().0),
        execution_commission: Amount::ZERO,
        clearing_commission: Amount::ZERO,
        fee: Amount::ZERO,
        currency: charge.currency,
        description: Some(format!("{} of transaction {}", charge.kind.name(), fill.id).into()),
        charges: vec![],
        liquidity: None,
        ..fill.clone()
    }
}

fn warn_unusual_fill(order: &Order, effect: &FillEffect, out: &mut Outbox) {
    if !order.state.is_working() && order.state != BaseState::Filled {
        let text = format!("order {}: filled after it was {:?}; the fill is booked", order.int_id, order.state);
        out.warn("late-fill", text);
    }
    if effect.filled > order.terms.quantity {
        let text = format!(
            "order {}: {} filled of {}; the excess is booked",
            order.int_id, effect.filled, order.terms.quantity
        );
        out.error("overfill", text);
    }
}

fn published_fill(report: OrderReport, order: &Order, fill: &VenueFill) -> Fill {
    Fill {
        order: order.id,
        int_id: order.int_id.clone(),
        strategy: order.strategy,
        security: order.security,
        account: order.account,
        ext_id: fill.exec_id.clone(),
        at: report.moment.at,
        ext_at: report.ext_at,
        sequence: report.moment.sequence,
        side: order.side,
        quantity: fill.quantity,
        price: fill.price,
        liquidity: fill.liquidity,
    }
}
