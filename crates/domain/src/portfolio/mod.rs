//! Transactions, positions, cash and the value history.

pub mod value_history;
pub mod value_sample;

use minicbor::{Decode, Encode};
use rust_decimal::Decimal;

use crate::amount::currency::Currency;
use crate::amount::{Amount, Price, Quantity};
use crate::ids::{AccountId, BalanceId, IntId, PositionId, SecurityId, StrategyId, Text, TransactionId, Uuid};
use crate::order::liquidity::Liquidity;
use crate::time::{Date, Timestamp};

/// What is booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum TransactionKind {
    /// A security comes in, cash goes out.
    #[n(0)]
    Buy,
    /// A security goes out, cash comes in.
    #[n(1)]
    Sell,
    /// A future or option ends: the position is closed at its settlement price.
    #[n(2)]
    Expiration,
    /// A security moves in or out of an account without a trade.
    #[n(3)]
    Transfer,
    /// Cash comes in from outside; no profit.
    #[n(4)]
    Credit,
    /// Cash goes out; no loss.
    #[n(5)]
    Debit,
    /// Cash goes out for what was borrowed.
    #[n(6)]
    InterestPaid,
    /// Cash comes in for what was lent.
    #[n(7)]
    InterestReceived,
    /// Cash comes in for a security that is held.
    #[n(8)]
    Dividend,
    /// Cash goes out for a service.
    #[n(9)]
    Fees,
    /// Cash comes back that was charged before.
    #[n(10)]
    Refund,
}

impl TransactionKind {
    /// All kinds, in the order of the enum.
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

    /// As clients see it.
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
    /// The number of the booking, counted up over the life of the platform.
    #[n(0)]
    pub id: TransactionId,
    /// Unique everywhere: a second booking with it is refused.
    #[n(1)]
    pub uuid: Uuid,
    /// When it was traded or booked; a booking by hand may be dated before or ahead.
    #[n(2)]
    pub at: Timestamp,
    /// The day on which money and securities change hands; absent where it is unknown.
    #[n(3)]
    pub settlement_date: Option<Date>,
    /// The venue's id of the execution or entry; absent for a booking by hand without one.
    #[n(4)]
    pub ext_id: Option<Text>,
    /// The order that it came from; absent where it came from none.
    #[n(5)]
    pub int_order_id: Option<IntId>,
    /// The venue's id of that order; absent where there is none.
    #[n(6)]
    pub ext_order_id: Option<Text>,
    /// What was booked.
    #[n(7)]
    pub kind: TransactionKind,
    /// Signed: buys +, sells -; cash kinds +1 or -1.
    #[n(8)]
    pub quantity: Quantity,
    /// Per unit, never negative; for the kinds that move only cash the amount itself.
    #[n(9)]
    pub price: Price,
    /// Commission of the broker in `currency`; below zero it is a rebate.
    #[n(10)]
    pub execution_commission: Amount,
    /// Commission of the clearer in `currency`; below zero it is a rebate.
    #[n(11)]
    pub clearing_commission: Amount,
    /// Fee of the exchange in `currency`; below zero it is a rebate.
    #[n(12)]
    pub fee: Amount,
    /// The currency of price and charges.
    #[n(13)]
    pub currency: Currency,
    /// The account that is booked.
    #[n(14)]
    pub account: AccountId,
    /// The security; absent where only cash was booked.
    #[n(15)]
    pub security: Option<SecurityId>,
    /// The strategy that is booked.
    #[n(16)]
    pub strategy: StrategyId,
    /// For people: the note of the user, or what the platform booked it for.
    #[n(17)]
    pub description: Option<Text>,
    /// Charges of a fill in other currencies; each is booked as its own transaction in the same step.
    #[n(18)]
    #[cbor(default)]
    pub charges: Vec<Charge>,
    /// What the venue calls an entry of its own.
    #[n(19)]
    pub venue_kind: Option<EntryKind>,
    /// Of a fill: whether it was maker or taker; absent where the venue did not tell.
    #[n(20)]
    pub liquidity: Option<Liquidity>,
}

