//! Breaks: differences between us and a venue.

use domain::breaks::{Break, BreakEvidence, BreakId, BreakSide};
use domain::{Amount, ReferenceData, Text, Timestamp};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::bodies::fields::{BadBody, Fields};
use crate::json::AsText;
use crate::object_schema::SchemaType;
use crate::value_object::{Described, value_object};

/// Longest comment.
pub const COMMENT_LENGTH_MAX: usize = 1_024;

value_object! {
    /// A difference between us and a venue.
    pub struct BreakVO<'a> ("BreakVO", golden)
    from (found: &'a Break, reference: &'a ReferenceData)
    let difference = &found.difference;
    let account = difference.account.and_then(|id| reference.accounts.get(&id));
    let security = difference.security.and_then(|id| reference.securities.get(&id)); {
        id: AsText<BreakId> = AsText(found.id),
        kind: &'static str [OneOf(&["ORDER", "TERMS", "FILL", "FEE", "CASH", "POSITION", "EXTERNAL"])] =
            difference.kind.name(),
        state: &'static str [OneOf(&["OPEN", "EXPLAINED", "REPAIRED", "ACCEPTED"])] = found.state.name(),
        adapter: &'a str = &difference.adapter.0,
        account: Option<&'a str> = account.map(|account| &*account.name),
        security: Option<&'a str> = security.map(|security| &*security.symbol),
        intOrderId: Option<&'a str> = difference.int_order_id.as_ref().map(domain::IntId::as_str),
        extOrderId: Option<&'a str> = difference.ext_order_id.as_deref(),
        currency: Option<&'a str> [Maybe(&Currency)] = difference.currency.as_ref().map(domain::Currency::as_str),
        ours: Option<SideVO<'a>> = difference.ours.as_ref().map(SideVO),
        theirs: Option<SideVO<'a>> = difference.theirs.as_ref().map(SideVO),
        difference: Option<AsText<Amount>> = difference.amount.map(AsText),
        value: Option<AsText<Amount>> = difference.value.map(AsText),
        evidence: EvidenceVO<'a> = EvidenceVO::from_domain(&found.evidence),
        since: AsText<Timestamp> = AsText(found.since),
        changedAt: AsText<Timestamp> = AsText(found.changed_at),
        changedBy: Option<&'a str> = found.changed_by.as_deref(),
        comment: Option<&'a str> = found.comment.as_deref(),
        repair: Option<String> = difference.repair.as_ref().map(ToString::to_string),
    }
}

/// One flat object, with the values in their order.
#[derive(Debug)]
struct SideVO<'a>(&'a BreakSide);

impl Described for SideVO<'_> {
    const SCHEMA: SchemaType = SchemaType::Shape("BreakSide");
}

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

value_object! {
    /// The report of the venue that showed the difference.
    pub(crate) struct EvidenceVO<'a> ("BreakEvidence")
    from (evidence: &'a BreakEvidence) {
        report: &'a str = &evidence.report,
        sequence: u64 [Whole] = evidence.sequence,
        hash: &'a str = &evidence.hash,
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
