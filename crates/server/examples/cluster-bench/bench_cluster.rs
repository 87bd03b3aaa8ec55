//! Members at a venue in a process of its own, and a server without a cluster at the same venue, with another account there.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::Decimal;
use scenarios::http::HttpClient;
use scenarios::lab::{LabProcess, VenueAddresses, launcher_at_binance, write_credentials, write_reference};
use scenarios::nats::NatsServers;
use scenarios::ports::reserve_ports;
use scenarios::server::{RunningServer, ServerLauncher};
use serde_json::{Value, json};

use crate::Outcome;

/// The venue's limits are not what is measured.
const LAB: [&str; 5] = [
    "activity=off",
    "limits.ordersPer10Seconds=1000000",
    "limits.ordersPerDay=100000000",
    "limits.requestWeightPerMinute=10000000",
    "limits.rawRequestsPer5Minutes=10000000",
];
/// Of the members.
const NAMES: [&str; 3] = ["a", "b", "c"];
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(5);

/// Dropping it kills all its processes.
pub(crate) struct BenchCluster {
    lab: LabProcess,
    /// The one that leads first.
    members: Vec<Option<RunningServer>>,
    launchers: Vec<ServerLauncher>,
    addresses: Vec<SocketAddr>,
    leader: usize,
    alone: RunningServer,
}

/// It never trades and is gone at once.
pub(crate) fn order_body() -> String {
    json!({ "securityId": 1, "side": "BUY", "quantity": "0.001", "limit": "20000", "tif": "IOC" }).to_string()
}

/// From the kill of a leader on.
pub(crate) struct Takeover {
    /// Until another member has written its epoch.
    pub(crate) led: Duration,
    /// From the last entry of the one that was killed, as its successor has read it, until that one's interfaces are open. So the leader
    /// acknowledged nothing for so long.
    pub(crate) shut: Duration,
    /// Until it acknowledges an order. Decision 0059: its venue is logged on to some seconds later.
    pub(crate) ordered: Duration,
}

impl BenchCluster {
    pub(crate) fn start(folder: &Path, nats: &NatsServers, standby: usize, members: usize) -> Outcome<Self> {
        fs::create_dir(folder)?;
        let lab = LabProcess::start(&folder.join("lab"), &LAB);
        write_reference(&folder.join("reference"));
        let addresses: Vec<_> =
            reserve_ports(members).into_iter().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).collect();
        write_credentials(&folder.join("key.toml"), &lab, "BETA");
        let launcher = |place: usize| -> Outcome<ServerLauncher> {
            let file = cluster_file(folder, place, (&addresses, standby), nats)?;
            let launch = launcher(folder, &lab).on_folder(&folder.join(NAMES[place])).with_cluster(&file);
            Ok(launch.set("http.port", addresses[place].port()))
        };
        let launchers = (0..members).map(launcher).collect::<Outcome<Vec<_>>>()?;
        let members = launchers.iter().map(|launcher| Some(launcher.start())).collect();
        let key = folder.join("alone.toml");
        write_credentials(&key, &lab, "ALPHA");
        let alone = launcher_alone(folder, &lab, &key).start();
        let mut cluster = Self { lab, members, launchers, addresses, leader: 0, alone };
        cluster.leader = cluster.wait_for_leader()?;
        cluster.open_account(cluster.leader(), "BETA")?;
        cluster.open_account(cluster.alone(), "ALPHA")?;
        cluster.wait_until_followed()?;
        Ok(cluster)
    }

    pub(crate) fn leader(&self) -> SocketAddr {
        self.addresses[self.leader]
    }

    pub(crate) fn alone(&self) -> SocketAddr {
        self.alone.address()
    }

    pub(crate) fn place(&self, client: &mut HttpClient) -> Outcome<()> {
        let answer = client.post("/rest/execution/order/limit", &order_body()).map_err(|error| format!("{error:?}"))?;
        if answer.status == 200 { Ok(()) } else { Err(format!("not taken: {answer:?}").into()) }
    }

    /// How long until another member leads, and until it acknowledges an order. The one that was killed comes back as a follower.
    pub(crate) fn kill_leader(&mut self) -> Outcome<Takeover> {
        // The lead may have moved since: a NATS server was killed too.
        self.leader = self.wait_for_leader()?;
        self.restart_fenced()?;
        let mut client = HttpClient::new(self.leader());
        until("an order of the leader", || self.place(&mut client).ok())?;
        let killed = self.leader;
        self.members[killed].take().ok_or("it runs")?.kill();
        let begun = Instant::now();
        self.leader = self.wait_for_leader()?;
        let led = begun.elapsed();
        let mut client = HttpClient::new(self.leader());
        until("an order of the new leader", || self.place(&mut client).ok())?;
        let ordered = begun.elapsed();
        let shut = until("the new leader to tell how its lead began", || open_after(&mut client))?;
        self.members[killed] = Some(self.launchers[killed].start());
        Ok(Takeover { led, shut, ordered })
    }

    /// A leader that lost the lead while a NATS server was away has ended; it comes back as a follower.
    fn restart_fenced(&mut self) -> Outcome<()> {
        for (member, launcher) in self.members.iter_mut().zip(&self.launchers) {
            if member.as_mut().is_none_or(RunningServer::has_ended) {
                *member = Some(launcher.start());
            }
        }
        self.wait_until_followed()
    }

    /// The other members have read everything.
    pub(crate) fn wait_until_followed(&self) -> Outcome<()> {
        for address in self.addresses.iter().filter(|address| **address != self.leader()) {
            let mut client = HttpClient::new(*address);
            until("a follower", || (client.get("/health/ready").ok()?.status == 200).then_some(()))?;
        }
        Ok(())
    }

    fn wait_for_leader(&self) -> Outcome<usize> {
        until("a leader", || (0..self.addresses.len()).find(|place| self.leads(*place)))
    }

    fn leads(&self, place: usize) -> bool {
        HttpClient::new(self.addresses[place]).get("/health/leader").is_ok_and(|answer| answer.status == 200)
    }

    /// The account begins with what the venue holds; prices of it come a moment after the log-on.
    fn open_account(&self, server: SocketAddr, account: &str) -> Outcome<()> {
        let mut client = HttpClient::new(server).with_timeout(Duration::from_secs(10));
        until("the venue to be open for orders", || is_open(&mut client).then_some(()))?;
        let (_, ledger) = self.lab.get("admin", "/ledger");
        for row in ledger["balances"].as_array().into_iter().flatten().filter(|row| row["account"] == account) {
            let total = amount(&row["free"])? + amount(&row["locked"])?;
            let credit =
                json!({ "type": "CREDIT", "price": total.to_string(), "currency": row["asset"], "accountId": 1 });
            let booked = client.post("/rest/transaction", &credit.to_string()).map_err(|error| format!("{error:?}"))?;
            if booked.status != 200 {
                return Err(format!("not booked: {booked:?}").into());
            }
        }
        until("the first order", || self.place(&mut client).ok())
    }
}

