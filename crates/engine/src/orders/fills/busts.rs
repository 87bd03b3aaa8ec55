//! Busts and corrections: a booked execution is reversed by a new record, and a corrected one is booked anew. What a venue takes back of an
//! inferred fill cannot be reversed, since its share of that fill is not known.

use std::sync::Arc;

use domain::order::{ExecType, Order};
use domain::report::VenueFill;
use domain::{AdapterName, Charge, Decimal, OrderId, PlantedBug, Price, Quantity, Refusal, Text};

use super::executions::{BookedExecution, Costs, ExecutionId};
use super::{FillEffect, execution_id};
use crate::orders::legs::uncount_leg_fill;
use crate::orders::order_events::{OrderChange, publish_order};
use crate::orders::ticket::OrderReport;
use crate::orders::transitions::{OrderEvent, next_state};
use crate::outbox::Outbox;
use crate::trading::Trading;

impl Trading {
    /// The venue busts a fill: a new record with the opposite quantity reverses it.
    pub(crate) fn on_bust(
        &mut self,
        report: OrderReport,
        adapter: &AdapterName,
        exec_id: &Text,
        reason: Option<&Text>,
        out: &mut Outbox,
    ) {
        if PlantedBug::ForgetBust.is_planted() {
            return;
        }
        let newest = self.newest_correction(report.order, adapter, exec_id, None);
        let exec_id = newest.as_ref().unwrap_or(exec_id);
        if self.is_taken_from_inferred(report, adapter, exec_id, out) {
            return;
        }
        if let Some(order) = self.undo_fill(report, adapter, exec_id, reason, out) {
            publish_bust(report, &order, exec_id, out);
        }
    }

    /// The order without that fill, where the fill could be reversed; no order event is published yet.
    fn undo_fill(
        &mut self,
        report: OrderReport,
        adapter: &AdapterName,
        exec_id: &Text,
        reason: Option<&Text>,
        out: &mut Outbox,
    ) -> Option<Arc<Order>> {
        let order = self.find_order(report, out).cloned()?;
        let id = ExecutionId::new(adapter, order.account, order.id, None, exec_id);
        let stands = |execution: &&BookedExecution| !execution.busted || PlantedBug::RepeatBust.is_planted();
        let Some(execution) = self.orders.executions.get(&id).filter(stands).cloned() else {
            self.block_execution(&id);
            out.error("unknown-execution", format!("order {}: no execution {exec_id} to undo", order.int_id));
            return None;
        };
        match self.bust_effect(report, &order, exec_id, &execution) {
            Ok(effect) => Some(self.book_bust(report, &id, reason, effect, out)),
            Err(refusal) => {
                out.error("bust-not-booked", format!("order {}: {exec_id} stays: {refusal}", order.int_id));
                None
            }
        }
    }

    /// Of an order with an inferred fill an execution is taken back that is not booked by itself. It is part of that fill, or its report is
    /// still to come: nothing is booked, and the venue is asked what it has filled in all.
    fn is_taken_from_inferred(
        &mut self,
        report: OrderReport,
        adapter: &AdapterName,
        exec_id: &Text,
        out: &mut Outbox,
    ) -> bool {
        let Some(order) = self.orders.get(report.order).cloned() else { return false };
        let id = ExecutionId::new(adapter, order.account, order.id, None, exec_id);
        let is_booked = self.orders.executions.get(&id).is_some_and(BookedExecution::is_by_itself);
        let Some(name) = self.first_inferred(&order, &id).filter(|_| !is_booked) else { return false };
        self.block_execution(&id);
        let reason = format!("the venue takes back execution {exec_id}, which is not booked by itself");
        let text = format!(
            "order {}: {reason}; it can be part of {name}: nothing is booked, and the venue is asked; compare with its statement",
            order.int_id
        );
        out.error("fill-inferred-undone", text);
        self.mark_in_doubt(report, &reason.into(), out);
        self.ask_for_total(report.moment, order.id);
        true
    }

    /// A bust may overtake its fill, which then must not be booked.
    fn block_execution(&mut self, id: &ExecutionId<'_>) {
        let is_part = |execution: &BookedExecution| execution.busted && execution.inferred.is_some();
        if self.orders.executions.get(id).is_none_or(is_part) {
            let (quantity, price, costs) = (Quantity::ZERO, Price::ZERO, Costs::default());
            let (order, charges, ext_order) = (id.order, vec![], None);
            let (inferred, replaced_by) = (None, None);
            let busted = true;
            let execution =
                BookedExecution { order, quantity, price, busted, costs, charges, ext_order, inferred, replaced_by };
            self.orders.executions.insert(id, execution);
        }
    }

