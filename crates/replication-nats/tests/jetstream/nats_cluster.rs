//! NATS servers on reserved ports of this machine, in temporary folders; stopped by their process ids.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use replication_nats::{JetStreamSettings, JetStreamStore, LogOpenError};
use rustix::process::{Pid, Signal, kill_process};
use scenarios::ports::reserve_ports;
use serde_json::Value;
use tempfile::TempDir;

/// A start that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(90);
/// Larger than the largest entry.
pub(crate) const MAX_PAYLOAD: usize = 17 << 20;

pub(crate) struct NatsCluster {
    folder: TempDir,
    nodes: Vec<NatsNode>,
}

struct NatsNode {
    name: String,
    client_port: u16,
    monitor_port: u16,
    process: Option<Child>,
}

/// What a test wants of its servers.
pub(crate) struct ServerOptions {
    pub(crate) nodes: usize,
    pub(crate) sync: &'static str,
    pub(crate) max_payload: usize,
    /// Further lines of its configuration.
    pub(crate) further: String,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self { nodes: 3, sync: "sync_interval: always", max_payload: MAX_PAYLOAD, further: String::new() }
    }
}

impl NatsCluster {
    pub(crate) fn three() -> Self {
        Self::start(&ServerOptions::default())
    }

    pub(crate) fn start(options: &ServerOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut ports = reserve_ports(options.nodes * 3).into_iter();
        let mut next = || ports.next().unwrap();
        let route_ports: Vec<u16> = (0..options.nodes).map(|_| next()).collect();
        let mut nodes = Vec::new();
        for (number, route_port) in route_ports.iter().enumerate() {
            let node =
                NatsNode { name: format!("n{number}"), client_port: next(), monitor_port: next(), process: None };
            fs::write(
                node.file(folder.path(), "conf"),
                node.configuration(folder.path(), *route_port, &route_ports, options),
            )
            .unwrap();
            nodes.push(node);
        }
        let mut cluster = Self { folder, nodes };
        (0..options.nodes).for_each(|number| cluster.run(number));
        cluster
    }

    pub(crate) fn run(&mut self, number: usize) {
        let program =
            std::env::var("NATS_SERVER_BIN").expect("NATS_SERVER_BIN names nats-server; make setup installs it");
        let node = &mut self.nodes[number];
        let (configuration, log) = (node.file(self.folder.path(), "conf"), node.file(self.folder.path(), "log"));
        let mut command = Command::new(program);
        command.arg("-c").arg(configuration).arg("-l").arg(log).stdout(Stdio::null()).stderr(Stdio::null());
        node.process = Some(command.spawn().expect("nats-server starts"));
    }

    /// Ends a server: orderly by SIGTERM, or by SIGKILL.
    pub(crate) fn end(&mut self, number: usize, signal: Signal) {
        let Some(mut process) = self.nodes[number].process.take() else { return };
        let id = Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
        kill_process(id, signal).expect("the server runs");
        process.wait().expect("the server ends");
    }

    /// In its place another one begins, with the same name and addresses, on an empty disk and with this line for `sync_interval`.
    pub(crate) fn replace(&mut self, number: usize, sync: &str) {
        self.end(number, Signal::KILL);
        fs::remove_dir_all(self.data_folder(number)).unwrap();
        let file = self.nodes[number].file(self.folder.path(), "conf");
        let before = fs::read_to_string(&file).unwrap();
        fs::write(&file, before.replace("sync_interval: always", sync)).unwrap();
        self.run(number);
    }

