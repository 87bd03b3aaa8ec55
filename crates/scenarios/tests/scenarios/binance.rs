//! Binance spot on the real server, against the venue lab: orders by REST, and books that equal the venue's to the last digit.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;

use domain::Decimal;
use scenarios::http::HttpClient;
use scenarios::lab::{LabProcess, VenueAddresses, VenueLines, launcher_at_binance, write_credentials, write_reference};
use scenarios::server::{RunningServer, ServerLauncher};
use scenarios::wait::wait_for;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_platform::{TraderClient, limit, market, with_id};

pub(crate) const BITCOIN: u64 = 1;
pub(crate) const CHINESE: u64 = 3;
/// Only where a test adds it.
pub(crate) const TEN_CHARACTERS: u64 = 5;
/// The asset whose position each security is.
const BASES: [(u64, &str); 5] =
    [(BITCOIN, "BTC"), (2, "BNB"), (CHINESE, "币安人生"), (4, "ETH"), (TEN_CHARACTERS, "1000CHEEMS")];

/// A lab, lines to it that can be cut, and how its server is started.
pub(crate) struct LabPlatform {
    pub(crate) lab: LabProcess,
    account: &'static str,
    pub(crate) lines: VenueLines,
    pub(crate) launch: ServerLauncher,
    pub(crate) folder: TempDir,
}

impl LabPlatform {
    /// With nobody else in the market.
    pub(crate) fn new(account: &'static str) -> Self {
        Self::with(account, &[], "")
    }

    /// With further settings of the lab, and lines of `securities.csv`.
    pub(crate) fn with(account: &'static str, of_lab: &[&str], securities: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let of_lab = [&["activity=off"][..], of_lab].concat();
        let lab = LabProcess::start(&folder.path().join("lab"), &of_lab);
        let reference = folder.path().join("reference");
        write_reference(&reference);
        let listed = fs::read_to_string(reference.join("securities.csv")).unwrap();
        fs::write(reference.join("securities.csv"), listed + securities).unwrap();
        write_credentials(&folder.path().join("key.toml"), &lab, account);
        let lines = VenueLines::to(&VenueAddresses::of(&lab));
        let launch = launcher_at_binance(folder.path(), &lines.addresses());
        Self { lab, account, lines, launch, folder }
    }

    /// The venue is asked for its lists every second.
    fn asking_often(self) -> Self {
        self.asking_every(1)
    }

    pub(crate) fn asking_every(mut self, seconds: u32) -> Self {
        for key in ["reconciliation.openOrdersSeconds", "reconciliation.fillsSeconds"] {
            self.launch = self.launch.set(key, seconds);
        }
        self
    }

    /// Logged on, reconciled and with prices.
    pub(crate) fn start(&self) -> RunningServer {
        let server = self.launch.start();
        wait_for_session(&mut server.client(), "SUBSCRIBED");
        server
    }

    /// The venue ends in order.
    pub(crate) fn stop(self) {
        self.lab.stop();
    }

    pub(crate) fn arm(&self, fault: &str) {
        let address: SocketAddr = self.lab.address("admin").parse().unwrap();
        let armed = HttpClient::new(address).post("/faults", &json!({ "fault": fault }).to_string()).unwrap();
        assert_eq!(armed.status, 200, "{armed:?}");
    }

    /// Rows of the lab's ledger that are of our account.
    pub(crate) fn ledger(&self, table: &str) -> Vec<Value> {
        let (status, ledger) = self.lab.get("admin", "/ledger");
        assert_eq!(status, 200);
        let rows = ledger[table].as_array().unwrap().iter();
        rows.filter(|row| row["account"] == self.account).cloned().collect()
    }

    fn venue_totals(&self) -> BTreeMap<String, Decimal> {
        let total = |row: &Value| decimal(&row["free"]) + decimal(&row["locked"]);
        let rows = self.ledger("balances");
        rows.iter().map(|row| (row["asset"].as_str().unwrap().to_owned(), total(row).normalize())).collect()
    }

    /// The account begins with what the venue holds.
    pub(crate) fn credit_opening_balances(&self, client: &mut HttpClient) {
        for (asset, amount) in self.venue_totals() {
            let credit = json!({ "type": "CREDIT", "price": amount.to_string(), "currency": asset, "accountId": 1 });
            let booked = client.post("/rest/transaction", &credit.to_string()).unwrap();
            assert_eq!(booked.status, 200, "{booked:?}");
        }
    }

