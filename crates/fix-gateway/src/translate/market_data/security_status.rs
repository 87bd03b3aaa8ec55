//! Security Status Request (e) and Security Status (f).

use domain::{ReferenceData, Security, SecurityId};
use fix::{FixMessage, MessageFault, OutgoingMessage};

use super::price_messages::PricedSecurity;
use super::price_request::SubscriptionKind;
use super::{id_fault, missing_field};
use crate::translate::field::{self, SECURITY_STATUS_REQ_ID, SUBSCRIPTION_REQUEST_TYPE};
use crate::translate::field_reader::{MessageReject, text_field};
use crate::translate::resolve;

/// SecurityTradingStatus (326).
const READY: &str = "17";
const NOT_AVAILABLE: &str = "18";
const NOT_TRADED_HERE: &str = "19";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecurityStatusRequest {
    pub(crate) id: String,
    pub(crate) subscription: SubscriptionKind,
    /// Absent where a subscription ends.
    pub(crate) security: Option<PricedSecurity>,
}

impl SecurityStatusRequest {
    /// The error of a message that has no answer at application level.
    pub(crate) fn fault_in(message: &FixMessage<'_>) -> Option<MessageFault> {
        let required = [SECURITY_STATUS_REQ_ID, SUBSCRIPTION_REQUEST_TYPE];
        missing_field(message, &required).or_else(|| id_fault(message, SECURITY_STATUS_REQ_ID))
    }

    pub(crate) fn from_message(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Self, MessageReject> {
        let id = text_field(message, SECURITY_STATUS_REQ_ID).unwrap_or_default();
        let subscription = match message.get(SUBSCRIPTION_REQUEST_TYPE) {
            Some(b"0") => SubscriptionKind::Snapshot,
            Some(b"1") => SubscriptionKind::Updates,
            Some(b"2") => return Ok(Self { id, subscription: SubscriptionKind::End, security: None }),
            other => {
                let value = other.unwrap_or_default();
                return Err(MessageReject::invalid(SUBSCRIPTION_REQUEST_TYPE, value, "0, 1 or 2"));
            }
        };
        let missing = || MessageReject::other("missing-field", "Symbol (55) or SecurityID (48) is needed");
        let security = resolve::security(message, reference)?.ok_or_else(missing)?;
        let security = PricedSecurity { id: security.id, symbol: security.symbol.clone() };
        Ok(Self { id, subscription, security: Some(security) })
    }
}

/// SecurityTradingStatus (326), by the reference data: whether orders are taken.
pub(crate) fn trading_status(security: SecurityId, reference: &ReferenceData) -> &'static str {
    match reference.securities.get(&security).map(AsRef::<Security>::as_ref) {
        Some(security) if security.tradeable => READY,
        Some(_) => NOT_AVAILABLE,
        None => NOT_TRADED_HERE,
    }
}

/// `is_change`: nobody asked for it just now.
pub(crate) fn security_status(
    request: &str,
    security: &PricedSecurity,
    status: &str,
    is_change: bool,
) -> OutgoingMessage {
    let mut message = OutgoingMessage::new("f");
    message.field(SECURITY_STATUS_REQ_ID, request);
    message.number(field::SECURITY_ID, security.id.0).field(field::SYMBOL, &*security.symbol);
    message.field(field::UNSOLICITED_INDICATOR, if is_change { "Y" } else { "N" });
    message.field(field::SECURITY_TRADING_STATUS, status);
    message
}
