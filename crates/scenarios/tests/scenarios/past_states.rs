//! Questions about the past: `?at=` gives what was answered then.

use domain::SeededRng;
use scenarios::http::HttpClient;
use serde_json::Value;

use crate::test_platform::{AAPL, MSFT, TestPlatform, TraderClient, limit, market};

const LISTS: [&str; 5] = [
    "/rest/execution/order",
    "/rest/position",
    "/rest/portfolio/balance",
    "/rest/portfolio/value",
    "/rest/transaction/daily",
];
const SEED: u64 = 9;
/// Points of the past that are asked about.
const POINTS: usize = 100;

/// An answer and the sequence that it came with.
struct Answered {
    path: String,
    sequence: u64,
    body: String,
}

impl Answered {
    /// Values have the time of the question; everything else is compared byte for byte.
    fn comparable(&self) -> String {
        if !self.path.contains("/portfolio/value") {
            return self.body.clone();
        }
        let mut values: Vec<Value> = serde_json::from_str(&self.body).unwrap();
        values.iter_mut().for_each(|value| drop(value.as_object_mut().unwrap().remove("dateTime").unwrap()));
        Value::from(values).to_string()
    }
}

fn ask(client: &mut HttpClient, path: &str) -> Answered {
    let response = client.get(path).unwrap();
    assert_eq!(response.status, 200, "{path}: {response:?}");
    let sequence = response.header("rialto-sequence").unwrap().parse().unwrap();
    Answered { path: path.to_owned(), sequence, body: response.body }
}

/// Trades and looks at everything after each step.
fn trade(client: &mut HttpClient, rounds: u64, seen: &mut Vec<Answered>) {
    for round in 0..rounds {
        let resting = client.place(&limit(AAPL, "BUY", 1 + round, "240"));
        seen.push(ask(client, &format!("/rest/execution/order/{resting}")));
        seen.extend(LISTS.map(|path| ask(client, path)));
        client.place(&market(MSFT, if round % 3 == 2 { "SELL" } else { "BUY" }, 2));
        seen.extend(LISTS.map(|path| ask(client, path)));
        if round % 2 == 0 {
            client.delete(&format!("/rest/execution/order/{resting}")).unwrap();
        }
        seen.extend(LISTS.map(|path| ask(client, path)));
    }
}

#[test]
fn a_question_about_a_sequence_is_answered_as_it_was_answered_live() {
    let platform = TestPlatform::new().set("demo.activity", "calm");
    let mut seen = Vec::new();
    // The stop writes a snapshot, so that points lie before it and behind it.
    let server = platform.start();
    trade(&mut server.client(), 4, &mut seen);
    server.stop();
    let server = platform.start();
    let mut client = server.client();
    trade(&mut client, 4, &mut seen);
    let mut random = SeededRng::from_seed(SEED);
    for _ in 0..POINTS {
        let live = random.pick(&seen).unwrap();
        let Answered { path, sequence, .. } = live;
        let then = ask(&mut client, &format!("{path}?at=seq:{sequence}"));
        let expected = (*sequence, live.comparable());
        assert_eq!((then.sequence, then.comparable()), expected, "seed {SEED}, {path} at {sequence}");
    }
}

#[test]
fn an_instant_means_the_last_input_before_it_and_the_future_is_not_known() {
    let platform = TestPlatform::new();
    let server = platform.start();
    let mut client = server.client();
    let bought = client.place(&market(AAPL, "BUY", 5));
    client.wait_for_status(&bought, "EXECUTED");
    let at = client.order(&bought)["dateTime"].as_i64().unwrap();
    let before = ask(&mut client, &format!("/rest/position?at={}", at - 1_000));
    assert!(!before.body.contains("\"quantity\":5"), "{}", before.body);
    // The journal moves on until that second has passed.
    let later = scenarios::wait::wait_for("a second later", || {
        let response = client.get(&format!("/rest/position?at={}", at + 1_000)).unwrap();
        (response.status == 200).then_some(response.body)
    });
    assert!(later.contains("\"quantity\":5"), "{later}");
    for (point, status, code) in [
        ("seq:999999999999", 404, "future-state"),
        ("2099-01-01T00:00:00Z", 404, "future-state"),
        ("yesterday", 400, "malformed-parameter"),
        ("seq:-1", 400, "malformed-parameter"),
    ] {
        let refused = client.get(&format!("/rest/position?at={point}")).unwrap();
        assert!(refused.status == status && refused.body.contains(code), "{point}: {refused:?}");
    }
}
