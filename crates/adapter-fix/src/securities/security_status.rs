//! The trading status of securities: Security Status Request (e) and Security Status (f).

use std::collections::BTreeMap;

use domain::Text;
use domain::report::{ListingStatus, VenueListing};
use fix::{FixMessage, OutgoingMessage};

use crate::dialect::SecurityStatusRules;

/// Asks for the status of securities and keeps what is told; pure.
#[derive(Debug)]
pub struct SecurityStatuses {
    rules: SecurityStatusRules,
    begun_seconds: i64,
    number: u64,
    /// By symbol; absent before the venue has told.
    known: BTreeMap<Text, ListingStatus>,
}

impl SecurityStatuses {
    pub fn new(rules: SecurityStatusRules, begun_seconds: i64) -> Self {
        Self { rules, begun_seconds, number: 0, known: BTreeMap::new() }
    }

    /// Now and whenever it changes.
    pub fn request(&mut self, symbol: &str) -> OutgoingMessage {
        self.number += 1;
        let mut message = OutgoingMessage::new("e");
        let id = format!("S{:x}-{}", self.begun_seconds, self.number);
        message.field(324, id).field(55, symbol).field(263, "1");
        self.rules.fields.iter().for_each(|field| field.write(&mut message));
        message
    }

    /// What was told on an earlier connection may have changed since.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// Whether a Security Status (f) changes something. A code that the dialect does not know says nothing of orders.
    pub(crate) fn on_status(&mut self, message: &FixMessage<'_>) -> bool {
        let code = message.text(326);
        let status = self.rules.codes.iter().find(|(known, _)| Some(known.as_str()) == code).map(|(_, status)| *status);
        let (Some(symbol), Some(status)) = (message.text(55), status) else { return false };
        self.known.insert(symbol.into(), status) != Some(status)
    }

    /// A listing with its status. What the venue does not list it does not trade, whatever the status.
    pub(crate) fn applied(&self, symbol: &str, listed: Option<VenueListing>) -> Option<VenueListing> {
        let Some(status) = self.known.get(symbol).copied() else { return listed };
        match listed {
            None => Some(VenueListing::new(status)),
            Some(listing) if listing.status == ListingStatus::Unlisted => Some(listing),
            Some(listing) => Some(VenueListing { status, ..listing }),
        }
    }
}
