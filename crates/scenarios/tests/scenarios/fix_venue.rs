//! Orders over REST and inbound FIX to venues that speak FIX: QuickFIX's sample programs, on the real server.

use std::collections::BTreeMap;

use scenarios::http::HttpClient;
use scenarios::server::{RunningServer, send_signal};
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use self::program::QuickfixProgram;
use crate::fix_orders::client::FixClient;
use crate::fix_orders::{STEADY, server_with};
use crate::test_platform::{AAPL, TestPlatform, TraderClient, body_of, fields, limit, with_id};

/// The programs as processes, as the adapter's own tests have them.
#[path = "../../../adapter-fix/tests/programs/program.rs"]
#[allow(dead_code, reason = "the scenarios need the compiled ones alone")]
mod program;

/// A platform with the program as its venue BROKER. Its account is the one after those of the demo.
fn platform_at(program: &QuickfixProgram, dialect: &str) -> TestPlatform {
    let desk = server_with(STEADY).set("auth.anonymousRole", "admin").set("recovery.answerWithinSeconds", 2);
    with_venue(desk, "BROKER", program, dialect, "RIALTO")
}

/// The program as a venue of that name, which knows us by that CompID.
fn with_venue(desk: TestPlatform, name: &str, program: &QuickfixProgram, dialect: &str, sender: &str) -> TestPlatform {
    let settings = [
        ("type", "fix"),
        ("exchange", "RCM"),
        ("dialect", dialect),
        ("environment", "live"),
        ("host", "127.0.0.1"),
        ("tls", "false"),
        ("senderCompId", sender),
        ("targetCompId", "VENUE"),
    ];
    let desk = desk.set(&format!("venues.{name}.port"), program.port);
    settings.iter().fold(desk, |desk, (key, value)| desk.set(&format!("venues.{name}.{key}"), value))
}

fn broker(client: &mut HttpClient) -> Value {
    account_of(client, "BROKER")
}

fn account_of(client: &mut HttpClient, venue: &str) -> Value {
    let accounts = client.get_json("/rest/account");
    let found = accounts.as_array().unwrap().iter().find(|account| account["name"] == venue);
    found.unwrap_or_else(|| panic!("no account of {venue}: {accounts}"))["id"].clone()
}

fn wait_until_open(client: &mut HttpClient) {
    wait_until_venue_is_open(client, "BROKER");
}

fn wait_until_venue_is_open(client: &mut HttpClient, venue: &str) {
    let name = format!("FIX-{venue}");
    let is_open = || {
        let adapters = client.get_json("/rest/adapter");
        let adapter = adapters.as_array().unwrap().iter().find(|adapter| adapter["name"] == name.as_str()).cloned();
        adapter.filter(|adapter| adapter["openFor"] == "ORDERS")
    };
    wait_for("the venue to be open for orders", is_open);
}

fn day(security: u64, side: &str, quantity: u64, account: &Value, int_id: &str) -> Value {
    let mut order = with_id(limit(security, side, quantity, "250"), int_id);
    order["tif"] = json!("DAY");
    order["accountId"] = account.clone();
    order
}

/// Of the venue's account.
fn positions(client: &mut HttpClient, account: &Value) -> Vec<Value> {
    let positions = client.get_json("/rest/position");
    let own = positions.as_array().unwrap().iter().filter(|position| position["accountId"] == *account);
    own.map(|position| fields(position, &["securityId", "quantity"])).collect()
}

/// What a FIX client was told to have filled, by its orders.
fn told_fills(desk: &FixClient) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for report in desk.received.iter().filter(|report| report.get(150) == Some("F")) {
        let field = |tag| report.get(tag).unwrap_or_default();
        told.entry(field(11).to_owned()).or_default().push(format!("{} @ {}", field(32), field(31)));
    }
    told
}

/// A client of ours over FIX, whose numbers go on from one server to the next.
struct InboundClient(FixClient);

impl InboundClient {
    fn log_on(&mut self, server: &RunningServer) {
        self.0.log_on(server.port_address("fix"));
    }

