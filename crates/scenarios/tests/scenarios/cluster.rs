//! A cluster on one machine: three NATS servers, two members, and a venue in a process of its own. The leader is paused, the follower
//! takes over, and the old leader learns of it.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use scenarios::http::{HttpClient, HttpResponse};
use scenarios::nats::NatsServers;
use scenarios::ports::reserve_ports;
use scenarios::proxy::CuttableProxy;
use scenarios::server::{RunningServer, ServerLauncher, send_signal};
use scenarios::wait::wait_for;
use serde_json::Value;
use tempfile::TempDir;

use crate::binance::{LabPlatform, place_when_priced, resting, wait_for_session};
use crate::metrics;
use crate::test_platform::TraderClient;

/// Exit code of a leader that another one has replaced.
pub(crate) const FENCED: i32 = 6;

pub(crate) struct TestCluster {
    pub(crate) lab: LabPlatform,
    pub(crate) nats: NatsServers,
    ports: BTreeMap<&'static str, u16>,
    folder: TempDir,
    /// The key `standby` of its file.
    standby: u8,
    /// Where members reach the NATS servers, where that is not directly.
    pub(crate) lines: BTreeMap<&'static str, Vec<CuttableProxy>>,
    /// A member that may not lead.
    pub(crate) copy: Option<&'static str>,
}

impl TestCluster {
    pub(crate) fn start(standby: u8) -> Self {
        Self::with_members(&["a", "b"], standby, LabPlatform::new("BETA"))
    }

    pub(crate) fn with_members(members: &[&'static str], standby: u8, lab: LabPlatform) -> Self {
        Self::with_servers(members, standby, lab, NatsServers::start)
    }

    /// As [`Self::with_members`], on servers that are started in this way.
    pub(crate) fn with_servers(
        members: &[&'static str],
        standby: u8,
        lab: LabPlatform,
        start: fn(&Path) -> NatsServers,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nats = start(folder.path());
        let ports = members.iter().copied().zip(reserve_ports(members.len())).collect();
        Self { lab, nats, ports, folder, standby, lines: BTreeMap::new(), copy: None }
    }

    /// Each member has lines of its own to the NATS servers, which a test can cut.
    pub(crate) fn with_lines(mut self) -> Self {
        let lines = || self.nats.servers().iter().map(|server| CuttableProxy::to(server.parse().unwrap())).collect();
        self.lines = self.ports.keys().map(|member| (*member, lines())).collect();
        self
    }

    fn servers_of(&self, member: &str) -> Vec<String> {
        match self.lines.get(member) {
            Some(lines) => lines.iter().map(|line| line.address().to_string()).collect(),
            None => self.nats.servers(),
        }
    }

    pub(crate) fn data(&self, member: &str) -> PathBuf {
        self.folder.path().join(member)
    }

    pub(crate) fn address(&self, member: &str) -> String {
        format!("http://127.0.0.1:{}", self.ports[member])
    }

    pub(crate) fn client(&self, member: &str) -> HttpClient {
        HttpClient::new((Ipv4Addr::LOCALHOST, self.ports[member]).into())
    }

    /// The cluster file of a member.
    pub(crate) fn file(&self, member: &str) -> String {
        self.folder.path().join(format!("{member}.toml")).display().to_string()
    }

    pub(crate) fn launcher(&self, member: &str) -> ServerLauncher {
        let file = PathBuf::from(self.file(member));
        let members: String = self.ports.keys().map(|name| format!("{name} = \"{}\"\n", self.address(name))).collect();
        let text = format!(
            "member = \"{member}\"\nstream = \"rialto\"\nservers = {:?}\nmonitors = {:?}\nstandby = {}\neligible = {}\n\
             [members]\n{members}[timing]\ndigestMillis = 1000\n",
            self.servers_of(member),
            self.nats.monitors(),
            self.standby,
            self.copy != Some(member),
        );
        fs::write(&file, text).unwrap();
        let launch = self.lab.launch.clone().on_folder(&self.data(member)).with_cluster(&file);
        launch.set("http.port", self.ports[member]).set("journal.segmentMegabytes", 1)
    }

    /// A member that begins as a follower, which every member does.
    pub(crate) fn start_member(&self, member: &str) -> RunningServer {
        let server = self.launcher(member).start();
        assert!(server.ready_line().contains("\"role\":\"follower\""), "{}", server.ready_line());
        server
    }

    /// The segments of a member's journal, byte for byte.
    pub(crate) fn segments(&self, member: &str) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.data(member).join("journal")).unwrap().map(Result::unwrap);
        let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
        let segments =
            named.filter(|(name, _)| !["head", "next", "instance"].iter().any(|other| name.starts_with(other)));
        segments.map(|(name, path)| (name, fs::read(path).unwrap_or_default())).collect()
    }

    /// How often the venue has an order, by our id.
    pub(crate) fn orders_at_venue(&self) -> usize {
        self.lab.ledger("orders").len()
    }
}

