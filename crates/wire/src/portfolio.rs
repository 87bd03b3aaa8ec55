//! Positions, transactions, cash.

use domain::{CashBalance, Charge, Currency, EntryKind, PortfolioValue, Position, Transaction, Uuid};
use serde::Serialize;

use crate::json::{AsText, DateText, ExactDecimal, Millis, exact};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PositionVO {
    id: u64,
    strategy_id: u64,
    security_id: u64,
    account_id: u64,
    quantity: ExactDecimal,
    cost: ExactDecimal,
    avg_price: Option<ExactDecimal>,
    #[serde(rename = "realizedPL")]
    realized_pl: ExactDecimal,
    #[serde(rename = "unrealizedPL")]
    unrealized_pl: Option<ExactDecimal>,
    commissions: ExactDecimal,
    fees: ExactDecimal,
    market_price: Option<ExactDecimal>,
    market_value: Option<ExactDecimal>,
    currency: AsText<Currency>,
}

impl PositionVO {
    pub fn from_domain(position: &Position) -> Self {
        Self {
            id: position.id.0,
            strategy_id: position.strategy.0,
            security_id: position.security.0,
            account_id: position.account.0,
            quantity: position.quantity.into(),
            cost: position.cost.into(),
            avg_price: exact(position.avg_price),
            realized_pl: position.realized_pl.into(),
            unrealized_pl: exact(position.unrealized_pl),
            commissions: position.commissions.into(),
            fees: position.fees.into(),
            market_price: exact(position.market_price),
            market_value: exact(position.market_value),
            currency: AsText(position.currency),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionVO<'a> {
    id: u64,
    uuid: AsText<Uuid>,
    date_time: Millis,
    settlement_date: Option<DateText>,
    ext_id: Option<&'a str>,
    int_order_id: Option<&'a str>,
    ext_order_id: Option<&'a str>,
    r#type: &'static str,
    quantity: ExactDecimal,
    price: ExactDecimal,
    execution_commission: ExactDecimal,
    clearing_commission: ExactDecimal,
    fee: ExactDecimal,
    currency: AsText<Currency>,
    account_id: u64,
    security_id: Option<u64>,
    strategy_id: u64,
    description: Option<&'a str>,
    charges: Vec<ChargeVO>,
    venue_kind: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct ChargeVO {
    amount: ExactDecimal,
    currency: AsText<Currency>,
    kind: &'static str,
}

impl ChargeVO {
    fn from_domain(charge: &Charge) -> Self {
        Self { amount: charge.amount.into(), currency: AsText(charge.currency), kind: charge.kind.name() }
    }
}

impl<'a> TransactionVO<'a> {
    pub fn from_domain(transaction: &'a Transaction) -> Self {
        Self {
            id: transaction.id.0,
            uuid: AsText(transaction.uuid),
            date_time: transaction.at.into(),
            settlement_date: transaction.settlement_date.map(AsText),
            ext_id: transaction.ext_id.as_deref(),
            int_order_id: transaction.int_order_id.as_ref().map(domain::IntId::as_str),
            ext_order_id: transaction.ext_order_id.as_deref(),
            r#type: transaction.kind.name(),
            quantity: transaction.quantity.into(),
            price: transaction.price.into(),
            execution_commission: transaction.execution_commission.into(),
            clearing_commission: transaction.clearing_commission.into(),
            fee: transaction.fee.into(),
            currency: AsText(transaction.currency),
            account_id: transaction.account.0,
            security_id: transaction.security.map(|id| id.0),
            strategy_id: transaction.strategy.0,
            description: transaction.description.as_deref(),
            charges: transaction.charges.iter().map(ChargeVO::from_domain).collect(),
            venue_kind: transaction.venue_kind.map(EntryKind::name),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CashBalanceVO {
    id: u64,
    strategy_id: u64,
    account_id: u64,
    currency: AsText<Currency>,
    amount: ExactDecimal,
    venue_total: Option<ExactDecimal>,
    venue_locked: Option<ExactDecimal>,
}

impl CashBalanceVO {
    pub fn from_domain(balance: &CashBalance) -> Self {
        Self {
            id: balance.id.0,
            strategy_id: balance.strategy.0,
            account_id: balance.account.0,
            currency: AsText(balance.currency),
            amount: balance.amount.into(),
            venue_total: exact(balance.venue_total),
            venue_locked: exact(balance.venue_locked),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PortfolioValueVO {
    strategy_id: u64,
    date_time: Millis,
    net_liq_value: Option<ExactDecimal>,
    market_value: Option<ExactDecimal>,
    cash_balance: Option<ExactDecimal>,
    #[serde(rename = "realizedPL")]
    realized_pl: Option<ExactDecimal>,
    #[serde(rename = "unrealizedPL")]
    unrealized_pl: Option<ExactDecimal>,
    commissions: Option<ExactDecimal>,
    fees: Option<ExactDecimal>,
    open_positions: u64,
    currency: AsText<Currency>,
}

impl PortfolioValueVO {
    pub fn from_domain(value: &PortfolioValue) -> Self {
        Self {
            strategy_id: value.strategy.0,
            date_time: value.at.into(),
            net_liq_value: exact(value.net_liq_value),
            market_value: exact(value.market_value),
            cash_balance: exact(value.cash_balance),
            realized_pl: exact(value.realized_pl),
            unrealized_pl: exact(value.unrealized_pl),
            commissions: exact(value.commissions),
            fees: exact(value.fees),
            open_positions: value.open_positions,
            currency: AsText(value.currency),
        }
    }
}
