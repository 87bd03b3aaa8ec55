//! Settlement of a trade for one account: quantities, balances, commission.

use super::SpotExchange;
use super::event::ExecutionType;
use super::order::{AccountTrade, SpotOrder, SpotSide, SpotStatus};
use super::units::Units;

const BNB: &str = "BNB";
/// The part of the commission that is not charged when it is paid in BNB: a quarter.
pub(crate) const BNB_DISCOUNT: Units = Units(25_000_000);

/// A trade of the book, before its accounts are settled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Execution {
    pub(super) market: usize,
    pub(super) trade_id: u64,
    pub(super) price: Units,
    pub(super) quantity: Units,
    pub(super) quote: Units,
    pub(super) at: i64,
}

impl SpotExchange {
    pub(super) fn lock(&mut self, market: usize, id: u64, amount: Units) {
        let market = &mut self.markets[market];
        let Some(order) = market.orders.get_mut(&id) else { return };
        order.locked.0 += amount.0;
        let asset = if order.side == SpotSide::Buy { &market.rules.quote } else { &market.rules.base };
        self.accounts[order.account as usize].lock(asset, amount);
        self.changed.insert((order.account, asset.clone()));
    }

    /// Books one side of a trade.
    pub(super) fn settle(&mut self, execution: &Execution, id: u64, is_maker: bool) -> AccountTrade {
        let order = self.fill_order(execution, id);
        self.move_amounts(execution, &order);
        let (commission, commission_asset) = self.charge(execution, &order, is_maker);
        let trade = AccountTrade {
            account: order.account,
            symbol: order.symbol.clone(),
            trade_id: execution.trade_id,
            // The report below gets it.
            execution_id: self.markets[execution.market].next_execution,
            order_id: id,
            price: execution.price,
            quantity: execution.quantity,
            quote: execution.quote,
            commission,
            commission_asset,
            is_buyer: order.side == SpotSide::Buy,
            is_maker,
            time_micros: execution.at,
        };
        let market = &mut self.markets[execution.market];
        market.account_trades.entry(order.account).or_default().push(trade.clone());
        if order.status == SpotStatus::Filled {
            self.release_rest(execution.market, id);
        }
        self.report(execution.market, id, ExecutionType::Trade, Some(trade.clone()), None, execution.at);
        trade
    }

    /// The order after the trade.
    fn fill_order(&mut self, execution: &Execution, id: u64) -> SpotOrder {
        let market = &mut self.markets[execution.market];
        let order = market.orders.get_mut(&id).expect("an order in the book is in the list");
        order.executed.0 += execution.quantity.0;
        order.cumulative_quote.0 += execution.quote.0;
        order.update_micros = execution.at;
        order.status = if order.open_quantity().is_zero() { SpotStatus::Filled } else { SpotStatus::PartiallyFilled };
        if order.status == SpotStatus::Filled {
            market.open.remove(&(order.account, id));
        }
        order.clone()
    }

    /// Pays with what was reserved. A buy below its limit gets the difference back.
    fn move_amounts(&mut self, execution: &Execution, order: &SpotOrder) {
        let market = &mut self.markets[execution.market];
        let (base, quote) = (market.rules.base.clone(), market.rules.quote.clone());
        let account = &mut self.accounts[order.account as usize];
        let reserved = match order.side {
            SpotSide::Sell => execution.quantity,
            SpotSide::Buy if order.kind.has_limit() => order.price.times(execution.quantity).unwrap_or(execution.quote),
            SpotSide::Buy => execution.quote,
        };
        match order.side {
            SpotSide::Buy => {
                account.spend_locked(&quote, reserved);
                account.credit(&quote, Units(reserved.0 - execution.quote.0));
                account.credit(&base, execution.quantity);
            }
            SpotSide::Sell => {
                account.spend_locked(&base, reserved);
                account.credit(&quote, execution.quote);
            }
        }
        if let Some(order) = market.orders.get_mut(&order.id) {
            order.locked.0 -= reserved.0;
        }
        self.changed.extend([(order.account, base), (order.account, quote)]);
    }