fn open_after(client: &mut HttpClient) -> Option<Duration> {
    let overview: Value = serde_json::from_str(&client.get("/rest/cluster").ok()?.body).ok()?;
    overview["lead"]["openAfterMillis"].as_u64().map(Duration::from_millis)
}

fn is_open(client: &mut HttpClient) -> bool {
    let body = client.get("/rest/adapter").map(|answer| answer.body).unwrap_or_default();
    serde_json::from_str::<Value>(&body).is_ok_and(|adapters| adapters[0]["openFor"] == "ORDERS")
}

fn amount(value: &Value) -> Outcome<Decimal> {
    Ok(value.as_str().ok_or("an amount is text")?.parse::<Decimal>()?)
}

fn launcher(folder: &Path, lab: &LabProcess) -> ServerLauncher {
    let launch = launcher_at_binance(folder, &VenueAddresses::of(lab));
    let launch = launch.set("risk.ordersPerSecond", 1_000_000).set("risk.rejectBreaker", "");
    let launch = launch.set("http.requestsPerSecond", 1_000_000);
    match std::env::var("RECEIVE_WINDOW_MILLIS") {
        Ok(window) => launch.set("venues.LAB.receiveWindowMillis", window),
        Err(_) => launch,
    }
}

fn launcher_alone(folder: &Path, lab: &LabProcess, key: &Path) -> ServerLauncher {
    launcher(folder, lab).on_folder(&folder.join("alone")).set("venues.LAB.credentials", key.display())
}

fn cluster_file(
    folder: &Path,
    place: usize,
    (addresses, standby): (&[SocketAddr], usize),
    nats: &NatsServers,
) -> Outcome<PathBuf> {
    let member = NAMES[place];
    let file = folder.join(format!("{member}.toml"));
    let members: Vec<_> =
        NAMES.iter().zip(addresses).map(|(name, address)| format!("{name} = \"http://{address}\"\n")).collect();
    let text = format!(
        "member = \"{member}\"\nstream = \"members-{}-standby-{standby}\"\nservers = {:?}\nmonitors = {:?}\nstandby = {standby}\n\
         [members]\n{}",
        addresses.len(),
        nats.servers(),
        nats.monitors(),
        members.concat(),
    );
    fs::write(&file, text)?;
    Ok(file)
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Outcome<T> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(found) = look() {
            return Ok(found);
        }
        std::thread::sleep(PAUSE);
    }
    Err(format!("waited {PATIENCE:?} in vain for {what}").into())
}
