//! kill -9 under order flow. Clients trade over REST and FIX, strategies inside the server, and a subscriber listens to the
//! topics; all write down every answer. The server is killed in the middle of it, again and again. After each kill the clients'
//! logs, the journal and the venues' ledgers are compared.
//!
//! `RIALTO_KILLS` says how often (3), `RIALTO_FAULT_KILLS` how often at venues with bad lines (2), `RIALTO_POWER_CUTS` how often
//! with a disk that forgets what was not synced (2), `RIALTO_SEED` repeats a run; all are printed.

pub(crate) mod flow;
mod fix_flow;
mod topic_flow;
mod power_cut;
mod log;
mod audit;

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use scenarios::http::HttpClient;
use scenarios::seed::fresh_seed;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::evidence::{JournalEvidence, VenueLedgers};
use crate::test_platform::{TestPlatform, TraderClient};
use fix_flow::FixFlow;
use flow::{Flow, Heard, RESTING, Random};
use log::ClientLog;
use power_cut::ForgetfulDisk;
use topic_flow::TopicFlow;

const KILLS: u64 = 3;
const FAULT_KILLS: u64 = 2;
/// More kills are divided into series, each with a data folder of its own: a start replays the orders of its day, so the last of
/// many kills of one folder would take ten times as long as the first.
const SERIES_KILLS_MAX: u64 = 250;
/// So many series run at the same time: most of one is waiting.
const SERIES_AT_ONCE: usize = 2;
/// Reports are lost, doubled and overtaken, and requests are lost, so that inquiries are always on their way; and somebody else
/// trades on the accounts.
const FAULTS: &str = "*:drop=6,*:duplicate=5,*:reorder=7,*:lose=20,*:strangers=10";
const POWER_CUTS: u64 = 2;
/// A kill comes after so many acknowledgements, at the least and at the most.
const ACKNOWLEDGED: (u64, u64) = (20, 400);
/// With more open orders those that rest are cancelled, so that a long run meets no limit.
const OPEN_ORDERS_MAX: usize = 300;
/// It quotes the security that most clients trade.
const MAKER: &str = "MAKER:market-making security=AAPL quantity=2 maxPosition=50 distance=1";

#[test]
fn a_server_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing() {
    let (kills, seed) = (number("RIALTO_KILLS", KILLS), number("RIALTO_SEED", fresh_seed()));
    println!("kill test: RIALTO_KILLS={kills} RIALTO_SEED={seed}");
    run_series(kills, seed, platform);
}

/// The same while the server asks venues with bad lines what has become of its orders.
#[test]
fn a_server_that_is_killed_while_it_reconciles_loses_nothing_and_doubles_nothing() {
    let kills = number("RIALTO_FAULT_KILLS", FAULT_KILLS);
    let seed = number("RIALTO_SEED", fresh_seed());
    println!("kill test with faults: RIALTO_FAULT_KILLS={kills} RIALTO_SEED={seed}");
    run_series(kills, seed, || platform().set("simulated.faults", FAULTS));
}

/// The same with power cuts: what the server had not synced is gone.
#[test]
fn a_server_that_loses_its_power_loses_nothing_and_doubles_nothing() {
    let (cuts, seed) = (number("RIALTO_POWER_CUTS", POWER_CUTS), number("RIALTO_SEED", fresh_seed()));
    println!("power cut test: RIALTO_POWER_CUTS={cuts} RIALTO_SEED={seed}");
    let Some((desk, disk)) = ForgetfulDisk::under(platform()) else { return };
    let mut story = Story::new(seed);
    story.disk = Some(disk);
    story.run(&desk, cuts);
}

/// All kills, in series.
fn run_series(kills: u64, seed: u64, platform: impl Fn() -> TestPlatform + Sync) {
    let count = kills.div_ceil(SERIES_KILLS_MAX);
    let next = AtomicU64::new(0);
    let worker = || {
        loop {
            let series = next.fetch_add(1, Ordering::Relaxed);
            if series >= count {
                return;
            }
            let done = series * SERIES_KILLS_MAX;
            Story::new(seed + series).run(&platform(), (kills - done).min(SERIES_KILLS_MAX));
        }
    };
    thread::scope(|scope| (0..SERIES_AT_ONCE).for_each(|_| drop(scope.spawn(worker))));
}

fn platform() -> TestPlatform {
    // Small files and few inputs to a snapshot, so that kills also meet files that roll and snapshots in the making.
    let desk = TestPlatform::new()
        .set("journal.segmentMegabytes", 1)
        .set("snapshot.everyInputs", 300)
        .set("risk.ordersPerSecond", 100_000)
        .set("strategies.instances", MAKER)
        // Venues reject many of these orders, and a halt would end the flow.
        .set("risk.rejectBreaker", "")
        // Many clients of one account buy and sell at the same time.
        .set("risk.selfTrade", "allow");
    fs::create_dir_all(desk.data().join("fix")).unwrap();
    fs::write(desk.data().join("fix/sessions.cfg"), fix_flow::session_file()).unwrap();
    desk
}

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")),
        Err(_) => default,
    }
}

struct Story {
    random: Random,
    log: ClientLog,
    fix: Vec<FixFlow>,
    topics: TopicFlow,
    journal: JournalEvidence,
    torn_ledgers: usize,
    times_to_ready: Vec<Duration>,
    /// Where every kill is a power cut.
    disk: Option<ForgetfulDisk>,
}

