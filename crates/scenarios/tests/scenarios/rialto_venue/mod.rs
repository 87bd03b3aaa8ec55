//! A Rialto as the venue of another one: orders over REST and FIX go on over FIX, and both have the same orders, fills and positions, also when
//! either side is killed (SIGKILL) or the line between them is cut while orders are on their way.
//!
//! `RIALTO_FIX_KILLS` says how many kills (10); cuts are counted apart.

mod chain_client;

use std::collections::BTreeMap;
use std::env;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use domain::{Decimal, OrderId, WireId};
use scenarios::http::HttpClient;
use scenarios::proxy::CuttableProxy;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use self::chain_client::ChainClient;
use crate::evidence::JournalEvidence;
use crate::fix_orders::client::FixClient;
use crate::fix_orders::{STEADY, server_with};
use crate::test_platform::{AAPL, MSFT, TestPlatform, TraderClient, body_of, fields, limit, market, with_id};

/// The session of the platform in front.
const SESSIONS: &str = "
[DEFAULT]
ConnectionType=acceptor
BeginString=FIX.4.4
StartTime=00:00:00
EndTime=00:00:00
NonStopSession=Y
SocketAcceptPort=0
MaxOrdersPerSecond=0
ExtendedMessages=Y
[SESSION]
SenderCompID=RIALTO
TargetCompID=FRONT
";

/// By turns of the platform in front and of the one behind it.
const KILLS: u64 = 10;
/// The line is cut after so many kills.
const KILLS_BETWEEN_CUTS: u64 = 3;
/// Once the venue answers nothing is in doubt for longer: an answer within 2 seconds, a request's life of 5, and 10 more. A busy machine is slow,
/// so only a long run asserts it.
const DOUBT_MAX: Duration = Duration::from_secs(2 + 5 + 10);

/// Two platforms, the one as venue `BACK` of the other, and the line between them.
pub(crate) struct Chain {
    pub(crate) front: TestPlatform,
    pub(crate) back: TestPlatform,
    pub(crate) line: CuttableProxy,
}

impl Chain {
    fn new() -> Self {
        Self::with_front(STEADY, str::to_owned)
    }

    /// With other sessions in front, and behind it with those that are made of the usual ones.
    pub(crate) fn with_front(sessions: &str, behind: impl FnOnce(&str) -> String) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let back = server_with(&behind(SESSIONS)).set("clock.offset", 0).set("fix.port", port);
        let line = CuttableProxy::to(SocketAddr::from(([127, 0, 0, 1], port)));
        let front = server_with(sessions).set("clock.offset", 0).set("auth.anonymousRole", "admin");
        let front = front.set("recovery.answerWithinSeconds", 2).set("venues.BACK.port", line.address().port());
        let settings = [
            ("type", "fix"),
            ("exchange", "RCM"),
            ("dialect", "rialto"),
            ("environment", "live"),
            ("host", "127.0.0.1"),
            ("tls", "false"),
            ("senderCompId", "FRONT"),
            ("targetCompId", "RIALTO"),
        ];
        let front = settings.iter().fold(front, |front, (key, value)| front.set(&format!("venues.BACK.{key}"), value));
        Self { front, back, line }
    }

    pub(crate) fn start(&self) -> [RunningServer; 2] {
        let back = self.back.start();
        let front = self.front.start();
        wait_until_open(&mut front.client());
        [front, back]
    }
}

fn wait_until_open(client: &mut HttpClient) {
    wait_for("the venue to be open for orders", || {
        let adapters = client.get_json("/rest/adapter");
        let adapter = adapters.as_array().unwrap().iter().find(|adapter| adapter["name"] == "FIX-BACK").cloned();
        adapter.filter(|adapter| adapter["openFor"] == "ORDERS")
    });
}

/// The account of the venue in front.
fn account(client: &mut HttpClient) -> Value {
    let accounts = client.get_json("/rest/account");
    let found = accounts.as_array().unwrap().iter().find(|account| account["name"] == "BACK").cloned();
    found.unwrap_or_else(|| panic!("no account of the venue: {accounts}"))["id"].clone()
}

