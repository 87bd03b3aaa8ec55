//! Orders to Binance spot over its FIX on the real server, and questions about them over REST: the lab's numbers begin at 1 with each log-on
//! and nothing is sent again, so what was executed while the line was cut comes back by the second way.

use std::net::SocketAddr;
use std::time::Duration;

use domain::OrderId;
use domain::report::{InquiryResult, ReportKind, SessionState};
use scenarios::proxy::CuttableProxy;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{BITCOIN, LabPlatform, order_of, place_when_priced, resting, wait_for_open, wait_for_session};
use crate::evidence::{JournalEvidence, JournalledReport, reports_of};
use crate::fix_orders::client::FixClient;
use crate::test_platform::{TraderClient, with_id};

struct FixPlatform {
    lab: LabPlatform,
    orders: CuttableProxy,
}

impl FixPlatform {
    fn new(account: &'static str) -> Self {
        let mut lab = LabPlatform::new(account);
        let face = |name: &str| lab.lab.address(name).parse::<SocketAddr>().unwrap();
        let orders = CuttableProxy::to(face("binanceFixOrderEntry"));
        let file = |name: &str| lab.folder.path().join(name).display().to_string();
        let venue = [
            ("type", "fix".to_owned()),
            ("dialect", "binance-spot".to_owned()),
            ("environment", "testnet".to_owned()),
            ("host", "127.0.0.1".to_owned()),
            ("port", orders.address().port().to_string()),
            ("trustedCertificates", file("lab/tls/cert.pem")),
            ("credentials", file("key.toml")),
            ("senderCompId", "RIALTO".to_owned()),
            ("targetCompId", "SPOT".to_owned()),
            ("recoveryVenue", "LAB".to_owned()),
            ("marketDataSenderCompId", "PRICES".to_owned()),
            ("marketDataPort", face("binanceFixMarketData").port().to_string()),
        ];
        let launch = lab.launch.clone();
        lab.launch =
            venue.iter().fold(launch, |launch, (key, value)| launch.set(&format!("venues.ORDERS.{key}"), value));
        Self { lab, orders }
    }

    fn start(&self) -> RunningServer {
        let server = self.lab.launch.start();
        wait_for_session(&mut server.client(), "SUBSCRIBED");
        wait_for_open(&mut server.client(), "ORDERS");
        server
    }

    /// By a client with another account, over the lab's generic FIX.
    fn sell_to_the_best_bid(&self) {
        let mut other = FixClient::of_lab("ALPHA");
        other.log_on(self.lab.lab.address("fix44").parse().unwrap());
        other.send("35=D|11=TAKES|55=BTCUSDT|54=2|38=0.01|40=2|44=60000|59=3");
        while other.expect("8").get(39) != Some("2") {}
    }
}

/// Between the opening quotes of the lab, so that nothing trades before it.
fn resting_best(int_id: &str) -> Value {
    let mut order = resting(int_id);
    order["limit"] = json!("60000");
    order
}

#[test]
fn orders_over_signed_fix_and_the_fills_of_a_cut_come_back_by_rest() {
    let platform = FixPlatform::new("BETA");
    let server = platform.start();
    let mut client = server.client();
    let adapters = client.get_json("/rest/adapter");
    assert_eq!(adapters.as_array().unwrap().len(), 1, "the venue that is asked trades nothing itself: {adapters}");
    platform.lab.credit_opening_balances(&mut client);
    place_when_priced(&mut client, &with_id(order_of(BITCOIN, "BUY", "0.01"), "buys"));
    client.wait_for_status("buys", "EXECUTED");
    client.place(&resting("rests"));
    client.wait_for_status("rests", "SUBMITTED");
    platform.lab.expect_equal_books(&mut client);

    // The venue takes the order, fills it and is gone: its report is never sent.
    platform.lab.arm("cut-answer");
    client.place(&with_id(order_of(BITCOIN, "SELL", "0.004"), "in-flight"));
    wait_for("the venue to have the trade", || (platform.lab.ledger("trades").len() == 2).then_some(()));
    client.wait_for_status("in-flight", "EXECUTED");
    platform.lab.expect_equal_books(&mut client);

    // The line is cut for longer, and an order that rests is as it was.
    let losses = || server.log().matches("venue session lost").count();
    let before = losses();
    platform.orders.cut();
    wait_for("the venue to be lost", || (losses() > before).then_some(()));
    platform.orders.restore();
    wait_for_open(&mut client, "ORDERS");
    wait_for("the order to be asked about", || (client.order("rests")["inDoubt"] == json!(false)).then_some(()));
    assert_eq!(client.delete("/rest/execution/order/rests").unwrap().status, 200);
    client.wait_for_status("rests", "CANCELED");
    platform.lab.expect_equal_books(&mut client);

    // An order that rests is filled by another client while the line is cut.
    client.place(&resting_best("filled-meanwhile"));
    client.wait_for_status("filled-meanwhile", "SUBMITTED");
    let before = losses();
    platform.orders.cut();
    wait_for("the venue to be lost", || (losses() > before).then_some(()));
    let trades = platform.lab.ledger("trades").len();
    platform.sell_to_the_best_bid();
    wait_for("the venue to have the trade", || (platform.lab.ledger("trades").len() > trades).then_some(()));
    assert_eq!(client.order("filled-meanwhile")["status"], "SUBMITTED", "nothing tells it yet");
    platform.orders.restore();
    client.wait_for_status("filled-meanwhile", "EXECUTED");
    wait_for_open(&mut client, "ORDERS");
    platform.lab.expect_equal_books(&mut client);
    server.stop();

    // What happened while nobody was there: nothing, and it is known.
    let server = platform.start();
    platform.lab.expect_equal_books(&mut server.client());
    assert_eq!(server.client().get_json("/rest/execution/order"), json!([]));
    server.stop();
    expect_fill_of_the_first_answer(&platform, "in-flight");
    expect_fill_of_the_first_answer(&platform, "filled-meanwhile");
    platform.lab.stop();
}

