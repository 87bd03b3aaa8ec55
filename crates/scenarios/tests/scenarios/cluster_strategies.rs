//! A strategy in a process of its own, over NATS or the broker, trades while the lead changes: its leader is paused, killed, and hands over. It
//! goes on with its run at the member that leads then.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};

use scenarios::binary;
use scenarios::http::HttpClient;
use scenarios::server::{RunningServer, ServerLauncher, send_signal};
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::binance::{LabPlatform, wait_for_session};
use crate::cluster::{FENCED, TestCluster, open_orders, wait_for_health};
use crate::test_platform::TraderClient;

const MAKER: &str = "strategies.instances=MAKER:market-making security=BTC.USDT quantity=0.001 maxPosition=0.01";

/// Dropping it kills it.
struct StrategyProcess(Child);

impl Drop for StrategyProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl StrategyProcess {
    fn over_nats(cluster: &TestCluster) -> Self {
        Self::start(cluster, &["--set", &format!("strategies.nats={}", nats_file(cluster))])
    }

    fn over_the_broker(cluster: &TestCluster) -> Self {
        Self::start(cluster, &["--server", &["a", "b"].map(|member| cluster.address(member)).join(",")])
    }

    fn start(cluster: &TestCluster, way: &[&str]) -> Self {
        let log = fs::File::create(log_file(cluster)).unwrap();
        let mut command = Command::new(binary::rialto());
        command.args(["strategy", "run", "MAKER", "--set", MAKER]).args(way);
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    /// It leaves in order; it is the process that was started.
    fn leave(mut self) -> Option<i32> {
        assert_eq!(self.0.try_wait().unwrap(), None, "it runs");
        send_signal(self.0.id(), "TERM");
        self.0.wait().unwrap().code()
    }
}

fn nats_file(cluster: &TestCluster) -> String {
    let file = cluster.data("strategies").with_extension("toml");
    fs::write(&file, format!("servers = {:?}\n", cluster.nats.servers())).unwrap();
    file.display().to_string()
}

fn log_file(cluster: &TestCluster) -> std::path::PathBuf {
    cluster.data("strategies").with_extension("log")
}

fn launcher(cluster: &TestCluster, member: &str) -> ServerLauncher {
    cluster.launcher(member).set("strategies.distributed", true)
}

fn with_nats(cluster: &TestCluster, member: &str) -> ServerLauncher {
    launcher(cluster, member).set("strategies.nats", nats_file(cluster))
}

/// Ids of the strategy's open orders.
fn quotes(client: &mut HttpClient) -> Vec<String> {
    // A strategy that the server does not know yet has none.
    let answer = client.get("/rest/execution/order?strategy=MAKER").unwrap();
    let orders: Value = serde_json::from_str(&answer.body).unwrap();
    let id = |order: &Value| order["intId"].as_str().unwrap().to_owned();
    let is_there = |order: &&Value| order["status"] == "SUBMITTED";
    orders.as_array().map(|orders| orders.iter().filter(is_there).map(id).collect()).unwrap_or_default()
}

fn phase(client: &mut HttpClient) -> Value {
    let strategies = client.get_json("/rest/strategy");
    let maker = strategies.as_array().unwrap().iter().find(|strategy| strategy["name"] == "MAKER");
    maker.map_or(Value::Null, |maker| maker["phase"].clone())
}

/// Ids of all orders that it has ever placed.
fn orders_ever(client: &mut HttpClient) -> BTreeSet<String> {
    let orders = client.get_json("/rest/history/order?strategy=MAKER&limit=1000");
    let ids = orders.as_array().unwrap().iter().map(|order| order["intId"].as_str().unwrap().to_owned());
    let (ids, count) = (ids.collect::<BTreeSet<_>>(), orders.as_array().unwrap().len());
    assert_eq!(ids.len(), count, "none of them twice");
    ids
}

/// The run of an order: all but its number.
fn run_of(id: &str) -> &str {
    id.rsplit_once('-').unwrap().0
}

/// It hears that a person has cancelled an order of its, and quotes again: events and commands pass, and it is the same run.
fn expect_goes_on(client: &mut HttpClient, run: &str) {
    wait_for_session(client, "SUBSCRIBED");
    let before = orders_ever(client);
    // Others of its orders may be filled meanwhile.
    wait_for("a quote to be cancelled", || {
        let quote = quotes(client).pop()?;
        (client.delete(&format!("/rest/execution/order/{quote}")).unwrap().status == 200).then_some(())
    });
    wait_for("a new quote", || (orders_ever(client).len() > before.len()).then_some(()));
    let runs: BTreeSet<_> = orders_ever(client).iter().map(|id| run_of(id).to_owned()).collect();
    assert_eq!((runs, phase(client)), (BTreeSet::from([run.to_owned()]), "RUN".into()));
}

fn leads(member: &RunningServer, epoch: u64) -> HttpClient {
    member.wait_for_output(&format!("\"role\":\"leader\",\"epoch\":{epoch}"));
    member.client()
}

fn follower(launcher: &ServerLauncher) -> RunningServer {
    let server = launcher.start();
    wait_for_health(&mut server.client(), "/health/ready", 200, "follower");
    server
}

fn hand_over(cluster: &TestCluster, from: RunningServer) {
    let (file, data) = (cluster.file("a"), cluster.data("a").display().to_string());
    let handed = cluster.launcher("a").run_without_folder(&["ha", "hand-over", &file, "--data-dir", &data]);
    assert_eq!((handed.code, handed.output.as_str()), (Some(0), "b leads epoch 4"), "{handed}");
    assert_eq!(from.wait().code, Some(0));
}

fn first_lead(cluster: &TestCluster, member: &RunningServer) -> HttpClient {
    let mut client = leads(member, 1);
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    client
}

fn first_run(client: &mut HttpClient) -> String {
    let both = wait_for("both quotes", || Some(quotes(client)).filter(|quotes| quotes.len() == 2));
    run_of(&both[0]).to_owned()
}

/// A leader that is paused closes no connection: the process hears no heart-beats.
#[test]
fn a_strategy_process_over_the_broker_finds_the_member_that_leads_and_goes_on_with_its_run() {
    let lab = LabPlatform::with("BETA", &["activity=calm"], "");
    let cluster = TestCluster::with_members(&["a", "b"], 0, lab);
    let first = launcher(&cluster, "a").start();
    let mut client = first_lead(&cluster, &first);
    let process = StrategyProcess::over_the_broker(&cluster);
    let run = &first_run(&mut client);
    let second = follower(&launcher(&cluster, "b"));
    send_signal(first.pid(), "STOP");
    let mut client = leads(&second, 2);
    expect_goes_on(&mut client, run);
    send_signal(first.pid(), "CONT");
    assert_eq!(first.wait().code, Some(FENCED));
    expect_goes_on(&mut client, run);
    assert_eq!(process.leave(), Some(0), "{}", fs::read_to_string(log_file(&cluster)).unwrap());
    wait_for("the cancel of its orders", || open_orders(&mut client).is_empty().then_some(()));
    second.stop();
    cluster.lab.stop();
}

#[test]
fn a_strategy_process_trades_on_in_the_same_run_when_its_leader_is_paused_killed_or_hands_over() {
    let lab = LabPlatform::with("BETA", &["activity=calm"], "");
    let cluster = TestCluster::with_members(&["a", "b"], 0, lab);
    let first = with_nats(&cluster, "a").start();
    let mut client = first_lead(&cluster, &first);
    let process = StrategyProcess::over_nats(&cluster);
    let run = &first_run(&mut client);
    let second = follower(&with_nats(&cluster, "b"));
    expect_goes_on(&mut client, run);

    send_signal(first.pid(), "STOP");
    expect_goes_on(&mut leads(&second, 2), run);
    // One that wakes up tells the process nothing that would end it.
    send_signal(first.pid(), "CONT");
    assert_eq!(first.wait().code, Some(FENCED));
    expect_goes_on(&mut second.client(), run);

    let first = follower(&with_nats(&cluster, "a"));
    second.kill();
    expect_goes_on(&mut leads(&first, 3), run);

    let second = follower(&with_nats(&cluster, "b"));
    hand_over(&cluster, first);
    let mut client = leads(&second, 4);
    expect_goes_on(&mut client, run);

    let log = log_file(&cluster);
    assert_eq!(process.leave(), Some(0), "{}", fs::read_to_string(log).unwrap());
    wait_for("the end of its run", || (phase(&mut client) == "EXIT").then_some(()));
    // What it cancels when it leaves are the orders that it knows of: no other one is open.
    wait_for("the cancel of its orders", || open_orders(&mut client).is_empty().then_some(()));
    cluster.lab.expect_equal_books(&mut client);
    second.stop();
    cluster.lab.stop();
}
