//! PostgreSQL as the store of history: the same sums everywhere, and trading that does not wait for it.

use std::path::Path;

use domain::Decimal;
use scenarios::http::HttpClient;
use scenarios::postgres::{PASSWORD, PostgresServer};
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::Value;
use tempfile::TempDir;

use crate::test_platform::{AAPL, MSFT, SAP, TestPlatform, TraderClient, launcher_for, limit, market, with_id};

const HISTORY: [&str; 3] =
    ["/rest/history/order?limit=1000", "/rest/history/transaction?limit=1000", "/rest/history/events?limit=1000"];

fn create_postgres() -> (TempDir, PostgresServer) {
    let folder = tempfile::tempdir().unwrap();
    let server = PostgresServer::create(folder.path());
    (folder, server)
}

/// Trades in both markets and leaves an order in one.
fn trade(server: &RunningServer, name: &str) {
    let mut client = server.client();
    for (security, side, what) in [(AAPL, "BUY", "bought"), (AAPL, "SELL", "sold"), (SAP, "BUY", "bought-too")] {
        let id = format!("{name}-{what}");
        client.place(&with_id(market(security, side, 10 + u64::from(side == "BUY")), &id));
        client.wait_for_status(&id, "EXECUTED");
    }
    let resting = format!("{name}-resting");
    client.place(&with_id(limit(MSFT, "BUY", 3, "480"), &resting));
    client.wait_for_status(&resting, "SUBMITTED");
}

fn wait_until_ready(client: &mut HttpClient) {
    wait_for("a server that is ready", || (client.get("/health/ready").unwrap().status == 200).then_some(()));
}

/// A list of history, as soon as it has an order.
fn history(client: &mut HttpClient, last_order: &str) -> [Value; 3] {
    let orders = wait_for("the history", || {
        let answer = client.get(HISTORY[0]).unwrap();
        (answer.status == 200 && answer.body.contains(last_order)).then_some(answer.body)
    });
    [serde_json::from_str(&orders).unwrap(), client.get_json(HISTORY[1]), client.get_json(HISTORY[2])]
}

fn number(value: &Value) -> Decimal {
    let text = value.to_string();
    text.trim_matches('"').parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Count, quantity and value of the trades that REST lists, as `psql` prints them.
fn sums(transactions: &Value) -> String {
    let trades = transactions.as_array().unwrap().iter();
    let trades: Vec<_> = trades.filter(|entry| entry["type"] == "BUY" || entry["type"] == "SELL").collect();
    let quantity: Decimal = trades.iter().map(|entry| number(&entry["quantity"])).sum();
    let value: Decimal = trades.iter().map(|entry| number(&entry["quantity"]) * number(&entry["price"])).sum();
    format!("{}|{}|{}", trades.len(), quantity.normalize(), value.normalize())
}

const SUMS: &str = "SELECT count(*), trim_scale(sum(quantity)), trim_scale(sum(quantity * price))
    FROM bi_transactions WHERE kind IN ('BUY', 'SELL')";
const POSITIONS: &str = "SELECT DISTINCT ON (security_id) security_id || '=' || trim_scale(quantity)
    FROM bi_positions_by_day ORDER BY security_id, day DESC";

fn positions(client: &mut HttpClient) -> String {
    let found = client.get_json("/rest/position");
    let mut open: Vec<_> = found.as_array().unwrap().iter().collect();
    open.sort_by_key(|position| position["securityId"].as_u64());
    let lines =
        open.iter().map(|position| format!("{}={}", position["securityId"], number(&position["quantity"]).normalize()));
    lines.collect::<Vec<_>>().join("\n")
}

/// What a server with another store answers, on the same journal.
fn history_in(platform: &TestPlatform, store: &str, last_order: &str) -> [Value; 3] {
    let server = platform.launch.clone().set("history.store", store).start();
    let found = history(&mut server.client(), last_order);
    server.stop();
    found
}

/// Orders and transactions are the same, and so are all events up to the newest of the earlier answer. Later ones follow: a stop and
/// a start end and begin the sessions of the venues, and are steps of the life cycle.
fn assert_continues(later: &[Value; 3], earlier: &[Value; 3]) {
    assert_eq!(later[..2], earlier[..2]);
    let (earlier, later) = (earlier[2].as_array().unwrap(), later[2].as_array().unwrap());
    let newest = earlier.last().unwrap()["sequence"].as_u64();
    let until_then: Vec<_> = later.iter().filter(|event| event["sequence"].as_u64() <= newest).collect();
    assert_eq!(until_then, earlier.iter().collect::<Vec<_>>());
    assert!(later.len() > earlier.len(), "the stop and the start are events");
}

#[test]
fn postgresql_sqlite_and_rest_give_the_same_sums_and_an_outage_holds_nothing() {
    let (_folder, mut postgres) = create_postgres();
    let platform = TestPlatform::new().set("history.store", postgres.url()).set("log.level", "debug");
    let server = platform.start();
    let client = &mut server.client();
    trade(&server, "before");
    wait_until_ready(client);
    assert!(history(client, "before-resting")[0].as_array().unwrap().len() >= 4);

    postgres.stop();
    trade(&server, "during");
    let unready =
        wait_for("the reason", || Some(client.get("/health/ready").unwrap()).filter(|ready| ready.status == 503));
    assert!(unready.body.contains("PostgreSQL at postgres://desk:***@127.0.0.1"), "{unready:?}");
    let refused = client.get(HISTORY[0]).unwrap();
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("history-behind"), "{refused:?}");
    postgres.start();
    wait_until_ready(client);
    trade(&server, "after");

    let found = history(client, "after-resting");
    assert_eq!(postgres.query(SUMS), sums(&found[1]));
    assert_eq!(postgres.query(POSITIONS), positions(client));
    assert_eq!(postgres.query("SELECT count(*) FROM bi_orders"), found[0].as_array().unwrap().len().to_string());
    let fills = "SELECT trim_scale(sum(CASE side WHEN 'BUY' THEN quantity ELSE -quantity END)) FROM bi_fills";
    assert_eq!(Some(postgres.query(fills).as_str()), sums(&found[1]).split('|').nth(1));
    let parameters = client.get("/rest/config-params").unwrap().body;
    assert!(parameters.contains("postgres://desk:***@127.0.0.1"), "{parameters}");
    let printed = [unready.body, refused.body, parameters, server.stop().log].concat();
    assert!(printed.contains("read model has caught up") && !printed.contains(PASSWORD), "{printed}");
    assert!(!platform.data().join("read-model.sqlite").exists(), "PostgreSQL was the only store");
    let in_sqlite = history_in(&platform, "sqlite", "after-resting");
    assert_continues(&in_sqlite, &found);
    // PostgreSQL missed that run.
    assert_continues(&history_in(&platform, &postgres.url(), "after-resting"), &in_sqlite);
}