    fn trade(&mut self, id: &str, side: &str, quantity: u64) {
        self.0.send(&format!("35=D|11={id}|1=BROKER|54={side}|38={quantity}|40=2|44=250|48=1|59=0"));
        self.0.receive_until("the fill", |desk| told_fills(desk).contains_key(id));
    }
}

/// `executor` fills every order, and its ExecIDs begin at 1 when it starts.
fn orders_become_fills_and_positions(version: &'static str, dialect: &str) {
    let mut executor = QuickfixProgram::start("executor", version);
    let desk = platform_at(&executor, dialect);
    let server = desk.start();
    let (mut client, mut fix) = (server.client(), InboundClient(FixClient::new("STEADY")));
    wait_until_open(&mut client);
    let account = broker(&mut client);
    client.place(&day(AAPL, "BUY", 100, &account, "first"));
    client.wait_for_status("first", "EXECUTED");
    fix.log_on(&server);
    fix.trade("fix-first", "1", 40);

    // The first execution after its restart has the ExecID of the first one before.
    executor.restart();
    wait_for("the venue to be lost", || server.log().contains("venue session lost").then_some(()));
    wait_until_open(&mut client);
    client.place(&day(AAPL, "BUY", 30, &account, "second"));
    client.wait_for_status("second", "EXECUTED");
    fix.trade("fix-second", "1", 7);
    let held = |quantity: u64| [json!({ "securityId": AAPL, "quantity": quantity })];
    assert_eq!(positions(&mut client, &account), held(177));
    fix.0.log_out();
    server.stop();

    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    client.place(&day(AAPL, "SELL", 50, &account, "third"));
    client.wait_for_status("third", "EXECUTED");
    fix.log_on(&server);
    fix.trade("fix-third", "2", 27);
    assert_eq!(positions(&mut client, &account), held(100));
    let told = [("fix-first", "40 @ 250"), ("fix-second", "7 @ 250"), ("fix-third", "27 @ 250")];
    let told = told.map(|(id, fill)| (id.to_owned(), vec![fill.to_owned()]));
    assert_eq!(told_fills(&fix.0), BTreeMap::from(told), "each fill is told once");
    fix.0.log_out();
    server.stop();
}

#[test]
fn orders_become_fills_at_executor_over_fix_44_and_no_restart_loses_or_doubles_one() {
    orders_become_fills_and_positions("FIX.4.4", "quickfix-executor");
}

#[test]
fn orders_become_fills_at_executor_over_fix_42_and_no_restart_loses_or_doubles_one() {
    orders_become_fills_and_positions("FIX.4.2", "quickfix-executor-42");
}

