//! What a schema is made of: types of fields, objects with their variants and examples, names, and what each field means.

mod schema_type;
pub(crate) mod descriptions;
mod object;
pub(crate) mod names;

pub(crate) use object::{ObjectSchema, SchemaField, SchemaVariant, golden, optional, required, shape, variant};
pub use schema_type::{CURRENCY_PATTERN, SCOPE_PATTERN, reference};
pub(crate) use schema_type::{RequestType, SchemaType};
