//! Three members under load, over REST at every one of them and over FIX with three addresses, into a venue in a process of its own. Their
//! leaders are killed, paused and burnt, and lines are held or cut: between members and NATS servers, between NATS servers, to the venue and to
//! clients. What clients were told, the journals and the venue's ledger are compared.
//!
//! `RIALTO_CLUSTER_KILLS` (5), `RIALTO_CLUSTER_PAUSES` (2), `RIALTO_CLUSTER_PARTITIONS` (2), `RIALTO_CLUSTER_BURNS` (1: a leader and a
//! NATS server lose everything that they had), `RIALTO_CLUSTER_SECONDS_MAX` (5) for pauses and
//! partitions, `RIALTO_CLUSTER_RATE` (50) for orders a second, `RIALTO_CLUSTER_BETWEEN` (20) for orders that are acknowledged between two
//! faults; `RIALTO_SEED` repeats the order of the faults. All are printed.

mod audit;
mod faults;
mod fix_load;
mod rest_load;
mod upgrade;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use scenarios::http::HttpClient;
use scenarios::nats::NatsServers;
use scenarios::ports::reserve_ports;
use scenarios::proxy::CuttableProxy;
use scenarios::seed::fresh_seed;
use scenarios::server::{RunningServer, ServerLauncher};
use serde_json::Value;

use crate::binance::{LabPlatform, place_when_priced, resting};
use crate::cluster::{FENCED, TestCluster, wait_for_health};
use crate::cluster_fix::with_fix;
use crate::kill::flow::Random;
use audit::EpochLog;
use faults::{Fault, FaultCounts, plan};
use fix_load::FixLoad;
use rest_load::RestLoad;

const MEMBERS: [&str; 3] = ["a", "b", "c"];
/// The stream of the log, on as many NATS servers.
const LOG: &str = "rialto";
/// The venue's own limits are another test's.
pub(crate) const LAB: [&str; 4] = [
    "limits.ordersPer10Seconds=1000000",
    "limits.ordersPerDay=100000000",
    "limits.requestWeightPerMinute=10000000",
    "limits.rawRequestsPer5Minutes=10000000",
];
/// Of all orders, so many come over FIX.
const FIX_PERCENT: u64 = 20;
/// A takeover takes some seconds, and a machine that runs eleven processes takes its time.
const RECOVERY: Duration = Duration::from_secs(90);

pub(crate) struct Series {
    pub(crate) cluster: TestCluster,
    pub(crate) members: BTreeMap<&'static str, RunningServer>,
    /// By which clients over REST reach each member.
    pub(crate) client_lines: BTreeMap<&'static str, CuttableProxy>,
    fix_ports: Vec<u16>,
    /// By which the client over FIX does.
    pub(crate) fix_lines: BTreeMap<&'static str, CuttableProxy>,
    pub(crate) random: Random,
    epochs: EpochLog,
    /// How often another member led.
    takeovers: u64,
    /// By which members are started, where that is not the one of this build.
    program: Option<PathBuf>,
}

impl Series {
    fn begin(seed: u64) -> Self {
        Self::begin_by(seed, None)
    }

    fn begin_by(seed: u64, program: Option<PathBuf>) -> Self {
        let lab = LabPlatform::with("BETA", &LAB, "");
        let cluster = TestCluster::with_servers(&MEMBERS, 1, lab, NatsServers::start_with_lines).with_lines();
        let epochs = EpochLog::new(&cluster.nats);
        let (members, random, fix_ports) = (BTreeMap::new(), Random::new(seed), reserve_ports(MEMBERS.len()));
        let fix_line = |port: &u16| CuttableProxy::to((Ipv4Addr::LOCALHOST, *port).into());
        let fix_lines = MEMBERS.into_iter().zip(fix_ports.iter().map(fix_line)).collect();
        let client_lines = MEMBERS.map(|member| (member, CuttableProxy::to(address_of(&cluster, member)))).into();
        let mut series =
            Self { cluster, members, client_lines, fix_ports, fix_lines, random, epochs, takeovers: 0, program };
        MEMBERS.iter().for_each(|member| series.start(member));
        let leader = series.wait_for_leader();
        let mut client = series.client(leader);
        series.cluster.lab.credit_opening_balances(&mut client);
        place_when_priced(&mut client, &resting("first"));
        series
    }

    fn launcher(&self, member: &str) -> ServerLauncher {
        let place = MEMBERS.iter().position(|known| *known == member).expect("it is a member");
        let launch = with_fix(&self.cluster, member, self.fix_ports[place]);
        let launch =
            launch.set("risk.ordersPerSecond", 100_000).set("risk.rejectBreaker", "").set("risk.selfTrade", "allow");
        self.program.iter().fold(launch, |launch, program| launch.of_program(program))
    }

    /// Starts a member, which follows.
    pub(crate) fn start(&mut self, member: &'static str) {
        let server = self.launcher(member).start();
        self.members.insert(member, server);
    }

    pub(crate) fn client(&self, member: &str) -> HttpClient {
        self.cluster.client(member).with_timeout(Duration::from_secs(10))
    }

    /// Addresses of the members, with where clients over REST reach them.
    fn lines_of_clients(&self) -> Vec<(SocketAddr, SocketAddr)> {
        self.client_lines.iter().map(|(member, line)| (address_of(&self.cluster, member), line.address())).collect()
    }

    /// Ports at which the client over FIX reaches the members.
    fn ports_of_fix_client(&self) -> Vec<u16> {
        MEMBERS.iter().map(|member| self.fix_lines[member].address().port()).collect()
    }

