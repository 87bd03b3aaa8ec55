//! Bookings by hand: transactions and settlement prices.

use minicbor::{Decode, Encode};

use crate::amount::currency::Currency;
use crate::amount::{Amount, Price, Quantity};
use crate::ids::{AccountId, IntId, SecurityId, StrategyId, Text, Uuid};
use crate::portfolio::TransactionKind;
use crate::time::{Date, Timestamp};

/// A booking by hand, as requested: the engine sets defaults for absent fields.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RecordTransaction {
    /// Makes the booking unique: a second one with the same id is refused. Absent: generated.
    #[n(0)]
    pub uuid: Option<Uuid>,
    /// When it was traded or booked; absent: now.
    #[n(1)]
    pub at: Option<Timestamp>,
    /// The day on which money and securities change hands, where it is known.
    #[n(2)]
    pub settlement_date: Option<Date>,
    /// The venue's id of the execution, where it has one.
    #[n(3)]
    pub ext_id: Option<Text>,
    /// The platform id of the order behind it, where there is one.
    #[n(4)]
    pub int_order_id: Option<IntId>,
    /// The venue's id of the order behind it, where there is one.
    #[n(5)]
    pub ext_order_id: Option<Text>,
    /// What is booked; it decides the sign of the quantity and whether a security is needed.
    #[n(6)]
    pub kind: TransactionKind,
    /// Signed: buys +, sells -. Absent for the kinds that move only cash: +1 or -1.
    #[n(7)]
    pub quantity: Option<Quantity>,
    /// Per unit, never negative; for the kinds that move only cash the amount itself.
    #[n(8)]
    pub price: Price,
    /// Commission of the broker in `currency`; absent: none.
    #[n(9)]
    pub execution_commission: Option<Amount>,
    /// Commission of the clearer in `currency`; absent: none.
    #[n(10)]
    pub clearing_commission: Option<Amount>,
    /// Fee of the exchange in `currency`; absent: none.
    #[n(11)]
    pub fee: Option<Amount>,
    /// Absent: that of the security. A booking of a security cannot have another one.
    #[n(12)]
    pub currency: Option<Currency>,
    /// The account that is booked; absent: the only active one.
    #[n(13)]
    pub account: Option<AccountId>,
    /// The security that is booked; absent where only cash moves.
    #[n(14)]
    pub security: Option<SecurityId>,
    /// The strategy that is booked; absent: `SERVER`.
    #[n(15)]
    pub strategy: Option<StrategyId>,
    /// A note of the user that books.
    #[n(16)]
    pub description: Option<Text>,
}

/// The settlement price of a security for a day: used when the security itself, or an option on it, expires then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct SettlementPrice {
    /// A future or option that expires, or the underlying of an option.
    #[n(0)]
    pub security: SecurityId,
    /// The price of one unit, in the currency of the security.
    #[n(1)]
    pub price: Price,
    /// A day of the exchange; absent = its current one.
    #[n(2)]
    pub date: Option<Date>,
}
