//! Dialect files: what is wrong with one is told with its field and line, and the shipped ones are right.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

use adapter_fix::{DIALECT_SCHEMA, Dialect, SHIPPED_DIALECTS};
use expect_test::expect;
use serde_json::Value;

const SMALLEST: &str =
    "name = 'x'\nversion = 'FIX.4.4'\n[orders.types]\nlimit = '2'\n[orders.timesInForce]\nday = '0'\n";

/// Wrong in every part.
const WRONG: &str = r#"
name = 7
version = "FIX.4.2"
color = "blue"

[session]
heartbeatSeconds = 0
resetOnLogon = "yes"

[logon]
credentials = "password"

[ids]
separator = "+"

[orders]
cancel = 1

[orders.types]
limit = "2"
stop = "2"
peg = "P"

[orders.timesInForce]
day = 0

[orders.properties]
postOnly = { tag = 18 }
minQuantity = {}

[[fields]]
tag = 49
value = "me"

[[fields]]
messages = ["D", "X"]
tag = 5001
value = "{colour}"

[executions]
execIds = "sometimes"
[executions.execTypes]
Z = "nonsense"

[recovery]
resend = false
orders = "mass-status"

[throttle]
messages = 5

[marketData]
depth = -1
updates = "sometimes"
"#;

fn problems(text: &str) -> String {
    Dialect::parse(text).map_or_else(|error| error.to_string(), |_| "no problem".to_owned()) + "\n"
}

