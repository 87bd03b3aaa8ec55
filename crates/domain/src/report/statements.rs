//! Statements and entries: what a venue holds for an account, and what it books on it besides trades.

use minicbor::{Decode, Encode};

use crate::amount::currency::Currency;
use crate::amount::{Amount, Quantity};
use crate::ids::{AccountId, SecurityId, Text};
use crate::portfolio::EntryKind;
use crate::time::Timestamp;

/// What the venue holds for an account, as of an instant.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueStatement {
    /// When the venue was asked, by our clock: the statement is not older.
    #[n(0)]
    pub as_of: Timestamp,
    /// Our account that it is of.
    #[n(1)]
    pub account: AccountId,
    /// What is held of each currency or asset.
    #[n(2)]
    pub cash: Vec<VenueBalance>,
    /// What is held of each security.
    #[n(3)]
    pub positions: Vec<VenuePosition>,
    /// Whether a currency that is not here is not held.
    #[n(4)]
    pub cash_complete: bool,
    /// Whether a security that is not here is not held.
    #[n(5)]
    pub positions_complete: bool,
}

impl VenueStatement {
    /// The entry of a currency; absent where the statement has none.
    pub fn balance(&self, currency: Currency) -> Option<&VenueBalance> {
        self.cash.iter().find(|balance| balance.currency == currency)
    }
}

/// An asset at a venue. A spot venue does not tell cash from a position in a currency pair: the total of an asset is the
/// cash in it and the quantities of the positions whose base it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct VenueBalance {
    /// The currency or asset.
    #[n(0)]
    pub currency: Currency,
    /// Everything, also what is locked.
    #[n(1)]
    pub total: Amount,
    /// The part that open orders hold.
    #[n(2)]
    pub locked: Amount,
}

/// A position at a venue. Currency pairs are not among them: see [`VenueBalance`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct VenuePosition {
    /// The security that is held.
    #[n(0)]
    pub security: SecurityId,
    /// How much is held; negative for a short.
    #[n(1)]
    pub quantity: Quantity,
}

/// A booking of the venue. Its id is unique within the venue and the account.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct VenueEntry {
    /// The venue's id of the booking: a second report with it is not booked again.
    #[n(0)]
    pub ext_id: Text,
    /// What the venue booked.
    #[n(1)]
    pub kind: EntryKind,
    /// The account that it booked on.
    #[n(2)]
    pub account: AccountId,
    /// The currency of the amount.
    #[n(3)]
    pub currency: Currency,
    /// Signed: what comes in is positive. With a quantity: what that quantity is worth, zero where the venue does not tell.
    #[n(4)]
    pub amount: Amount,
    /// The security that it is about.
    #[n(5)]
    pub security: Option<SecurityId>,
    /// Signed: so much of the security comes in or goes out.
    #[n(6)]
    pub quantity: Option<Quantity>,
    /// The venue's time.
    #[n(7)]
    pub at: Option<Timestamp>,
}
