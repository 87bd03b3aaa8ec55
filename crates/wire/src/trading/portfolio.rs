//! Positions, transactions, cash.

use domain::{CashBalance, Charge, Currency, EntryKind, Liquidity, PortfolioValue, Position, Transaction, Uuid};

use crate::json::{AsText, DateText, ExactDecimal, Millis, exact};
use crate::value_object::value_object;

value_object! {
    /// What a strategy holds of a security in an account. `realizedPL` and `unrealizedPL` are before costs; `commissions`
    /// (execution and clearing) and `fees` of all its transactions stand beside them, in its currency.
    pub struct PositionVO ("PositionVO", golden)
    from (position: &Position) {
        id: u64 = position.id.0,
        strategyId: u64 = position.strategy.0,
        securityId: u64 = position.security.0,
        accountId: u64 = position.account.0,
        quantity: ExactDecimal = position.quantity.into(),
        cost: ExactDecimal = position.cost.into(),
        avgPrice: Option<ExactDecimal> = exact(position.avg_price),
        realizedPL: ExactDecimal = position.realized_pl.into(),
        unrealizedPL: Option<ExactDecimal> = exact(position.unrealized_pl),
        commissions: ExactDecimal = position.commissions.into(),
        fees: ExactDecimal = position.fees.into(),
        marketPrice: Option<ExactDecimal> = exact(position.market_price),
        marketValue: Option<ExactDecimal> = exact(position.market_value),
        currency: AsText<Currency> = AsText(position.currency),
    }
}

value_object! {
    /// A booking. The quantity is signed, the price is the positive amount. `charges` lists what a fill cost in other
    /// currencies than its own; each is booked by a FEES transaction (a rebate by a REFUND) with the same intOrderId.
    pub struct TransactionVO<'a> ("TransactionVO", golden)
    from (transaction: &'a Transaction) {
        id: u64 = transaction.id.0,
        uuid: AsText<Uuid> = AsText(transaction.uuid),
        dateTime: Millis = transaction.at.into(),
        settlementDate: Option<DateText> = transaction.settlement_date.map(AsText),
        extId: Option<&'a str> = transaction.ext_id.as_deref(),
        intOrderId: Option<&'a str> [Maybe(&IntId)] = transaction.int_order_id.as_ref().map(domain::IntId::as_str),
        extOrderId: Option<&'a str> = transaction.ext_order_id.as_deref(),
        r#type: &'static str [OneOf(TRANSACTION_TYPES)] = transaction.kind.name(),
        quantity: ExactDecimal = transaction.quantity.into(),
        price: ExactDecimal = transaction.price.into(),
        executionCommission: ExactDecimal = transaction.execution_commission.into(),
        clearingCommission: ExactDecimal = transaction.clearing_commission.into(),
        fee: ExactDecimal = transaction.fee.into(),
        currency: AsText<Currency> = AsText(transaction.currency),
        accountId: u64 = transaction.account.0,
        securityId: Option<u64> = transaction.security.map(|id| id.0),
        strategyId: u64 = transaction.strategy.0,
        description: Option<&'a str> = transaction.description.as_deref(),
        charges: Vec<ChargeVO> = transaction.charges.iter().map(ChargeVO::from_domain).collect(),
        venueKind: Option<&'static str> [Maybe(&OneOf(ENTRY_KINDS))] = transaction.venue_kind.map(EntryKind::name),
        liquidity: Option<&'static str> [Maybe(&OneOf(LIQUIDITIES))] = transaction.liquidity.map(Liquidity::name),
    }
}

value_object! {
    /// What a fill cost in another currency than its own; below zero it is a rebate.
    pub(crate) struct ChargeVO ("ChargeVO")
    from (charge: &Charge) {
        amount: ExactDecimal = charge.amount.into(),
        currency: AsText<Currency> = AsText(charge.currency),
        kind: &'static str [OneOf(CHARGE_KINDS)] = charge.kind.name(),
    }
}

value_object! {
    /// Cash of a strategy in an account; beside it what the venue holds for the whole account, by its last statement.
    pub struct CashBalanceVO ("CashBalanceVO", golden)
    from (balance: &CashBalance) {
        id: u64 = balance.id.0,
        strategyId: u64 = balance.strategy.0,
        accountId: u64 = balance.account.0,
        currency: AsText<Currency> = AsText(balance.currency),
        amount: ExactDecimal = balance.amount.into(),
        venueTotal: Option<ExactDecimal> = exact(balance.venue_total),
        venueLocked: Option<ExactDecimal> = exact(balance.venue_locked),
    }
}

value_object! {
    /// What a strategy is worth, in base currency; a value is null where a price or a rate is not known. `netLiqValue` and
    /// `cashBalance` are after costs; `realizedPL` and `unrealizedPL` are before costs, with `commissions` and `fees`
    /// beside them.
    pub struct PortfolioValueVO ("PortfolioValueVO", golden)
    from (value: &PortfolioValue) {
        strategyId: u64 = value.strategy.0,
        dateTime: Millis = value.at.into(),
        netLiqValue: Option<ExactDecimal> = exact(value.net_liq_value),
        marketValue: Option<ExactDecimal> = exact(value.market_value),
        cashBalance: Option<ExactDecimal> = exact(value.cash_balance),
        realizedPL: Option<ExactDecimal> = exact(value.realized_pl),
        unrealizedPL: Option<ExactDecimal> = exact(value.unrealized_pl),
        commissions: Option<ExactDecimal> = exact(value.commissions),
        fees: Option<ExactDecimal> = exact(value.fees),
        openPositions: u64 [Whole] = value.open_positions,
        currency: AsText<Currency> = AsText(value.currency),
    }
}