impl Story {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let fix = fix_flow::SESSIONS.iter().map(|name| FixFlow::new(name, &mut random)).collect();
        let (log, topics, journal) = (ClientLog::default(), TopicFlow::default(), JournalEvidence::default());
        Self { random, log, fix, topics, journal, torn_ledgers: 0, times_to_ready: vec![], disk: None }
    }

    fn run(mut self, desk: &TestPlatform, kills: u64) {
        let mut server = desk.start();
        self.reconnect(&server);
        for round in 0..kills {
            server = self.round(desk, server, round);
        }
        self.finish(desk, server);
    }

    /// Trades, kills, compares, starts again, and asks after everything that is not known.
    fn round(&mut self, desk: &TestPlatform, server: RunningServer, round: u64) -> RunningServer {
        let clients = (std::mem::take(&mut self.fix), std::mem::take(&mut self.topics));
        let flow = Flow::begin(&server, (round, &mut self.random), clients);
        flow.wait_for_acknowledged(self.random.between(ACKNOWLEDGED));
        server.kill();
        let Heard { log: heard, fix, topics } = flow.end();
        (self.fix, self.topics) = (fix, topics);
        if let Some(disk) = &mut self.disk {
            disk.cut(&mut self.random);
        }
        self.log.absorb(heard.clone());
        self.compare(desk, &heard);
        let server = desk.start();
        self.times_to_ready.push(server.time_to_ready);
        self.ask_after(&mut server.client(), &heard);
        self.reconnect(&server);
        cancel_resting(&mut server.client());
        server
    }

    fn reconnect(&mut self, server: &RunningServer) {
        self.fix.iter_mut().for_each(|client| client.reconnect(server.port_address("fix")));
    }

    fn compare(&mut self, desk: &TestPlatform, heard: &ClientLog) {
        self.journal.read_on(desk.data());
        let ledgers = VenueLedgers::read(desk.data());
        self.torn_ledgers += ledgers.torn_ends;
        audit::after_a_kill(heard, &self.journal, &ledgers);
        self.fix.iter_mut().for_each(|client| client.compare(&self.journal));
    }

    /// Every order of this round is found again; one whose outcome was unknown has one now.
    fn ask_after(&mut self, client: &mut HttpClient, heard: &ClientLog) {
        for attempt in &heard.orders {
            let settled = audit::after_a_restart(client, attempt, &self.journal);
            self.log.settle(attempt, settled);
        }
    }

    fn finish(mut self, desk: &TestPlatform, server: RunningServer) {
        let mut client = server.client();
        assert_eq!(client.post("/rest/strategy/MAKER/stop", "").unwrap().status, 200);
        wait_for("the cancel of its quotes", || {
            (client.get_json("/rest/execution/order?strategy=MAKER") == json!([])).then_some(())
        });
        let mut settled = || all_settled(&client.get_json("/rest/execution/order")).then_some(());
        wait_for("every order to be settled", &mut settled);
        let events = std::mem::take(&mut self.topics).finish(&mut client);
        server.stop();
        let shown = self.look_again(desk);
        self.journal.read_on(desk.data());
        let ledgers = VenueLedgers::read(desk.data());
        audit::at_the_end(&self.log, &self.journal, &ledgers, &shown);
        self.fix.iter_mut().for_each(|client| client.compare(&self.journal));
        audit::state_is_that_of_a_full_replay(desk.data(), &self.journal);
        self.report(events);
    }

    /// The positions after a last log-on, without a strategy that trades on: what somebody else has done, and every report of it
    /// was lost, is told then.
    fn look_again(&self, desk: &TestPlatform) -> Value {
        let server = desk.launch.clone().set("strategies.instances", "").start();
        let mut client = server.client();
        wait_for("every order to be settled", || all_settled(&client.get_json("/rest/execution/order")).then_some(()));
        let shown = client.get_json("/rest/position");
        server.stop();
        shown
    }

    fn report(mut self, events: usize) {
        let mut sources: BTreeMap<String, usize> = BTreeMap::new();
        for order in self.journal.placed.values() {
            *sources.entry(order.source.to_string()).or_default() += 1;
        }
        assert_eq!(self.log.refusals().get("trading-halted"), None, "kills without order flow prove nothing");
        assert_eq!(sources.len(), 4, "orders came over REST, two FIX sessions and from a strategy: {sources:?}");
        let accepted: usize = self.fix.iter().map(|client| client.accepted_count).sum();
        let resent: usize = self.fix.iter().map(|client| client.resent_count).sum();
        self.times_to_ready.sort();
        let median = self.times_to_ready[self.times_to_ready.len() / 2];
        let forgotten = self.disk.as_ref().map_or(0, |disk| disk.forgotten);
        println!(
            "kills {}, unsynced writes forgotten {forgotten}, lost 0, doubled 0; REST: {}; FIX: accepted {accepted}, resent {resent}; topics: {events} events, each \
             once; orders by source {sources:?}; fills {}, orders of others adopted once {}, torn ends: journal {} ledgers {}, median time to ready {median:?}",
            self.times_to_ready.len(),
            self.log,
            self.journal.fills.len(),
            self.journal.external.len(),
            self.journal.torn_ends,
            self.torn_ledgers,
        );
    }
}

fn cancel_resting(client: &mut HttpClient) {
    let open = client.get_json("/rest/execution/order");
    let open = open.as_array().unwrap();
    let rests = |order: &&Value| RESTING.iter().any(|(security, _)| order["securityId"] == json!(security));
    if open.len() > OPEN_ORDERS_MAX {
        for order in open.iter().filter(rests) {
            client.delete(&format!("/rest/execution/order/{}", order["intId"].as_str().unwrap())).unwrap();
        }
    }
}

/// Nothing waits for a venue any more.
fn all_settled(orders: &Value) -> bool {
    let at_rest = [json!("SUBMITTED"), json!("PARTIALLY_EXECUTED")];
    let settled = |order: &Value| at_rest.contains(&order["status"]) && order["inDoubt"] == json!(false);
    orders.as_array().unwrap().iter().all(settled)
}
