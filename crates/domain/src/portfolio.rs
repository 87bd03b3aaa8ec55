//! Transactions, positions and cash.

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use crate::amount::{Amount, Price, Quantity};
use crate::currency::Currency;
use crate::ids::{AccountId, BalanceId, IntId, PositionId, SecurityId, StrategyId, Text, TransactionId, Uuid};
use crate::time::{Date, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum TransactionKind {
    #[n(0)]
    Buy,
    #[n(1)]
    Sell,
    #[n(2)]
    Expiration,
    #[n(3)]
    Transfer,
    #[n(4)]
    Credit,
    #[n(5)]
    Debit,
    #[n(6)]
    InterestPaid,
    #[n(7)]
    InterestReceived,
    #[n(8)]
    Dividend,
    #[n(9)]
    Fees,
    #[n(10)]
    Refund,
}

impl TransactionKind {
    pub const ALL: [Self; 11] = [
        Self::Buy,
        Self::Sell,
        Self::Expiration,
        Self::Transfer,
        Self::Credit,
        Self::Debit,
        Self::InterestPaid,
        Self::InterestReceived,
        Self::Dividend,
        Self::Fees,
        Self::Refund,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Buy => "BUY",
            Self::Sell => "SELL",
            Self::Expiration => "EXPIRATION",
            Self::Transfer => "TRANSFER",
            Self::Credit => "CREDIT",
            Self::Debit => "DEBIT",
            Self::InterestPaid => "INTEREST_PAID",
            Self::InterestReceived => "INTEREST_RECEIVED",
            Self::Dividend => "DIVIDEND",
            Self::Fees => "FEES",
            Self::Refund => "REFUND",
        }
    }

    /// The fixed quantity of the kinds that move only cash: +1 in, -1 out.
    pub fn cash_sign(self) -> Option<Quantity> {
        match self {
            Self::Credit | Self::InterestReceived | Self::Dividend | Self::Refund => Some(Quantity(Decimal::ONE)),
            Self::Debit | Self::InterestPaid | Self::Fees => Some(Quantity(Decimal::NEGATIVE_ONE)),
            Self::Buy | Self::Sell | Self::Expiration | Self::Transfer => None,
        }
    }
}

/// A booking: the only way to change positions and cash.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Transaction {
    #[n(0)]
    pub id: TransactionId,
    #[n(1)]
    pub uuid: Uuid,
    #[n(2)]
    pub at: Timestamp,
    #[n(3)]
    pub settlement_date: Option<Date>,
    #[n(4)]
    pub ext_id: Option<Text>,
    #[n(5)]
    pub int_order_id: Option<IntId>,
    #[n(6)]
    pub ext_order_id: Option<Text>,
    #[n(7)]
    pub kind: TransactionKind,
    /// Signed: buys +, sells -; cash kinds +1 or -1.
    #[n(8)]
    pub quantity: Quantity,
    #[n(9)]
    pub price: Price,
    #[n(10)]
    pub execution_commission: Amount,
    #[n(11)]
    pub clearing_commission: Amount,
    #[n(12)]
    pub fee: Amount,
    #[n(13)]
    pub currency: Currency,
    #[n(14)]
    pub account: AccountId,
    #[n(15)]
    pub security: Option<SecurityId>,
    #[n(16)]
    pub strategy: StrategyId,
    #[n(17)]
    pub description: Option<Text>,
    /// Charges of a fill in other currencies; each is booked as its own transaction in the same step.
    #[n(18)]
    #[cbor(default)]
    pub charges: Vec<Charge>,
    /// What the venue calls an entry of its own.
    #[n(19)]
    pub venue_kind: Option<EntryKind>,
}

/// What a venue books besides trades. The kind of its transaction is the nearest of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum EntryKind {
    /// Paid between those who are long and short of a swap.
    #[n(0)]
    Funding,
    #[n(1)]
    Interest,
    /// Between accounts, or in and out of the venue.
    #[n(2)]
    Transfer,
    /// A small rest is exchanged; each currency is an entry.
    #[n(3)]
    Dust,
    /// One currency for another; each is an entry.
    #[n(4)]
    Conversion,
    /// Of an earlier booking of the venue.
    #[n(5)]
    Correction,
    #[n(6)]
    Fee,
    #[n(7)]
    Dividend,
}

