//! Breaks: differences between us and a venue.

use domain::breaks::{Break, BreakEvidence, BreakId, BreakSide};
use domain::{Amount, ReferenceData, Text, Timestamp};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::fields::{BadBody, Fields};
use crate::json::AsText;

/// Longest comment.
pub const COMMENT_LENGTH_MAX: usize = 1_024;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BreakVO<'a> {
    id: AsText<BreakId>,
    kind: &'static str,
    state: &'static str,
    adapter: &'a str,
    account: Option<&'a str>,
    security: Option<&'a str>,
    int_order_id: Option<&'a str>,
    ext_order_id: Option<&'a str>,
    currency: Option<&'a str>,
    ours: Option<SideVO<'a>>,
    theirs: Option<SideVO<'a>>,
    difference: Option<AsText<Amount>>,
    value: Option<AsText<Amount>>,
    evidence: EvidenceVO<'a>,
    since: AsText<Timestamp>,
    changed_at: AsText<Timestamp>,
    changed_by: Option<&'a str>,
    comment: Option<&'a str>,
    repair: Option<String>,
}

/// One flat object, with the values in their order.
#[derive(Debug)]
struct SideVO<'a>(&'a BreakSide);

impl Serialize for SideVO<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let values = &self.0.0;
        let mut object = serializer.serialize_map(Some(values.len()))?;
        for (name, value) in values {
            object.serialize_entry::<str, str>(name, value)?;
        }
        object.end()
    }
}

#[derive(Debug, Serialize)]
struct EvidenceVO<'a> {
    report: &'a str,
    sequence: u64,
    hash: &'a str,
}

impl<'a> EvidenceVO<'a> {
    fn from_domain(evidence: &'a BreakEvidence) -> Self {
        Self { report: &evidence.report, sequence: evidence.sequence, hash: &evidence.hash }
    }
}

impl<'a> BreakVO<'a> {
    pub fn from_domain(found: &'a Break, reference: &'a ReferenceData) -> Self {
        let difference = &found.difference;
        let account = difference.account.and_then(|id| reference.accounts.get(&id));
        let security = difference.security.and_then(|id| reference.securities.get(&id));
        Self {
            id: AsText(found.id),
            kind: difference.kind.name(),
            state: found.state.name(),
            adapter: &difference.adapter.0,
            account: account.map(|account| &*account.name),
            security: security.map(|security| &*security.symbol),
            int_order_id: difference.int_order_id.as_ref().map(domain::IntId::as_str),
            ext_order_id: difference.ext_order_id.as_deref(),
            currency: difference.currency.as_ref().map(domain::Currency::as_str),
            ours: difference.ours.as_ref().map(SideVO),
            theirs: difference.theirs.as_ref().map(SideVO),
            difference: difference.amount.map(AsText),
            value: difference.value.map(AsText),
            evidence: EvidenceVO::from_domain(&found.evidence),
            since: AsText(found.since),
            changed_at: AsText(found.changed_at),
            changed_by: found.changed_by.as_deref(),
            comment: found.comment.as_deref(),
            repair: difference.repair.as_ref().map(ToString::to_string),
        }
    }
}

/// What somebody says about a break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakBody {
    pub comment: Text,
}

impl BreakBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let comment = fields.text("comment", COMMENT_LENGTH_MAX).map(Text::from);
        let comment = fields.require("comment", comment);
        fields.finish_strict(comment.map(|comment| Self { comment }))
    }
}
