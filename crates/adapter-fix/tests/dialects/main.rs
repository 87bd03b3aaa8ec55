//! Dialect files: what is wrong with one is told with its field and line, and the shipped ones are right.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

mod schema;

use adapter_fix::{Dialect, read_dialect};
use expect_test::expect;
use fix::Weekdays;

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
    read_dialect(text).map_or_else(|error| error.to_string(), |_| "no problem".to_owned()) + "\n"
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
fn a_venue_may_be_there_on_some_days_of_the_week_alone() {
    let with = |hours: &str| problems(&format!("{SMALLEST}[session]\n{hours}\n"));
    let daily = "start = '08:30:00'\nend = '17:00:00'\n";
    let text = format!("{SMALLEST}[session]\n{daily}weekdays = ['MON', 'FRI']\n");
    assert_eq!(Dialect::parse(&text).unwrap().session.schedule.weekdays, Weekdays::parse(["MON", "FRI"]).unwrap());
    expect![[r#"
        line 10: session.weekdays: Friday is no day of the week such as MON
        line 10: session.weekdays: no day of the week is named
        line 10: session.weekdays: days of the week are for a session of the day
        line 7: session.start: start and end belong together
    "#]]
    .assert_eq(
        &(with(&format!("{daily}weekdays = ['MON', 'Friday']"))
            + &with(&format!("{daily}weekdays = []"))
            + &with("start = 'SUN 17:00:00'\nend = 'FRI 17:00:00'\nweekdays = ['MON']")
            + &with("weekdays = ['MON']")),
    );
}

#[test]
fn every_problem_is_told_with_its_field_and_line() {
    expect![[r#"
        line 2: name: is not a text of printable characters
        line 4: color: is no key (known: name, description, version, proof, session, logon, ids, orders, fields, groups, omitted, executions, recovery, throttle, marketData, securityList, securityStatus)
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
        line 36: fields[2].messages: X is no message that is sent (known: D, F, G, H, AF, AD, AN, V, x, e)
        line 38: fields[2].value: {colour} is no placeholder (known: {account}, {clOrdId}, {currency}, {exchange}, {isin}, {order})
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
        line 10: fields[1].value: AF, AD, AN, V, x and e are about no order: the value is a text
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

/// Wrong in every part of a group.
const WRONG_GROUPS: &str = r#"
[[groups]]
messages = ["Q"]
tag = 9
entries = []

[[groups]]
tag = 453
entries = [[{ tag = 448, value = "{desk}", role = 11 }], [{ tag = 54, value = "1" }, { tag = 452 }]]

[[groups]]
tag = 5010
entries = [
    [{ tag = 5011, value = "a" }, { tag = 5012, value = "b" }, { tag = 5011, value = "c" }],
    [{ tag = 5012, value = "b" }],
    [],
]

[[groups]]
tag = 5020
entries = [{ tag = 5021, value = "a" }]

[[groups]]
messages = ["AF"]
tag = 5030
entries = [[{ tag = 5031, value = "{order}" }]]
"#;

#[test]
fn problems_of_groups_are_told_with_the_entry_and_the_member() {
    expect![[r#"
        line 9: groups[1].messages: Q is no message that is sent (known: D, F, G, H, AF, AD, AN, V, x, e)
        line 10: groups[1].tag: 9 is set by the platform
        line 11: groups[1].entries: has no entry
        line 15: groups[2].entries[1][1].role: is no key (known: tag, value)
        line 15: groups[2].entries[1][1].value: {desk} is no placeholder (known: {account}, {clOrdId}, {currency}, {exchange}, {isin}, {order})
        line 15: groups[2].entries[2][1].tag: 54 is set by the platform
        line 15: groups[2].entries[2][2].value: is missing
        line 19: groups[3].entries: entry 1 begins with 5011 and has it again
        line 19: groups[3].entries: entry 2 begins with 5012 and the first one with 5011
        line 19: groups[3].entries: entry 3 has no field
        line 27: groups[4].entries[1]: is not a list of tables
        line 32: groups[5].entries[1][1].value: AF, AD, AN, V, x and e are about no order: the value is a text
    "#]]
    .assert_eq(&problems(&format!("{SMALLEST}{WRONG_GROUPS}")));
}

/// Wrong in the header.
const WRONG_HEADER: &str = r#"
[[session.header]]
tag = 49
value = "me"

[[session.header]]
tag = 50
value = "{account}"

[[session.header]]
tag = 50
value = "x"
sessions = ["prices"]

[[logon.fields]]
tag = 52
value = "now"

[[logon.fields]]
tag = 57
value = "x"

[[logon.fields]]
tag = 57
value = "y"

[[fields]]
tag = 97
value = "Y"

[[groups]]
tag = 5010
entries = [[{ tag = 50, value = "x" }]]
"#;

#[test]
fn of_the_header_a_dialect_sets_for_whom_and_from_whom_a_message_is() {
    expect![[r#"
        line 9: session.header[1].tag: 49 is no field of the header that can be set (known: 50, 57, 115, 116, 128, 129, 142, 143, 144, 145)
        line 14: session.header[2].value: a message of the session is about no order: the value is a text
        line 17: session.header[3].tag: 50 stands twice in the session prices
        line 22: logon.fields[1].tag: 52 is set by the platform
        line 30: logon.fields[3].tag: 57 stands twice in the session orders
        line 34: fields[1].tag: 97 is set by the platform
        line 39: groups[1].entries[1][1].tag: 50 is a field of the header, and stands in no group
    "#]]
    .assert_eq(&problems(&format!("{SMALLEST}{WRONG_HEADER}")));
    let passed = SMALLEST.replace("[orders.types]", "[orders]\npassThrough = [50]\n[orders.types]");
    expect![[r#"
        line 4: orders.passThrough: 50 is set by the platform
        line 10: fields[1].tag: 263 is set by the platform on V
    "#]]
    .assert_eq(&problems(&format!("{passed}[[fields]]\ntag = 263\nmessages = ['V']\nvalue = '1'\n")));
    let right = "[[session.header]]\ntag = 50\nvalue = 'TRADER'\n[[fields]]\ntag = 57\nvalue = 'DESK'\n\
                 messages = ['D', 'F', 'G', 'H', 'AF', 'AD', 'AN', 'V', 'x', 'e']\n[[logon.fields]]\ntag = 57\nvalue = 'x'\n";
    for version in ["FIX.4.2", "FIX.4.4", "FIXT.1.1/5.0SP2"] {
        let handled = "[[fields]]\ntag = 21\nvalue = '1'\n[marketData]\n[securityStatus]\n";
        let text = SMALLEST.replace("FIX.4.4", version) + right + handled;
        assert_eq!(problems(&text), "no problem\n", "{version}");
    }
}

#[test]
fn no_tag_stands_on_a_message_twice() {
    let text = "name = 'x'\nversion = 'FIX.4.4'\n[orders]\naccount = true\n[orders.types]\nlimit = '2'\n\
                [orders.timesInForce]\nday = '0'\n[orders.properties]\npostOnly = { tag = 18, value = '6' }\n\
                [[fields]]\ntag = 1\nvalue = 'DESK'\n[[fields]]\ntag = 18\nvalue = 'G'\n\
                [[fields]]\ntag = 5001\nvalue = 'a'\n[[fields]]\nmessages = ['F', 'D']\ntag = 5001\nvalue = 'b'\n\
                [[fields]]\nmessages = ['H']\ntag = 18\nvalue = 'G'\n\
                [[groups]]\ntag = 5010\nentries = [[{ tag = 5001, value = 'c' }]]\n\
                [[groups]]\nmessages = ['AD']\ntag = 580\nentries = [[{ tag = 75, value = '20260101' }]]\n";
    expect![[r#"
        line 12: fields[1].tag: 1 is set by the platform on D
        line 15: fields[2].tag: 18 is set by the platform on D
        line 22: fields[4].tag: 5001 stands on D twice
        line 30: groups[1].entries: 5001 stands on D twice
        line 33: groups[2].tag: 580 is set by the platform on AD
        line 34: groups[2].entries: 75 is set by the platform on AD
    "#]]
    .assert_eq(&problems(text));
}

/// The parties of an order as single fields: each of them is a field of the standard, and no order could be sent.
const PARTIES_AS_FIELDS: &str = "[[fields]]\ntag = 453\nvalue = '1'\n[[fields]]\ntag = 448\nvalue = 'DESK'\n\
    [[fields]]\ntag = 447\nvalue = 'D'\n[[fields]]\ntag = 452\nvalue = '11'\n";

#[test]
fn what_a_dialect_can_never_send_is_told_when_it_is_read() {
    expect![[r#"
        line 8: fields[1].tag: FIX.4.4 does not allow D, G: 453 counts a repeating group: [[groups]]
        line 11: fields[2].tag: FIX.4.4 does not allow D, G: 448 stands in a repeating group alone: [[groups]]
        line 14: fields[3].tag: FIX.4.4 does not allow D, G: 447 stands in a repeating group alone: [[groups]]
        line 17: fields[4].tag: FIX.4.4 does not allow D, G: 452 stands in a repeating group alone: [[groups]]
    "#]]
    .assert_eq(&problems(&format!("{SMALLEST}{PARTIES_AS_FIELDS}")));

    let groups = "[[groups]]\ntag = 453\n\
                  entries = [[{ tag = 448, value = 'DESK' }, { tag = 452, value = '11' }, { tag = 447, value = 'D' }]]\n\
                  [[groups]]\nmessages = ['F']\ntag = 453\n\
                  entries = [[{ tag = 447, value = 'D' }, { tag = 448, value = 'DESK' }]]\n\
                  [[groups]]\nmessages = ['D']\ntag = 386\n\
                  entries = [[{ tag = 336, value = '1' }, { tag = 79, value = '1' }]]\n";
    expect![[r#"
        line 9: groups[1].entries: FIX.4.4 does not allow D, G: Repeating group fields out of order (tag 447)
        line 12: groups[2].tag: FIX.4.4 does not allow F: the entries of 453 do not begin with its first field, or have one that does not belong there
        line 17: groups[3].entries: FIX.4.4 does not allow D: 79 does not belong to the group 386
    "#]]
    .assert_eq(&problems(&format!("{SMALLEST}{groups}")));

    let codes = "name = 'x'\nversion = 'FIX.4.2'\n[orders.types]\nlimit = '2'\nstop = 'Z'\n\
                 [orders.timesInForce]\nday = '0'\ngtd = '66'\n[orders.sides]\nsell = 'S'\n\
                 [orders.properties]\npostOnly = { tag = 18, value = 'post' }\n";
    let handled = |value: &str| problems(&format!("{codes}[[fields]]\ntag = 21\nvalue = '{value}'\n"));
    expect![[r#"
        line 1: fields: FIX.4.2 does not allow D, G: 21 is missing
    "#]]
    .assert_eq(&problems(codes));
    expect![[r#"
        line 5: orders.types.stop: FIX.4.2 does not allow D, G: Value is incorrect (out of range) for this tag (tag 40)
        line 8: orders.timesInForce.gtd: FIX.4.2 does not allow D, G: Incorrect data format for value (tag 59)
        line 10: orders.sides.sell: FIX.4.2 does not allow D, G: Value is incorrect (out of range) for this tag (tag 54)
        line 12: orders.properties.postOnly: FIX.4.2 does not allow D, G: Value is incorrect (out of range) for this tag (tag 18)
    "#]]
    .assert_eq(&handled("1"));
    expect![[r#"
        line 12: orders.properties.postOnly: FIX.4.2 does not allow D, G: Value is incorrect (out of range) for this tag (tag 18)
        line 15: fields[1].value: FIX.4.2 does not allow D, G: Incorrect data format for value (tag 21)
    "#]]
    .assert_eq(&handled("automatic"));
}

#[test]
fn an_order_that_neither_the_venue_ends_nor_a_cancel_is_not_offered() {
    let with = |orders: &str, tif: &str| {
        problems(&format!(
            "name = 'x'\nversion = 'FIX.4.4'\n[orders]\n{orders}\n[orders.types]\nlimit = '2'\n[orders.timesInForce]\n{tif}\n"
        ))
    };
    let lacking = "is needed where day or gtd is offered and cancel is false: nobody could end such an order\n";
    for tif in ["day = '0'", "gtd = '6'", "gtc = '1'\nday = '0'"] {
        assert_eq!(with("cancel = false", tif), format!("line 3: orders.expires: {lacking}"));
        assert_eq!(with("cancel = false\nexpires = false", tif), format!("line 5: orders.expires: {lacking}"));
        assert_eq!(with("cancel = false\nexpires = true", tif), "no problem\n");
    }
    assert_eq!(with("cancel = false", "gtc = '1'\nioc = '3'"), "no problem\n");
}