/// Two accounts at `ordermatch`, so that no order meets one of its own account: one trades over REST, the other over FIX.
#[test]
fn an_order_over_rest_and_one_over_fix_that_match_at_ordermatch_become_fills_and_positions() {
    let dialect = "quickfix-ordermatch";
    let ordermatch = QuickfixProgram::start_for_two("ordermatch", "FIX.4.2", "SECOND");
    let desk = with_venue(platform_at(&ordermatch, dialect), "OTHER", &ordermatch, dialect, "SECOND");
    let server = desk.start();
    let mut client = server.client();
    ["BROKER", "OTHER"].iter().for_each(|venue| wait_until_venue_is_open(&mut client, venue));
    let [broker, other] = ["BROKER", "OTHER"].map(|venue| account_of(&mut client, venue));
    let mut fix = FixClient::new("STEADY");
    fix.log_on(server.port_address("fix"));
    let of_other = |id: &str, side: u8, quantity: u64| {
        format!("35=D|11={id}|1=OTHER|54={side}|38={quantity}|40=2|44=250|48=1|59=0")
    };
    let held = |quantity: i64| [json!({ "securityId": AAPL, "quantity": quantity })];

    // The order over REST rests, and is filled in two parts.
    client.place(&day(AAPL, "BUY", 100, &broker, "rest-buys"));
    client.wait_for_status("rest-buys", "SUBMITTED");
    fix.send(&of_other("fix-sells", 2, 60));
    fix.receive_until("the fill", |desk| told_fills(desk).contains_key("fix-sells"));
    let partly = || Some(client.order("rest-buys")).filter(|order| order["filledQuantity"] == json!(60));
    wait_for("the other side of the fill", partly);
    assert_eq!([positions(&mut client, &broker), positions(&mut client, &other)], [held(60), held(-60)]);
    fix.send(&of_other("fix-sells-more", 2, 40));
    client.wait_for_status("rest-buys", "EXECUTED");
    fix.receive_until("the fill", |desk| told_fills(desk).contains_key("fix-sells-more"));
    assert_eq!([positions(&mut client, &broker), positions(&mut client, &other)], [held(100), held(-100)]);

    // The order over FIX rests, and one over REST takes it.
    fix.send(&of_other("fix-buys", 1, 25));
    fix.wait_for_accepted(3);
    client.place(&day(AAPL, "SELL", 25, &broker, "rest-sells"));
    client.wait_for_status("rest-sells", "EXECUTED");
    fix.receive_until("the fill", |desk| told_fills(desk).contains_key("fix-buys"));
    assert_eq!([positions(&mut client, &broker), positions(&mut client, &other)], [held(75), held(-75)]);
    let told = [("fix-buys", "25 @ 250"), ("fix-sells", "60 @ 250"), ("fix-sells-more", "40 @ 250")];
    let told = told.map(|(id, fill)| (id.to_owned(), vec![fill.to_owned()]));
    assert_eq!(told_fills(&fix), BTreeMap::from(told), "each fill is told once");
    fix.log_out();
    server.stop();
}

/// Alarms of the engine with that code.
fn alarms(client: &mut HttpClient, code: &str) -> Vec<String> {
    let events = client.get_json("/rest/history/events?after=0&limit=1000");
    let messages = events.as_array().unwrap().iter().filter_map(|event| event["event"]["message"].as_str());
    messages.filter(|message| message.starts_with(&format!("{code}: "))).map(str::to_owned).collect()
}

#[test]
fn a_cancel_that_ordermatch_does_not_answer_ends_in_doubt_with_an_alarm_and_not_as_cancelled() {
    let ordermatch = QuickfixProgram::start("ordermatch", "FIX.4.2");
    let desk = platform_at(&ordermatch, "quickfix-ordermatch");
    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    let account = broker(&mut client);
    client.place(&day(AAPL, "BUY", 100, &account, "rests"));
    let order = client.wait_for_status("rests", "SUBMITTED");
    assert_eq!((&order["inDoubt"], alarms(&mut client, "no-answer")), (&json!(false), vec![]));

    // The connection stands, and nothing is answered.
    send_signal(ordermatch.pid(), "STOP");
    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    wait_for("the order to be in doubt", || (client.order("rests")["inDoubt"] == json!(true)).then_some(()));
    let alarm = "no-answer: order rests: the venue has not answered for 2 s";
    assert_eq!(alarms(&mut client, "no-answer"), [alarm]);
    let order = client.order("rests");
    assert_eq!(fields(&order, &["status", "inDoubt"]), json!({ "status": "PENDING_CANCEL", "inDoubt": true }));
    assert!(!server.log().contains("venue session lost"));

    // What the venue says at last is believed.
    send_signal(ordermatch.pid(), "CONT");
    let order = client.wait_for_status("rests", "CANCELED");
    assert_eq!(order["inDoubt"], json!(false));
    server.stop();
}

