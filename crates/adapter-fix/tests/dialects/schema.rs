//! The shipped dialects, the examples of the documentation, and the schema, which knows the same keys as the reader.

use adapter_fix::{DIALECT_SCHEMA, Dialect, SHIPPED_DIALECTS, read_dialect, shipped_dialect};
use serde_json::Value;

use crate::{SMALLEST, problems};

#[test]
fn the_examples_of_the_documentation_are_read() {
    let page = include_str!("../../../../docs/fix-out.md");
    let examples = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let is_dialect =
        |text: &&str| ["[[fields]]", "[[groups]]", "[[session.header]]"].iter().any(|key| text.starts_with(key));
    let examples: Vec<&str> = examples.filter(is_dialect).collect();
    assert_eq!(examples.len(), 3);
    assert_eq!(problems(&(shipped_dialect("generic-44").unwrap().to_owned() + &examples.concat())), "no problem\n");
}

fn as_json(text: &str) -> Value {
    fn of(value: toml::Value) -> Value {
        match value {
            toml::Value::String(text) => text.into(),
            toml::Value::Integer(number) => number.into(),
            toml::Value::Boolean(flag) => flag.into(),
            toml::Value::Array(items) => items.into_iter().map(of).collect(),
            toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, of(value))).collect(),
            other => panic!("{other} is not used in dialects"),
        }
    }
    of(toml::Value::Table(text.parse().unwrap()))
}

#[test]
fn every_shipped_dialect_is_read_and_fits_the_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(DIALECT_SCHEMA).unwrap()).unwrap();
    for (name, text) in SHIPPED_DIALECTS {
        let dialect = read_dialect(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(dialect.name, *name);
        assert!(!dialect.description.is_empty(), "{name}");
        let errors: Vec<String> = schema.iter_errors(&as_json(text)).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{name}");
        assert_eq!(Dialect::shipped(name), Some(dialect));
    }
    assert_eq!(Dialect::shipped("generic-99"), None);
}

#[test]
fn the_schema_knows_the_same_keys_as_the_reader() {
    let schema = jsonschema::validator_for(&serde_json::from_str(DIALECT_SCHEMA).unwrap()).unwrap();
    let wrong = [
        "color = 'blue'",
        "[session]\nheartbeatSeconds = 0",
        "[logon]\ncredentials = 'card'",
        "[ids]\nlengthMax = 7",
        "[orders.properties]\nminQuantity = {}",
        "[[fields]]\nmessages = ['X']\ntag = 1\nvalue = 'a'",
        "[[groups]]\ntag = 453\nentries = []",
        "[[groups]]\ntag = 453\nentries = [{ tag = 448, value = 'a' }]",
        "[[groups]]\ntag = 453\nentries = [[{ tag = 448 }]]",
        "[[groups]]\nmessages = ['X']\ntag = 453\nentries = [[{ tag = 448, value = 'a' }]]",
        "[[session.header]]\ntag = 49\nvalue = 'me'",
        "[executions]\nexecIds = 'sometimes'",
        "[executions.statuses]\nZ = 'nonsense'",
        "[recovery]\norders = 'phone'",
        "[session]\nstart = 'noon'\nend = '17:00:00'",
        "[session]\nsenderCompIds = 0",
        "[session]\nweekdays = []",
        "[session]\nstart = '08:00:00'\nend = '17:00:00'\nweekdays = ['Friday']",
        "[logon]\ncredentials = 'signature'\n[logon.signature]\nalgorithm = 'md5'",
        "[[logon.fields]]\ntag = 1",
        "[[omitted]]\ntags = [11]",
        "[throttle]\nmessages = 1",
    ];
    for part in wrong {
        let text = format!("{}\n{part}", if part.starts_with("color") { "" } else { SMALLEST });
        let text = if part.starts_with("color") { format!("{part}\n{SMALLEST}") } else { text };
        assert_ne!(problems(&text), "no problem\n", "{part}");
        assert!(!schema.is_valid(&as_json(&text)), "{part}");
    }
    assert!(schema.is_valid(&as_json(SMALLEST)));
}
