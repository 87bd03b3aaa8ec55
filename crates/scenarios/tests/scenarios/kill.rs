//! kill -9 under order flow. Several clients trade over every interface and log every answer; the server is
//! killed in the middle of it, again and again. After each kill the clients' logs, the journal and the venues' ledgers
//! are compared.
//!
//! `RIALTO_KILLS` says how often (20), `RIALTO_SEED` repeats a run; both are printed.

mod flow;
mod log;
mod audit;

use std::time::Duration;

use scenarios::http::HttpClient;
use scenarios::server::RunningServer;
use scenarios::wait::wait_for;
use serde_json::{Value, json};

use crate::evidence::{JournalEvidence, VenueLedgers};
use crate::test_platform::{TestPlatform, TraderClient};
use flow::{Flow, Random};
use log::ClientLog;

const KILLS: u64 = 20;
const CLIENTS: u64 = 8;
/// A kill comes after so many acknowledgements, at the least and at the most.
const ACKNOWLEDGED: (u64, u64) = (20, 400);

#[test]
fn a_server_that_is_killed_again_and_again_loses_nothing_and_doubles_nothing() {
    let (kills, seed) = (number("RIALTO_KILLS", KILLS), number("RIALTO_SEED", u64::from(std::process::id())));
    println!("kill test: RIALTO_KILLS={kills} RIALTO_SEED={seed}");
    // Small files and few inputs to a snapshot, so that kills also meet files that roll and snapshots in the making.
    let desk = TestPlatform::new()
        .set("journal.segmentMegabytes", 1)
        .set("snapshot.everyInputs", 300)
        .set("risk.ordersPerSecond", 100_000)
        // Many clients of one account buy and sell at the same time.
        .set("risk.selfTrade", "allow");
    let mut story = Story::new(seed);
    let mut server = desk.start();
    for round in 0..kills {
        server = story.round(&desk, server, round);
    }
    story.finish(&desk, server);
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
    journal: JournalEvidence,
    torn_ledgers: usize,
    times_to_ready: Vec<Duration>,
}

impl Story {
    fn new(seed: u64) -> Self {
        let (log, journal) = (ClientLog::default(), JournalEvidence::default());
        Self { random: Random::new(seed), log, journal, torn_ledgers: 0, times_to_ready: vec![] }
    }

    /// Trades, kills, compares, starts again, and asks after everything that is not known.
    fn round(&mut self, desk: &TestPlatform, server: RunningServer, round: u64) -> RunningServer {
        let flow = Flow::begin(&server, CLIENTS, round, &mut self.random);
        flow.wait_for_acknowledged(self.random.between(ACKNOWLEDGED));
        server.kill();
        let heard = flow.end();
        self.log.absorb(heard.clone());
        self.compare(desk);
        let server = desk.start();
        self.times_to_ready.push(server.time_to_ready);
        self.ask_after(&mut server.client(), &heard);
        server
    }

    fn compare(&mut self, server: &TestPlatform) {
        self.journal.read_on(server.data());
        let ledgers = VenueLedgers::read(server.data());
        self.torn_ledgers += ledgers.torn_ends;
        audit::after_a_kill(&self.log, &self.journal, &ledgers);
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
        let mut settled = || all_settled(&client.get_json("/rest/execution/order")).then_some(());
        wait_for("every order to be settled", &mut settled);
        let shown = client.get_json("/rest/position");
        server.stop();
        self.journal.read_on(desk.data());
        let ledgers = VenueLedgers::read(desk.data());
        audit::at_the_end(&self.log, &self.journal, &ledgers, &shown);
        audit::state_is_that_of_a_full_replay(desk.data(), &self.journal);
        self.report();
    }

    fn report(mut self) {
        self.times_to_ready.sort();
        let median = self.times_to_ready[self.times_to_ready.len() / 2];
        println!(
            "kills {}, {}, fills {}, torn ends: journal {} ledgers {}, median time to ready {median:?}",
            self.times_to_ready.len(),
            self.log,
            self.journal.fills.len(),
            self.journal.torn_ends,
            self.torn_ledgers,
        );
    }
}

/// Nothing waits for a venue any more.
fn all_settled(orders: &Value) -> bool {
    let at_rest = [json!("SUBMITTED"), json!("PARTIALLY_EXECUTED")];
    let settled = |order: &Value| at_rest.contains(&order["status"]) && order["inDoubt"] == json!(false);
    orders.as_array().unwrap().iter().all(settled)
}
