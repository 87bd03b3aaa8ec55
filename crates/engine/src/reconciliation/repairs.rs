//! What people do with breaks: explain, accept, repair.

use std::sync::Arc;

use domain::breaks::{Break, BreakId, BreakKind, BreakRepair, BreakStep, Difference, SettleBreak};
use domain::order::{ExecType, Order};
use domain::query::{Answer, EngineResult};
use domain::report::{SessionState, VenueEntry, VenueFill};
use domain::{
    Amount, Caller, Currency, EntryKind, Instruction, Price, Quantity, Refusal, Security, SecurityId, Text,
    Transaction, TransactionKind,
};

use super::statements::asset_of;
use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Trading {
    pub(crate) fn breaks(&self) -> Vec<Arc<Break>> {
        self.breaks.iter().cloned().collect()
    }

    pub(crate) fn find_break(&self, id: BreakId) -> Result<&Arc<Break>, Refusal> {
        self.breaks.get(id).ok_or(Refusal::UnknownBreak(id))
    }

    /// A person settles a break. A repair is carried out first, and where it cannot be, the break stays as it is.
    pub(crate) fn settle_break(
        &mut self,
        moment: Moment,
        caller: &Caller,
        ask: &SettleBreak,
        out: &mut Outbox,
    ) -> EngineResult {
        let found = self.find_break(ask.id)?.clone();
        if found.state.after(ask.step).is_none() {
            return Err(Refusal::BreakSettled { id: found.id, state: found.state });
        }
        if ask.step == BreakStep::Repair {
            let repair = found.difference.repair.clone().ok_or(Refusal::NothingToRepair(found.id))?;
            self.carry_out(moment, &found, &repair, out)?;
        }
        self.change_break(moment, ask.id, ask.step, (caller.user.clone(), ask.comment.clone()), out);
        Ok(Answer::Break(self.find_break(ask.id)?.clone()))
    }

    fn carry_out(
        &mut self,
        moment: Moment,
        found: &Break,
        repair: &BreakRepair,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        match repair {
            BreakRepair::CancelAtVenue => self.cancel_at_venue(&found.difference, out),
            BreakRepair::EndHere => self.end_here(moment, &found.difference, out),
            BreakRepair::CorrectFill(fill) => self.correct_fill(moment, &found.difference, fill, out),
            BreakRepair::BookFee { amount, currency, exec_id } => {
                self.book_fee(moment, found, (*amount, *currency), exec_id, out)
            }
            BreakRepair::BookCash { amount, currency } => {
                self.book_balance(moment, found, (*amount, *currency), None, out)
            }
            BreakRepair::BookPosition { quantity, security } => {
                let currency = self.reference.security(*security)?.currency;
                self.book_balance(moment, found, (Amount::ZERO, currency), Some((*security, *quantity)), out)
            }
        }
    }

    fn order_of(&self, difference: &Difference) -> Result<&Arc<Order>, Refusal> {
        let order = difference.order.and_then(|id| self.orders.get(id));
        let name = || difference.int_order_id.as_ref().map_or_else(|| "?".into(), |id| Text::from(id.as_str()));
        order.ok_or_else(|| Refusal::UnknownOrder(name()))
    }

    /// The venue alone has it: its answer ends nothing here.
    fn cancel_at_venue(&mut self, difference: &Difference, out: &mut Outbox) -> Result<(), Refusal> {
        let order = self.order_of(difference)?;
        self.check_takes_cancels(&order.adapter)?;
        if self.adapters.session(&order.adapter) < SessionState::LoggedOn {
            return Err(Refusal::AdapterDown(order.adapter.clone()));
        }
        let id = order.id;
        let order = self.orders.change(id, |order| order.request += 1);
        out.instruct(&order.adapter, Instruction::Cancel(order.clone()));
        Ok(())
    }

    fn end_here(&mut self, moment: Moment, difference: &Difference, out: &mut Outbox) -> Result<(), Refusal> {
        let order = self.order_of(difference)?;
        if !order.is_open() {
            return Err(Refusal::OrderClosed(order.int_id.clone()));
        }
        let report = OrderReport { moment, order: order.id, ext_at: None };
        let reason = match difference.kind {
            BreakKind::Fill => "nothing of it is left at the venue",
            _ => "the venue no longer knows the order",
        };
        self.on_ended(report, ExecType::Canceled, Some(&reason.into()), out);
        Ok(())
    }

    fn correct_fill(
        &mut self,
        moment: Moment,
        difference: &Difference,
        fill: &VenueFill,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let order = self.order_of(difference)?;
        let (id, adapter) = (order.id, order.adapter.clone());
        let report = OrderReport { moment, order: id, ext_at: fill.at };
        self.on_correction(report, &adapter, &fill.exec_id, fill, out);
        Ok(())
    }

    /// The difference of a balance is a correction; that of a position moves no cash.
    fn book_balance(
        &mut self,
        moment: Moment,
        found: &Break,
        (amount, currency): (Amount, Currency),
        position: Option<(SecurityId, Quantity)>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.check_still_stated(found)?;
        let unknown = || Refusal::UnknownAccount("?".into());
        let entry = VenueEntry {
            ext_id: found.id.to_string().into(),
            kind: EntryKind::Correction,
            account: found.difference.account.ok_or_else(unknown)?,
            currency,
            amount,
            security: position.map(|(security, _)| security),
            quantity: position.map(|(_, quantity)| quantity),
            at: None,
        };
        let Some((mut transaction, security)) = self.entry_transaction(moment, &entry)? else { return Ok(()) };
        transaction.ext_id = None;
        transaction.description = Some(format!("repairs break {}", found.id).into());
        if let Some(price) = security.as_deref().and_then(|security| self.neutral_price(security, &transaction)) {
            transaction.price = price;
        }
        self.book(moment, transaction, security.as_deref(), out).map(drop)
    }

    /// What was booked since the last statement may be the very thing that was missing there.
    fn check_still_stated(&self, found: &Break) -> Result<(), Refusal> {
        let Difference { account, amount, .. } = &found.difference;
        let stated = account.zip(asset_of(&found.difference));
        let stated = stated.and_then(|(account, asset)| self.portfolio.stated(account, asset, self.reference.data()));
        let differs_by = stated.and_then(|(theirs, ours)| theirs.minus(ours).ok());
        if differs_by.is_some() && differs_by == *amount { Ok(()) } else { Err(Refusal::BreakOutdated(found.id)) }
    }

    /// What goes out goes at cost, so that nothing is realised; so does a future, which settles in cash what it realises.
    fn neutral_price(&self, security: &Security, booked: &Transaction) -> Option<Price> {
        let held = self.portfolio.open_in(security.id).into_iter();
        let mut held = held.filter(|held| held.account == booked.account && held.strategy == booked.strategy);
        let position = held.next()?;
        let is_reduced = position.quantity.is_negative() != booked.quantity.is_negative();
        position.avg_price.filter(|_| is_reduced || security.is_margined())
    }

    /// The difference is a booking of its own, with the id of the execution.
    fn book_fee(
        &mut self,
        moment: Moment,
        found: &Break,
        (amount, currency): (Amount, Currency),
        exec_id: &Text,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let order = self.order_of(&found.difference)?.clone();
        let kind = if amount.is_negative() { TransactionKind::Refund } else { TransactionKind::Fees };
        let (id, uuid) = self.ids.next_booking(self.settings.instance);
        let transaction = Transaction {
            id,
            uuid,
            at: moment.at,
            settlement_date: None,
            ext_id: Some(exec_id.clone()),
            int_order_id: Some(order.int_id.clone()),
            ext_order_id: order.ext_id.clone(),
            kind,
            quantity: kind.cash_sign().unwrap_or_default(),
            price: Price(amount.abs().0),
            execution_commission: Amount::ZERO,
            clearing_commission: Amount::ZERO,
            fee: Amount::ZERO,
            currency,
            account: order.account,
            security: Some(order.security),
            strategy: order.strategy,
            description: Some(format!("repairs break {}", found.id).into()),
            charges: vec![],
            venue_kind: None,
            liquidity: None,
        };
        self.book(moment, transaction, None, out)?;
        self.add_costs(&order, exec_id, amount)
    }
}
