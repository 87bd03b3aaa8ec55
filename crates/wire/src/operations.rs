//! Operator resources: FIX sessions, imports.

use serde::Serialize;

use crate::fields::{BadBody, FieldError, Fields, id_of};
use crate::json::Millis;

/// Longest path of a folder.
const PATH_LENGTH_MAX: usize = 4_096;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FixSessionVO<'a> {
    pub id: &'a str,
    pub sender_comp_id: &'a str,
    pub target_comp_id: &'a str,
    /// `DISCONNECTED`, `CONNECTED` or `LOGGED_ON`.
    pub state: &'static str,
    pub peer: Option<String>,
    pub next_in: u64,
    pub next_out: u64,
    pub last_received: Option<Millis>,
    pub last_sent: Option<Millis>,
    pub next_reset: Option<Millis>,
    /// Why the last connection ended.
    pub reason: Option<&'a str>,
}

/// New sequence numbers of a session; an absent one keeps its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixNumbersBody {
    pub next_in: Option<u64>,
    pub next_out: Option<u64>,
}

impl FixNumbersBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let (next_in, next_out) = (number(&mut fields, "nextIn"), number(&mut fields, "nextOut"));
        if next_in.or(next_out).is_none() {
            fields.require("nextIn", next_in);
        }
        fields.finish_strict(Some(Self { next_in, next_out }))
    }
}

/// The highest sequence number of a FIX session.
pub(crate) const FIX_NUMBER_MAX: u64 = (1 << 40) - 1;

fn number(fields: &mut Fields, name: &'static str) -> Option<u64> {
    fields.read(name, |field, value| {
        let number = id_of(field, value).ok().filter(|number| *number <= FIX_NUMBER_MAX);
        number.ok_or_else(|| FieldError::malformed(field, "must be a whole number from 1 to 1099511627775"))
    })
}

/// Number of differences that were applied to the engine.
#[derive(Debug, Serialize)]
pub struct ImportedVO {
    pub changes: usize,
}

/// The folder with reference data, on the server's own machine.
pub fn parse_import(body: &[u8]) -> Result<String, BadBody> {
    let mut fields = Fields::parse(body)?;
    let path = fields.read("path", |field, value| {
        let path = value.as_str().filter(|path| path.starts_with('/') && path.len() <= PATH_LENGTH_MAX);
        path.map(ToOwned::to_owned)
            .ok_or_else(|| FieldError::malformed(field, "must be a folder, named from the root on"))
    });
    let path = fields.require("path", path);
    fields.finish_strict(path)
}

/// A request without fields may have no body, or an empty object.
pub fn parse_empty(body: &[u8]) -> Result<(), BadBody> {
    Fields::parse_optional(body)?.finish_strict(Some(()))
}