    pub(crate) fn expect_equal_books(&self, client: &mut HttpClient) {
        // The ledger of a long run takes its time.
        let expected = self.venue_totals();
        client.close();
        let mut seen = BTreeMap::new();
        let equal = || {
            seen = our_totals(client);
            (seen == expected).then_some(())
        };
        wait_for(&format!("our totals to become {expected:?}"), equal);
    }
}

/// Cash, and the quantities of the positions whose base it is.
pub(crate) fn our_totals(client: &mut HttpClient) -> BTreeMap<String, Decimal> {
    let mut totals: BTreeMap<String, Decimal> = BTreeMap::new();
    for cash in client.get_json("/rest/portfolio/balance").as_array().unwrap() {
        *totals.entry(cash["currency"].as_str().unwrap().to_owned()).or_default() += decimal(&cash["amount"]);
    }
    for position in client.get_json("/rest/position").as_array().unwrap() {
        let base = BASES.iter().find(|(security, _)| position["securityId"] == *security).unwrap().1;
        *totals.entry(base.to_owned()).or_default() += decimal(&position["quantity"]);
    }
    totals.into_iter().map(|(asset, total)| (asset, total.normalize())).collect()
}

pub(crate) fn decimal(value: &Value) -> Decimal {
    let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(crate) fn wait_for_session(client: &mut HttpClient, state: &str) {
    let look = || (client.get_json("/rest/adapter")[0]["state"] == state).then_some(());
    wait_for(&format!("the session to become {state}"), look);
}

/// What the venue is open for.
pub(crate) fn wait_for_open(client: &mut HttpClient, what: &str) {
    let look = || (client.get_json("/rest/adapter")[0]["openFor"] == what).then_some(());
    wait_for(&format!("the venue to be open for {what}"), look);
}

/// The first order: prices of every currency that the account holds come a moment after the log-on, and no order before.
pub(crate) fn place_when_priced(client: &mut HttpClient, order: &Value) {
    let place = || {
        let answer = client.submit(order);
        let is_unpriced = answer.status == 422
            && ["cash-unknown", "no-reference-price", "stale-price"].iter().any(|code| answer.body.contains(code));
        assert!(answer.status == 200 || is_unpriced, "{order}: {answer:?}");
        (answer.status == 200).then_some(())
    };
    wait_for("prices of what the account holds", place);
}

pub(crate) fn order_of(security: u64, side: &str, quantity: &str) -> Value {
    let mut order = market(security, side, 1);
    order["quantity"] = json!(quantity);
    order
}

pub(crate) fn resting(int_id: &str) -> Value {
    let mut order = with_id(limit(BITCOIN, "BUY", 1, "20000"), int_id);
    order["quantity"] = json!("0.01");
    order
}

#[test]
fn orders_rest_fill_and_are_cancelled_and_books_equal_the_venues_with_fees_in_base_and_quote() {
    let platform = LabPlatform::new("BETA");
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    place_when_priced(&mut client, &resting("rests"));
    client.wait_for_status("rests", "SUBMITTED");
    assert_eq!(platform.ledger("orders")[0]["status"], "NEW");
    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    client.wait_for_status("rests", "CANCELED");
    assert_eq!(platform.ledger("orders")[0]["status"], "CANCELED");

    let trades =
        [("buys", BITCOIN, "BUY", "0.01"), ("sells", BITCOIN, "SELL", "0.004"), ("chinese", CHINESE, "BUY", "100")];
    for (int_id, security, side, quantity) in trades {
        client.place(&with_id(order_of(security, side, quantity), int_id));
        client.wait_for_status(int_id, "EXECUTED");
    }
    let fees: Vec<_> = platform.ledger("trades").iter().map(|trade| trade["commissionAsset"].clone()).collect();
    assert_eq!(fees, ["BTC", "USDT", "币安人生"]);
    platform.expect_equal_books(&mut client);
    server.stop();
}

#[test]
fn fees_in_bnb_a_cut_line_and_a_kill_with_an_order_in_flight_leave_equal_books() {
    let platform = LabPlatform::new("ALPHA");
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    place_when_priced(&mut client, &with_id(order_of(BITCOIN, "BUY", "0.01"), "buys"));
    client.wait_for_status("buys", "EXECUTED");
    assert_eq!(platform.ledger("trades")[0]["commissionAsset"], "BNB");
    platform.expect_equal_books(&mut client);

    client.place(&resting("rests"));
    client.wait_for_status("rests", "SUBMITTED");
    // Without its WebSocket API the venue is reached over REST: what rests can be cancelled, nothing new is opened.
    platform.lines.api.cut();
    wait_for_open(&mut client, "REDUCE");
    let refused = client.submit(&resting("opens"));
    assert!(refused.status == 503 && refused.body.contains("line-down"), "{refused:?}");
    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    client.wait_for_status("rests", "CANCELED");
    platform.lines.api.restore();
    wait_for_open(&mut client, "ORDERS");
    assert_eq!(client.get_json("/rest/adapter")[0]["state"], "SUBSCRIBED", "the session went on");

    // The venue takes the order, the answer is cut, and the server dies.
    platform.arm("cut-answer");
    client.place(&with_id(order_of(BITCOIN, "SELL", "0.005"), "in-flight"));
    wait_for("the venue to have the order", || (platform.ledger("trades").len() == 2).then_some(()));
    server.kill();
    let server = platform.start();
    let mut client = server.client();
    client.wait_for_status("in-flight", "EXECUTED");
    assert_eq!(platform.ledger("trades").len(), 2, "it was sent once");
    platform.expect_equal_books(&mut client);
    server.stop();
}

#[test]
fn filters_that_change_refuse_an_order_before_it_leaves_and_cancels_still_work() {
    let platform = LabPlatform::new("BETA");
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    let at = |price: &str, int_id: &str| {
        let mut order = resting(int_id);
        order["limit"] = json!(price);
        order
    };
    place_when_priced(&mut client, &at("20000.01", "rests"));
    client.wait_for_status("rests", "SUBMITTED");

    // The venue makes its steps coarser before it looks at the next order; nobody has told us.
    platform.arm("filters-change");
    client.place(&at("20000.01", "too-fine"));
    let refused = client.wait_for_status("too-fine", "REJECTED");
    assert_eq!(refused["reason"], "venue-price: Filter failure: PRICE_FILTER (-1013 INVALID_MESSAGE)");
    let mut dry_run = at("20000.01", "checked");
    dry_run["objectType"] = json!("LimitOrder");
    wait_for("the venue's new tick", || {
        let checked = client.post("/rest/risk/check", &dry_run.to_string()).unwrap();
        checked.body.contains("venue-tick").then_some(())
    });

    let orders = platform.ledger("orders").len();
    let refused = client.submit(&at("20000.01", "never-leaves"));
    let body: Value = serde_json::from_str(&refused.body).unwrap();
    assert_eq!((refused.status, &body["code"]), (422, &json!("venue-tick")), "{body}");
    let changed = json!({ "intId": "rests", "limit": "20000.02" }).to_string();
    let refused = client.post("/rest/execution/modify/order/limit", &changed).unwrap();
    assert_eq!((refused.status, refused.body.contains("venue-tick")), (422, true), "{refused:?}");
    assert_eq!(platform.ledger("orders").len(), orders, "nothing was sent");
    wait_for("both alarms in the log", || {
        let log = client.get_json("/rest/log").to_string();
        (log.contains("tick 0.1 (was 0.01)") && log.contains("rests (venue-tick)")).then_some(())
    });

    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    client.wait_for_status("rests", "CANCELED");
    client.place(&at("20000.1", "fits"));
    client.wait_for_status("fits", "SUBMITTED");
    server.stop();
}

#[test]
fn a_fill_whose_event_is_lost_is_booked_from_what_the_venue_lists() {
    let platform = LabPlatform::new("BETA").asking_often();
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    // A market order ends at once, so its silence is noticed; a limit order might just rest.
    platform.arm("fill-only-in-list");
    place_when_priced(&mut client, &with_id(order_of(BITCOIN, "BUY", "0.01"), "sweeps"));
    client.wait_for_status("sweeps", "EXECUTED");
    platform.arm("fill-only-in-list");
    let mut crossing = resting("crosses");
    crossing["limit"] = json!("61000");
    client.place(&crossing);
    client.wait_for_status("crosses", "EXECUTED");
    assert_eq!(platform.ledger("trades").len(), 2, "each was sent once");
    platform.expect_equal_books(&mut client);
    assert_eq!(client.get_json("/rest/break").as_array().unwrap().len(), 0);
    server.stop();
}

#[test]
fn orders_placed_elsewhere_are_adopted_with_their_fills_and_can_be_cancelled() {
    let platform = LabPlatform::new("BETA").asking_often();
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    platform.arm("strangers");
    place_when_priced(&mut client, &resting("ours"));
    let external = wait_for("both orders from elsewhere", || {
        let orders = client.get_json("/rest/history/order?source=EXTERNAL&sort=OLDEST");
        let orders = orders.as_array().unwrap().clone();
        (orders.len() == 2 && orders[0]["status"] == "EXECUTED").then_some(orders)
    });
    platform.expect_equal_books(&mut client);
    assert_eq!(external[1]["status"], "SUBMITTED");
    assert!(external[1]["extId"].as_str().unwrap().starts_with("BTCUSDT:"), "{external:?}");
    let rests = external[1]["intId"].as_str().unwrap();
    assert_eq!(client.delete(&format!("/rest/execution/order/{rests}")).unwrap().status, 200);
    client.wait_for_status(rests, "CANCELED");
    let open: Vec<_> = platform.ledger("orders").into_iter().filter(|order| order["status"] == "NEW").collect();
    assert_eq!(open.len(), 1, "ours is left: {open:?}");
    platform.expect_equal_books(&mut client);
    server.stop();
}

/// The venue takes what would have traded with another order of the account from both: it is neither open nor filled.
#[test]
fn an_order_that_the_venue_reduces_ends_with_what_was_left_of_it() {
    let mut platform = LabPlatform::new("BETA");
    // The platform itself stops no self-trade here, and leaves it to the venue.
    platform.launch = platform.launch.set("venues.LAB.selfTrade", "reduce-both").set("risk.selfTrade", "allow");
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    let at = |side: &str, quantity: &str, price: &str, int_id: &str| {
        let mut order = with_id(limit(BITCOIN, side, 1, price), int_id);
        order["quantity"] = json!(quantity);
        order
    };
    // Alone between the best bid and the best ask.
    place_when_priced(&mut client, &at("SELL", "0.01", "60000", "rests"));
    client.wait_for_status("rests", "SUBMITTED");
    client.place(&at("BUY", "0.03", "60100", "crosses"));
    let crossed = client.wait_for_status("crosses", "EXECUTED");
    assert_eq!(
        ["quantity", "filledQuantity"].map(|key| decimal(&crossed[key]).to_string()),
        ["0.02", "0.02"],
        "{crossed}"
    );
    let rested = client.wait_for_status("rests", "CANCELED");
    assert_eq!(
        (decimal(&rested["filledQuantity"]), &rested["reason"]),
        (Decimal::ZERO, &json!("self-trade prevention"))
    );
    let statuses: Vec<_> = platform.ledger("orders").iter().map(|order| order["status"].clone()).collect();
    assert_eq!(statuses, ["EXPIRED_IN_MATCH", "FILLED"]);
    platform.expect_equal_books(&mut client);
    server.stop();
}

/// A transfer, dust and a conversion come as one event, which does not say which of them it is.
#[test]
fn what_the_venue_moves_besides_trades_is_booked_here_too() {
    let platform = LabPlatform::new("BETA");
    let server = platform.start();
    let mut client = server.client();
    platform.credit_opening_balances(&mut client);
    let before = platform.venue_totals()["USDT"];
    platform.arm("balance-moves");
    place_when_priced(&mut client, &resting("rests"));
    client.wait_for_status("rests", "SUBMITTED");
    platform.expect_equal_books(&mut client);
    let moved = platform.venue_totals()["USDT"] - before;
    assert!(moved > Decimal::ZERO, "{moved}");
    let booked = client.get_json("/rest/transaction/daily");
    let entries: Vec<_> = booked.as_array().unwrap().iter().filter(|row| row["venueKind"] == "TRANSFER").collect();
    assert_eq!(entries.len(), 1, "{booked}");
    assert_eq!((entries[0]["type"].as_str(), decimal(&entries[0]["price"])), (Some("CREDIT"), moved), "{booked}");
    server.stop();
}