fn on_account(mut order: Value, account: &Value, int_id: &str) -> Value {
    order["accountId"] = account.clone();
    with_id(order, int_id)
}

/// Quantity by security.
fn positions(client: &mut HttpClient, account: &Value) -> BTreeMap<u64, Value> {
    let positions = client.get_json("/rest/position");
    let own = positions.as_array().unwrap().iter().filter(|position| position["accountId"] == *account);
    let row = |position: &Value| (position["securityId"].as_u64().unwrap(), position["quantity"].clone());
    own.map(row).filter(|(_, quantity)| *quantity != json!(0)).collect()
}

/// Our number of an order, from the id under which the venue has it.
fn number_in(int_id: &str) -> OrderId {
    let id: WireId = int_id.parse().unwrap_or_else(|_| panic!("{int_id} is none of the orders from in front"));
    id.order
}

/// Side, quantity and price of the fills of each order.
type Fills = BTreeMap<OrderId, Vec<(String, Decimal, Decimal)>>;

/// What both journals have, by the number of the order in front: nothing is missing at either, and nothing is there twice.
pub(crate) fn expect_equal_journals(chain: &Chain) -> usize {
    let [front, back] = [&chain.front, &chain.back].map(|platform| JournalEvidence::read(platform.data()));
    let fills = |journal: &JournalEvidence, number: &dyn Fn(OrderId) -> OrderId| {
        let mut all = Fills::new();
        for fill in journal.fills.values() {
            let row = (format!("{:?}", fill.side), fill.quantity.0.normalize(), fill.price.0.normalize());
            all.entry(number(fill.order)).or_default().push(row);
        }
        all.values_mut().for_each(|rows| rows.sort());
        all
    };
    let of_front = |order: OrderId| number_in(back.placed[&order].int_id.as_str());
    let (told, done) = (fills(&front, &|order| order), fills(&back, &of_front));
    assert_eq!(told, done, "every fill of the venue is booked once");
    for order in back.placed.values() {
        let number = number_in(order.int_id.as_str());
        assert!(front.placed.contains_key(&number), "{} reached the venue before it was durable", order.int_id);
    }
    for order in front.placed.values() {
        let [now] = &front.order(order.int_id.as_str())[..] else { panic!("{} is lost", order.int_id) };
        assert!(!now.in_doubt, "{now:?}");
    }
    done.values().map(Vec::len).sum()
}

#[test]
fn orders_over_rest_and_fix_go_on_over_fix_and_both_platforms_have_the_same_fills_and_positions() {
    let chain = Chain::new();
    let [front, back] = chain.start();
    let (mut client, mut venue) = (front.client(), back.client());
    let account = account(&mut client);

    client.place(&on_account(market(AAPL, "BUY", 100), &account, "rest-market"));
    client.wait_for_status("rest-market", "EXECUTED");
    client.place(&on_account(limit(AAPL, "BUY", 10, "250"), &account, "rest-limit"));
    client.wait_for_status("rest-limit", "SUBMITTED");
    let changed = json!({ "intId": "rest-limit", "quantity": 20, "limit": "251" }).to_string();
    assert_eq!(client.post("/rest/execution/modify/order/limit", &changed).unwrap().status, 200);
    wait_for("the replace at the venue", || {
        let open = venue.get_json("/rest/execution/order");
        (fields(&open[0], &["quantity", "limit", "status"])
            == json!({ "quantity": 20, "limit": 251, "status": "SUBMITTED" }))
        .then_some(())
    });
    client.wait_for_status("rest-limit", "SUBMITTED");
    client.delete("/rest/execution/order/rest-limit").unwrap();
    client.wait_for_status("rest-limit", "CANCELED");
    assert_eq!(venue.get_json("/rest/execution/order"), json!([]));

    let mut desk = FixClient::new("STEADY");
    desk.seconds_ahead = 0;
    desk.log_on(front.port_address("fix"));
    desk.send("35=D|11=fix-sale|1=BACK|54=2|38=30|40=1|48=1");
    assert_eq!(desk.wait_for_messages(3), ["8 fix-sale A/A 0/30", "8 fix-sale 0/0 0/30", "8 fix-sale F/2 30/30"]);
    desk.send("35=D|11=fix-rests|1=BACK|54=1|38=5|40=2|44=500|48=2|59=1");
    desk.receive_until("the order to rest at the venue", |desk| {
        desk.received_summaries().contains(&"8 fix-rests 0/0 0/5".to_owned())
    });
    let open = venue.get_json("/rest/execution/order");
    let expected = json!({ "securityId": MSFT, "quantity": 5, "source": "FIX:FRONT", "status": "SUBMITTED" });
    assert_eq!(fields(&open[0], &["securityId", "quantity", "source", "status"]), expected);
    assert_eq!(client.order("fix-rests")["extId"], open[0]["intId"], "one order has one identity in both");

    let refused = client.submit(&on_account(limit(AAPL, "BUY", 1, "250.001"), &account, "odd"));
    assert_eq!((refused.status, &body_of(&refused)["code"]), (422, &json!("not-a-multiple")));
    assert_eq!(positions(&mut client, &account), BTreeMap::from([(AAPL, json!(70))]));
    assert_eq!(positions(&mut venue, &json!(1)), positions(&mut client, &account));
    desk.log_out();
    front.stop();
    back.stop();
    assert_eq!(expect_equal_journals(&chain), 2);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    FrontKilled,
    BackKilled,
    LineCut,
}

