//! Operator resources: FIX sessions, imports.

use crate::fields::{BadBody, FIX_NUMBER_MAX, FieldError, Fields, id_of};
use crate::json::Millis;
use crate::value_object::value_object;

/// Longest path of a folder.
const PATH_LENGTH_MAX: usize = 4_096;

value_object! {
    /// A session of the FIX gateway, with the next sequence numbers.
    pub struct FixSessionVO<'a> ("FixSessionVO", golden) {
        id: &'a str,
        senderCompId: &'a str,
        targetCompId: &'a str,
        state: &'static str [OneOf(&["LOGGED_ON", "CONNECTED", "DISCONNECTED"])],
        peer: Option<String>,
        nextIn: u64 [Whole],
        nextOut: u64 [Whole],
        lastReceived: Option<Millis>,
        lastSent: Option<Millis>,
        nextReset: Option<Millis>,
        // Why the last connection ended.
        reason: Option<&'a str>,
    }
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

fn number(fields: &mut Fields, name: &'static str) -> Option<u64> {
    fields.read(name, |field, value| {
        let number = id_of(field, value).ok().filter(|number| *number <= FIX_NUMBER_MAX);
        number.ok_or_else(|| FieldError::malformed(field, "must be a whole number from 1 to 1099511627775"))
    })
}

value_object! {
    /// Number of differences that were applied.
    pub struct ImportedVO ("ImportedVO", golden) {
        changes: usize,
    }
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
