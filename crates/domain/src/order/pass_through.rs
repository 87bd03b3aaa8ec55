//! Fields of a FIX order that go on to a FIX venue as they came.

use minicbor::{Decode, Encode};

use crate::ids::Text;

/// The fields of one order, ascending by tag, each tag once. Nothing here reads them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct PassThrough {
    /// Never empty.
    #[n(0)]
    pub fields: Vec<PassedField>,
}

/// A field as the client sent it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct PassedField {
    /// Its number in FIX.
    #[n(0)]
    pub tag: u32,
    /// Printable text.
    #[n(1)]
    pub value: Text,
}

impl PassThrough {
    /// None where there are no fields.
    pub fn new(mut fields: Vec<PassedField>) -> Option<Box<Self>> {
        fields.sort_by_key(|field| field.tag);
        (!fields.is_empty()).then(|| Box::new(Self { fields }))
    }
}
