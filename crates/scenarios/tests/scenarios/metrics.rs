//! Metrics: `/metrics` of a running server against `docs/metrics.md`.

use std::collections::{BTreeMap, BTreeSet};

use scenarios::http::{HttpClient, HttpRequest};
use scenarios::wait::wait_for;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit};

const PAGE: &str = include_str!("../../../../docs/metrics.md");
const ALERTS: &str = include_str!("../../../../docs/alerts.yml");
/// What the lines of a counter and of a histogram bear behind the name.
const ENDINGS: [&str; 4] = ["_total", "_bucket", "_sum", "_count"];

/// Members of a cluster alone have them.
pub(crate) const OF_CLUSTER: &str = "rialto_cluster_";

/// A metric with its description.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MetricsSnapshot {
    kind: String,
    labels: Vec<String>,
    meaning: String,
}

/// One line of numbers.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

#[test]
fn every_name_is_told_as_the_page_promises_it() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    make_something_to_count(&mut client);
    let text = numbers(&mut client);
    let (told, mut promised) = (heads(&text), promises());
    promised.retain(|name, _| !name.starts_with(OF_CLUSTER));
    assert_eq!(told.keys().collect::<BTreeSet<_>>(), promised.keys().collect::<BTreeSet<_>>());
    for (name, promise) in &promised {
        let (kind, meaning) = &told[name];
        assert_eq!((kind, meaning), (&promise.kind, &promise.meaning), "{name}");
    }
    for sample in samples(&text) {
        let promise = &promised[family(&sample.name, &promised)];
        let labels: Vec<_> = sample.labels.keys().filter(|label| *label != "le").collect();
        let expected: BTreeSet<_> = promise.labels.iter().collect();
        assert_eq!(labels.into_iter().collect::<BTreeSet<_>>(), expected, "{sample:?}");
    }
    server.stop();
}

#[test]
fn the_numbers_are_those_of_what_happened() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    make_something_to_count(&mut client);
    let counted = |client: &mut HttpClient| {
        let now = samples(&numbers(client));
        let is_counted = value(&now, "rialto_order_changes_total", &[("status", "SUBMITTED"), ("door", "REST")]);
        (is_counted == Some(1.0)).then_some(now)
    };
    let now = wait_for("the order's change to be counted", || counted(&mut client));
    let exact = [
        ("rialto_open_orders", vec![("status", "SUBMITTED"), ("door", "REST")], 1.0),
        ("rialto_rejects_total", vec![("code", "price-collar")], 1.0),
        ("rialto_auth_failures_total", vec![("code", "wrong-credentials")], 1.0),
        ("rialto_http_problems_total", vec![("code", "price-collar")], 1.0),
        ("rialto_orders_in_doubt", vec![], 0.0),
        ("rialto_trading_state", vec![("scope", "PLATFORM")], 0.0),
        ("rialto_adapter_state", vec![("adapter", "SIMULATED-ALPHA")], 3.0),
        ("rialto_adapter_state", vec![("adapter", "SIMULATED-BETA")], 3.0),
        ("rialto_market_data_dropped_total", vec![("reason", "invalid")], 0.0),
        ("rialto_market_data_dropped_total", vec![("reason", "too-many-trades")], 0.0),
        ("rialto_market_data_stale", vec![("cause", "SILENT")], 0.0),
        ("rialto_topic_clients", vec![], 0.0),
        ("rialto_topic_slow_consumers_total", vec![], 0.0),
        ("rialto_topic_slow_consumers_closed_total", vec![], 0.0),
        ("rialto_order_changes_missed_total", vec![], 0.0),
    ];
    for (name, labels, expected) in exact {
        assert_eq!(value(&now, name, &labels), Some(expected), "{name} {labels:?}");
    }
    let minutes = 600.0;
    let (commits, records) = (one(&now, "rialto_journal_frames_total"), one(&now, "rialto_journal_records_total"));
    let between = [
        ("rialto_journal_durable_sequence", vec![], 1.0, 1e9),
        ("rialto_journal_durable_lag", vec![], 0.0, 1e3),
        ("rialto_read_model_lag", vec![], 0.0, 1e4),
        ("rialto_journal_sync_seconds_count", vec![], 1.0, 1e6),
        ("rialto_journal_sync_seconds_sum", vec![], 1e-6, minutes),
        ("rialto_journal_batch_records_count", vec![], commits, 1e6),
        ("rialto_journal_batch_records_sum", vec![], records, 1e6),
        ("rialto_adapter_last_message_age_seconds", vec![("adapter", "SIMULATED-ALPHA")], 0.0, minutes),
        ("rialto_market_data_age_seconds", vec![("feed", "SIMULATED-ALPHA")], 0.0, minutes),
        ("rialto_clock_moved_seconds", vec![], -minutes, minutes),
        ("process_resident_memory_bytes", vec![], 1e6, 1e10),
        ("process_open_fds", vec![], 3.0, 1e4),
    ];
    for (name, labels, least, most) in between {
        let told = value(&now, name, &labels).unwrap_or(f64::NAN);
        assert!((least..=most).contains(&told), "{name} {labels:?} is {told}");
    }
    assert!(one(&now, "rialto_clock_offset_seconds").abs() > 60.0, "this server's clock is set to a Monday noon");
    server.stop();
}

