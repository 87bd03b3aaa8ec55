//! Ids minted from the state: a replay mints the same, and none is ever given twice.

use std::collections::BTreeMap;

use domain::{AccountId, IntId, Text, TransactionId, Uuid};
use minicbor::{Decode, Encode};

use crate::trading::Trading;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Minted {
    #[n(0)]
    orders: u64,
    #[n(1)]
    bookings: u64,
    /// The last number of each prefix of order ids.
    #[n(2)]
    int_ids: BTreeMap<Text, u64>,
}

impl Minted {
    pub(crate) fn next_order(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    /// The ids of the booking that is being planned; taken by [`Self::booked`].
    pub(crate) fn next_booking(&self, instance: u64) -> (TransactionId, Uuid) {
        let number = self.bookings + 1;
        (TransactionId(number), Uuid::mint(instance, number))
    }

    pub(crate) fn booked(&mut self) {
        self.bookings += 1;
    }
}

impl Trading {
    /// `<sessionQualifier>-<n>`; ids that clients chose are stepped over.
    pub(crate) fn mint_int_id(&mut self, account: AccountId) -> IntId {
        let account = self.directory.account(account).ok();
        let prefix = account.and_then(|account| account.session_qualifier.clone()).unwrap_or_else(|| "R".into());
        let last = self.minted.int_ids.entry(prefix.clone()).or_default();
        loop {
            *last += 1;
            let id = int_id(&prefix, *last);
            if !self.orders.is_taken(&id) {
                return id;
            }
        }
    }
}

/// A qualifier that cannot be part of an id gives way to a plain one.
fn int_id(prefix: &str, number: u64) -> IntId {
    let named = format!("{prefix}-{number}").parse();
    named.unwrap_or_else(|_| format!("R-{number}").parse().expect("short and printable"))
}
