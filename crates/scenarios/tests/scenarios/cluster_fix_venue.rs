//! A venue over FIX whose sequence numbers go on from one connection to the next, behind a cluster: the member that takes over goes on with the
//! session, though the files with its numbers are on another machine. The venue takes one session of a client at a time, so a leader that is
//! replaced must leave it, whether it hears of that or not.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use scenarios::http::HttpClient;
use scenarios::proxy::CuttableProxy;
use scenarios::server::{RunningServer, ServerLauncher, send_signal};
use scenarios::wait::wait_for;
use serde_json::json;

use crate::binance::{BITCOIN, LabPlatform, decimal, wait_for_session};
use crate::cluster::{FENCED, TestCluster, open_orders, place};
use crate::test_platform::{TraderClient, limit, with_id};

/// The lab by the shipped dialect with resends.
fn at_generic_fix() -> LabPlatform {
    let mut lab = LabPlatform::new("BETA");
    let face = lab.lab.address("fix44").parse::<SocketAddr>().unwrap().port().to_string();
    let venue = [
        ("type", "fix"),
        ("dialect", "generic-44"),
        ("environment", "testnet"),
        ("host", "127.0.0.1"),
        ("tls", "false"),
        ("port", &face),
        ("senderCompId", "BETA"),
        ("targetCompId", "LAB"),
        ("marketDataPort", &face),
        ("marketDataSenderCompId", "ALPHA"),
    ];
    let launch = ServerLauncher::in_folder(&lab.folder.path().join("data"))
        .set("reference.path", lab.folder.path().join("reference").display())
        .set("simulated.venues", "")
        .set("portfolio.baseCurrency", "USDT")
        .set("demo.openingCash", "")
        .set("auth.anonymousRole", "admin");
    lab.launch = venue.iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.LAB.{key}"), value));
    lab
}

fn buy(client: &mut HttpClient, id: &str) {
    let mut order = with_id(limit(BITCOIN, "BUY", 1, "65000"), id);
    order["quantity"] = json!("0.01");
    client.place(&order);
    client.wait_for_status(id, "EXECUTED");
}

/// What the venue has filled of our account.
fn bought_at_venue(cluster: &TestCluster) -> String {
    let filled: domain::Decimal = cluster.lab.ledger("orders").iter().map(|order| decimal(&order["filled"])).sum();
    filled.normalize().to_string()
}

/// A leader with three orders, one of them filled, and its follower.
fn lead_and_follow(cluster: &TestCluster) -> (RunningServer, RunningServer) {
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    place(&mut client, &["one", "two"]);
    buy(&mut client, "filled-by-a");
    let second = cluster.start_member("b");
    wait_for("the follower to have the orders", || (open_orders(&mut second.client()) == ["one", "two"]).then_some(()));
    (first, second)
}

#[test]
fn the_member_that_takes_over_goes_on_with_the_session_of_a_fix_venue() {
    let cluster = TestCluster::with_members(&["a", "b"], 0, at_generic_fix());
    let (first, second) = lead_and_follow(&cluster);
    first.stop();
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    let mut client = second.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    place(&mut client, &["three"]);
    buy(&mut client, "filled-by-b");

    // Its own file has numbers that were used long ago.
    let first = cluster.start_member("a");
    let (file, data) = (cluster.file("b"), cluster.data("b").display().to_string());
    let follows = || (open_orders(&mut first.client()) == open_orders(&mut client)).then_some(());
    wait_for("the first to follow", follows);
    let handed = cluster.launcher("b").run_without_folder(&["ha", "hand-over", &file, "--data-dir", &data]);
    assert_eq!(handed.code, Some(0), "{handed}");
    assert_eq!(second.wait().code, Some(0));
    first.wait_for_output("\"role\":\"leader\",\"epoch\":3");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    place(&mut client, &["four"]);
    buy(&mut client, "filled-by-a-again");

    assert_eq!(open_orders(&mut client), ["four", "one", "three", "two"]);
    assert_eq!(cluster.orders_at_venue(), 7, "each order is there, once");
    let position = client.get_json("/rest/position").as_array().unwrap().iter().find_map(|position| {
        (position["securityId"] == BITCOIN).then(|| decimal(&position["quantity"]).normalize().to_string())
    });
    assert_eq!(position.unwrap(), bought_at_venue(&cluster));
    first.stop();
    cluster.lab.stop();
}

/// The leader is silent for the log, but neither it nor its connection to the venue has ended. The other member takes over and trades; then the
/// old leader learns of it.
fn expect_taken_over(cluster: &TestCluster, silence: impl Fn(&RunningServer), wake: impl Fn(&RunningServer)) {
    let (first, second) = lead_and_follow(cluster);
    silence(&first);
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    let mut client = second.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    place(&mut client, &["three"]);
    buy(&mut client, "filled-by-b");

    wake(&first);
    let ended = first.wait();
    assert_eq!(ended.code, Some(FENCED), "{ended}");
    let first = cluster.start_member("a");
    wait_for("the journals to be equal", || (cluster.segments("a") == cluster.segments("b")).then_some(()));
    assert_eq!(open_orders(&mut client), ["one", "three", "two"]);
    assert_eq!(cluster.orders_at_venue(), 5, "each order is there, once");
    first.stop();
    second.stop();
}

#[test]
fn a_leader_that_is_cut_from_the_log_and_not_from_its_fix_venue_leaves_it_to_the_next_one() {
    let cluster = TestCluster::with_members(&["a", "b"], 0, at_generic_fix()).with_lines();
    let lines = &cluster.lines["a"];
    let wake = |first: &RunningServer| {
        let log = first.log();
        assert!(log.contains("the lease of this server has run out"), "it has left by itself: {log}");
        lines.iter().for_each(CuttableProxy::restore);
    };
    expect_taken_over(&cluster, |_| lines.iter().for_each(CuttableProxy::hold), wake);
    cluster.lab.stop();
}

/// The shipped dialect, by which the venue notices soon that nobody is there.
fn write_dialect_with_short_heartbeats(file: &Path) {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapter-fix/dialects/generic-44.toml");
    let text = fs::read_to_string(shipped).unwrap();
    let short = text.replace("heartbeatSeconds = 30", "heartbeatSeconds = 3");
    assert_ne!(short, text);
    fs::write(file, short).unwrap();
}

#[test]
fn a_paused_leader_is_followed_at_a_fix_venue_when_that_has_missed_its_heartbeats() {
    let mut lab = at_generic_fix();
    let dialect = lab.folder.path().join("short.toml");
    write_dialect_with_short_heartbeats(&dialect);
    lab.launch = lab.launch.set("venues.LAB.dialect", dialect.display());
    let cluster = TestCluster::with_members(&["a", "b"], 0, lab);
    let signal = |name: &'static str| move |first: &RunningServer| send_signal(first.pid(), name);
    expect_taken_over(&cluster, signal("STOP"), signal("CONT"));
    cluster.lab.stop();
}
