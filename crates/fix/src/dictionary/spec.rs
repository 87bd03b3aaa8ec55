//! A dictionary as parsed: fields with their values, and the items of each message, components resolved.

use super::field_type::FieldType;
use crate::tag::Tag;

#[derive(Debug, Default)]
pub(super) struct DictionarySpec {
    /// Such as `FIX.4.4`.
    pub version: String,
    pub fields: Vec<FieldSpec>,
    pub header: Vec<Item>,
    pub trailer: Vec<Item>,
    pub messages: Vec<MessageSpec>,
}

#[derive(Debug)]
pub(super) struct FieldSpec {
    pub tag: Tag,
    pub kind: FieldType,
    /// The allowed values; empty means any.
    pub values: Vec<String>,
}

#[derive(Debug)]
pub(super) struct MessageSpec {
    pub msg_type: String,
    pub items: Vec<Item>,
}

#[derive(Debug)]
pub(super) struct Item {
    pub tag: Tag,
    pub required: bool,
    /// The items of an entry, where the item is the count of a repeating group.
    pub members: Option<Vec<Item>>,
}
