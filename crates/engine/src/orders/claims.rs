//! Claims: an operator moves an order that was not placed here from EXTERNAL to the strategy that it belongs to, with
//! everything that was booked for it. Each booking is undone under EXTERNAL and made again under the strategy, at its
//! price and with its costs, so that the sum of both strategies stays as it was.

use std::sync::Arc;

use domain::command::ClaimOrder;
use domain::order::Order;
use domain::query::{Answer, EngineResult};
use domain::{Caller, Charge, Event, Refusal, Security, Source, StrategyId, Transaction, TransactionKind};

use super::fills::executions::{BookedExecution, Costs};
use crate::outbox::{Moment, Outbox};
use crate::risk::rights::check_trading_right;
use crate::trading::Trading;

impl Trading {
    pub(crate) fn claim(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &ClaimOrder,
        out: &mut Outbox,
    ) -> EngineResult {
        let order = self.claimable_order(caller, ask)?;
        let security = self.reference.security(order.security)?.clone();
        let moves = self.moves(moment, &order, &security, ask.strategy);
        // All or nothing: only a sum that does not fit can fail, and it would fail here.
        for transaction in &moves {
            self.plan_fill(transaction.clone(), &security)?;
        }
        let order = self.move_order(moment, &order, ask.strategy, out);
        for transaction in moves {
            self.book_move(moment, transaction, &security, out);
        }
        let by = caller.user.as_deref().unwrap_or("nobody by name");
        let strategy = self.reference.strategy(ask.strategy)?.name.clone();
        out.warn("order-claimed", format!("order {}: {by} claims it for the strategy {strategy}", order.int_id));
        self.trim_all(moment, true, out);
        Ok(Answer::Order(order))
    }

    fn claimable_order(&self, caller: &Caller, ask: &ClaimOrder) -> Result<Arc<Order>, Refusal> {
        let unknown = || Refusal::UnknownOrder(ask.int_id.as_str().into());
        let order = self.orders.by_int_id(&ask.int_id).ok_or_else(unknown)?;
        check_trading_right(caller, order.account, order.security)?;
        if order.source != Source::External || order.strategy != StrategyId::EXTERNAL {
            return Err(Refusal::NotExternal(order.int_id.clone()));
        }
        self.check_strategy(ask.strategy)?;
        Ok(order.clone())
    }

    /// A strategy that orders can be given to.
    pub(crate) fn check_strategy(&self, strategy: StrategyId) -> Result<(), Refusal> {
        if strategy == StrategyId::EXTERNAL {
            return Err(Refusal::ReservedStrategy);
        }
        self.reference.strategy(strategy).map(|_| ())
    }

    /// The bookings of a claim, in the order of the executions.
    fn moves(&self, moment: Moment, order: &Order, security: &Security, strategy: StrategyId) -> Vec<Transaction> {
        let executions = self.orders.executions.of_order(order.id).filter(|execution| !execution.busted);
        let ends = [(StrategyId::EXTERNAL, -1), (strategy, 1)];
        let booked = executions.flat_map(|execution| ends.map(|end| (execution, end)));
        booked.map(|(execution, end)| self.move_of(moment, order, security, execution, end)).collect()
    }

    /// One execution under one of the strategies: with -1 it is undone, with 1 it is made.
    fn move_of(
        &self,
        moment: Moment,
        order: &Order,
        security: &Security,
        execution: &BookedExecution,
        (strategy, sign): (StrategyId, i64),
    ) -> Transaction {
        let quantity = order.side.signed(execution.quantity);
        let negated = |charge: &Charge| Charge { amount: charge.amount.negated(), ..*charge };
        let (quantity, costs, charges) = match sign {
            1 => (quantity, execution.costs, execution.charges.clone()),
            _ => (quantity.negated(), execution.costs.negated(), execution.charges.iter().map(negated).collect()),
        };
        let Costs { execution: execution_commission, clearing: clearing_commission, fee } = costs;
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        Transaction {
            id,
            uuid,
            at: moment.at,
            settlement_date: None,
            ext_id: None,
            int_order_id: Some(order.int_id.clone()),
            ext_order_id: order.ext_id.clone(),
            kind: if quantity.is_negative() { TransactionKind::Sell } else { TransactionKind::Buy },
            quantity,
            price: execution.price,
            execution_commission,
            clearing_commission,
            fee,
            currency: security.currency,
            account: order.account,
            security: Some(security.id),
            strategy,
            description: Some("claim: the execution moves to another strategy".into()),
            charges,
            venue_kind: None,
            liquidity: None,
        }
    }

    /// Charges in other currencies are transactions of their own, as with any fill.
    fn book_move(&mut self, moment: Moment, transaction: Transaction, security: &Security, out: &mut Outbox) {
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        match self.plan_fill(Transaction { id, uuid, ..transaction }, security) {
            Ok(booking) => self.commit_fill(moment, booking, out),
            Err(refusal) => out.error("claim-not-booked", format!("a part of a claim is not booked: {refusal}")),
        }
    }

    /// Open quantity counts for the strategy from now on.
    fn move_order(&mut self, moment: Moment, order: &Order, strategy: StrategyId, out: &mut Outbox) -> Arc<Order> {
        self.risk.release(order);
        let order = self.orders.change(order.id, |order| {
            order.strategy = strategy;
            order.changed_at = moment.at;
        });
        self.reserve_again(&order);
        out.publish(Event::Order(order.clone()));
        order
    }
}
