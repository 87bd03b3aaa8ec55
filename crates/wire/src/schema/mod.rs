//! JSON schemas (2020-12) of everything that clients receive and send. Those of value objects follow from their
//! definitions; those of bodies are written by hand. Every golden file is validated against its schema.

mod value_objects;

mod bodies;

use serde_json::{Map, Value};

use crate::object_schema::ObjectSchema;
pub use crate::object_schema::{CURRENCY_PATTERN, SCOPE_PATTERN, reference};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object_schema::descriptions::{description, is_published};

    #[test]
    fn every_field_that_is_published_has_a_meaning() {
        let published = shapes().filter(|shape| is_published(shape.name));
        let unexplained: Vec<_> = published
            .flat_map(|shape| shape.fields.iter().map(move |field| (shape.name, field.name)))
            .filter(|(shape, field)| description(shape, field).is_none())
            .collect();
        assert_eq!(unexplained, []);
    }

    #[test]
    fn a_name_means_something_else_elsewhere() {
        assert_eq!(description("Problem", "status"), None);
    }
}
