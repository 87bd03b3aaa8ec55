//! Every golden file fits its schema and has no key that the schema lacks; every example body is accepted by the
//! server.

use std::fs;

use domain::{BarSize, OrderType, TransactionKind};
use serde_json::{Value, json};
use wire::limits::parse_limits;
use wire::operations::parse_import;
use wire::schema::{example, reference, schemas};
use wire::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/json");

/// The golden file with this name, as a list.
fn golden(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(format!("{FOLDER}/{name}.json")).unwrap();
    match serde_json::from_str(&text).unwrap() {
        Value::Array(items) => items,
        item => vec![item],
    }
}

fn names_of_golden_files() -> Vec<String> {
    let files = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| file.strip_suffix(".json").map(ToOwned::to_owned)).collect()
}

/// Validation errors of a value against a schema.
fn faults(name: &str, value: &Value) -> Vec<String> {
    let mut schema = reference(name);
    schema["components"] = json!({ "schemas": schemas() });
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{name}{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_golden_file_fits_its_schema() {
    for name in names_of_golden_files() {
        for value in golden(&name) {
            assert_eq!(faults(&name, &value), Vec::<String>::new(), "{value:#}");
        }
    }
}

/// The golden requests contain unknown keys on purpose.
#[test]
fn no_key_is_left_out_of_a_schema() {
    let schemas = schemas();
    let requests = ["MarketOrderVO", "LimitOrderVO", "StopOrderVO", "StopLimitOrderVO"];
    for name in names_of_golden_files().into_iter().filter(|name| !requests.contains(&name.as_str())) {
        for value in golden(&name) {
            let told = form_of(&schemas, &name, &value)["properties"].as_object().unwrap();
            let unknown: Vec<_> = value.as_object().unwrap().keys().filter(|key| !told.contains_key(*key)).collect();
            assert_eq!(unknown, Vec::<&String>::new(), "{name}");
        }
    }
}

/// Where a value has several variants, the schema of the one in its `objectType`.
fn form_of<'a>(schemas: &'a serde_json::Map<String, Value>, name: &str, value: &Value) -> &'a Value {
    let schema = &schemas[name];
    let Some(forms) = schema.get("discriminator") else { return schema };
    let form = forms["mapping"][value["objectType"].as_str().unwrap()].as_str().unwrap();
    &schemas[form.rsplit('/').next().unwrap()]
}

#[test]
fn a_schema_refuses_what_is_not_so() {
    let account = golden("AccountVO").remove(0);
    let with = |key: &str, value: Value| {
        let mut changed = account.clone();
        changed[key] = value;
        faults("AccountVO", &changed).len()
    };
    assert_eq!((with("id", json!(1)), with("id", json!(0)), with("name", Value::Null)), (0, 1, 1));
    assert_eq!((with("extAccount", Value::Null), with("extAccount", json!(7))), (0, 1));
    let mut without = account.clone();
    without.as_object_mut().unwrap().remove("broker");
    assert_eq!(faults("AccountVO", &without).len(), 1);
    let forex_without_currencies = json!({ "objectType": "Forex" });
    assert!(faults("SecurityVO", &forex_without_currencies).iter().any(|fault| fault.contains("oneOf")));
}

#[test]
fn every_known_name_is_in_its_schema() {
    let schemas = schemas();
    let names = |at: &str| -> Vec<String> {
        let (shape, field) = at.split_once('.').unwrap();
        serde_json::from_value(schemas[shape]["properties"][field]["enum"].clone()).unwrap()
    };
    assert_eq!(names("Bar.barSize"), BarSize::ALL.map(BarSize::name));
    assert_eq!(names("TransactionVO.type"), TransactionKind::ALL.map(TransactionKind::name));
    assert_eq!(names("OrderCheckBody.objectType"), OrderType::ALL.map(OrderType::name));
}

#[test]
fn every_example_fits_its_own_schema() {
    for name in schemas().keys() {
        if let Some(example) = example(name) {
            assert_eq!(faults(name, &example), Vec::<String>::new());
        }
    }
}

type Parse = fn(&[u8]) -> Result<(), BadBody>;

#[test]
fn every_body_that_is_shown_is_taken() {
    let order: Parse = |body| OrderBody::parse(body).map(drop);
    let parsers: [(&str, Parse); 23] = [
        ("MarketOrderVO", order),
        ("LimitOrderVO", order),
        ("StopOrderVO", order),
        ("StopLimitOrderVO", order),
        ("OrderCheckBody", order),
        ("OrderChangeBody", order),
        ("OrderChangeCheckBody", order),
        ("TransactionBody", |body| TransactionBody::parse(body).map(drop)),
        ("SubscribeBody", |body| SubscriptionBody::parse(body).map(drop)),
        ("SubscriptionBody", |body| SubscriptionBody::parse(body).map(drop)),
        ("SettlementBody", |body| SettlementBody::parse(body).map(drop)),
        ("ClaimBody", |body| ClaimBody::parse(body).map(drop)),
        ("StateBody", |body| StateBody::parse(body).map(drop)),
        ("KillBody", |body| KillBody::parse(body).map(drop)),
        ("DeadManBody", |body| DeadManBody::parse(body).map(drop)),
        ("BreakBody", |body| BreakBody::parse(body).map(drop)),
        ("LimitsBody", |body| parse_limits(body).map(drop)),
        ("ImportBody", |body| parse_import(body).map(drop)),
        ("FixNumbersBody", |body| FixNumbersBody::parse(body).map(drop)),
        ("LoginBody", |body| LoginBody::parse(body).map(drop)),
        ("RightsBody", |body| parse_rights(body).map(drop)),
        ("UserBody", |body| UserBody::parse(body).map(drop)),
        ("TokenBody", |body| TokenBody::parse(body).map(drop)),
    ];
    for (name, parse) in parsers {
        let body = example(name).unwrap_or_else(|| panic!("{name} has no example")).to_string();
        assert_eq!(parse(body.as_bytes()), Ok(()), "{name}");
    }
    let parsed = parsers.map(|(name, _)| name);
    let unparsed = schemas().into_iter().map(|(name, _)| name).filter(|name| name.ends_with("Body"));
    assert_eq!(unparsed.filter(|name| !parsed.contains(&name.as_str())).collect::<Vec<_>>(), Vec::<String>::new());
}
