//! Value history over REST: samples and closes of a day that rolls, the same after a restart and from a read model that is built
//! again.

use std::fs;

use domain::Decimal;
use scenarios::http::HttpClient;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::test_platform::{AAPL, SAP, TestPlatform, TraderClient, body_of, fields, market};

const NOON_TO_MIDNIGHT: i64 = 12 * 3_600;
const PATH: &str = "/rest/portfolio/history";
const SCOPES: [&str; 6] = ["", "strategy=SERVER", "account=1", "account=2", "security=1", "security=16"];
const PERIODS: [&str; 4] = ["sample", "day", "week", "month"];

fn rows(client: &mut HttpClient, question: &str) -> Vec<Value> {
    client.get_json(&format!("{PATH}?{question}")).as_array().unwrap().clone()
}

fn number(row: &Value, key: &str) -> Decimal {
    row[key].to_string().parse().unwrap_or_else(|error| panic!("{key} of {row}: {error}"))
}

/// Every scope in every period, of what was sampled before an instant.
fn all_lists(client: &mut HttpClient, to: i64) -> Vec<Vec<Value>> {
    let questions = SCOPES.iter().flat_map(|scope| PERIODS.map(|period| format!("{scope}&period={period}")));
    questions.map(|question| rows(client, &format!("{question}&to={to}&limit=1000"))).collect()
}

/// The same list, read a few rows at a time.
fn in_pages(client: &mut HttpClient, question: &str) -> Vec<Value> {
    let mut found: Vec<Value> = vec![];
    loop {
        let after = found.last().map_or(0, |row| row["sequence"].as_u64().unwrap());
        let page = rows(client, &format!("{question}&after={after}&limit=2"));
        if page.is_empty() {
            return found;
        }
        found.extend(page);
    }
}

#[test]
fn a_day_that_rolls_is_the_same_after_a_restart_and_in_a_read_model_built_again() {
    let platform = TestPlatform::new().set("portfolio.sampleSeconds", 1);
    let server = platform.start();
    let mut client = server.client();
    for (security, quantity) in [(AAPL, 10), (SAP, 5)] {
        let placed = client.place(&market(security, "BUY", quantity));
        client.wait_for_status(&placed, "EXECUTED");
    }
    wait_for("a sample of what was bought", || rows(&mut client, "security=16").pop());
    server.stop();

    let server = platform.launch_at(NOON_TO_MIDNIGHT - 2).start();
    let mut client = server.client();
    let days =
        wait_for("a sample of the next day", || Some(rows(&mut client, "period=day")).filter(|days| days.len() == 2));
    let end = days[1]["dateTime"].as_i64().unwrap() + 1;
    check_days(&mut client, &days[0], end);
    let found = all_lists(&mut client, end);
    assert!(found.iter().all(|list| !list.is_empty()), "{found:#?}");
    for question in [format!("period=sample&to={end}"), format!("security=1&period=day&to={end}")] {
        assert_eq!(in_pages(&mut client, &question), rows(&mut client, &format!("{question}&limit=1000")));
    }
    server.stop();

    let later = platform.launch_at(NOON_TO_MIDNIGHT + 3_600);
    let server = later.start();
    assert_eq!(all_lists(&mut server.client(), end), found, "after a restart");
    server.stop();
    fs::remove_file(platform.data().join("read-model.sqlite")).unwrap();
    let server = later.start();
    assert_eq!(all_lists(&mut server.client(), end), found, "from the journal");
    server.stop();
}

/// The first day began with nothing: what is there was paid in, or is its result.
fn check_days(client: &mut HttpClient, first: &Value, end: i64) {
    let expected = json!({ "date": "2026-11-16", "close": true, "scope": "PLATFORM", "currency": "USD" });
    assert_eq!(fields(first, &["date", "close", "scope", "currency"]), expected);
    assert_eq!(number(first, "netLiqValue") - number(first, "flow"), number(first, "result"));
    assert!(number(first, "result") < Decimal::ZERO, "the spread and the charges: {first}");
    assert_eq!(number(first, "drawdown"), -number(first, "result"));
    let mut last = |scope: &str, period: &str| {
        rows(client, &format!("{scope}&period={period}&to={end}")).pop().unwrap_or_default()
    };
    let month = last("", "month");
    assert_eq!(
        fields(&month, &["date", "result", "flow"]),
        json!({ "date": "2026-11-01", "result": first["result"], "flow": first["flow"] })
    );
    assert_eq!(last("", "week")["date"], "2026-11-16");
    let accounts = number(&last("account=1", "month"), "result") + number(&last("account=2", "month"), "result");
    assert_eq!(accounts, number(first, "result"), "there are two accounts that trade");
    let bought = last("security=1", "day");
    let without = json!({ "netLiqValue": null, "cashBalance": null, "flow": null, "shortExposure": 0 });
    assert_eq!(fields(&bought, &["netLiqValue", "cashBalance", "flow", "shortExposure"]), without);
    assert_eq!(number(&bought, "longExposure"), number(&bought, "marketValue"));
}

#[test]
fn a_bad_question_is_told_what_is_wrong() {
    let platform = TestPlatform::new().set("portfolio.sampleSeconds", 0);
    let server = platform.start();
    let mut client = server.client();
    let cases = [
        ("strategy=SERVER&account=1", 422, "of the parameters strategy, account and security only one may be given"),
        ("period=year", 400, "the parameter period must be one of sample, day, week, month"),
        ("from=7&to=7", 422, "the parameter to must be later than from"),
        ("from=yesterday", 400, "the parameter from must be epoch milliseconds"),
        ("security=nothing", 404, "security nothing is not known"),
        ("at=seq:1", 400, "the parameter \"at\" is not known here"),
    ];
    for (question, status, detail) in cases {
        let answer = client.get(&format!("{PATH}?{question}")).unwrap();
        assert_eq!((answer.status, body_of(&answer)["detail"].as_str().unwrap()), (status, detail), "{question}");
    }
    assert_eq!(rows(&mut client, ""), Vec::<Value>::new(), "nothing is sampled");
    server.stop();
}