/// So many kills, and a cut after every third one.
fn endings(kills: u64) -> Vec<Ending> {
    let of_kill = |kill: u64| {
        let killed = if kill.is_multiple_of(2) { Ending::FrontKilled } else { Ending::BackKilled };
        [Some(killed), (kill % KILLS_BETWEEN_CUTS == KILLS_BETWEEN_CUTS - 1).then_some(Ending::LineCut)]
    };
    (0..kills).flat_map(of_kill).flatten().collect()
}

struct ChainRun {
    chain: Chain,
    front: Option<RunningServer>,
    back: Option<RunningServer>,
    account: Value,
    /// Ids of orders over REST.
    acknowledged: Vec<String>,
    fix_client: ChainClient,
    longest_doubt: Duration,
}

impl ChainRun {
    /// In a long run others trade at the venue, so that it does not run out of offers.
    fn begin(is_long: bool) -> Self {
        let mut chain = Chain::new();
        chain.back = chain.back.set("demo.activity", if is_long { "calm" } else { "off" });
        let [front, back] = chain.start();
        let account = account(&mut front.client());
        let fix_client = ChainClient::log_on(&front);
        let (front, back) = (Some(front), Some(back));
        Self { chain, front, back, account, acknowledged: Vec::new(), fix_client, longest_doubt: Duration::ZERO }
    }

    fn client(&self) -> HttpClient {
        self.front.as_ref().expect("it runs between rounds").client()
    }

    fn venue(&self) -> HttpClient {
        self.back.as_ref().expect("it runs between rounds").client()
    }

    /// Orders that trade, rest, are replaced and are cancelled, over REST and FIX; nobody waits for the venue.
    fn trade(&mut self, round: u64) {
        let mut client = self.client();
        let side = if round.is_multiple_of(2) { "BUY" } else { "SELL" };
        let (rests, stays) = (format!("rests-{round}"), format!("stays-{round}"));
        self.submit(&mut client, market(AAPL, side, 1), &format!("trades-{round}"));
        self.fix_client.trade(round);
        if let Some(before) = round.checked_sub(1) {
            // Whatever becomes of the requests: the order's own state is compared.
            let _ = client.delete(&format!("/rest/execution/order/stays-{before}"));
        }
        self.submit(&mut client, limit(AAPL, "BUY", 2, "100"), &rests);
        let changed = json!({ "intId": rests, "quantity": 3, "limit": "101" }).to_string();
        let _ = client.post("/rest/execution/modify/order/limit", &changed);
        self.submit(&mut client, limit(AAPL, "BUY", 4, "99"), &stays);
        let _ = client.delete(&format!("/rest/execution/order/{rests}"));
    }

