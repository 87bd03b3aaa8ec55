//! Scope of a mass request: all orders, or those of one security.

use domain::{Order, ReferenceData, SecurityId};
use fix::FixMessage;

use super::field::tag_with_name;
use super::field::{ENDED_ORDERS, SECURITY_ID};
use super::field_reader::{MessageReject, flag, required};
use super::messages::MessageRow;
use super::reject_codes::UNSUPPORTED;
use super::resolve;

/// Whether a mass status asks for orders that have ended too.
pub(crate) fn wants_ended_orders(message: &FixMessage<'_>) -> Result<bool, MessageReject> {
    flag(message, ENDED_ORDERS)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestScope {
    All,
    Security(SecurityId),
}

impl RequestScope {
    /// A request without such a field has the id of its order.
    pub(crate) fn from_message(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Self, MessageReject> {
        let Some(kind) = MessageRow::by_type(message.msg_type()).and_then(|row| row.scope) else {
            return Ok(Self::All);
        };
        match required(message, kind)? {
            b"7" => Ok(Self::All),
            b"1" => {
                let security = resolve::security(message, reference)?;
                security.map(|security| Self::Security(security.id)).ok_or_else(|| MessageReject::missing(SECURITY_ID))
            }
            _ => {
                let text = format!("{} is 1 (by security, with 48 or 55) or 7 (all)", tag_with_name(kind));
                Err(MessageReject::new(UNSUPPORTED, "not-offered", &text))
            }
        }
    }

    pub(crate) fn security(self) -> Option<SecurityId> {
        match self {
            Self::All => None,
            Self::Security(id) => Some(id),
        }
    }

    pub(crate) fn covers(self, order: &Order) -> bool {
        self.security().is_none_or(|security| security == order.security)
    }
}
