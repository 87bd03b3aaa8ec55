//! Prices at a follower: they are the leader's, they go on when the lead changes, they are never old in silence, and they come only where
//! a client wants them.

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{BITCOIN, LabPlatform, place_when_priced, wait_for_session};
use crate::cluster::{TestCluster, wait_for_health};
use crate::test_platform::{TraderClient, limit, with_id};
use crate::watchers::{TopicWatcher, WebSocket};

const TICK: &str = "/rest/marketdata/tick?security=1";
const BOOK: &str = "/rest/marketdata/book?security=1";
const BARS: &str = "/rest/marketdata/bar?security=1&barSize=SEC_1";

/// Between the bids and offers of others: each adds to the best bid.
const BETWEEN: &str = "60000.00";

fn bid(client: &mut HttpClient, int_id: &str) {
    let mut order = with_id(limit(BITCOIN, "BUY", 1, BETWEEN), int_id);
    order["quantity"] = json!("0.001");
    place_when_priced(client, &order);
    client.wait_for_status(int_id, "SUBMITTED");
}

fn tick(client: &mut HttpClient) -> Value {
    client.get_json(TICK)[0].clone()
}

/// Waits until the leader's best bid has so many thousandths, and gives its tick.
fn wait_for_bid(client: &mut HttpClient, thousandths: u64) -> Value {
    let expected = json!(thousandths as f64 / 1_000.0);
    wait_for("the leader's best bid", || Some(tick(client)).filter(|tick| tick["volBid"] == expected && is_live(tick)))
}

fn is_quote_of(expected: &Value, tick: &Value) -> bool {
    is_live(tick) && ["bid", "ask", "volBid", "volAsk"].iter().all(|key| tick[key] == expected[key])
}

/// Reads until a price is heard for which this holds.
fn hear(screen: &mut TopicWatcher<WebSocket>, is_it: impl Fn(&Value) -> bool) -> Value {
    loop {
        let frame = screen.frame();
        assert!(frame.starts_with("MESSAGE\n"), "{frame}");
        let body: Value = serde_json::from_str(frame.split_once("\n\n").unwrap().1).unwrap();
        if is_it(&body) {
            return body;
        }
    }
}

fn is_live(tick: &Value) -> bool {
    tick["stale"].is_null()
}

/// Subscriptions to prices that the NATS servers have, of all members.
fn subscriptions(cluster: &TestCluster) -> usize {
    let count = |address: &String| {
        let body = HttpClient::new(address.parse().unwrap()).get("/subsz?subs=1&limit=100000").unwrap().body;
        body.matches("\"rialto.prices.").count()
    };
    cluster.nats.monitors().iter().map(count).sum()
}

fn metric(server: &RunningServer, name: &str) -> u64 {
    let text = server.client().get("/metrics").unwrap().body;
    let line = text.lines().find(|line| line.starts_with(name) && !line.starts_with('#'));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
}

fn hand_over(cluster: &TestCluster, from: &str) {
    let (file, data) = (cluster.file(from), cluster.data(from).display().to_string());
    let handed = cluster.launcher(from).run_without_folder(&["ha", "hand-over", &file, "--data-dir", &data]);
    assert_eq!(handed.code, Some(0), "{handed}");
}

#[test]
fn a_screen_at_a_follower_sees_the_leaders_prices_over_a_cut_and_a_change_of_the_lead() {
    let mut cluster = TestCluster::with_members(&["a", "b", "c"], 0, LabPlatform::new("BETA")).with_lines();
    cluster.copy = Some("c");
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut leader = first.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut leader);
    bid(&mut leader, "one");
    let copy = cluster.start_member("c");
    let mut client = copy.client();
    wait_for_health(&mut client, "/health/ready", 200, "follower");

    // Nobody looks: nothing is sent.
    assert_eq!((subscriptions(&cluster), metric(&first, "rialto_cluster_prices_sent")), (0, 0));
    // A screen gets them, and when it leaves they end.
    let mut screen = TopicWatcher::join(WebSocket::open(copy.address()), &["tick.1"]);
    let expected = wait_for_bid(&mut leader, 1);
    hear(&mut screen, |tick| is_quote_of(&expected, tick));
    assert!(subscriptions(&cluster) > 0 && metric(&first, "rialto_cluster_prices_sent") > 0);
    drop(screen);
    wait_for("the end of the interest", || (subscriptions(&cluster) == 0).then_some(()));

    // A client that wants bars hears the leader's as they close, and a question about them is answered by the leader.
    let mut chart = TopicWatcher::join(WebSocket::open(copy.address()), &["bar.1.SEC_1"]);
    wait_for("the interest in bars", || (subscriptions(&cluster) > 0).then_some(()));
    bid(&mut leader, "bar");
    let bar = hear(&mut chart, |heard| heard["objectType"] == "Bar");
    let known =
        wait_for("the bar", || Some(client.get_json(BARS)).filter(|bars| bars.as_array().unwrap().contains(&bar)));
    let (first_known, of_leader) = (known.as_array().unwrap(), leader.get_json(BARS));
    assert!(first_known.iter().all(|bar| of_leader.as_array().unwrap().contains(bar)), "{known} {of_leader}");
    drop(chart);
    wait_for("the end of the interest", || (subscriptions(&cluster) == 0).then_some(()));

    // A question gets the leader's prices, and not what happens to be known here.
    wait_for("the follower's prices", || {
        (is_live(&tick(&mut client)) && tick(&mut client) == tick(&mut leader)).then_some(())
    });
    assert_eq!(client.get_json(BOOK), leader.get_json(BOOK));

    let mut screen = TopicWatcher::join(WebSocket::open(copy.address()), &["tick.1"]);
    bid(&mut leader, "two");
    let expected = wait_for_bid(&mut leader, 3);
    hear(&mut screen, |tick| is_quote_of(&expected, tick));

    // The follower's line to NATS is cut: the last price stays, and says that it is old.
    cluster.lines["c"].iter().for_each(scenarios::proxy::CuttableProxy::cut);
    hear(&mut screen, |tick| tick["stale"] == "DISCONNECTED");
    assert_eq!(tick(&mut client)["stale"], "DISCONNECTED");
    cluster.lines["c"].iter().for_each(scenarios::proxy::CuttableProxy::restore);
    hear(&mut screen, is_live);

    // The same screen goes on with the prices of the next leader.
    let second = cluster.start_member("b");
    wait_for_health(&mut second.client(), "/health/ready", 200, "follower");
    hand_over(&cluster, "a");
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    assert_eq!(first.wait().code, Some(0));
    let mut leader = second.client();
    wait_for_session(&mut leader, "SUBSCRIBED");
    bid(&mut leader, "three");
    let expected = wait_for_bid(&mut leader, 4);
    hear(&mut screen, |tick| is_quote_of(&expected, tick));
    assert!(metric(&copy, "rialto_cluster_prices_lost") > 0);
    copy.stop();
    second.stop();
    cluster.lab.stop();
}
