//! NATS servers on reserved ports of this machine and in a folder of the test: three with JetStream, or one without. Each is stopped in order.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::http::HttpClient;
use crate::ports::reserve_ports;
use crate::proxy::CuttableProxy;
use crate::wait::wait_for;

/// The environment variable that names nats-server; `make setup` installs it.
const PROGRAM: &str = "NATS_SERVER_BIN";
const SERVERS: usize = 3;

pub struct NatsServers {
    servers: Vec<ClusteredServer>,
    folder: PathBuf,
    /// From each server to each other, where their routes go through proxies.
    routes: BTreeMap<(usize, usize), CuttableProxy>,
}

struct ClusteredServer {
    client_port: u16,
    monitor_port: u16,
    process: Option<Child>,
}

impl NatsServers {
    /// With every write synced, and room for the largest entry. A client learns of no address but those that it was given, so that it
    /// goes through the proxies of a test.
    ///
    /// # Panics
    /// Where the program is not named or cannot be started.
    pub fn start(folder: &Path) -> Self {
        Self::start_on(folder, &reserve_ports(3 * SERVERS), BTreeMap::new())
    }

    /// As [`Self::start`], but the routes of the servers to each other go through proxies, which a test can cut.
    ///
    /// # Panics
    /// As [`Self::start`].
    pub fn start_with_lines(folder: &Path) -> Self {
        let ports = reserve_ports(3 * SERVERS);
        let line =
            |(from, to): (usize, usize)| ((from, to), CuttableProxy::to((Ipv4Addr::LOCALHOST, ports[to]).into()));
        let pairs =
            (0..SERVERS).flat_map(|from| (0..SERVERS).map(move |to| (from, to))).filter(|(from, to)| from != to);
        let routes = pairs.map(line).collect();
        Self::start_on(folder, &ports, routes)
    }

    fn start_on(folder: &Path, ports: &[u16], routes: BTreeMap<(usize, usize), CuttableProxy>) -> Self {
        let (route_ports, others) = ports.split_at(SERVERS);
        let start = |number: usize| {
            let (client_port, monitor_port) = (others[2 * number], others[2 * number + 1]);
            let to_others = match routes.is_empty() {
                true => route_ports.to_vec(),
                false => lines_from(&routes, number).map(|line| line.address().port()).collect(),
            };
            let cluster = cluster_block(route_ports[number], &to_others, !routes.is_empty());
            let text = configuration(folder, number, (client_port, monitor_port)) + &cluster;
            fs::write(folder.join(format!("n{number}.conf")), text).expect("a file");
            ClusteredServer { client_port, monitor_port, process: Some(spawn(folder, number)) }
        };
        let servers = (0..SERVERS).map(start).collect();
        let servers = Self { servers, folder: folder.to_owned(), routes };
        servers.wait_formed();
        servers
    }

    /// The routes between one server and the others, in both directions; none where they go through no proxies.
    pub fn lines_of(&self, number: usize) -> impl Iterator<Item = &CuttableProxy> {
        self.routes.iter().filter(move |((from, to), _)| *from == number || *to == number).map(|(_, line)| line)
    }

    /// How many routes to the others a server has, by its monitoring.
    pub fn routes(&self, number: usize) -> Option<u64> {
        let page: Value = serde_json::from_str(&monitor(self.servers[number].monitor_port, "/routez")?).ok()?;
        page["num_routes"].as_u64()
    }

    /// Waits until the servers have found each other and chosen who places streams.
    fn wait_formed(&self) {
        let is_formed = |server: &ClusteredServer| {
            let answer = HttpClient::new((Ipv4Addr::LOCALHOST, server.monitor_port).into()).get("/jsz").ok()?;
            answer.body.contains("\"leader\": \"n").then_some(())
        };
        for server in &self.servers {
            wait_for("the NATS servers to form a cluster", || is_formed(server));
        }
    }

    /// Addresses for clients.
    pub fn servers(&self) -> Vec<String> {
        self.servers.iter().map(|server| format!("127.0.0.1:{}", server.client_port)).collect()
    }

    /// Addresses that tell how a server is.
    pub fn monitors(&self) -> Vec<String> {
        self.servers.iter().map(|server| format!("127.0.0.1:{}", server.monitor_port)).collect()
    }

    /// Ends one without a word, and deletes everything that it had.
    ///
    /// # Panics
    /// Where it cannot be ended.
    pub fn burn(&mut self, number: usize) {
        if let Some(mut process) = self.servers[number].process.take() {
            process.kill().expect("it runs");
            process.wait().expect("it ends");
        }
        fs::remove_dir_all(data_folder(&self.folder, number)).expect("it had a folder");
    }

    /// From its next start on it has the default of `sync_interval`: an acknowledgement does not mean its disk.
    ///
    /// # Panics
    /// Where its configuration cannot be written.
    pub fn forget_sync(&self, number: usize) {
        let file = self.folder.join(format!("n{number}.conf"));
        let before = fs::read_to_string(&file).expect("its configuration");
        fs::write(&file, before.replace(", sync_interval: always", "")).expect("its configuration");
    }

