//! JSON schemas (2020-12) of all that outsiders see and send, for the description of the interface. They are written by
//! hand beside the value objects, and kept honest by the golden files, each of which must fit its schema.

/// What a field holds.
mod kind;

/// What is seen of reference data and of the house itself.
mod house;
/// What is seen of orders, money, prices and the past.
mod trading;

/// What a client sends.
mod bodies;

/// What the fields mean.
mod meanings;

use serde_json::{Map, Value, json};

use kind::Kind;
pub use kind::reference;

/// An object with its fields.
pub(crate) struct Shape {
    name: &'static str,
    says: &'static str,
    fields: &'static [Field],
    /// Fields that stand only on some, by `objectType`.
    variants: &'static [Variant],
    /// Text of a golden file, or of a body that its own parser takes.
    example: Option<&'static str>,
    /// Whether other keys are refused.
    is_exact: bool,
    /// How many keys there must be at least, beside those that are needed.
    keys_min: usize,
}

pub(crate) struct Field {
    name: &'static str,
    kind: Kind,
    is_needed: bool,
}

/// One of the forms that a value can have, told apart by `objectType`.
pub(crate) struct Variant {
    name: &'static str,
    says: &'static str,
    object_types: &'static [&'static str],
    /// Of the fields that not every form has, those that this one has.
    own: &'static [&'static str],
}

/// Every schema by its name.
pub fn schemas() -> Map<String, Value> {
    shapes().flat_map(Shape::schemas).collect()
}

/// The keys of what the schema with this name describes, as they are told.
pub fn keys(name: &str) -> Vec<&'static str> {
    let found = shapes().find(|shape| shape.name == name);
    found.map(|shape| shape.fields.iter().map(|field| field.name).collect()).unwrap_or_default()
}

/// An example of what the schema with this name describes.
pub fn example(name: &str) -> Option<Value> {
    shapes().find(|shape| shape.name == name)?.examples().into_iter().next()
}

fn shapes() -> impl Iterator<Item = &'static Shape> {
    house::SHAPES.iter().chain(trading::SHAPES).chain(bodies::SHAPES)
}

const fn shape(name: &'static str, says: &'static str, fields: &'static [Field]) -> Shape {
    Shape { name, says, fields, variants: &[], example: None, is_exact: false, keys_min: 0 }
}

impl Shape {
    const fn like(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// A body that the interface specification does not define: a misspelt key must not pass unseen.
    const fn exactly(mut self) -> Self {
        self.is_exact = true;
        self
    }

    const fn with_at_least(mut self, keys_min: usize) -> Self {
        self.keys_min = keys_min;
        self
    }

    const fn varying(mut self, variants: &'static [Variant]) -> Self {
        self.variants = variants;
        self
    }

    /// Its own schema, and one of each form that it can have.
    fn schemas(&self) -> Vec<(String, Value)> {
        let forms = self.variants.iter().map(|variant| (variant.name.to_owned(), variant.schema(self)));
        std::iter::once((self.name.to_owned(), self.schema())).chain(forms).collect()
    }

    fn schema(&self) -> Value {
        let mut schema = match self.variants {
            [] => self.object(self.says, self.fields.iter()),
            variants => choice(self.says, variants),
        };
        if self.is_exact {
            schema["additionalProperties"] = json!(false);
        }
        if self.keys_min > 0 {
            schema["minProperties"] = json!(self.keys_min);
        }
        let examples = self.examples();
        if !examples.is_empty() {
            schema["examples"] = examples.into();
        }
        schema
    }

    fn object<'a>(&self, says: &str, fields: impl Iterator<Item = &'a Field> + Clone) -> Value {
        let properties: Map<_, _> =
            fields.clone().map(|field| (field.name.to_owned(), self.described(field))).collect();
        let needed: Vec<_> = fields.filter(|field| field.is_needed).map(|field| field.name).collect();
        // What has no keys of ours may have any.
        let mut schema = match properties.is_empty() {
            true => json!({ "type": "object", "description": says, "additionalProperties": true }),
            false => json!({ "type": "object", "description": says, "properties": properties }),
        };
        if !needed.is_empty() {
            schema["required"] = json!(needed);
        }
        schema
    }

    /// What the field holds, with what it means in front of what is said of every value of its kind.
    fn described(&self, field: &Field) -> Value {
        let mut schema = field.kind.schema();
        if let Some(means) = meanings::meaning(self.name, field.name) {
            let of_kind = schema["description"].as_str().map(|says| format!("; {says}")).unwrap_or_default();
            schema["description"] = format!("{means}{of_kind}").into();
        }
        schema
    }

    /// A golden file may hold a list of them.
    fn examples(&self) -> Vec<Value> {
        let parsed = self.example.map(|text| serde_json::from_str(text).expect("examples are JSON, as a test checks"));
        match parsed {
            Some(Value::Array(items)) => items,
            Some(item) => vec![item],
            None => vec![],
        }
    }
}

impl Variant {
    /// All that every form has, and what this one has beside it.
    fn schema(&self, shape: &Shape) -> Value {
        let has = |field: &&Field| field.is_needed || self.own.contains(&field.name);
        let mut schema = shape.object(self.says, shape.fields.iter().filter(has));
        schema["properties"]["objectType"] = json!({ "type": "string", "enum": self.object_types });
        schema["required"] = shape.fields.iter().filter(has).map(|field| field.name).collect();
        schema
    }
}

/// Programs that make clients go by the discriminator; each form says by itself which `objectType` it has.
fn choice(says: &str, variants: &[Variant]) -> Value {
    let forms: Vec<_> = variants.iter().map(|variant| reference(variant.name)).collect();
    let mut mapping = Map::new();
    for variant in variants {
        let target = &reference(variant.name)["$ref"];
        mapping.extend(variant.object_types.iter().map(|object_type| ((*object_type).to_owned(), target.clone())));
    }
    json!({
        "description": says,
        "oneOf": forms,
        "discriminator": { "propertyName": "objectType", "mapping": mapping },
    })
}

const fn form(
    name: &'static str,
    says: &'static str,
    object_types: &'static [&'static str],
    own: &'static [&'static str],
) -> Variant {
    Variant { name, says, object_types, own }
}

/// A field that is always there.
const fn has(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_needed: true }
}

/// A field that may be left out.
const fn may_have(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, is_needed: false }
}

/// The text of a golden file.
macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("../../../../contract/json/", $name, ".json"))
    };
}
use golden;