#[test]
fn the_smallest_dialect_has_a_name_a_version_a_type_and_a_time_in_force() {
    let dialect = Dialect::parse(SMALLEST).unwrap();
    assert_eq!((dialect.name.as_str(), dialect.recovery.resend, dialect.ids.length_max), ("x", true, 36));
    expect![[r#"
        line 1: version: is missing
    "#]]
    .assert_eq(&problems("name = 'x'"));
    expect![[r#"
        line 1: name: is missing
        line 1: orders.timesInForce: offers no time in force
        line 1: orders.types: offers no type of order
    "#]]
    .assert_eq(&problems("version = 'FIX.4.4'"));
}

/// Wrong in what sessions and log-ons have.
const WRONG_SESSIONS: &str = r#"
[session]
senderCompIds = 0
start = "noon"
end = "17:00:00"

[logon]
credentials = "signature"

[logon.signature]
fields = [35, 1]

[[logon.fields]]
tag = 108
value = "5"
sessions = ["orders", "fun"]

[[omitted]]
tags = [11]
"#;

#[test]
fn problems_of_sessions_and_log_ons_are_told_too() {
    expect![[r#"
        line 9: session.senderCompIds: is not a whole number from 1 to 10
        line 10: session.start: noon is no time such as 08:30:00 or SUN 17:00:00
        line 16: logon.signature.algorithm: is missing
        line 17: logon.signature.fields: 1 cannot be signed (known: 35, 49, 56, 34, 52, 554)
        line 20: logon.fields[1].tag: 108 is set by the platform
        line 22: logon.fields[1].sessions: fun is no session (known: orders, dropCopy, prices)
        line 25: omitted[1].tags: 11 is no field that can be left out (known: 38, 54, 60)
    "#]]
    .assert_eq(&problems(&format!("{SMALLEST}{WRONG_SESSIONS}")));
}

#[test]
fn every_problem_is_told_with_its_field_and_line() {
    expect![[r#"
        line 2: name: is not a text of printable characters
        line 4: color: is no key (known: name, description, version, proof, session, logon, ids, orders, fields, omitted, executions, recovery, throttle, marketData, securityList, securityStatus)
        line 7: session.heartbeatSeconds: is not a whole number from 1 to 3600
        line 8: session.resetOnLogon: is not true or false
        line 11: logon.credentials: FIX.4.2 has no Username and Password
        line 14: ids.separator: is not one of -, _, ., :, x
        line 17: orders.cancel: is not true or false
        line 21: orders.types.stop: has the code of limit
        line 22: orders.types.peg: is no key (known: market, limit, stop, stopLimit)
        line 24: orders.timesInForce: offers no time in force
        line 25: orders.timesInForce.day: is not a text of printable characters
        line 28: orders.properties.postOnly.value: is missing
        line 29: orders.properties.minQuantity.tag: is missing
        line 32: fields[1].tag: 49 is set by the platform
        line 36: fields[2].messages: X is no message that is sent (known: D, F, G, H, AF, AD, AN, x)
        line 38: fields[2].value: {colour} is no placeholder (known: {account}, {clOrdId}, {currency}, {exchange}, {order})
        line 41: executions.execIds: is not one of unique, repeat
        line 43: executions.execTypes.Z: is not one of pending-new, new, trade, pending, canceled, replaced, expired, rejected, restated, bust, correct, status
        line 47: recovery.orders: FIX.4.2 has no Order Mass Status Request
        line 49: throttle.seconds: is missing
        line 53: marketData.depth: is not a whole number from 0 to 10000
        line 54: marketData.updates: is not one of full, incremental
    "#]]
    .assert_eq(&problems(WRONG));
}

#[test]
fn questions_about_the_account_are_asked_only_where_their_answers_can_be_used() {
    let with = |version: &str, rest: &str| problems(&(SMALLEST.replace("FIX.4.4", version) + rest));
    let wrong = "[[fields]]\nmessages = ['AD']\ntag = 5001\nvalue = '{order}'\n\
                 [recovery]\nsnapshot = true\npositions = 'always'\n";
    let old = "[recovery]\norders = 'status'\ntrades = 'capture'\npositions = 'request'\n";
    let alone = "[recovery]\ntrades = 'capture'\n[executions]\nexecIds = 'repeat'\n";
    let right = "[recovery]\norders = 'mass-status'\ntrades = 'capture'\nsnapshot = true\npositions = 'request'\n";
    expect![[r#"
        line 10: fields[1].value: AF, AD, AN and x are about no order: the value is a text
        line 12: recovery.snapshot: orders without their executions are none: trades = "capture" is needed
        line 13: recovery.positions: is not one of none, request
    "#]]
    .assert_eq(&with("FIX.4.4", wrong));
    expect![[r#"
        line 9: recovery.trades: FIX.4.2 has no such request
        line 10: recovery.positions: FIX.4.2 has no such request
    "#]]
    .assert_eq(&with("FIX.4.2", old));
    expect![[r#"
        line 8: recovery.trades: executions are part of the answer about an order: orders is status or mass-status
        line 8: recovery.trades: ids that begin at 1 again need CumQty (14), which a Trade Capture Report does not have
    "#]]
    .assert_eq(&with("FIX.4.4", alone));
    assert_eq!(with("FIX.4.4", right), "no problem\n");
}

#[test]
fn what_is_no_toml_is_told_with_its_line() {
    expect![[r#"
        line 2: extra `=`, expected nothing
        line 2: unexpected key or value, expected newline, `#`
    "#]]
    .assert_eq(&problems("name = 'x'\nversion = = 2\n"));
}

#[test]
fn a_dialect_without_any_way_to_recover_is_refused() {
    let with = |recovery: &str| problems(&format!("{SMALLEST}{recovery}"));
    expect![[r#"
        line 8: recovery.resend: numbers that begin at 1 at each log-on leave nothing to send again (session.resetOnLogon)
        line 7: recovery.orders: without resends the venue must be asked: status, mass-status or adapter
    "#]]
    .assert_eq(&(with("[recovery]\nresend = true\n[session]\nresetOnLogon = true") + &with("[recovery]\nresend = false")));
    assert_eq!(with("[recovery]\nresend = false\norders = 'mass-status'"), "no problem\n");
}

#[test]
fn fills_are_not_inferred_where_the_status_has_the_executions() {
    let with = |group: &str| {
        problems(&format!(
            "{SMALLEST}[recovery]\norders = 'status'\ntrades = 'inferred'\n[executions]\nfillGroup = {group}\n"
        ))
    };
    expect![[r#"
        line 9: recovery.trades: a status report has the executions itself (executions.fillGroup), so none may be inferred
    "#]]
    .assert_eq(&with("true"));
    assert_eq!(with("false"), "no problem\n");
}

#[test]
fn what_passes_through_never_takes_the_place_of_what_the_platform_sets() {
    let text = "name = 'x'\nversion = 'FIX.4.4'\n[orders]\npassThrough = [5001, 11, 1, 18, 7001, 49, 10, 5001]\n\
                [orders.types]\nlimit = '2'\n[orders.timesInForce]\nday = '0'\n[orders.properties]\n\
                postOnly = { tag = 18, value = '6' }\n[[fields]]\ntag = 7001\nvalue = '{clOrdId}'\n";
    expect![[r#"
        line 4: orders.passThrough: 1 is set by the platform
        line 4: orders.passThrough: 10 is set by the platform
        line 4: orders.passThrough: 11 is set by the platform
        line 4: orders.passThrough: 18 is set by the platform
        line 4: orders.passThrough: 49 is set by the platform
        line 4: orders.passThrough: 5001 stands here twice
        line 4: orders.passThrough: 7001 is set by the platform
    "#]]
    .assert_eq(&problems(text));
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
        let dialect = Dialect::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
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
        "[executions]\nexecIds = 'sometimes'",
        "[executions.statuses]\nZ = 'nonsense'",
        "[recovery]\norders = 'phone'",
        "[session]\nstart = 'noon'\nend = '17:00:00'",
        "[session]\nsenderCompIds = 0",
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
