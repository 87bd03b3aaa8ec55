//! Strategies in the live server: the samples, seen through REST and topics.

use std::path::Path;

use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::test_platform::TestPlatform;
use crate::topics::TopicListener;
use crate::topics_examples::python;

const MAKER: &str = "MAKER:market-making security=AAPL quantity=10 maxPosition=50 distance=2";

fn orders(client: &mut HttpClient) -> Vec<Value> {
    let listed = client.get("/rest/execution/order?strategy=MAKER").unwrap().body;
    serde_json::from_str(&listed).unwrap()
}

#[test]
fn the_market_maker_quotes_both_sides_and_takes_its_quotes_away_when_it_leaves() {
    let desk = TestPlatform::new().set("strategies.instances", MAKER).set("demo.activity", "busy");
    let server = desk.start();
    let mut client = server.client();
    let quotes = wait_for("both quotes", || Some(orders(&mut client)).filter(|quotes| quotes.len() == 2));
    let mut sides: Vec<_> = quotes.iter().map(|quote| (quote["side"].clone(), quote["source"].clone())).collect();
    sides.sort_by_key(|(side, _)| side.to_string());
    assert_eq!(sides, [("BUY".into(), "STRATEGY".into()), ("SELL".into(), "STRATEGY".into())]);
    assert_eq!(client.post("/rest/strategy/MAKER/stop", "").unwrap().status, 200);
    wait_for("the cancel of its quotes", || orders(&mut client).is_empty().then_some(()));
    server.stop();
}

#[test]
fn phases_are_heard_in_order_on_the_topic_of_the_strategy() {
    let desk = TestPlatform::new().set("strategies.instances", MAKER);
    let server = desk.start();
    let mut client = server.client();
    let mut listener = TopicListener::join(&mut client);
    listener.subscribe(1, "/topic/life-cycle.MAKER");
    for act in ["stop", "start"] {
        assert_eq!(client.post(&format!("/rest/strategy/MAKER/{act}"), "").unwrap().status, 200);
    }
    let heard: Vec<_> = (0..5).map(|_| listener.message().2["phase"].clone()).collect();
    assert_eq!(heard, ["EXIT", "INIT", "PREFEED", "START", "RUN"]);
    server.stop();
}

#[test]
fn a_strategy_in_python_buys_and_sells() {
    let Some(mut command) = python() else { return };
    let server = TestPlatform::new().start();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/strategy-python/strategy.py");
    let url = format!("http://{}", server.address());
    let told = command.arg(script).args(["--server", &url, "--name", "PAIRS", "--security", "1"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
    assert_eq!(out, "BUY 1 @ 272.41\nSELL 1 @ 272.39\ndone\n", "{err}");
    server.stop();
}
