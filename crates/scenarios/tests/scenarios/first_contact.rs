//! `rialto venues check` with a venue that speaks FIX: no prices, no lists, and no day orders.

use std::fs;
use std::path::Path;

use scenarios::lab::{LabProcess, write_reference};
use scenarios::server::{ServerExit, ServerLauncher};

/// The lab takes orders of at least 5 USDT, which over FIX only our reference data can say.
fn write_sized_reference(folder: &Path) {
    write_reference(folder);
    let securities = folder.join("securities.csv");
    let text = fs::read_to_string(&securities).unwrap();
    fs::write(&securities, text.replace(",0.01,,true", ",0.01,5,true")).unwrap();
}

fn check(folder: &Path, lab: &LabProcess, further: &[&str]) -> ServerExit {
    let port = lab.address("fix44").rsplit(':').next().unwrap().to_owned();
    let reference = folder.join("reference").display().to_string();
    let settings = [
        ("log.level", "error"),
        ("simulated.venues", ""),
        ("reference.path", &reference),
        ("venues.DESK.type", "fix"),
        ("venues.DESK.dialect", "generic-44"),
        ("venues.DESK.environment", "testnet"),
        ("venues.DESK.tls", "false"),
        ("venues.DESK.host", "127.0.0.1"),
        ("venues.DESK.port", &port),
        ("venues.DESK.senderCompId", "ALPHA"),
        ("venues.DESK.targetCompId", "LAB"),
    ];
    let settings: Vec<String> = settings.iter().map(|(key, value)| format!("--set={key}={value}")).collect();
    let words: Vec<&str> =
        ["venues", "check", "DESK"].iter().chain(further).copied().chain(settings.iter().map(String::as_str)).collect();
    ServerLauncher::in_folder(&folder.join("data")).run(&words)
}

/// The client id is another one in each run.
fn steady(output: &str) -> Vec<String> {
    let steady = |line: &str| match line.split_once("client id R") {
        Some((head, rest)) => format!("{head}client id R…{}", rest.split_once(';').map_or("", |(_, rest)| rest)),
        None => line.to_owned(),
    };
    output.lines().map(steady).collect()
}

/// What the check says of an order with this limit.
fn expected(limit: &str) -> Vec<String> {
    let order = format!("buy 0.00017 BTCUSDT at {limit}");
    [
        "log-on: ok: 0 orders and 0 fills of this check, the venue does not list everything",
        "balances: not offered: the adapter gives no statements",
        "prices: ok: bid 59999.99, ask 60000.01",
        &format!(
            "far order: ok: {order}, client id R… as a day order it was refused: {order}: rejected: TimeInForce (59): not 1, 3 or 4"
        ),
        "inquiry: ok: open, with the terms that were sent",
        "open orders: not offered: the adapter asks about orders one by one",
        "reconnect: ok: open, with the terms that were sent",
        "cancel: ok: cancelled",
        "end of the order: ok: the venue has it as cancelled, without fills",
        "fills: not offered: the adapter asks about orders one by one",
        "balances again: not offered: there was no statement before",
        "transcript: not offered: the venue type records nothing",
    ]
    .map(ToOwned::to_owned)
    .to_vec()
}

#[test]
fn a_venue_over_fix_is_checked_as_far_as_it_goes_and_again_with_the_numbers_of_before() {
    let folder = tempfile::tempdir().unwrap();
    let lab = LabProcess::start(&folder.path().join("lab"), &["activity=off"]);
    write_sized_reference(&folder.path().join("reference"));
    let priced = check(folder.path(), &lab, &[]);
    assert_eq!(steady(&priced.output), expected("29999.99"), "{}", priced.log);
    assert_eq!(priced.code, Some(0));

    let checked = check(folder.path(), &lab, &["--limit", "30000"]);
    assert_eq!(steady(&checked.output), expected("30000"), "{}", checked.log);
    assert_eq!(checked.code, Some(0));
    let ledger = lab.get("admin", "/ledger").1;
    let states: Vec<_> = ledger["orders"].as_array().unwrap().iter().map(|order| &order["status"]).collect();
    assert_eq!(states, ["CANCELED", "CANCELED"]);
}
