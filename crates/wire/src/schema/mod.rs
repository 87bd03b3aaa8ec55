//! JSON schemas (2020-12) of everything that clients receive and send. Those of value objects follow from their
//! definitions; those of bodies are written by hand. Every golden file is validated against its schema.

mod schema_type;
mod object;
pub(crate) mod names;

mod value_objects;

mod bodies;

mod descriptions;

use serde_json::{Map, Value};

pub(crate) use object::{ObjectSchema, SchemaVariant, golden, optional, required, shape, variant};
pub(crate) use schema_type::SchemaType;
pub use schema_type::{CURRENCY_PATTERN, SCOPE_PATTERN, reference};

/// Every schema by its name.
pub fn schemas() -> Map<String, Value> {
    shapes().flat_map(ObjectSchema::schemas).collect()
}

/// The keys of the schema with this name, in their order.
pub fn keys(name: &str) -> Vec<&'static str> {
    let found = shapes().find(|shape| shape.name == name);
    found.map(|shape| shape.fields.iter().map(|field| field.name).collect()).unwrap_or_default()
}

/// An example for the schema with this name.
pub fn example(name: &str) -> Option<Value> {
    shapes().find(|shape| shape.name == name)?.examples().into_iter().next()
}

fn shapes() -> impl Iterator<Item = &'static ObjectSchema> {
    value_objects::SHAPES.iter().chain(bodies::SHAPES)
}