    /// The member that leads with its lease, of the newest epoch; none while there is none.
    pub(crate) fn leader(&self) -> Option<(&'static str, u64)> {
        let status = |member: &&'static str| {
            let body = HttpClient::new(self.members.get(*member)?.address())
                .with_timeout(ASK)
                .get("/health/cluster")
                .ok()?
                .body;
            let status: Value = serde_json::from_str(&body).ok()?;
            let leads = status["role"] == "leader" && status["lease"] == true;
            leads.then(|| (*member, status["epoch"].as_u64().unwrap_or(0)))
        };
        MEMBERS.iter().filter_map(status).max_by_key(|(_, epoch)| *epoch)
    }

    /// Waits until a member leads and trades.
    pub(crate) fn wait_for_leader(&mut self) -> &'static str {
        let (leader, _) = wait_long("a leader", || self.leader());
        wait_long("the venue to be open for orders", || self.is_open(leader).then_some(()));
        leader
    }

    fn is_open(&self, member: &str) -> bool {
        let body = self.client(member).get("/rest/adapter").map(|answer| answer.body).unwrap_or_default();
        serde_json::from_str::<Value>(&body).is_ok_and(|adapters| adapters[0]["openFor"] == "ORDERS")
    }

    /// One fault, and everything that follows from it until all members are back.
    fn round(&mut self, fault: Fault, load: &RestLoad) {
        let before = self.leader().map_or(0, |(_, epoch)| epoch);
        println!("{fault:?} in epoch {before}, {} acknowledged", load.acknowledged());
        fault.strike(self);
        self.revive();
        let leader = self.wait_for_leader();
        let (_, epoch) = self.leader().unwrap_or((leader, before));
        self.takeovers += u64::from(epoch != before);
        for member in MEMBERS {
            wait_for_health(&mut self.client(member), "/health/ready", 200, "");
        }
        self.wait_for_orders(load);
        fault.wait_for_recovery(self);
    }

    fn wait_for_orders(&mut self, load: &RestLoad) {
        let (begun, before) = (Instant::now(), load.acknowledged());
        let reached = before + number("RIALTO_CLUSTER_BETWEEN", 20);
        wait_long("orders to go on", || (load.acknowledged() >= reached).then_some(()));
        println!("  then {} over REST in {:.1} s", load.acknowledged() - before, begun.elapsed().as_secs_f64());
        self.epochs.read_on();
    }

    /// A member that ended is started again; it may have ended because another one leads, and for no other reason.
    fn revive(&mut self) {
        wait_long("the members to know who leads", || self.is_settled().then_some(()));
        let ended: Vec<_> = MEMBERS.into_iter().filter(|member| self.has_ended(member)).collect();
        for member in ended {
            if let Some(server) = self.members.remove(member) {
                let end = server.wait();
                assert!(end.code == Some(FENCED) || end.code.is_none(), "{member}: {end}");
            }
            self.start(member);
        }
    }

    /// Exactly one leads: one that was replaced has ended.
    fn is_settled(&mut self) -> bool {
        let Some((_, newest)) = self.leader() else { return false };
        let running: Vec<_> = MEMBERS.into_iter().filter(|member| !self.has_ended(member)).collect();
        running.into_iter().all(|member| {
            let body = self.client(member).get("/health/cluster").map(|answer| answer.body).unwrap_or_default();
            serde_json::from_str::<Value>(&body).is_ok_and(|status| status["epoch"] == newest)
        })
    }

    fn has_ended(&mut self, member: &str) -> bool {
        self.members.get_mut(member).is_none_or(RunningServer::has_ended)
    }
}

fn address_of(cluster: &TestCluster, member: &str) -> SocketAddr {
    cluster.address(member)["http://".len()..].parse().unwrap()
}

const ASK: Duration = Duration::from_secs(2);

/// Waits for something that a takeover is a part of.
pub(crate) fn wait_long<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    while begun.elapsed() < RECOVERY {
        if let Some(found) = look() {
            return found;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("waited {RECOVERY:?} in vain for {what}")
}

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")),
        Err(_) => default,
    }
}

#[test]
fn a_cluster_whose_leaders_are_killed_paused_and_cut_off_loses_nothing_and_doubles_nothing() {
    let (kills, pauses) = (number("RIALTO_CLUSTER_KILLS", 5), number("RIALTO_CLUSTER_PAUSES", 2));
    let (partitions, burns) = (number("RIALTO_CLUSTER_PARTITIONS", 2), number("RIALTO_CLUSTER_BURNS", 1));
    let (seconds, rate) = (number("RIALTO_CLUSTER_SECONDS_MAX", 5), number("RIALTO_CLUSTER_RATE", 50));
    let seed = number("RIALTO_SEED", fresh_seed());
    println!(
        "cluster: RIALTO_CLUSTER_KILLS={kills} RIALTO_CLUSTER_PAUSES={pauses} RIALTO_CLUSTER_PARTITIONS={partitions} \
         RIALTO_CLUSTER_BURNS={burns} RIALTO_CLUSTER_SECONDS_MAX={seconds} RIALTO_CLUSTER_RATE={rate} RIALTO_CLUSTER_BETWEEN={} RIALTO_SEED={seed}",
        number("RIALTO_CLUSTER_BETWEEN", 20)
    );
    let mut series = Series::begin(seed);
    let rest = RestLoad::begin(&series.lines_of_clients(), rate * (100 - FIX_PERCENT) / 100, seed);
    let fix = FixLoad::begin(&series.ports_of_fix_client(), (rate * FIX_PERCENT / 100).max(1));
    for fault in plan(&mut series.random, FaultCounts { kills, pauses, partitions, burns }, seconds) {
        series.round(fault, &rest);
    }
    audit::finish(series, rest, fix);
}
