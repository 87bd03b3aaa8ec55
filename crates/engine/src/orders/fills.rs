//! Executions. A fill changes order, transaction, position and cash in one step; a repeated one is counted and dropped;
//! one that comes late is booked all the same, because it is the venue's truth.

use std::sync::Arc;

use domain::order::{BaseState, Fill, Order, Step};
use domain::report::VenueFill;
use domain::{
    AccountId, AdapterName, Amount, Decimal, Event, OrderId, Overflow, Price, Quantity, Refusal, Security, Side, Text,
    Timestamp, Transaction, TransactionKind,
};

use super::executions::{Costs, Execution, execution_key};
use super::reports::Word;
use super::telling::{Change, tell};
use super::transitions::{Turn, after};
use crate::moment::Moment;
use crate::outbox::Outbox;
use crate::portfolio::Booking;
use crate::trading::{Trading, valuer};

/// Everything that one execution will change, computed before anything is changed.
struct Effect {
    state: BaseState,
    step: Step,
    filled: Quantity,
    turnover: Amount,
    costs: Costs,
    booking: Booking,
}

impl Trading {
    pub(crate) fn filled(
        &mut self,
        moment: Moment,
        adapter: &AdapterName,
        fill: &VenueFill,
        ext_at: Option<Timestamp>,
        out: &mut Outbox,
    ) {
        let word = Word { moment, order: fill.order, ext_at: fill.at.or(ext_at) };
        self.take_fill(word, adapter, fill, None, out);
    }

    /// Says whether it was booked; `instead_of` is the execution that it corrects.
    fn take_fill(
        &mut self,
        word: Word,
        adapter: &AdapterName,
        fill: &VenueFill,
        instead_of: Option<&Text>,
        out: &mut Outbox,
    ) -> bool {
        let Some(account) = self.account_of(word, out) else { return false };
        let key = execution_key(adapter, account, &fill.exec_id);
        if self.orders.executions.knows(key) {
            self.orders.repeated_executions += 1;
            return false;
        }
        let Some(order) = self.orders.get(fill.order) else {
            let text =
                format!("execution {} of order number {} comes days late: record it by hand", fill.exec_id, fill.order);
            out.error("fill-not-booked", text);
            return false;
        };
        match self.effect_of(word, order, fill) {
            Ok(effect) => {
                warn_of_odd_fill(order, &effect, out);
                let published = Arc::new(published_fill(word, order, fill));
                self.book_fill(word, key, &published, effect, instead_of, out);
                true
            }
            Err(refusal) => {
                let text = format!("order {}: execution {} cannot be booked: {refusal}", order.int_id, fill.exec_id);
                out.error("fill-not-booked", text);
                false
            }
        }
    }

    /// Also of an order that is no longer kept.
    fn account_of(&self, word: Word, out: &mut Outbox) -> Option<AccountId> {
        let retired = self.orders.retired_owner(word.order);
        retired.or_else(|| self.known(word, out).map(|order| order.account))
    }

    fn effect_of(&self, word: Word, order: &Order, fill: &VenueFill) -> Result<Effect, Refusal> {
        if !fill.quantity.is_positive() {
            return Err(Refusal::NotPositive { field: "quantity", value: fill.quantity.0 });
        }
        let filled = order.filled.plus(fill.quantity)?;
        let turnover = order.turnover_with(fill.quantity, fill.price)?;
        let (turn, step) = if filled >= order.terms.quantity {
            (Turn::FilledInFull, Step::FilledInFull)
        } else {
            (Turn::FilledInPart, Step::FilledInPart)
        };
        let state = after(order.state, turn).expect("the table lets every state be filled");
        let security = self.directory.security(order.security)?;
        let family = self.costs(security, fill.quantity)?;
        let costs = Costs { fee: fill.fee.unwrap_or(family.fee), ..family };
        let transaction = self.transaction_of(word, order, security, fill, costs);
        let booking = self.portfolio.plan(transaction, Some(security))?;
        Ok(Effect { state, step, filled, turnover, costs, booking })
    }

    fn book_fill(
        &mut self,
        word: Word,
        key: u128,
        fill: &Arc<Fill>,
        effect: Effect,
        instead_of: Option<&Text>,
        out: &mut Outbox,
    ) {
        let execution = Execution {
            order: fill.order,
            quantity: fill.quantity,
            price: fill.price,
            busted: false,
            costs: effect.costs,
        };
        self.orders.executions.remember(key, execution);
        out.publish(Event::Fill(fill.clone()));
        self.minted.booked();
        self.portfolio.commit(
            effect.booking,
            &valuer(&self.marks, &self.directory, &self.settings, word.moment.at),
            out,
        );
        let order = self.orders.change(fill.order, |order| {
            order.state = effect.state;
            order.filled = effect.filled;
            order.turnover = effect.turnover;
            // Whoever fills an order has it.
            if order.in_doubt {
                order.in_doubt = false;
                order.reason = None;
            }
            order.changed_at = word.moment.at;
        });
        self.risk.filled(&order);
        let step = instead_of.map_or(effect.step, |_| Step::Corrected);
        let change = Change { fill: Some(fill), undoes: instead_of.cloned(), ..Change::at_venue(step, word.ext_at) };
        tell(word.moment, &order, change, out);
    }