    /// Charges the commission: in BNB where the account pays so and has it, else in what it received.
    fn charge(&mut self, execution: &Execution, order: &SpotOrder, is_maker: bool) -> (Units, String) {
        let rules = &self.accounts[order.account as usize].rules;
        let rate = if is_maker { rules.maker_rate } else { rules.taker_rate };
        if self.has_foreign_fee
            && let Some((fee, asset)) = self.commission_in_third(execution.market, execution.quote, rate, order.account)
        {
            return self.take_commission(order, fee, asset);
        }
        let in_bnb = if rules.pays_in_bnb { self.commission_in_bnb(execution, rate) } else { None };
        let has_bnb = |fee: &Units| self.accounts[order.account as usize].free(BNB) >= *fee;
        let (fee, asset) = match in_bnb.filter(has_bnb) {
            Some(fee) => (fee, BNB.to_owned()),
            None => self.commission_in_received(execution, order.side, rate),
        };
        self.take_commission(order, fee, asset)
    }

    fn take_commission(&mut self, order: &SpotOrder, fee: Units, asset: String) -> (Units, String) {
        self.accounts[order.account as usize].credit(&asset, Units(-fee.0));
        self.changed.insert((order.account, asset.clone()));
        (fee, asset)
    }

    fn commission_in_received(&self, execution: &Execution, side: SpotSide, rate: Units) -> (Units, String) {
        let rules = &self.markets[execution.market].rules;
        let (received, asset) = match side {
            SpotSide::Buy => (execution.quantity, &rules.base),
            SpotSide::Sell => (execution.quote, &rules.quote),
        };
        (received.times(rate).unwrap_or_default(), asset.clone())
    }

    /// None where no market says what BNB is worth in the quote asset.
    fn commission_in_bnb(&self, execution: &Execution, rate: Units) -> Option<Units> {
        let rules = &self.markets[execution.market].rules;
        let price = if rules.quote == BNB {
            Units::ONE
        } else if rules.base == BNB {
            execution.price
        } else {
            self.market(&format!("{BNB}{}", rules.quote)).ok()?.last
        };
        let fee = execution.quote.times(rate)?.over(price)?;
        fee.times(Units(Units::ONE.0 - BNB_DISCOUNT.0))
    }

    /// Ends an order that is not filled: it leaves book and stops, and what it reserved is free again.
    pub(super) fn end_order(&mut self, index: usize, id: u64, status: SpotStatus, cancel_id: Option<String>, at: i64) {
        let market = &mut self.markets[index];
        if let Ok(resting) = market.book.cancel(id) {
            market.touch(&resting);
        }
        let Some(order) = market.orders.get_mut(&id) else { return };
        order.status = status;
        order.update_micros = at;
        if status == SpotStatus::ExpiredInMatch {
            order.prevented.0 += order.open_quantity().0;
        }
        let order = order.clone();
        market.open.remove(&(order.account, id));
        market.set_stop(&order, false);
        self.release_rest(index, id);
        let kind = match status {
            SpotStatus::Canceled => ExecutionType::Canceled,
            SpotStatus::ExpiredInMatch => ExecutionType::TradePrevention,
            _ => ExecutionType::Expired,
        };
        self.report(index, id, kind, None, cancel_id, at);
    }

    pub(super) fn release_rest(&mut self, market: usize, id: u64) {
        let market = &mut self.markets[market];
        let Some(order) = market.orders.get_mut(&id) else { return };
        let rest = std::mem::take(&mut order.locked);
        let asset = if order.side == SpotSide::Buy { &market.rules.quote } else { &market.rules.base };
        self.accounts[order.account as usize].unlock(asset, rest);
        self.changed.insert((order.account, asset.clone()));
    }
}