/// What a venue books besides trades. The kind of its transaction is the nearest of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum EntryKind {
    /// Paid between those who are long and short of a swap.
    #[n(0)]
    Funding,
    /// For cash or securities that are lent or borrowed.
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
    /// A charge that belongs to no fill.
    #[n(6)]
    Fee,
    /// Paid for a security that is held; negative for a short position.
    #[n(7)]
    Dividend,
}

impl EntryKind {
    /// All kinds, in the order of the enum.
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

    /// As clients see it.
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
    /// What is charged, in the currency beside it.
    #[n(0)]
    pub amount: Amount,
    /// Any: also another than that of the security.
    #[n(1)]
    pub currency: Currency,
    /// Who is paid by it.
    #[n(2)]
    pub kind: ChargeKind,
}

/// Who is paid by a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum ChargeKind {
    /// The broker, for the execution.
    #[n(0)]
    ExecutionCommission,
    /// The clearer, for the settlement.
    #[n(1)]
    ClearingCommission,
    /// The exchange.
    #[n(2)]
    Fee,
}

impl ChargeKind {
    /// All kinds, in the order of the enum.
    pub const ALL: [Self; 3] = [Self::ExecutionCommission, Self::ClearingCommission, Self::Fee];

    /// As clients see it.
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
    /// The number of the position, which it keeps when it is closed and opened again.
    #[n(0)]
    pub id: PositionId,
    /// The strategy that holds it.
    #[n(1)]
    pub strategy: StrategyId,
    /// The security that is held.
    #[n(2)]
    pub security: SecurityId,
    /// The account that it lies in.
    #[n(3)]
    pub account: AccountId,
    /// How much is held: negative for a short, zero once it is closed.
    #[n(4)]
    pub quantity: Quantity,
    /// Cost of the open quantity, signed as the quantity is.
    #[n(5)]
    pub cost: Amount,
    /// Cost per unit and contract size; absent where nothing is open.
    #[n(6)]
    pub avg_price: Option<Price>,
    /// Before costs.
    #[n(7)]
    pub realized_pl: Amount,
    /// Profit and loss of what is open, at the market price; absent where there is no price.
    #[n(8)]
    pub unrealized_pl: Option<Amount>,
    /// The price that it is valued at, see [`Mark::exit_price`](crate::Mark::exit_price); absent where there is none.
    #[n(9)]
    pub market_price: Option<Price>,
    /// What it is worth at that price, of a future or swap the unrealised result; absent where there is no price.
    #[n(10)]
    pub market_value: Option<Amount>,
    /// The currency of all its amounts: that of the security.
    #[n(11)]
    pub currency: Currency,
    /// When it was booked last; new prices do not count.
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

/// Cash of a strategy in an account and a currency.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct CashBalance {
    /// The number of the balance, for ever.
    #[n(0)]
    pub id: BalanceId,
    /// The strategy that owns it.
    #[n(1)]
    pub strategy: StrategyId,
    /// The account that it lies in.
    #[n(2)]
    pub account: AccountId,
    /// The currency of its amounts.
    #[n(3)]
    pub currency: Currency,
    /// Cash by our bookings; negative where it is owed.
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
    /// The strategy that is valued.
    #[n(0)]
    pub strategy: StrategyId,
    /// When it was valued.
    #[n(1)]
    pub at: Timestamp,
    /// Cash and market value together.
    #[n(2)]
    pub net_liq_value: Option<Amount>,
    /// Market value of all open positions.
    #[n(3)]
    pub market_value: Option<Amount>,
    /// All cash, of all accounts and currencies.
    #[n(4)]
    pub cash_balance: Option<Amount>,
    /// Before costs.
    #[n(5)]
    pub realized_pl: Option<Amount>,
    /// Profit and loss of what is open, at market prices.
    #[n(6)]
    pub unrealized_pl: Option<Amount>,
    /// How many positions are open.
    #[n(7)]
    pub open_positions: u64,
    /// The base currency of the platform.
    #[n(8)]
    pub currency: Currency,
    /// Of all positions, closed ones included.
    #[n(9)]
    pub commissions: Option<Amount>,
    /// Fees of all positions, closed ones included.
    #[n(10)]
    pub fees: Option<Amount>,
}
