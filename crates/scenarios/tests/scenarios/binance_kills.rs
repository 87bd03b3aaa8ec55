//! Server, lab or line are killed while orders are on their way to Binance spot and the lab injects a fault: what clients were told, the
//! journal and the lab's ledger agree afterwards, and nothing stays in doubt.
//!
//! `RIALTO_BINANCE_KILLS` says how often (10), `RIALTO_SEED` with which fault it begins.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use domain::{Decimal, OrderId, WireId};
use scenarios::http::HttpClient;
use scenarios::lab::LabProcess;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::binance::{BITCOIN, LabPlatform, decimal, order_of, place_when_priced, resting, wait_for_open};
use crate::evidence::JournalEvidence;
use crate::test_platform::{TraderClient, with_id};

/// Faults 1 to 7, 11 to 15 and 19 of the lab; the one of ids that are used again is always there.
const FAULTS: [&str; 12] = [
    "taken-unknown",
    "not-taken-unknown",
    "cut-answer",
    "late-query",
    "late-request",
    "stream-mute",
    "events-shuffled",
    "replace-half",
    "replace-cut",
    "fill-after-cancel",
    "fill-only-in-list",
    "list-partial",
];
/// By turns of the server, of the lab and of the line.
const KILLS: u64 = 10;
/// Once the venue answers nothing is in doubt for longer: its answer within 12 seconds, a receive window of 5, and 5 more. A busy machine
/// is slow, so only a long run asserts it.
const DOUBT_MAX: Duration = Duration::from_secs(12 + 5 + 5);

/// Often enough that a lost event is soon found, and seldom enough for the venue's rate limits.
const LIST_SECONDS: u32 = 5;

/// What is killed while orders are on their way.
#[derive(Debug, Clone, Copy)]
enum Ending {
    Server,
    Lab,
    Line,
}

struct KillRun {
    platform: LabPlatform,
    server: Option<RunningServer>,
    longest_doubt: Duration,
    /// Ids of orders that the server has acknowledged, and of those whose outcome the client does not know.
    acknowledged: Vec<String>,
    unknown: Vec<String>,
}

impl KillRun {
    fn begin() -> Self {
        let platform = LabPlatform::new("BETA").asking_every(LIST_SECONDS);
        let server = platform.start();
        let mut client = server.client();
        platform.credit_opening_balances(&mut client);
        place_when_priced(&mut client, &with_id(order_of(BITCOIN, "BUY", "0.001"), "first"));
        let acknowledged = vec!["first".to_owned()];
        Self { platform, server: Some(server), longest_doubt: Duration::ZERO, acknowledged, unknown: Vec::new() }
    }

    fn client(&self) -> HttpClient {
        self.server.as_ref().expect("it runs between rounds").client()
    }

    /// Orders that trade, rest, are replaced and are cancelled; nobody waits for the venue.
    fn trade(&mut self, round: u64) {
        let side = if round.is_multiple_of(2) { "BUY" } else { "SELL" };
        let mut client = self.client();
        self.submit(&mut client, &with_id(order_of(BITCOIN, side, "0.001"), &format!("trades-{round}")));
        let (rests, stays) = (format!("rests-{round}"), format!("stays-{round}"));
        if let Some(before) = round.checked_sub(1) {
            let _ = client.delete(&format!("/rest/execution/order/stays-{before}"));
        }
        self.submit(&mut client, &resting(&rests));
        let changed = json!({ "intId": rests, "limit": "20001" }).to_string();
        // Whatever becomes of it: the order's own state is compared.
        let _ = client.post("/rest/execution/modify/order/limit", &changed);
        self.submit(&mut client, &resting(&stays));
        let _ = client.delete(&format!("/rest/execution/order/{rests}"));
    }

    fn submit(&mut self, client: &mut HttpClient, order: &Value) {
        let id = order["intId"].as_str().expect("it has one").to_owned();
        let kind = if order["limit"].is_null() { "market" } else { "limit" };
        match client.post(&format!("/rest/execution/order/{kind}"), &order.to_string()) {
            Ok(answer) if answer.status == 200 => self.acknowledged.push(id),
            Ok(answer) => assert!(answer.status >= 400, "{order}: {answer:?}"),
            Err(_) => self.unknown.push(id),
        }
    }

    fn kill(&mut self, ending: Ending) {
        match ending {
            Ending::Server => {
                self.server.take().expect("it runs between rounds").kill();
                self.server = Some(self.platform.start());
            }
            Ending::Lab => self.platform.restart_lab(),
            Ending::Line => {
                self.platform.lines.api.cut();
                wait_for_open(&mut self.client(), "REDUCE");
                self.platform.lines.api.restore();
            }
        }
        wait_for_open(&mut self.client(), "ORDERS");
    }

    /// Nothing is in doubt any more, as many orders are open here as there, and the books are the venue's.
    fn expect_agreement(&mut self) {
        let (mut client, begun) = (self.client(), Instant::now());
        wait_for("every order to be settled as the venue has it", || {
            let open = client.get_json("/rest/execution/order");
            let open = open.as_array().expect("a list");
            let is_settled = |order: &Value| order["inDoubt"] == false && order["status"] == "SUBMITTED";
            (open.iter().all(is_settled) && open.len() == self.open_at_the_venue().len()).then_some(())
        });
        self.longest_doubt = self.longest_doubt.max(begun.elapsed());
        self.platform.expect_equal_books(&mut client);
    }

