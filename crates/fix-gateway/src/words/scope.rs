//! Scope of a mass request: all orders, or those of one security.

use domain::{Order, ReferenceData, SecurityId};
use fix::Message;

use super::field::{MASS_CANCEL_REQUEST_TYPE, MASS_STATUS_REQ_TYPE, SECURITY_ID, named};
use super::naming;
use super::reading::{Complaint, required};
use super::reasons::UNSUPPORTED;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    All,
    Security(SecurityId),
}

impl Scope {
    /// By 585 of an AF or 530 of a q; an H has the id of its order.
    pub(crate) fn of(message: &Message<'_>, reference: &ReferenceData) -> Result<Self, Complaint> {
        let kind = match message.msg_type() {
            b"AF" => MASS_STATUS_REQ_TYPE,
            b"q" => MASS_CANCEL_REQUEST_TYPE,
            _ => return Ok(Self::All),
        };
        match required(message, kind)? {
            b"7" => Ok(Self::All),
            b"1" => {
                let security = naming::security(message, reference)?;
                security.map(|security| Self::Security(security.id)).ok_or_else(|| Complaint::missing(SECURITY_ID))
            }
            _ => {
                let text = format!("{} is 1 (by security, with 48 or 55) or 7 (all)", named(kind));
                Err(Complaint::new(UNSUPPORTED, "not-offered", &text))
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