/// The order was placed, the venue was lost, and after the log-on the first answer about the order had its fill: the second way was asked once.
/// How long that takes is a matter of the machine, and printed.
fn expect_fill_of_the_first_answer(platform: &FixPlatform, int_id: &str) {
    let data = platform.lab.launch.folder();
    let journal = JournalEvidence::read(data);
    let order = journal.order(int_id)[0].id;
    let reports = reports_of("FIX-ORDERS", data);
    let fill = reports.iter().position(|report| has_fill(&report.kind, order)).expect("it was filled");
    let last = |state: SessionState, before: usize| {
        let found = reports[..before].iter().rposition(|report| report.kind == ReportKind::Session(state));
        found.unwrap_or_else(|| panic!("no {state:?} before the fill"))
    };
    let log_on = last(SessionState::Connected, fill);
    let loss = last(SessionState::Disconnected, log_on);
    assert!(reports[loss].sequence > journal.placed_at[&order], "it is the log-on after the cut");
    let is_answer =
        |report: &&JournalledReport| matches!(&report.kind, ReportKind::Inquiry(answer) if answer.order == order);
    assert_eq!(reports[log_on..fill].iter().filter(is_answer).count(), 0, "the first answer has the fill");
    let booked_after = Duration::from_nanos((reports[fill].at.0 - reports[loss].at.0).unsigned_abs());
    println!("the fill of the cut was booked {booked_after:?} after the loss, by the server's clock");
}

/// Told by the second way: in the picture after the log-on, or in the answer to a question.
fn has_fill(kind: &ReportKind, order: OrderId) -> bool {
    let fills = match kind {
        ReportKind::Snapshot(snapshot) => &snapshot.fills,
        ReportKind::Inquiry(answer) => match &answer.result {
            InquiryResult::Found(_, fills) => fills,
            InquiryResult::NotFound => return false,
        },
        ReportKind::Fills(page) => &page.fills,
        ReportKind::Filled(fill) if fill.order == order => panic!("the venue sends nothing again: {fill:?}"),
        _ => return false,
    };
    fills.iter().any(|fill| fill.order == order)
}

#[test]
fn orders_from_elsewhere_are_adopted_and_cancelled_by_the_second_way() {
    let platform = FixPlatform::new("BETA");
    let server = platform.start();
    let mut client = server.client();
    platform.lab.credit_opening_balances(&mut client);
    platform.lab.arm("strangers");
    place_when_priced(&mut client, &resting("ours"));
    let external = wait_for("both orders from elsewhere", || {
        let orders = client.get_json("/rest/history/order?source=EXTERNAL&sort=OLDEST");
        let orders = orders.as_array().unwrap().clone();
        (orders.len() == 2 && orders[0]["status"] == "EXECUTED").then_some(orders)
    });
    let rests = external[1]["intId"].as_str().unwrap();
    assert_eq!(client.delete(&format!("/rest/execution/order/{rests}")).unwrap().status, 200);
    client.wait_for_status(rests, "CANCELED");
    let open: Vec<_> = platform.lab.ledger("orders").into_iter().filter(|order| order["status"] == "NEW").collect();
    assert_eq!(open.len(), 1, "ours is left: {open:?}");
    platform.lab.expect_equal_books(&mut client);
    server.stop();
    platform.lab.stop();
}
