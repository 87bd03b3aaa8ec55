//! Schema of an object: its fields, its variants, its example.

use serde_json::{Map, Value, json};

use super::schema_type::{SchemaType, reference};

/// An object with its fields.
pub(crate) struct ObjectSchema {
    pub(crate) name: &'static str,
    description: &'static str,
    pub(crate) fields: &'static [SchemaField],
    /// Fields that only some variants have, by `objectType`.
    variants: &'static [SchemaVariant],
    /// Text of a golden file, or of a body that its own parser accepts.
    example: Option<&'static str>,
    /// Whether other keys are rejected.
    is_exact: bool,
    /// Minimum number of keys, beside the required ones.
    keys_min: usize,
}

pub(crate) struct SchemaField {
    pub(crate) name: &'static str,
    kind: SchemaType,
    is_needed: bool,
}

/// One variant of a value, distinguished by `objectType`.
pub(crate) struct SchemaVariant {
    name: &'static str,
    says: &'static str,
    object_types: &'static [&'static str],
    /// Of the fields that not every variant has, those that this one has.
    own: &'static [&'static str],
}

pub(crate) const fn shape(name: &'static str, says: &'static str, fields: &'static [SchemaField]) -> ObjectSchema {
    ObjectSchema { name, description: says, fields, variants: &[], example: None, is_exact: false, keys_min: 0 }
}

impl ObjectSchema {
    pub(crate) const fn with_example(mut self, example: &'static str) -> Self {
        self.example = Some(example);
        self
    }

    /// A body that the interface specification does not define: a misspelt key is rejected.
    pub(crate) const fn strict(mut self) -> Self {
        self.is_exact = true;
        self
    }

    pub(crate) const fn with_at_least(mut self, keys_min: usize) -> Self {
        self.keys_min = keys_min;
        self
    }

    pub(crate) const fn with_variants(mut self, variants: &'static [SchemaVariant]) -> Self {
        self.variants = variants;
        self
    }

    /// Its own schema, and one of each variant.
    pub(crate) fn schemas(&self) -> Vec<(String, Value)> {
        let forms = self.variants.iter().map(|variant| (variant.name.to_owned(), variant.schema(self)));
        std::iter::once((self.name.to_owned(), self.schema())).chain(forms).collect()
    }

    fn schema(&self) -> Value {
        let mut schema = match self.variants {
            [] => self.object(self.description, self.fields.iter()),
            variants => choice(self.description, variants),
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

    fn object<'a>(&self, says: &str, fields: impl Iterator<Item = &'a SchemaField> + Clone) -> Value {
        let properties: Map<_, _> =
            fields.clone().map(|field| (field.name.to_owned(), self.describe_field(field))).collect();
        let needed: Vec<_> = fields.filter(|field| field.is_needed).map(|field| field.name).collect();
        // Without keys of ours, any key is allowed.
        let mut schema = match properties.is_empty() {
            true => json!({ "type": "object", "description": says, "additionalProperties": true }),
            false => json!({ "type": "object", "description": says, "properties": properties }),
        };
        if !needed.is_empty() {
            schema["required"] = json!(needed);
        }
        schema
    }

    /// The schema of a field, with its meaning in front of the description of its type.
    fn describe_field(&self, field: &SchemaField) -> Value {
        let mut schema = field.kind.schema();
        if let Some(means) = super::descriptions::description(self.name, field.name) {
            let of_kind = schema["description"].as_str().map(|says| format!("; {says}")).unwrap_or_default();
            schema["description"] = format!("{means}{of_kind}").into();
        }
        schema
    }

    /// A golden file may hold a list of them.
    pub(crate) fn examples(&self) -> Vec<Value> {
        let parsed = self.example.map(|text| serde_json::from_str(text).expect("examples are JSON, as a test checks"));
        match parsed {
            Some(Value::Array(items)) => items,
            Some(item) => vec![item],
            None => vec![],
        }
    }
}

impl SchemaVariant {
    /// The common fields, and those of this variant.
    fn schema(&self, shape: &ObjectSchema) -> Value {
        let is_always_there = |field: &&SchemaField| field.is_needed || self.own.contains(&field.name);
        let is_common = |field: &SchemaField| !shape.variants.iter().any(|other| other.own.contains(&field.name));
        let has = |field: &&SchemaField| is_always_there(field) || is_common(field);
        let mut schema = shape.object(self.says, shape.fields.iter().filter(has));
        schema["properties"]["objectType"] = json!({ "type": "string", "enum": self.object_types });
        schema["required"] = shape.fields.iter().filter(is_always_there).map(|field| field.name).collect();
        schema
    }
}

/// Client generators use the discriminator; each variant states its `objectType` anyway.
fn choice(says: &str, variants: &[SchemaVariant]) -> Value {
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

pub(crate) const fn variant(
    name: &'static str,
    says: &'static str,
    object_types: &'static [&'static str],
    own: &'static [&'static str],
) -> SchemaVariant {
    SchemaVariant { name, says, object_types, own }
}

/// A field that is always present.
pub(crate) const fn required(name: &'static str, kind: SchemaType) -> SchemaField {
    SchemaField { name, kind, is_needed: true }
}

/// An optional field.
pub(crate) const fn optional(name: &'static str, kind: SchemaType) -> SchemaField {
    SchemaField { name, kind, is_needed: false }
}

/// The text of a golden file.
macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/json/", $name, ".json"))
    };
}

pub(crate) use golden;