    fn open_at_the_venue(&self) -> Vec<Value> {
        let is_open = |order: &Value| order["status"] == "NEW" || order["status"] == "PARTIALLY_FILLED";
        self.platform.ledger("orders").into_iter().filter(is_open).collect()
    }

    /// What clients were told, the journal and the ledger, when nobody has anything more to say.
    fn finish(mut self) {
        self.server.take().expect("it runs between rounds").stop();
        let journal = JournalEvidence::read(&self.platform.folder.path().join("data"));
        let known: BTreeSet<&str> = journal.placed.values().map(|order| order.int_id.as_str()).collect();
        for id in &self.acknowledged {
            assert!(known.contains(id.as_str()), "{id} was acknowledged and forgotten");
        }
        for id in &self.unknown {
            let taken = journal.placed.values().filter(|order| order.int_id.as_str() == id).count();
            assert!(taken <= 1, "{id} was doubled");
        }
        let booked: BTreeMap<String, (Decimal, Decimal)> = journal
            .fills
            .iter()
            .map(|(id, fill)| (id.to_string(), (fill.quantity.0.normalize(), fill.price.0.normalize())))
            .collect();
        assert_eq!(booked, self.venue_trades(), "every trade of the venue is booked once");
        let filled = self.filled_at_the_venue();
        for (number, order) in &journal.placed {
            let [now] = &journal.order(order.int_id.as_str())[..] else { panic!("{:?} is lost", order.int_id) };
            let expected = filled.get(number).copied().unwrap_or_default();
            assert_eq!(now.filled.0.normalize(), expected.normalize(), "{now:?}");
            assert!(!now.in_doubt, "{now:?}");
        }
        for number in filled.keys() {
            assert!(journal.placed.contains_key(number), "order {number:?} reached the venue before it was durable");
        }
    }

    fn venue_trades(&self) -> BTreeMap<String, (Decimal, Decimal)> {
        let trade = |row: &Value| {
            let id = format!("{}:{}", row["symbol"].as_str().expect("a symbol"), row["tradeId"]);
            (id.replace('"', ""), (decimal(&row["quantity"]).normalize(), decimal(&row["price"]).normalize()))
        };
        self.platform.ledger("trades").iter().map(trade).collect()
    }

    /// What each of our orders has filled, over all of its orders at the venue.
    fn filled_at_the_venue(&self) -> BTreeMap<OrderId, Decimal> {
        let mut filled = BTreeMap::new();
        for row in self.platform.ledger("orders") {
            let id = row["clientOrderId"].as_str().expect("an id").split('_').next().unwrap_or_default().to_owned();
            let id: WireId = id.parse().unwrap_or_else(|_| panic!("{row} is none of our orders"));
            *filled.entry(id.order).or_default() += decimal(&row["filled"]);
        }
        filled
    }
}

impl LabPlatform {
    /// With its ledger, on the same ports.
    fn restart_lab(&mut self) {
        let port = |face: &str| {
            let address: SocketAddr = self.lab.address(face).split('/').next().unwrap().parse().unwrap();
            address.port()
        };
        let faces = [
            ("binance.rest.port", "binanceRest"),
            ("binance.wsApi.port", "binanceWsApi"),
            ("binance.streams.port", "binanceStreams"),
            ("admin.port", "admin"),
        ];
        let ports = faces.map(|(key, face)| format!("{key}={}", port(face)));
        let settings: Vec<&str> = ["activity=off"].into_iter().chain(ports.iter().map(String::as_str)).collect();
        self.lab.end();
        self.lab = LabProcess::start(&self.folder.path().join("lab"), &settings);
    }

    fn disarm(&self) {
        let address: SocketAddr = self.lab.address("admin").parse().unwrap();
        let answer = HttpClient::new(address).delete("/faults").unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
    }
}

#[test]
fn server_lab_or_line_killed_at_binance_and_what_clients_know_journal_and_ledger_agree() {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (asked, seed) = (number("RIALTO_BINANCE_KILLS"), number("RIALTO_SEED").unwrap_or(0));
    let mut run = KillRun::begin();
    for round in 0..asked.unwrap_or(KILLS) {
        let ending = [Ending::Server, Ending::Lab, Ending::Line][place(round, 3)];
        // Each fault meets each ending.
        let fault = FAULTS[place(seed + round + round / 12, FAULTS.len())];
        println!("round {round}: {fault}, {ending:?}");
        run.platform.arm(fault);
        run.trade(round);
        run.kill(ending);
        run.platform.disarm();
        run.expect_agreement();
    }
    println!(
        "{} orders acknowledged, {} unknown; settled after {:?} at most",
        run.acknowledged.len(),
        run.unknown.len(),
        run.longest_doubt
    );
    assert!(asked.is_none() || run.longest_doubt <= DOUBT_MAX, "{:?} in doubt", run.longest_doubt);
    run.finish();
}

fn place(number: u64, count: usize) -> usize {
    usize::try_from(number).expect("it is small") % count
}