#[test]
fn a_server_starts_and_trades_without_its_database_and_says_why() {
    let (_folder, mut postgres) = create_postgres();
    postgres.stop();
    let platform = TestPlatform::new().set("history.store", postgres.url());
    let server = platform.start();
    trade(&server, "without");
    assert_unready(&server, "Connection refused");
    server.stop();
    postgres.start();
    let server = platform.launch.clone().set("history.store", postgres.url().replace(PASSWORD, WRONG)).start();
    trade(&server, "refused");
    assert_unready(&server, "password authentication failed for user \"desk\" (SQLSTATE 28P01)");
    let log = server.stop().log;
    assert!(log.contains("SQLSTATE 28P01") && !log.contains(WRONG), "{log}");
    let server = platform.start();
    let [orders, _, _] = history(&mut server.client(), "refused-resting");
    assert!(orders.to_string().contains("without-resting"), "{orders}");
    server.stop();
}

const WRONG: &str = "another-Pa55word";

/// Readiness has the reason, and nothing has a password.
fn assert_unready(server: &RunningServer, reason: &str) {
    let (client, reason) = (&mut server.client(), reason.replace('"', "\\\""));
    let ready = wait_for(&reason, || Some(client.get("/health/ready").unwrap()).filter(|it| it.body.contains(&reason)));
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("read-model") && ready.body.contains("postgres://desk:***@"), "{ready:?}");
    let printed = ready.body + &server.log();
    assert!(![PASSWORD, WRONG].iter().any(|password| printed.contains(password)), "{printed}");
}

#[test]
fn a_restored_folder_leaves_the_history_of_the_first_one_alone() {
    let (folder, postgres) = create_postgres();
    let platform = TestPlatform::new().set("history.store", postgres.url());
    let server = platform.start();
    trade(&server, "saved");
    let backups = folder.path().join("backups").display().to_string();
    let saved = platform.launch.run(&["backup", &backups]);
    assert_eq!(saved.code, Some(0), "{saved}");
    trade(&server, "lost");
    history(&mut server.client(), "lost-resting");
    server.stop();
    let stored = postgres.query(STORED);
    let restored = |name: &str, words: &[&str]| {
        let launch = launcher_for(&folder.path().join(name)).set("history.store", postgres.url());
        let restored = launch.restore(Path::new(&backups), words);
        assert_eq!(restored.code, Some(0), "{restored}");
        launch.start()
    };
    let other = restored("other", &[]);
    trade(&other, "other");
    assert_unready(&other, "has the history of another data folder");
    other.stop();
    let same = restored("same", &["--same-instance"]);
    trade(&same, "again");
    assert_unready(&same, "which the journal does not have");
    assert_eq!(postgres.query(STORED), stored);
    postgres.query("DROP SCHEMA rialto CASCADE");
    let orders = history(&mut same.client(), "again-resting")[0].to_string();
    assert!(orders.contains("saved-resting") && !orders.contains("lost-resting"), "{orders}");
    same.stop();
}

const STORED: &str = "SELECT (SELECT md5(string_agg(events::text, '|' ORDER BY sequence, ordinal)) FROM events),
    (SELECT md5(string_agg(orders::text, '|' ORDER BY id)) FROM orders), (SELECT model::text FROM model)";

#[test]
fn the_address_of_the_database_is_printed_without_its_password() {
    let platform = TestPlatform::new();
    let shown = |address: &str| {
        let setting = format!("history.store={address}");
        let printed = platform.launch.run_without_folder(&["check-config", "--set", &setting]);
        let text = printed.to_string();
        assert!(text.contains("history.store") && !text.contains(PASSWORD), "{text}");
        (printed.code, text)
    };
    let (code, text) = shown(&format!("postgres://desk:{PASSWORD}@127.0.0.1/trades"));
    assert!(text.contains("history.store = postgres://desk:***@127.0.0.1:5432/trades?schema=rialto"), "{text}");
    assert_eq!(code, Some(0));
    for bad in ["postgres://desk:PASS@127.0.0.1:port/trades", "postgre://desk:PASS@127.0.0.1/trades", "PASS"] {
        let (code, text) = shown(&bad.replace("PASS", PASSWORD));
        assert_eq!(code, Some(2), "{text}");
    }
    let bad = format!("postgres://desk:{PASSWORD}@127.0.0.1/trades?sslmode={PASSWORD}");
    let refused = platform.launch.clone().set("history.store", bad).expect_refused();
    let text = refused.to_string();
    assert!(refused.code == Some(2) && text.contains("history.store") && !text.contains(PASSWORD), "{text}");
}