    /// In the place of a server that has ended another one begins under another name, with the same addresses and an empty disk.
    pub(crate) fn run_renamed(&mut self, number: usize, name: &str) {
        let before = fs::read_to_string(self.nodes[number].file(self.folder.path(), "conf")).unwrap();
        let (old, old_data) = (self.nodes[number].name.clone(), self.data_folder(number));
        name.clone_into(&mut self.nodes[number].name);
        let renamed = before.replace(&format!("server_name: {old}\n"), &format!("server_name: {name}\n"));
        let renamed = renamed.replace(&format!("{old_data:?}"), &format!("{:?}", self.data_folder(number)));
        fs::write(self.nodes[number].file(self.folder.path(), "conf"), renamed).unwrap();
        self.run(number);
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn number_of(&self, name: &str) -> usize {
        self.nodes.iter().position(|node| node.name == name).unwrap()
    }

    /// Where a server keeps its data.
    pub(crate) fn data_folder(&self, number: usize) -> PathBuf {
        self.nodes[number].file(self.folder.path(), "data")
    }

    pub(crate) fn settings(&self, stream: &str) -> JetStreamSettings {
        let address = |port: u16| format!("127.0.0.1:{port}");
        let servers = self.nodes.iter().map(|node| address(node.client_port)).collect();
        let monitors = self.nodes.iter().map(|node| address(node.monitor_port)).collect();
        // A slow machine is no fault of the log.
        JetStreamSettings { answer_wait: Duration::from_secs(10), ..JetStreamSettings::new(servers, monitors, stream) }
    }

    /// Tries until the servers have found each other.
    pub(crate) fn open(&self, stream: &str) -> JetStreamStore {
        open_patiently(&self.settings(stream)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The server that leads the stream.
    pub(crate) fn stream_leader(&self, stream: &str) -> String {
        let answer = request(&self.settings(stream), &format!("$JS.API.STREAM.INFO.{stream}"), Vec::new());
        answer["cluster"]["leader"].as_str().unwrap_or_default().to_owned()
    }
}

impl NatsCluster {
    /// Asks for another leader of the stream until it is this server.
    pub(crate) fn make_stream_leader(&self, stream: &str, number: usize) {
        let (begun, wanted) = (Instant::now(), &self.nodes[number].name);
        let body = serde_json::json!({ "placement": { "preferred": wanted } }).to_string();
        while self.stream_leader(stream) != *wanted {
            assert!(begun.elapsed() < PATIENCE, "{wanted} does not lead {stream}");
            request(
                &self.settings(stream),
                &format!("$JS.API.STREAM.LEADER.STEPDOWN.{stream}"),
                body.clone().into_bytes(),
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl NatsCluster {
    /// Until every server has all that the stream's leader has: one that lags behind does not answer for its copy.
    pub(crate) fn wait_for_copies(&self, stream: &str) {
        let begun = Instant::now();
        while !self.has_all_copies(stream) {
            assert!(begun.elapsed() < PATIENCE, "a copy of {stream} stays behind");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// What the stream's leader tells of the other holders.
    pub(crate) fn holders(&self, stream: &str) -> Vec<Value> {
        let answer = answer_to(&self.settings(stream), &format!("$JS.API.STREAM.INFO.{stream}"), Vec::new());
        answer.and_then(|answer| answer["cluster"]["replicas"].as_array().cloned()).unwrap_or_default()
    }

    /// Asks JetStream once to move the copy of a server that is gone; whether it does.
    pub(crate) fn moves_copy(&self, stream: &str, gone: &str) -> bool {
        let body = serde_json::json!({ "peer": gone }).to_string().into_bytes();
        let answer = answer_to(&self.settings(stream), &format!("$JS.API.STREAM.PEER.REMOVE.{stream}"), body);
        answer.is_some_and(|answer| answer["success"] == true)
    }

    fn has_all_copies(&self, stream: &str) -> bool {
        let holders = self.holders(stream);
        holders.iter().filter(|holder| holder["current"] == true).count() == self.len() - 1
    }
}

pub(crate) fn open_patiently(settings: &JetStreamSettings) -> Result<JetStreamStore, LogOpenError> {
    let begun = Instant::now();
    loop {
        match JetStreamStore::open(settings.clone()) {
            Err(LogOpenError::Unavailable { .. }) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(100));
            }
            outcome => return outcome,
        }
    }
}

/// A request past the port.
pub(crate) fn request(settings: &JetStreamSettings, subject: &str, payload: Vec<u8>) -> Value {
    answer_to(settings, subject, payload).expect("JetStream answers")
}

/// None while nobody is there who answers.
fn answer_to(settings: &JetStreamSettings, subject: &str, payload: Vec<u8>) -> Option<Value> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = async_nats::connect(settings.servers.as_slice()).await.ok()?;
        let answer = client.request(subject.to_owned(), payload.into()).await.ok()?;
        serde_json::from_slice(&answer.payload).ok()
    })
}

impl NatsNode {
    fn file(&self, folder: &Path, extension: &str) -> PathBuf {
        folder.join(format!("{}.{extension}", self.name))
    }

    fn configuration(&self, folder: &Path, route_port: u16, routes: &[u16], options: &ServerOptions) -> String {
        let data = self.file(folder, "data");
        let (name, client, monitor) = (&self.name, self.client_port, self.monitor_port);
        let mut text = format!(
            "server_name: {name}\nlisten: \"127.0.0.1:{client}\"\nhttp: \"127.0.0.1:{monitor}\"\nmax_payload: {}\n\
             jetstream {{ store_dir: {data:?}, max_file_store: 1GB, max_memory_store: 16MB\n {} }}\n",
            options.max_payload, options.sync
        );
        if options.nodes > 1 {
            let routes: Vec<_> = routes.iter().map(|port| format!("\"nats-route://127.0.0.1:{port}\"")).collect();
            text += &format!(
                "cluster {{ name: test, listen: \"127.0.0.1:{route_port}\", routes: [{}] }}\n",
                routes.join(", ")
            );
        }
        text + &options.further
    }
}

impl Drop for NatsCluster {
    fn drop(&mut self) {
        (0..self.nodes.len()).for_each(|number| self.end(number, Signal::KILL));
    }
}
