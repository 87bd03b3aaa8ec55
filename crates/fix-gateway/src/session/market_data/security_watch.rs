//! Trading status of securities that a client asked to be told of.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ReferenceData, SecurityId};
use fix::OutgoingMessage;

use crate::translate::{PricedSecurity, security_status, trading_status};

#[derive(Default)]
pub(super) struct SecurityWatch {
    /// By SecurityStatusReqID (324), with the status that was told last.
    watched: BTreeMap<String, (PricedSecurity, &'static str)>,
}

impl SecurityWatch {
    pub(super) fn len(&self) -> usize {
        self.watched.len()
    }

    /// The same id again is about the new security alone.
    pub(super) fn add(&mut self, id: &str, security: PricedSecurity, status: &'static str) {
        self.watched.insert(id.to_owned(), (security, status));
    }

    pub(super) fn end(&mut self, id: &str) -> bool {
        self.watched.remove(id).is_some()
    }

    /// Those whose status is another now; `changed` has all that may have changed, absent: any.
    pub(super) fn changes(
        &mut self,
        changed: Option<&BTreeSet<SecurityId>>,
        reference: &ReferenceData,
    ) -> Vec<OutgoingMessage> {
        let may_differ = |security: SecurityId| changed.is_none_or(|changed| changed.contains(&security));
        let mut messages = Vec::new();
        for (id, (security, told)) in &mut self.watched {
            let status = if may_differ(security.id) { trading_status(security.id, reference) } else { *told };
            if status != *told {
                *told = status;
                messages.push(security_status(id, security, status, true));
            }
        }
        messages
    }
}