/// Ids of open orders, each as often as it is there.
pub(crate) fn open_orders(client: &mut HttpClient) -> Vec<String> {
    let orders = client.get_json("/rest/execution/order");
    let mut ids: Vec<_> =
        orders.as_array().unwrap().iter().map(|order| order["intId"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn health(client: &mut HttpClient, path: &str) -> (u16, String) {
    let HttpResponse { status, body, .. } = client.get(path).unwrap();
    (status, body)
}

pub(crate) fn wait_for_health(client: &mut HttpClient, path: &str, status: u16, text: &str) {
    let mut last = (0, String::new());
    let look = || {
        last = health(client, path);
        (last.0 == status && last.1.contains(text)).then_some(())
    };
    wait_for(&format!("{path} to become {status} with {text}"), look);
}

pub(crate) fn place(client: &mut HttpClient, ids: &[&str]) {
    for id in ids {
        place_when_priced(client, &resting(id));
        client.wait_for_status(id, "SUBMITTED");
    }
}

/// What a follower does and does not do.
fn expect_follows(follower: &RunningServer, orders: &[String], leader: &str) {
    let mut client = follower.client();
    wait_for_health(&mut client, "/health/ready", 200, "follower");
    wait_for("the follower to have the orders", || (open_orders(&mut client) == orders).then_some(()));
    let lag = client.get("/rest/execution/order").unwrap();
    assert!(lag.header("rialto-lag-millis").is_some_and(|lag| lag.parse::<u64>().is_ok()), "{lag:?}");
    let (status, text) = health(&mut client, "/health/leader");
    assert!(status == 503 && text.contains(leader), "{text}");
}

/// Every metric of a cluster that the page promises; the lag is the follower's alone.
fn expect_metrics(leader: &RunningServer, follower: &RunningServer) {
    let told = |server: &RunningServer| server.client().get("/metrics").unwrap().body;
    let (of_leader, of_follower) = (told(leader), told(follower));
    let promised = metrics::promises();
    let names: Vec<_> = promised.keys().filter(|name| name.starts_with(metrics::OF_CLUSTER)).collect();
    assert_eq!(names.len(), 22);
    names.iter().for_each(|name| assert!(of_follower.contains(name.as_str()), "{name}"));
    let values = [
        ("rialto_cluster_leader", 1, 0),
        ("rialto_cluster_lease", 1, 0),
        ("rialto_cluster_gate_open", 1, 0),
        ("rialto_cluster_epoch", 2, 2),
    ];
    for (name, of_the_leader, of_the_follower) in values {
        assert!(of_leader.contains(&format!("\n{name} {of_the_leader}\n")), "{name}");
        assert!(of_follower.contains(&format!("\n{name} {of_the_follower}\n")), "{name}");
    }
}

/// What was done from the command line, as the audit has it.
pub(crate) fn done_by_command(client: &mut HttpClient) -> Vec<(String, String)> {
    let audit = client.get_json("/rest/audit?limit=1000");
    let ours = audit.as_array().unwrap().iter().filter(|entry| entry["door"] == "CLI");
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    ours.map(|entry| (text(entry, "action"), text(entry, "outcome"))).collect()
}

fn action(name: &str) -> (String, String) {
    (name.to_owned(), "done".to_owned())
}

/// How a lead began, as its leader shows it, and that orders are acknowledged.
fn expect_lead(client: &mut HttpClient, epoch: u64, cause: &str, before: &str) {
    let overview = wait_for("the gate to be open", || {
        Some(client.get_json("/rest/cluster")).filter(|overview| overview["gate"] == "OPEN")
    });
    let lead = &overview["lead"];
    assert_eq!((&lead["epoch"], &lead["cause"], &lead["before"]), (&epoch.into(), &cause.into(), &before.into()));
    assert!(lead["openAfterMillis"].is_u64() && lead["since"].is_u64(), "{overview}");
}

/// The leader hands over to the follower, and comes back as one. Returns the new leader first.
fn hand_back(cluster: &TestCluster, follower: RunningServer, leader: RunningServer) -> (RunningServer, RunningServer) {
    let (file, data) = (cluster.file("b"), cluster.data("b").display().to_string());
    let status = cluster.launcher("b").run_without_folder(&["ha", "status", &file]);
    assert_eq!(status.code, Some(0), "{status}");
    assert!(status.output.contains("b                leader         2"), "{status}");
    assert!(status.output.contains("a                follower       2"), "{status}");
    let refused =
        cluster.launcher("b").run_without_folder(&["ha", "go-alone", &file, "--data-dir", &data, "--others-are-gone"]);
    assert!(refused.code == Some(2) && refused.log.contains("a answers: stop every member first"), "{refused}");

    expect_metrics(&leader, &follower);
    let handed = cluster.launcher("b").run_without_folder(&["ha", "hand-over", &file, "--data-dir", &data]);
    assert_eq!((handed.code, handed.output.as_str()), (Some(0), "a leads epoch 3"), "{handed}");
    let ended = leader.wait();
    assert_eq!(ended.code, Some(0), "{ended}");
    follower.wait_for_output("\"role\":\"leader\",\"epoch\":3");
    (follower, cluster.start_member("b"))
}

/// A member whose cluster is lost goes on alone, with everything that was acknowledged.
fn expect_leaves(cluster: &TestCluster, member: &str) {
    let (file, data) = (cluster.file(member), cluster.data(member).display().to_string());
    let launcher = cluster.launcher(member);
    let left = launcher.run_without_folder(&["ha", "go-alone", &file, "--data-dir", &data, "--others-are-gone"]);
    assert_eq!(left.code, Some(0), "{left}");
    let alone = cluster.lab.launch.clone().on_folder(&cluster.data(member)).start();
    assert_eq!(open_orders(&mut alone.client()).len(), 5);
    assert_eq!(done_by_command(&mut alone.client()), [action("ha hand-over"), action("ha go-alone")]);
    assert!(alone.client().get("/health/cluster").unwrap().body.contains("\"role\":\"alone\""));
    alone.stop();
}

#[test]
fn a_follower_takes_over_from_a_paused_leader_which_is_fenced_and_comes_back_as_a_follower() {
    // One of two goes on without the other.
    let mut cluster = TestCluster::start(0);
    let first = cluster.start_member("a");
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    wait_for_health(&mut client, "/health/leader", 200, "epoch 1");
    cluster.lab.credit_opening_balances(&mut client);
    place(&mut client, &["one", "two"]);

    let second = cluster.start_member("b");
    let acknowledged = open_orders(&mut client);
    assert_eq!(acknowledged, ["one", "two"]);
    expect_follows(&second, &acknowledged, &cluster.address("a"));
    place(&mut client, &["three"]);

    // Neither its sockets nor its files say so, but it does nothing any more.
    send_signal(first.pid(), "STOP");
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    let mut client = second.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    expect_lead(&mut client, 2, "FAIL_OVER", "a");
    assert_eq!(open_orders(&mut client), ["one", "three", "two"], "what was acknowledged is there, once");
    place(&mut client, &["four"]);
    assert_eq!(cluster.orders_at_venue(), 4, "and the venue has each once");

    send_signal(first.pid(), "CONT");
    let ended = first.wait();
    assert_eq!(ended.code, Some(FENCED), "{ended}");
    assert!(ended.log.contains("another server of the cluster leads"), "{ended}");
    assert_eq!((open_orders(&mut client).len(), cluster.orders_at_venue()), (4, 4), "it sent nothing when it woke up");

    let first = cluster.start_member("a");
    expect_follows(&first, &open_orders(&mut client), &cluster.address("b"));
    let equal = || (cluster.segments("a") == cluster.segments("b")).then_some(());
    wait_for("the journals to be equal", equal);

    let (first, second) = hand_back(&cluster, first, second);
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    expect_lead(&mut client, 3, "HAND_OVER", "b");
    assert_eq!(done_by_command(&mut client), [action("ha hand-over")]);
    place(&mut client, &["five"]);
    assert_eq!((open_orders(&mut client).len(), cluster.orders_at_venue()), (5, 5));
    // What a follower has not read when the log is lost, it does not have when it goes on alone.
    expect_follows(&second, &open_orders(&mut client), &cluster.address("a"));

    // Without a majority nothing is acknowledged, everybody says why, and a stop does not hang.
    (0..2).for_each(|number| cluster.nats.stop(number));
    wait_for_health(&mut client, "/health/ready", 503, "no majority has the last frame");
    wait_for_health(&mut second.client(), "/health/ready", 503, "the log does not answer");
    send_signal(first.pid(), "TERM");
    let ended = first.wait();
    assert_eq!(ended.code, Some(1), "{ended}");
    assert!(ended.log.contains("stopped before a majority had the last entry"), "{ended}");
    second.stop();
    expect_leaves(&cluster, "b");
    cluster.lab.stop();
}

#[test]
fn a_venue_that_would_end_with_its_leader_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cluster.toml");
    let launch = ServerLauncher::in_folder(&folder.path().join("data")).with_cluster(&file);
    let refusal = |launch: &ServerLauncher| {
        let ended = launch.expect_refused();
        assert_eq!(ended.code, Some(2), "{ended}");
        ended.log
    };
    fs::write(&file, "member = \"a\"\n").unwrap();
    assert!(refusal(&launch).contains("missing field"), "the file is read first");
    let sample = launch.run_without_folder(&["sample-cluster"]);
    fs::write(&file, sample.output).unwrap();
    let log = refusal(&launch);
    assert!(log.contains("venues.ALPHA: its venue would live in the leader's process"), "{log}");
    assert!(!Path::new(launch.folder()).exists(), "nothing was begun");
}
