//! Value history: what the read model is asked for, and which requests are refused.

use bus::history::{StoredSample, ValueRows, ValueSearch};
use domain::{RiskScope, StrategyId, Timestamp};

use crate::fake_operations::{FakeHistory, FakeOperations};
use crate::test_server::{TestServer, code};

const PATH: &str = "/rest/portfolio/history";

fn with_samples() -> TestServer {
    let sample = |sequence: u64, date: &str| {
        let at = Timestamp(i64::try_from(sequence).unwrap() * 1_000_000);
        StoredSample { sequence, sample: samples::value_sample(RiskScope::Platform, date.parse().unwrap(), at) }
    };
    let days = vec![sample(7, "2026-11-16"), sample(9, "2026-11-17"), sample(12, "2026-11-23")];
    let past = FakeHistory { samples: days, ..FakeHistory::default() };
    TestServer::with_program(FakeOperations { history: past, ..FakeOperations::default() }, |_| {
        Ok(domain::Answer::Done)
    })
}

fn asked(server: &TestServer) -> Vec<ValueSearch> {
    std::mem::take(&mut *server.program.history.valued.lock().unwrap())
}

#[test]
fn weeks_are_made_of_the_ends_of_their_days() {
    let server = with_samples();
    let answer = server.get(&format!("{PATH}?strategy=MOMENTUM&period=week&from=1000&to=2000"));
    let second = |second: i64| Some(Timestamp(second * 1_000_000_000));
    let scope = RiskScope::Strategy(StrategyId(2));
    let (from, to, rows) = (second(1), second(2), ValueRows::DayEnds);
    assert_eq!(asked(&server), [ValueSearch { scope, from, to, through: None, rows }]);
    let week = r#"{"sequence":9,"dateTime":9,"date":"2026-11-16","scope":"PLATFORM","close":false,"netLiqValue":1100,"#;
    assert!(answer.contains(week), "{answer}");
    assert!(answer.contains(r#""result":20,"flow":0,"drawdown":0,"currency":"USD"}"#), "two days: {answer}");
    assert_eq!(answer.matches("\"sequence\":").count(), 2, "{answer}");
    let last = server.get(&format!("{PATH}?period=week&after=9&limit=1"));
    assert!(last.contains(r#"[{"sequence":12,"dateTime":12,"date":"2026-11-23","#), "{last}");
}

#[test]
fn a_page_of_samples_reads_what_its_drawdown_depends_on() {
    let server = with_samples();
    server.get(PATH);
    let all = ValueSearch { scope: RiskScope::Platform, from: None, to: None, through: None, rows: ValueRows::All };
    assert_eq!(asked(&server), [all]);
    server.get(&format!("{PATH}?after=8"));
    let before = ValueSearch { through: Some(8), ..all };
    assert_eq!(asked(&server), [all, ValueSearch { rows: ValueRows::DayEnds, ..before }, before]);
}

#[test]
fn a_request_that_makes_no_sense_is_refused() {
    let server = with_samples();
    let cases = [
        ("strategy=MOMENTUM&security=1", "422 conflicting-fields"),
        ("period=DAY", "400 malformed-parameter"),
        ("from=5&to=5", "422 conflicting-fields"),
        ("limit=0", "400 malformed-parameter"),
        ("sort=NEWEST", "400 unknown-parameter"),
        ("account=nobody", "404 unknown-account"),
    ];
    for (question, expected) in cases {
        assert_eq!(code(&server.get(&format!("{PATH}?{question}"))), expected, "{question}");
    }
    assert_eq!(asked(&server), vec![]);
}