    /// Starts one that was stopped or burnt.
    pub fn start_again(&mut self, number: usize) {
        self.servers[number].process = Some(spawn(&self.folder, number));
    }

    /// The last entry that a server itself has of a stream, by its monitoring; none while it does not have the stream.
    pub fn last_entry(&self, number: usize, stream: &str) -> Option<u64> {
        let body = monitor(self.servers[number].monitor_port, "/jsz?accounts=true&streams=true")?;
        let page: Value = serde_json::from_str(&body).ok()?;
        let streams =
            page["account_details"].as_array()?.iter().filter_map(|account| account["stream_detail"].as_array());
        let found = streams.flatten().find(|held| held["name"] == stream)?;
        found["state"]["last_seq"].as_u64()
    }

    /// Whether a server says that everything that it holds is up to date.
    pub fn is_up_to_date(&self, number: usize) -> bool {
        monitor(self.servers[number].monitor_port, "/healthz").is_some()
    }

    /// The process of one that runs.
    ///
    /// # Panics
    /// Where it does not.
    pub fn pid(&self, number: usize) -> u32 {
        self.servers[number].process.as_ref().expect("it runs").id()
    }

    /// Stops one in order.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn stop(&mut self, number: usize) {
        if let Some(mut process) = self.servers[number].process.take() {
            crate::server::send_signal(process.id(), "TERM");
            process.wait().expect("it ends");
        }
    }
}

impl Drop for NatsServers {
    fn drop(&mut self) {
        (0..SERVERS).for_each(|number| self.stop(number));
    }
}

/// One server without JetStream: it keeps nothing.
pub struct NatsServer {
    client_port: u16,
    monitor_port: u16,
    process: Child,
}

impl NatsServer {
    /// With further lines of its configuration.
    ///
    /// # Panics
    /// Where the program is not named or cannot be started.
    pub fn start(folder: &Path, configuration: &str) -> Self {
        let ports = reserve_ports(2);
        let (client_port, monitor_port) = (ports[0], ports[1]);
        let text = format!(
            "server_name: n0\nlisten: \"127.0.0.1:{client_port}\"\nhttp: \"127.0.0.1:{monitor_port}\"\n{configuration}\n"
        );
        fs::write(folder.join("n0.conf"), text).expect("a file");
        let server = Self { client_port, monitor_port, process: spawn(folder, 0) };
        wait_for("the NATS server", || server.monitor("/varz"));
        server
    }

    /// Its address for clients.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.client_port)
    }

    /// What its monitoring says there.
    pub fn monitor(&self, path: &str) -> Option<String> {
        monitor(self.monitor_port, path)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        crate::server::send_signal(self.process.id(), "TERM");
        let _ = self.process.wait();
    }
}

/// What the monitoring of a server says there; none where it fails.
fn monitor(port: u16, path: &str) -> Option<String> {
    let answer = HttpClient::new((Ipv4Addr::LOCALHOST, port).into()).get(path).ok()?;
    (answer.status == 200).then_some(answer.body)
}

fn spawn(folder: &Path, number: usize) -> Child {
    let program = std::env::var(PROGRAM).unwrap_or_else(|_| panic!("{PROGRAM} names nats-server"));
    let mut command = Command::new(program);
    command.arg("-c").arg(folder.join(format!("n{number}.conf")));
    command.arg("-l").arg(folder.join(format!("n{number}.log")));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("nats-server starts")
}

fn data_folder(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("n{number}.data"))
}

fn configuration(folder: &Path, number: usize, (client, monitor): (u16, u16)) -> String {
    let data = data_folder(folder, number);
    format!(
        "server_name: n{number}\nlisten: \"127.0.0.1:{client}\"\nhttp: \"127.0.0.1:{monitor}\"\nmax_payload: 17MB\n\
         jetstream {{ store_dir: {data:?}, max_file_store: 1GB, max_memory_store: 16MB, sync_interval: always }}\n"
    )
}

/// Where the routes go through proxies, a server tells the others an address of itself at which nobody listens, or they would find a way past
/// them.
fn cluster_block(own: u16, to_others: &[u16], is_hidden: bool) -> String {
    let addresses: Vec<_> = to_others.iter().map(|port| format!("\"nats-route://127.0.0.1:{port}\"")).collect();
    let advertised = if is_hidden { ", advertise: \"127.0.0.1:1\"" } else { "" };
    format!(
        "cluster {{ name: test, listen: \"127.0.0.1:{own}\", routes: [{}], no_advertise: true{advertised} }}\n",
        addresses.join(", ")
    )
}

fn lines_from(routes: &BTreeMap<(usize, usize), CuttableProxy>, number: usize) -> impl Iterator<Item = &CuttableProxy> {
    routes.iter().filter(move |((from, _), _)| *from == number).map(|(_, line)| line)
}