    fn bust_effect(
        &self,
        report: OrderReport,
        order: &Order,
        exec_id: &Text,
        execution: &BookedExecution,
    ) -> Result<FillEffect, Refusal> {
        let filled = order.filled.minus(execution.quantity)?;
        let value = execution.quantity.value_at(execution.price, Decimal::ONE)?;
        let turn = match filled {
            none if none.is_zero() => OrderEvent::Emptied,
            part if part < order.terms.quantity => OrderEvent::Reopened,
            // Only an excess was busted.
            _ => OrderEvent::FilledInFull,
        };
        // A pair that the table does not have is told, and nothing changes.
        let state = next_state(order.state, turn).ok_or_else(|| Refusal::OrderClosed(order.int_id.clone()))?;
        let security = self.reference.security(order.security)?;
        let fill = VenueFill {
            order: order.id,
            exec_id: exec_id.clone(),
            quantity: execution.quantity,
            price: execution.price,
            at: report.ext_at,
            fee: None,
            charges: vec![],
            ext_order: execution.ext_order.clone(),
            liquidity: None,
        };
        let opposite = Order { side: order.side.opposite(), ..order.clone() };
        let costs = execution.costs.negated();
        let mut transaction = self.transaction_of(report, &opposite, security, &fill, costs);
        transaction.description = Some(format!("undoes execution {exec_id}").into());
        let negated = |charge: &Charge| Charge { amount: charge.amount.negated(), ..*charge };
        transaction.charges = execution.charges.iter().map(negated).collect();
        let charges = transaction.charges.clone();
        let booking = self.plan_fill(transaction, security)?;
        let turnover = order.turnover.minus(value)?;
        Ok(FillEffect { state, step: ExecType::TradeCancel, filled, turnover, costs, booking, charges })
    }

    fn book_bust(
        &mut self,
        report: OrderReport,
        id: &ExecutionId<'_>,
        reason: Option<&Text>,
        effect: FillEffect,
        out: &mut Outbox,
    ) -> Arc<Order> {
        self.commit_fill(report.moment, effect.booking, out);
        if let Some(execution) = self.orders.executions.get_mut(id) {
            execution.busted = true;
        }
        let busted = self.orders.executions.get(id).map(|execution| (execution.ext_order.clone(), execution.quantity));
        let order = self.orders.change(id.order, |order| {
            order.state = effect.state;
            if let Some((ext_order, quantity)) = &busted {
                uncount_leg_fill(order, ext_order.as_ref(), *quantity);
            }
            order.filled = effect.filled;
            order.turnover = effect.turnover;
            order.reason = reason.cloned();
            order.changed_at = report.moment.at;
        });
        self.risk.on_fill(&order);
        self.reserve_again(&order);
        if order.legs.is_some() {
            self.settle_stray_legs(report.moment, order.id, out);
        }
        order
    }

    fn block_correction(&mut self, report: OrderReport, adapter: &AdapterName, by: &VenueFill) {
        if let Some(account) = self.orders.get(report.order).map(|order| order.account) {
            self.block_execution(&execution_id(adapter, account, by));
        }
    }

    /// A correction reverses the old fill and books the new one, both as new records; the order changes once.
    pub(crate) fn on_correction(
        &mut self,
        report: OrderReport,
        adapter: &AdapterName,
        exec_id: &Text,
        by: &VenueFill,
        out: &mut Outbox,
    ) {
        let newest = self.newest_correction(report.order, adapter, exec_id, Some(&by.exec_id));
        let exec_id = newest.as_ref().unwrap_or(exec_id);
        if self.is_taken_from_inferred(report, adapter, exec_id, out) {
            // Were it told once more by itself, it would be booked.
            return self.block_correction(report, adapter, by);
        }
        let reason = Text::from(format!("corrected by {}", by.exec_id));
        let is_kept = PlantedBug::KeepCorrectedFill.is_planted();
        let undone = (!is_kept).then(|| self.undo_fill(report, adapter, exec_id, Some(&reason), out)).flatten();
        let by_word = OrderReport { ext_at: by.at.or(report.ext_at), ..report };
        let is_booked = self.apply_fill(by_word, adapter, by, undone.as_ref().map(|_| exec_id), out);
        if let Some(order) = undone.filter(|_| !is_booked) {
            publish_bust(report, &order, exec_id, out);
        }
        self.note_correction(report.order, adapter, exec_id, &by.exec_id);
    }

    /// A venue may name the first execution in each of its corrections: what is corrected is the one that counts in its place. None where it was
    /// not corrected before, and where `by` tells the same again or keeps the id.
    fn newest_correction(
        &self,
        order: OrderId,
        adapter: &AdapterName,
        exec_id: &Text,
        by: Option<&Text>,
    ) -> Option<Text> {
        let account = self.orders.get(order)?.account;
        let executions = &self.orders.executions;
        let next_of = |exec_id: &Text| {
            let known = executions.get(&ExecutionId::new(adapter, account, order, None, exec_id));
            known.and_then(|known| known.replaced_by.as_ref())
        };
        let mut newest = exec_id;
        while let Some(next) = next_of(newest) {
            if by == Some(next) {
                return None;
            }
            newest = next;
        }
        (newest != exec_id && by != Some(exec_id)).then(|| newest.clone())
    }

