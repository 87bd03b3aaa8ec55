//! Client ids (ClOrdID, 11) as a venue takes them.

use domain::WireId;

use crate::dialect::IdRules;
use crate::request_refusal::RequestRefusal;

/// Separator of a [`WireId`].
const WIRE_SEPARATOR: &str = "-";

/// Writes and reads the ids of one installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientIds {
    instance: u64,
    rules: IdRules,
}

impl ClientIds {
    pub fn new(instance: u64, rules: IdRules) -> Self {
        Self { instance, rules }
    }

    pub fn instance(&self) -> u64 {
        self.instance
    }

    pub fn write(&self, id: WireId) -> Result<String, RequestRefusal> {
        let text = id.to_string().replace(WIRE_SEPARATOR, &self.rules.separator.to_string());
        if text.len() > self.rules.length_max {
            let reason = format!("{text} has more than the {} characters that the venue takes", self.rules.length_max);
            return Err(RequestRefusal::new("venue-id-length", reason));
        }
        Ok(text)
    }

    /// `None` for an id that is not ours.
    pub fn read(&self, text: &str) -> Option<WireId> {
        let id: WireId = text.replace(self.rules.separator, WIRE_SEPARATOR).parse().ok()?;
        (id.instance == self.instance).then_some(id)
    }
}
