//! Clients that trade until the server is gone: orders that rest, orders that trade, cancels, and requests for ids.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use scenarios::http::{HttpClient, HttpFailure, HttpResponse};
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use super::fix_flow::FixFlow;
use super::log::{Attempt, ClientLog, Outcome};
use super::topic_flow::TopicFlow;
use crate::test_platform::{AAPL, MSFT, SAP, body_of, int_id_in, limit, market, path_of};

/// A security, a price at which a buy trades, and one at which a sale does.
const TRADED: [(u64, &str, &str); 3] = [(AAPL, "275", "270"), (MSFT, "515", "505"), (SAP, "213", "208")];
/// Securities in which buys rest, far below the market.
pub(crate) const RESTING: [(u64, &str); 2] = [(3, "150"), (4, "180")];
/// Clients over REST.
const CLIENTS: u64 = 8;
/// A price that is refused.
const OFF_TICK: &str = "100.001";

pub(crate) struct Flow {
    clients: Vec<JoinHandle<ClientLog>>,
    acknowledged: Arc<AtomicU64>,
    fix: Vec<JoinHandle<FixFlow>>,
    topics: JoinHandle<TopicFlow>,
}

/// What the clients of all interfaces have after a kill.
pub(crate) struct Heard {
    pub(crate) log: ClientLog,
    pub(crate) fix: Vec<FixFlow>,
    pub(crate) topics: TopicFlow,
}

impl Flow {
    pub(crate) fn begin(
        server: &RunningServer,
        (round, random): (u64, &mut Random),
        (fix, topics): (Vec<FixFlow>, TopicFlow),
    ) -> Self {
        let acknowledged = Arc::new(AtomicU64::new(0));
        let topics = topics.begin(&mut server.client());
        let clients = (0..CLIENTS).map(|number| {
            let trader = FlowClient {
                client: server.client(),
                name: format!("{round}-{number}"),
                random: Random::new(random.next()),
                acknowledged: acknowledged.clone(),
                resting: vec![],
                log: ClientLog::default(),
            };
            thread::spawn(move || trader.trade())
        });
        let clients = clients.collect();
        let fix = fix.into_iter().map(|client| client.begin(acknowledged.clone())).collect();
        Self { clients, acknowledged, fix, topics }
    }

    pub(crate) fn wait_for_acknowledged(&self, count: u64) {
        let reached = || (self.acknowledged.load(Ordering::Relaxed) >= count).then_some(());
        wait_for(&format!("{count} acknowledged orders"), reached);
    }

    /// What all of them wrote down. The server must be gone, else they go on.
    pub(crate) fn end(self) -> Heard {
        let mut log = ClientLog::default();
        for client in self.clients {
            log.absorb(client.join().expect("a client does not panic"));
        }
        let fix = self.fix.into_iter().map(|client| client.join().expect("a client does not panic")).collect();
        Heard { log, fix, topics: self.topics.join().expect("a subscriber does not panic") }
    }
}

/// The connection is gone, and so is the server.
struct ServerGone;

struct FlowClient {
    client: HttpClient,
    name: String,
    random: Random,
    acknowledged: Arc<AtomicU64>,
    /// Orders of ours that may still rest.
    resting: Vec<String>,
    log: ClientLog,
}

impl FlowClient {
    fn trade(mut self) -> ClientLog {
        while self.act().is_ok() {}
        self.log
    }

    fn act(&mut self) -> Result<(), ServerGone> {
        let (security, buy_price, sell_price) = self.random.one_of(&TRADED);
        let (resting, resting_price) = self.random.one_of(&RESTING);
        let quantity = self.random.between((1, 3));
        match self.random.between((0, 8)) {
            0 | 1 => self.place(limit(resting, "BUY", quantity, resting_price), true),
            2 => self.place(limit(security, "BUY", quantity, buy_price), false),
            3 => self.place(limit(security, "SELL", quantity, sell_price), false),
            4 => self.place(market(security, "BUY", quantity), false),
            5 => self.place(market(security, "SELL", quantity), false),
            6 => self.place(limit(security, "BUY", quantity, OFF_TICK), false),
            7 => self.cancel(),
            _ => self.ask_for_id(),
        }
    }

    fn place(&mut self, mut order: Value, rests: bool) -> Result<(), ServerGone> {
        let note = format!("note-{}-{}", self.name, self.log.orders.len());
        order["reference"] = json!(note);
        // Two of three clients bring an id of their own, the others let one be minted.
        if self.random.between((0, 2)) > 0 {
            order["intId"] = json!(note.replace("note", "own"));
        }
        let answer = self.client.post(path_of(&order), &order.to_string());
        let (outcome, gone) = match answer {
            Ok(response) => (outcome_of(&response), Ok(())),
            Err(HttpFailure::NotSent(_)) => return Err(ServerGone),
            Err(HttpFailure::Unanswered(_)) => (Outcome::Unknown, Err(ServerGone)),
        };
        if let Outcome::Acknowledged { int_id } = &outcome {
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
            self.resting.extend(rests.then(|| int_id.clone()));
        }
        self.log.orders.push(Attempt { note, order, outcome });
        gone
    }

    fn cancel(&mut self) -> Result<(), ServerGone> {
        let Some(int_id) = self.resting.pop() else { return Ok(()) };
        self.client.delete(&format!("/rest/execution/order/{int_id}")).map(drop).map_err(|_| ServerGone)
    }

    fn ask_for_id(&mut self) -> Result<(), ServerGone> {
        let response = self.client.post("/rest/next-order-id", "1").map_err(|_| ServerGone)?;
        if response.status == 200 {
            self.log.ids.push(body_of(&response).as_str().expect("an id is a text").to_owned());
        }
        Ok(())
    }
}

fn outcome_of(response: &HttpResponse) -> Outcome {
    if response.status == 200 {
        return Outcome::Acknowledged { int_id: int_id_in(response) };
    }
    let code = body_of(response)["code"].as_str().unwrap_or_default().to_owned();
    match code.as_str() {
        "outcome-unknown" => Outcome::Unknown,
        _ => Outcome::Refused { status: response.status, code },
    }
}

/// Chance that a seed repeats.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn between(&mut self, (least, most): (u64, u64)) -> u64 {
        least + self.next() % (most - least + 1)
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let chosen = self.between((0, choices.len() as u64 - 1));
        choices[usize::try_from(chosen).expect("there are few")]
    }
}