    fn note_correction(&mut self, order: OrderId, adapter: &AdapterName, exec_id: &Text, by: &Text) {
        let Some(account) = self.orders.get(order).map(|order| order.account) else { return };
        if !self.settings.recovery_rules_2 || exec_id == by {
            return;
        }
        let id = |exec_id| ExecutionId::new(adapter, account, order, None, exec_id);
        let executions = &mut self.orders.executions;
        // One that was corrected itself counts no more: so no execution ever leads back to itself.
        if executions.get(&id(by)).is_some_and(|known| known.replaced_by.is_some()) {
            return;
        }
        if let Some(corrected) = executions.get_mut(&id(exec_id)).filter(|known| known.busted) {
            corrected.replaced_by = Some(by.clone());
        }
    }

    /// A list shows that an execution does not count any more. Lists repeat what they have told: what was taken back before changes nothing, and
    /// what was never booked is not booked later. Either is no alarm. What changes an order makes the answer that it comes with one from before.
    pub(crate) fn on_taken_back(
        &mut self,
        report: OrderReport,
        adapter: &AdapterName,
        exec_id: &Text,
        by: Option<&VenueFill>,
        out: &mut Outbox,
    ) {
        let Some(order) = self.orders.get(report.order).cloned() else {
            return self.on_late_taken_back(adapter, report.order, exec_id, by, out);
        };
        if by.is_some_and(|by| by.order != order.id) {
            return out
                .error("foreign-report", format!("{adapter} corrects a fill of order {} by another's", order.int_id));
        }
        let newest = by.and_then(|by| self.newest_correction(order.id, adapter, exec_id, Some(&by.exec_id)));
        let exec_id = newest.as_ref().unwrap_or(exec_id);
        let id = ExecutionId::new(adapter, order.account, order.id, None, exec_id);
        let keeps_id = by.is_some_and(|by| by.exec_id == *exec_id);
        match self.orders.executions.get(&id) {
            Some(booked) if booked.busted && booked.inferred.is_none() => {}
            Some(booked) if keeps_id && by.is_some_and(|by| is_same(booked, by)) => {}
            None if self.first_inferred(&order, &id).is_none() => {
                if !keeps_id {
                    self.block_execution(&id);
                }
            }
            _ => {
                match by.filter(|by| keeps_id || !self.is_known(adapter, &order, by)) {
                    Some(by) => self.on_correction(report, adapter, exec_id, by, out),
                    None => self.on_bust(report, adapter, exec_id, None, out),
                }
                // What cannot be undone is told by each answer anew: asked again and again it would be told without end.
                if self.orders.get(order.id).is_some_and(|now| !Arc::ptr_eq(now, &order)) {
                    self.ask_again(report.moment, order.id);
                }
            }
        }
        if let Some(by) = by {
            self.note_correction(order.id, adapter, exec_id, &by.exec_id);
        }
    }

    /// Of an order of past days nothing can be reversed: a person does it, and is told once. What was taken back here before is no news.
    fn on_late_taken_back(
        &mut self,
        adapter: &AdapterName,
        order: OrderId,
        exec_id: &Text,
        by: Option<&VenueFill>,
        out: &mut Outbox,
    ) {
        // One with an id of its own is told by itself, as an execution that is not booked.
        let by = by.filter(|by| by.exec_id == *exec_id);
        if !self.orders.is_retired(order) || self.was_taken_back(adapter, (order, exec_id), by) {
            return;
        }
        if !self.note_taken_back(adapter, (order, exec_id), by) {
            return;
        }
        let instead = by.map(|by| format!(" and counts {} @ {} instead", by.quantity, by.price)).unwrap_or_default();
        let text = format!(
            "execution {exec_id} of order number {order}: the venue takes it back{instead}, and that comes days late: nothing is booked; record \
             it by hand where it was not taken back here before"
        );
        out.error("bust-not-booked", text);
    }

    /// Of an order of past days, while it was kept.
    fn was_taken_back(
        &self,
        adapter: &AdapterName,
        (order, exec_id): (OrderId, &Text),
        by: Option<&VenueFill>,
    ) -> bool {
        let Some(account) = self.orders.retired_account(order).filter(|_| self.settings.recovery_rules_2) else {
            return false;
        };
        match by {
            Some(by) => self.orders.executions.is_retired(&execution_id(adapter, account, by), by),
            None => {
                let id = ExecutionId::new(adapter, account, order, None, exec_id);
                self.orders.executions.was_taken_back(&id)
            }
        }
    }

    fn is_known(&self, adapter: &AdapterName, order: &Order, fill: &VenueFill) -> bool {
        self.orders.executions.get(&execution_id(adapter, order.account, fill)).is_some()
    }
}

fn is_same(booked: &BookedExecution, fill: &VenueFill) -> bool {
    (booked.quantity, booked.price) == (fill.quantity, fill.price)
}

fn publish_bust(report: OrderReport, order: &Arc<Order>, exec_id: &Text, out: &mut Outbox) {
    let change = OrderChange {
        exec_ref_id: Some(exec_id.clone()),
        ..OrderChange::from_venue(ExecType::TradeCancel, report.ext_at)
    };
    publish_order(report.moment, order, change, out);
}