impl EntryKind {
    pub const ALL: [Self; 8] = [
        Self::Funding,
        Self::Interest,
        Self::Transfer,
        Self::Dust,
        Self::Conversion,
        Self::Correction,
        Self::Fee,
        Self::Dividend,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Funding => "FUNDING",
            Self::Interest => "INTEREST",
            Self::Transfer => "TRANSFER",
            Self::Dust => "DUST",
            Self::Conversion => "CONVERSION",
            Self::Correction => "CORRECTION",
            Self::Fee => "FEE",
            Self::Dividend => "DIVIDEND",
        }
    }

    /// The kind of a transaction that moves so much cash. What a venue pays for a position, or corrects, is a result;
    /// what is moved or exchanged is none.
    pub fn transaction_kind(self, amount: Amount) -> TransactionKind {
        let comes_in = !amount.is_negative();
        match self {
            Self::Funding | Self::Interest if comes_in => TransactionKind::InterestReceived,
            Self::Funding | Self::Interest => TransactionKind::InterestPaid,
            Self::Correction | Self::Fee if comes_in => TransactionKind::Refund,
            Self::Correction | Self::Fee => TransactionKind::Fees,
            Self::Dividend if comes_in => TransactionKind::Dividend,
            Self::Transfer | Self::Dust | Self::Conversion if comes_in => TransactionKind::Credit,
            Self::Transfer | Self::Dust | Self::Conversion | Self::Dividend => TransactionKind::Debit,
        }
    }
}

/// Charge of a venue, a broker or a clearer for a fill; below zero it is a rebate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Charge {
    #[n(0)]
    pub amount: Amount,
    #[n(1)]
    pub currency: Currency,
    #[n(2)]
    pub kind: ChargeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum ChargeKind {
    #[n(0)]
    ExecutionCommission,
    #[n(1)]
    ClearingCommission,
    #[n(2)]
    Fee,
}

impl ChargeKind {
    pub const ALL: [Self; 3] = [Self::ExecutionCommission, Self::ClearingCommission, Self::Fee];

    pub fn name(self) -> &'static str {
        match self {
            Self::ExecutionCommission => "EXECUTION_COMMISSION",
            Self::ClearingCommission => "CLEARING_COMMISSION",
            Self::Fee => "FEE",
        }
    }
}

/// Position of a strategy in a security and an account, valued at the latest mark.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Position {
    #[n(0)]
    pub id: PositionId,
    #[n(1)]
    pub strategy: StrategyId,
    #[n(2)]
    pub security: SecurityId,
    #[n(3)]
    pub account: AccountId,
    #[n(4)]
    pub quantity: Quantity,
    /// Cost of the open quantity, signed as the quantity is.
    #[n(5)]
    pub cost: Amount,
    #[n(6)]
    pub avg_price: Option<Price>,
    /// Before costs.
    #[n(7)]
    pub realized_pl: Amount,
    #[n(8)]
    pub unrealized_pl: Option<Amount>,
    #[n(9)]
    pub market_price: Option<Price>,
    #[n(10)]
    pub market_value: Option<Amount>,
    #[n(11)]
    pub currency: Currency,
    #[n(12)]
    pub changed_at: Timestamp,
    /// Execution and clearing commissions of all its transactions, in its currency.
    #[n(13)]
    #[cbor(default)]
    pub commissions: Amount,
    /// Fees of all its transactions, in its currency.
    #[n(14)]
    #[cbor(default)]
    pub fees: Amount,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CashBalance {
    #[n(0)]
    pub id: BalanceId,
    #[n(1)]
    pub strategy: StrategyId,
    #[n(2)]
    pub account: AccountId,
    #[n(3)]
    pub currency: Currency,
    #[n(4)]
    pub amount: Amount,
    /// What the venue holds of it for the whole account, all strategies together, by its last statement.
    #[n(5)]
    pub venue_total: Option<Amount>,
    /// The part of it that open orders hold.
    #[n(6)]
    pub venue_locked: Option<Amount>,
}

/// Value of a strategy in base currency; a figure is absent where a rate is missing.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PortfolioValue {
    #[n(0)]
    pub strategy: StrategyId,
    #[n(1)]
    pub at: Timestamp,
    #[n(2)]
    pub net_liq_value: Option<Amount>,
    #[n(3)]
    pub market_value: Option<Amount>,
    #[n(4)]
    pub cash_balance: Option<Amount>,
    /// Before costs.
    #[n(5)]
    pub realized_pl: Option<Amount>,
    #[n(6)]
    pub unrealized_pl: Option<Amount>,
    #[n(7)]
    pub open_positions: u64,
    #[n(8)]
    pub currency: Currency,
    /// Of all positions, closed ones included.
    #[n(9)]
    pub commissions: Option<Amount>,
    #[n(10)]
    pub fees: Option<Amount>,
}
