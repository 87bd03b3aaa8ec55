//! Replay of a live session: its journal replayed gives the state and the digest of the session, and its strategies
//! send the same commands.

use scenarios::http::HttpClient;
use scenarios::server::ServerExit;
use scenarios::wait::wait_for;

use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient, limit, market, with_id};

#[test]
fn a_journal_replayed_reaches_the_state_of_the_session() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    for (id, order, status) in [
        ("one", market(AAPL, "BUY", 700), "EXECUTED"),
        ("two", limit(AAPL, "BUY", 5, "272.40"), "SUBMITTED"),
        ("three", market(SAP, "SELL", 20), "EXECUTED"),
    ] {
        client.place(&with_id(order, id));
        client.wait_for_status(id, status);
    }
    client.delete("/rest/execution/order/two").unwrap();
    client.wait_for_status("two", "CANCELED");
    server.stop();
    let [once, again] = [(), ()].map(|()| replayed(&desk, &[]));
    assert!(once.contains("is the one that the session wrote"), "{once}");
    assert!(once.contains("3 orders"), "{once}");
    assert_eq!(digest(&once), digest(&again));
}

#[test]
fn strategies_that_run_again_on_journalled_prices_ask_for_the_same() {
    let server = traded_by_the_market_maker();
    let told = replayed(&server, &["--strategies", "--set", &format!("strategies.instances={MAKER}")]);
    assert!(told.contains("commands of strategies came out the same"), "{told}");
    assert!(!told.contains("\n0 commands of strategies"), "{told}");
    assert!(!told.contains("the first that differs"), "{told}");
}

/// The demo's market maker and three more at once: what each was told stands in the journal, however late its thread was.
const CROWD: &str = "MAKER:market-making security=ETH.USD quantity=0.01 maxPosition=0.05 distance=1,\
    QUOTES:market-making security=AAPL quantity=10 maxPosition=50 distance=1,\
    TREND:moving-average-cross security=EUR.USD fast=2 slow=3 quantity=1000,\
    BREAKS:breakout security=MSFT bars=SEC_1 period=2 quantity=1 short=true";

#[test]
fn four_strategies_in_a_busy_market_ask_for_the_same_again_also_after_a_crash_and_restarts() {
    let desk =
        TestPlatform::new().set("demo.activity", "busy").set("journal.ticks", "all").set("strategies.instances", CROWD);
    for session in 1..=3 {
        let server = desk.start();
        let mut client = server.client();
        for (name, each) in [("MAKER", 10), ("QUOTES", 1), ("TREND", 2)] {
            wait_for("its fills in every session", || (fills(&mut client, name) >= session * each).then_some(()));
        }
        let _ended = if session == 2 { server.kill() } else { server.stop() };
        let told = replayed(&desk, &["--strategies", "--set", &format!("strategies.instances={CROWD}")]);
        assert!(!told.contains("\n0 commands of strategies"), "{told}");
    }
}

/// Orders of the strategy that were filled, since the journal began.
fn fills(client: &mut HttpClient, strategy: &str) -> usize {
    let path = format!("/rest/history/order?strategy={strategy}&limit=1000");
    client.get(&path).map_or(0, |listed| listed.body.matches("\"EXECUTED\"").count())
}

#[test]
fn a_session_that_did_not_record_its_prices_is_refused_with_the_setting_that_does() {
    let server = TestPlatform::new().set("demo.activity", "calm").set("strategies.instances", MAKER);
    server.start().stop();
    let ended = replay(&server, &["--strategies", "--set", &format!("strategies.instances={MAKER}")]);
    assert_eq!(ended.code, Some(2), "{ended}");
    assert!(ended.log.contains("it is recorded in sessions with journal.ticks=all"), "{ended}");
}

#[test]
fn strategies_that_cannot_run_again_or_ask_for_something_else_are_a_failure() {
    let server = traded_by_the_market_maker();
    let cannot = "strategies of the session can't run again:";
    for (instances, code, said) in [
        ("", 2, format!("{cannot}\n  MAKER: strategies.instances does not have it")),
        ("MARKER:market-making security=AAPL", 2, format!("{cannot}\n  MAKER: strategies.instances does not have it")),
        ("MAKER:market-making security=AAPL distanse=5", 2, "parameter distanse: is not known".to_owned()),
        (&MAKER.replace("quantity=10", "quantity=11"), 5, "the first that differs is of MAKER".to_owned()),
    ] {
        let setting = format!("strategies.instances={instances}");
        let ended = replay(&server, &["--strategies", "--set", &setting]);
        assert_eq!(ended.code, Some(code), "{instances}: {ended}");
        assert!(ended.log.contains(&said), "{instances}: {ended}");
    }
}

const MAKER: &str = "MAKER:market-making security=AAPL quantity=10 maxPosition=50 distance=5";

/// A session with every price journalled, in which it had quotes.
fn traded_by_the_market_maker() -> TestPlatform {
    let desk =
        TestPlatform::new().set("demo.activity", "calm").set("journal.ticks", "all").set("strategies.instances", MAKER);
    let server = desk.start();
    let mut client = server.client();
    wait_for("quotes of the market maker", || {
        let open = client.get("/rest/execution/order").ok()?.body;
        (open.matches("SUBMITTED").count() >= 2).then_some(())
    });
    server.stop();
    desk
}

fn replayed(server: &TestPlatform, words: &[&str]) -> String {
    let ended = replay(server, words);
    assert_eq!(ended.code, Some(0), "{ended}");
    ended.output
}

fn replay(server: &TestPlatform, words: &[&str]) -> ServerExit {
    let folder = server.data().to_str().expect("a plain name");
    server.launch.run(&[&["simulate", "--from-journal", folder], words].concat())
}

fn digest(told: &str) -> &str {
    told.lines().find_map(|line| line.strip_prefix("digest: ")).expect("a digest")
}
