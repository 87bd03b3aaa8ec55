//! A strategy in a process of its own, connected over NATS: the process stays, and begins a new run at the member that takes over.

use std::fs;
use std::process::{Child, Command, Stdio};

use scenarios::binary;
use scenarios::http::HttpClient;
use scenarios::server::{ServerLauncher, send_signal};
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::binance::{LabPlatform, wait_for_session};
use crate::cluster::{FENCED, TestCluster, wait_for_health};
use crate::test_platform::TraderClient;

const MAKER: &str = "strategies.instances=MAKER:market-making security=BTC.USDT quantity=0.001 maxPosition=0.01 distance=100000 patience=100000";

/// Dropping it kills it.
struct StrategyProcess(Child);

impl Drop for StrategyProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl StrategyProcess {
    fn start(cluster: &TestCluster) -> Self {
        let nats = format!("strategies.nats={}", nats_file(cluster));
        let log = fs::File::create(log_file(cluster)).unwrap();
        let mut command = Command::new(binary::rialto());
        command.args(["strategy", "run", "MAKER", "--set", &nats, "--set", MAKER]);
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
    cluster.launcher(member).set("strategies.distributed", true).set("strategies.nats", nats_file(cluster))
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

#[test]
fn a_strategy_process_begins_a_new_run_at_the_member_that_takes_over() {
    // It quotes by every change of the book.
    let lab = LabPlatform::with("BETA", &["activity=calm"], "");
    let cluster = TestCluster::with_members(&["a", "b"], 0, lab);
    let first = launcher(&cluster, "a").start();
    first.wait_for_output("\"role\":\"leader\",\"epoch\":1");
    let mut client = first.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    cluster.lab.credit_opening_balances(&mut client);
    let process = StrategyProcess::start(&cluster);
    wait_for("both quotes", || (quotes(&mut client).len() == 2).then_some(()));
    let before = quotes(&mut client);
    let second = launcher(&cluster, "b").start();
    wait_for_health(&mut second.client(), "/health/ready", 200, "follower");

    send_signal(first.pid(), "STOP");
    second.wait_for_output("\"role\":\"leader\",\"epoch\":2");
    let mut client = second.client();
    wait_for_session(&mut client, "SUBSCRIBED");
    let are_new = |quotes: &[String], old: &[String]| quotes.len() == 2 && quotes.iter().all(|id| !old.contains(id));
    // Those of the run before are cancelled at its start, and new ones are placed.
    wait_for("its orders at the new leader", || are_new(&quotes(&mut client), &before).then_some(()));
    assert_eq!(phase(&mut client), "RUN");
    // It hears that a person has cancelled its order, and quotes again: events and commands pass.
    let cancelled = quotes(&mut client).remove(0);
    assert_eq!(client.delete(&format!("/rest/execution/order/{cancelled}")).unwrap().status, 200);
    wait_for("a new quote", || {
        let quotes = quotes(&mut client);
        (quotes.len() == 2 && !quotes.contains(&cancelled)).then_some(())
    });

    let log = log_file(&cluster);
    assert_eq!(process.leave(), Some(0), "{}", fs::read_to_string(log).unwrap());
    wait_for("the end of its run", || (phase(&mut client) == "EXIT").then_some(()));
    wait_for("the cancel of its orders", || quotes(&mut client).is_empty().then_some(()));
    send_signal(first.pid(), "CONT");
    assert_eq!(first.wait().code, Some(FENCED));
    second.stop();
    cluster.lab.stop();
}