#[test]
fn a_cancel_of_an_order_that_ordermatch_has_forgotten_is_not_answered_and_leaves_it_in_doubt() {
    let mut ordermatch = QuickfixProgram::start("ordermatch", "FIX.4.2");
    let desk = platform_at(&ordermatch, "quickfix-ordermatch");
    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    let account = broker(&mut client);
    client.place(&day(AAPL, "BUY", 100, &account, "kept"));
    client.wait_for_status("kept", "SUBMITTED");
    client.place(&day(AAPL, "BUY", 100, &account, "lost"));
    client.wait_for_status("lost", "SUBMITTED");
    client.delete("/rest/execution/order/kept").unwrap();
    client.wait_for_status("kept", "CANCELED");

    // It forgets its orders, and answers nothing to the cancel of one that it does not know.
    ordermatch.restart();
    wait_for("the venue to be lost", || server.log().contains("venue session lost").then_some(()));
    wait_until_open(&mut client);
    client.delete("/rest/execution/order/lost").unwrap();
    // What comes behind the cancel is answered: it was read.
    client.place(&day(AAPL, "BUY", 100, &account, "next"));
    client.wait_for_status("next", "SUBMITTED");
    let order = client.order("lost");
    assert_eq!(fields(&order, &["status", "inDoubt"]), json!({ "status": "PENDING_CANCEL", "inDoubt": true }));
    // It was in doubt since the log-on, which found nothing of it; that the cancel stays unanswered is told all the same.
    let alarm = "no-answer: order lost: the venue has not answered for 2 s; the order was in doubt before";
    wait_for("the alarm", || alarms(&mut client, "no-answer").contains(&alarm.to_owned()).then_some(()));
    server.stop();
}

/// `ordermatch` by a dialect without cancels.
#[test]
fn a_venue_that_takes_no_cancels_is_asked_for_none_and_a_kill_names_the_orders_that_stay() {
    let shipped = include_str!("../../../adapter-fix/dialects/quickfix-ordermatch.toml");
    let folder = tempfile::tempdir().unwrap();
    let dialect = folder.path().join("ordermatch.toml");
    std::fs::write(&dialect, shipped.replace("cancel = true", "cancel = false\nexpires = true")).unwrap();
    let ordermatch = QuickfixProgram::start("ordermatch", "FIX.4.2");
    let desk = platform_at(&ordermatch, &dialect.display().to_string());
    let server = desk.start();
    let mut client = server.client();
    wait_until_open(&mut client);
    let adapters = client.get_json("/rest/adapter");
    let broker_adapter = adapters.as_array().unwrap().iter().find(|adapter| adapter["name"] == "FIX-BROKER").unwrap();
    assert_eq!(broker_adapter["cancel"], "NONE");

    let account = broker(&mut client);
    client.place(&day(AAPL, "BUY", 100, &account, "rests"));
    client.wait_for_status("rests", "SUBMITTED");
    let refused = client.delete("/rest/execution/order/rests").unwrap();
    assert_eq!((refused.status, &body_of(&refused)["code"]), (422, &json!("venue-no-cancel")), "{refused:?}");

    let mut fix = FixClient::new("STEADY");
    fix.log_on(server.port_address("fix"));
    fix.send("35=D|11=fix-rests|1=BROKER|54=1|38=10|40=2|44=240|48=1|59=0");
    fix.wait_for_accepted(1);
    fix.send("35=F|11=no|41=fix-rests|54=1|38=10|48=1");
    let reject = fix.expect("9");
    assert_eq!(reject.summary(), "9 no of fix-rests 39=0 102=2");
    let text = "venue-no-cancel: the venue of FIX-BROKER would refuse it: it takes no cancels";
    assert_eq!(reject.get(58), Some(text));

    let killed = client.post("/rest/risk/kill", r#"{"scope":"PLATFORM"}"#).unwrap();
    assert_eq!((killed.status, &body_of(&killed)["cancels"]), (200, &json!(0)), "{killed:?}");
    let alarm = "venue-no-cancel: PLATFORM is HALTED, but the venue of FIX-BROKER takes no cancels; these orders stay until it fills or ends \
                 them: rests, fix-rests";
    wait_for("the alarm", || (alarms(&mut client, "venue-no-cancel") == [alarm]).then_some(()));
    for order in ["rests", "fix-rests"] {
        assert_eq!(client.order(order)["status"], "SUBMITTED");
    }
    fix.log_out();
    server.stop();
}