    fn submit(&mut self, client: &mut HttpClient, order: Value, int_id: &str) {
        let order = on_account(order, &self.account, int_id);
        // The end of a line may be noticed only now, and it may be back already: an order that is refused for it was not taken, and is
        // sent again.
        wait_for("the order to be taken", || {
            let answer = client.submit(&order);
            let is_away = |code: &str| answer.status == 503 && body_of(&answer)["code"] == code;
            let is_refused = is_away("adapter-down") || is_away("adapter-reconciling");
            assert!(is_refused || answer.status == 200, "{int_id}: {answer:?}");
            (!is_refused).then_some(())
        });
        self.acknowledged.push(int_id.to_owned());
    }

    fn end(&mut self, ending: Ending) {
        let kill = |server: Option<RunningServer>| drop(server.expect("it runs between rounds").kill());
        match ending {
            Ending::FrontKilled => {
                kill(self.front.take());
                let front = self.chain.front.start();
                self.fix_client.log_on_again(&front);
                self.front = Some(front);
            }
            Ending::BackKilled => {
                kill(self.back.take());
                self.back = Some(self.chain.back.start());
            }
            Ending::LineCut => {
                self.chain.line.cut();
                self.chain.line.restore();
            }
        }
    }

    /// Nothing is in doubt any more, and both have the same open orders and positions.
    fn expect_agreement(&mut self) {
        wait_until_open(&mut self.client());
        let (mut client, mut venue, begun) = (self.client(), self.venue(), Instant::now());
        wait_for("every order to be settled as the venue has it", || {
            let open = client.get_json("/rest/execution/order");
            let is_settled = |order: &Value| order["inDoubt"] == false && order["status"] == "SUBMITTED";
            let all = open.as_array().unwrap();
            let terms = |order: &Value| fields(order, &["quantity", "filledQuantity", "limit"]);
            let here: BTreeMap<String, Value> = all
                .iter()
                .map(|order| (order["extId"].as_str().unwrap_or_default().to_owned(), terms(order)))
                .collect();
            let there = venue.get_json("/rest/execution/order");
            let there = there.as_array().unwrap().iter();
            let there = there.map(|order| (order["intId"].as_str().unwrap().to_owned(), terms(order))).collect();
            (all.iter().all(is_settled) && here == there).then_some(())
        });
        self.longest_doubt = self.longest_doubt.max(begun.elapsed());
        assert_eq!(positions(&mut client, &self.account), positions(&mut venue, &json!(1)));
        self.fix_client.wait_for_answers();
    }

    /// What clients were told and both journals, when nobody has anything more to say. The fills on both sides.
    fn finish(mut self) -> usize {
        let front = self.front.take().expect("it runs between rounds");
        self.fix_client.log_out_when_told(&mut front.client());
        front.stop();
        self.back.take().expect("it runs between rounds").stop();
        let journal = JournalEvidence::read(self.chain.front.data());
        for id in &self.acknowledged {
            assert_eq!(journal.order(id).len(), 1, "{id} was acknowledged");
        }
        self.fix_client.compare(&journal);
        expect_equal_journals(&self.chain)
    }
}

#[test]
fn rialto_behind_rialto_and_kills_of_either_side_lose_and_double_nothing() {
    let asked = env::var("RIALTO_FIX_KILLS").ok().map(|text| text.parse::<u64>().expect("a number"));
    let mut run = ChainRun::begin(asked.is_some());
    let endings = endings(asked.unwrap_or(KILLS));
    for (round, ending) in (0..).zip(&endings) {
        println!("round {round}: {ending:?}");
        run.trade(round);
        run.end(*ending);
        run.expect_agreement();
    }
    let count = |wanted: Ending| endings.iter().filter(|ending| **ending == wanted).count();
    let (front, back, cuts) = (count(Ending::FrontKilled), count(Ending::BackKilled), count(Ending::LineCut));
    let (rest, fix, longest) = (run.acknowledged.len(), run.fix_client.accepted(), run.longest_doubt);
    let fills = run.finish();
    println!(
        "{} kills ({front} in front, {back} behind), {cuts} cuts of the line; {rest} orders acknowledged over REST, {fix} over FIX, \
         {fills} fills on both sides; settled after {longest:?} at most",
        front + back
    );
    assert!(asked.is_none() || longest <= DOUBT_MAX, "{longest:?} in doubt");
}
