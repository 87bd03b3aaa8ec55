//! Scope of a mass request: all orders, or those of one security.

use domain::{Order, ReferenceData, SecurityId};
use fix::FixMessage;

use super::field::{MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_TYPE, SECURITY_ID};
use super::field_reader::{MessageReject, required};
use super::reject_codes::UNSUPPORTED;
use super::resolve;
use super::tag_names::tag_with_name;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestScope {
    All,
    Security(SecurityId),
}

impl RequestScope {
    /// By 585 of an AF or 530 of a q; an H has the id of its order.
    pub(crate) fn from_message(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Self, MessageReject> {
        let kind = match message.msg_type() {
            b"AF" => MASS_STATUS_REQ_TYPE,
            b"q" => MASS_CANCEL_REQUEST_TYPE,
            _ => return Ok(Self::All),
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