#[test]
fn every_rule_stands_on_a_name_that_is_there() {
    let promised = promises();
    let words = ALERTS.split(|byte: char| !byte.is_ascii_alphanumeric() && byte != '_');
    let used: BTreeSet<_> = words.filter(|word| word.starts_with("rialto_")).collect();
    assert!(used.len() > 10, "{used:?}");
    for word in used {
        assert!(promised.contains_key(family(word, &promised)), "{word}");
    }
}

/// An order that rests, one that is refused, and a wrong password.
fn make_something_to_count(client: &mut HttpClient) {
    let resting = client.place(&limit(AAPL, "BUY", 100, "250"));
    client.wait_for_status(&resting, "SUBMITTED");
    assert_eq!(client.submit(&limit(AAPL, "BUY", 1, "500")).status, 422);
    let guess = [("Authorization", "Bearer rialto_guess_guess")];
    let request = HttpRequest { method: "GET", path: "/rest/account", headers: &guess, body: None };
    assert_eq!(client.send(&request).unwrap().status, 401);
}

fn numbers(client: &mut HttpClient) -> String {
    let response = client.get("/metrics").unwrap();
    let media_type = response.header("content-type").map(ToOwned::to_owned);
    assert_eq!(media_type.as_deref(), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    assert!(response.body.ends_with("# EOF\n"), "{}", response.body);
    response.body
}

/// The page's table, by name.
pub(crate) fn promises() -> BTreeMap<String, MetricsSnapshot> {
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect::<Vec<_>>();
    let rows = PAGE.lines().filter(|line| line.starts_with("| `"));
    let read = rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [name, kind, labels, meaning] = cells[..] else { panic!("not a row of four: {row}") };
        let told = MetricsSnapshot { kind: kind.into(), labels: names(labels), meaning: meaning.into() };
        (names(name).remove(0), told)
    });
    read.collect()
}

/// Kind and meaning of every name.
fn heads(text: &str) -> BTreeMap<String, (String, String)> {
    let mut heads = BTreeMap::<String, (String, String)>::new();
    for line in text.lines() {
        let words: Vec<_> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, help] => heads.entry(name.into()).or_default().1 = help.trim_end_matches('.').into(),
            ["#", "TYPE", name, kind] => heads.entry(name.into()).or_default().0 = kind.into(),
            _ => {}
        }
    }
    heads
}

fn samples(text: &str) -> Vec<Sample> {
    text.lines().filter(|line| !line.starts_with('#')).map(sample).collect()
}

/// `name{label="value"} 7`; values of labels hold no quotes and no commas here.
fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("not a sample: {line}"));
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let pairs = labels.trim_end_matches('}').split(',').filter_map(|pair| pair.split_once('='));
    let labels = pairs.map(|(name, text)| (name.to_owned(), text.trim_matches('"').to_owned())).collect();
    Sample { name: name.into(), labels, value: value.parse().unwrap_or_else(|_| panic!("not a number: {line}")) }
}

/// The name that a line belongs to.
fn family<'a>(line: &'a str, promised: &BTreeMap<String, MetricsSnapshot>) -> &'a str {
    let bare = ENDINGS.iter().find_map(|ending| line.strip_suffix(ending));
    if promised.contains_key(line) { line } else { bare.unwrap_or(line) }
}

fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let fits = |sample: &&Sample| {
        sample.name == name && labels.iter().all(|(label, text)| sample.labels.get(*label).is_some_and(|is| is == text))
    };
    samples.iter().find(fits).map(|sample| sample.value)
}

fn one(samples: &[Sample], name: &str) -> f64 {
    value(samples, name, &[]).unwrap_or_else(|| panic!("{name} is not told"))
}
