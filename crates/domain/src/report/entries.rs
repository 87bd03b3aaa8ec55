//! Entries: what a venue books on an account besides trades.

use minicbor::{Decode, Encode};

use crate::amount::{Amount, Quantity};
use crate::currency::Currency;
use crate::ids::{AccountId, SecurityId, Text};
use crate::portfolio::EntryKind;
use crate::time::Timestamp;

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