    fn transaction_of(
        &self,
        word: Word,
        order: &Order,
        security: &Security,
        fill: &VenueFill,
        costs: Costs,
    ) -> Transaction {
        let (id, uuid) = self.minted.next_booking(self.settings.instance);
        Transaction {
            id,
            uuid,
            at: word.moment.at,
            settlement_date: None,
            ext_id: Some(fill.exec_id.clone()),
            int_order_id: Some(order.int_id.clone()),
            ext_order_id: order.ext_id.clone(),
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
            description: None,
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
        let family = self.directory.data().family_of(security);
        family.map_or_else(Costs::default, |family| Costs {
            execution: family.execution_commission,
            clearing: family.clearing_commission,
            fee: family.fee,
        })
    }

    /// The venue takes a fill back: a new record with the opposite quantity undoes it.
    pub(crate) fn busted(
        &mut self,
        word: Word,
        adapter: &AdapterName,
        exec_id: &Text,
        reason: Option<&Text>,
        out: &mut Outbox,
    ) {
        if let Some(order) = self.take_back(word, adapter, exec_id, reason, out) {
            tell_bust(word, &order, exec_id, out);
        }
    }

    /// The order without that fill, where it could be taken back; nobody is told of the order yet.
    fn take_back(
        &mut self,
        word: Word,
        adapter: &AdapterName,
        exec_id: &Text,
        reason: Option<&Text>,
        out: &mut Outbox,
    ) -> Option<Arc<Order>> {
        let order = self.known(word, out).cloned()?;
        let key = execution_key(adapter, order.account, exec_id);
        let stands = |execution: &&Execution| !execution.busted && execution.order == order.id;
        let Some(execution) = self.orders.executions.get(key).filter(stands).cloned() else {
            self.refuse_execution(key, order.id);
            out.error("unknown-execution", format!("order {}: no execution {exec_id} to undo", order.int_id));
            return None;
        };
        match self.undoing(word, &order, exec_id, &execution) {
            Ok(effect) => Some(self.book_bust(word, &order, key, reason, effect, out)),
            Err(refusal) => {
                out.error("bust-not-booked", format!("order {}: {exec_id} stays: {refusal}", order.int_id));
                None
            }
        }
    }

    /// A bust may overtake its fill, which then must not be booked.
    fn refuse_execution(&mut self, key: u128, order: OrderId) {
        if !self.orders.executions.knows(key) {
            let costs = Costs::default();
            let execution = Execution { order, quantity: Quantity::ZERO, price: Price::ZERO, busted: true, costs };
            self.orders.executions.remember(key, execution);
        }
    }

    fn undoing(&self, word: Word, order: &Order, exec_id: &Text, execution: &Execution) -> Result<Effect, Refusal> {
        let filled = order.filled.minus(execution.quantity)?;
        let value = execution.quantity.value_at(execution.price, Decimal::ONE)?;
        let turn = match filled {
            none if none.is_zero() => Turn::Emptied,
            part if part < order.terms.quantity => Turn::Reopened,
            // Only an excess was taken back.
            _ => Turn::FilledInFull,
        };
        let state = after(order.state, turn).unwrap_or(order.state);
        let security = self.directory.security(order.security)?;
        let fill = VenueFill {
            order: order.id,
            exec_id: exec_id.clone(),
            quantity: execution.quantity,
            price: execution.price,
            at: word.ext_at,
            fee: None,
        };
        let opposite = Order { side: order.side.opposite(), ..order.clone() };
        let costs = execution.costs.negated();
        let mut transaction = self.transaction_of(word, &opposite, security, &fill, costs);
        transaction.description = Some(format!("undoes execution {exec_id}").into());
        let booking = self.portfolio.plan(transaction, Some(security))?;
        let turnover = order.turnover.minus(value)?;
        Ok(Effect { state, step: Step::Busted, filled, turnover, costs, booking })
    }

    fn book_bust(
        &mut self,
        word: Word,
        order: &Order,
        key: u128,
        reason: Option<&Text>,
        effect: Effect,
        out: &mut Outbox,
    ) -> Arc<Order> {
        self.minted.booked();
        self.portfolio.commit(
            effect.booking,
            &valuer(&self.marks, &self.directory, &self.settings, word.moment.at),
            out,
        );
        if let Some(execution) = self.orders.executions.get_mut(key) {
            execution.busted = true;
        }
        let order = self.orders.change(order.id, |order| {
            order.state = effect.state;
            order.filled = effect.filled;
            order.turnover = effect.turnover;
            order.reason = reason.cloned();
            order.changed_at = word.moment.at;
        });
        self.risk.filled(&order);
        self.reserve_again(&order);
        order
    }

    /// A correction takes the old fill back and books the new one, both as new records; of the order it is one change.
    pub(crate) fn corrected(
        &mut self,
        word: Word,
        adapter: &AdapterName,
        exec_id: &Text,
        by: &VenueFill,
        out: &mut Outbox,
    ) {
        let reason = Text::from(format!("corrected by {}", by.exec_id));
        let undone = self.take_back(word, adapter, exec_id, Some(&reason), out);
        let by_word = Word { ext_at: by.at.or(word.ext_at), ..word };
        let is_booked = self.take_fill(by_word, adapter, by, undone.as_ref().map(|_| exec_id), out);
        if let Some(order) = undone.filter(|_| !is_booked) {
            tell_bust(word, &order, exec_id, out);
        }
    }
}

fn tell_bust(word: Word, order: &Arc<Order>, exec_id: &Text, out: &mut Outbox) {
    let change = Change { undoes: Some(exec_id.clone()), ..Change::at_venue(Step::Busted, word.ext_at) };
    tell(word.moment, order, change, out);
}

fn warn_of_odd_fill(order: &Order, effect: &Effect, out: &mut Outbox) {
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

fn published_fill(word: Word, order: &Order, fill: &VenueFill) -> Fill {
    Fill {
        order: order.id,
        int_id: order.int_id.clone(),
        strategy: order.strategy,
        security: order.security,
        account: order.account,
        ext_id: fill.exec_id.clone(),
        at: word.moment.at,
        ext_at: word.ext_at,
        sequence: word.moment.sequence,
        side: order.side,
        quantity: fill.quantity,
        price: fill.price,
    }
}
