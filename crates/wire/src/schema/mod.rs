//! JSON schemas (2020-12) of everything that clients receive and send. They are written by hand beside the value
//! objects, and every golden file is validated against its schema.

mod schema_type;
mod object;

mod platform;
mod trading;

mod bodies;

mod descriptions;

use serde_json::{Map, Value};

use object::ObjectSchema;
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
    platform::SHAPES.iter().chain(trading::SHAPES).chain(bodies::SHAPES)
}
