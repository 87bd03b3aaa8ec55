//! The brokers, each in a process and a folder of its own, on loopback.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::load;

pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) tcp: SocketAddr,
    pub(crate) ws: Option<SocketAddr>,
    /// Headers of CONNECT.
    pub(crate) login: &'static str,
    pid: u32,
    child: Child,
    epmd_port: Option<u16>,
    _folder: TempDir,
}

const RABBITMQ: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const ACTIVEMQ: &str = "/usr/share/activemq/lib";
/// Longer than any of them takes.
const START_WAIT: Duration = Duration::from_secs(90);

pub(crate) fn rialto() -> Peer {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary());
    command.arg("serve").arg("--data-dir").arg(folder.path().join("data"));
    for key in port_keys() {
        command.args(["--set", &format!("{key}=0")]);
    }
    command.args(["--set", "demo.activity=off", "--set", "broker.clientDestinations=/topic/bench.>"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let door = |key: &str| {
        let (_, rest) = line.split_once(&format!("\"{key}\":\"")).unwrap();
        rest.split_once('"').unwrap().0.split_once("://").unwrap().1.parse().unwrap()
    };
    let (tcp, ws, pid) = (door("brokerTcp"), Some(door("brokerWs")), child.id());
    Peer { name: "Rialto", tcp, ws, login: "", pid, child, epmd_port: None, _folder: folder }
}

/// As the binary names them itself.
fn port_keys() -> Vec<String> {
    let listed = Command::new(binary()).arg("check-config").output().unwrap();
    let table = String::from_utf8(listed.stdout).unwrap();
    let keys = table.lines().filter_map(|line| line.split_whitespace().next());
    keys.filter(|key| key.ends_with(".port")).map(ToOwned::to_owned).collect()
}

fn binary() -> PathBuf {
    if let Some(named) = std::env::var_os("RIALTO_BIN") {
        return named.into();
    }
    // The example lies in <target>/release/examples.
    let example = std::env::current_exe().unwrap();
    example.ancestors().nth(2).unwrap().join("rialto")
}

pub(crate) fn rabbitmq() -> Option<Peer> {
    let folder = is_there("RabbitMQ", RABBITMQ)?;
    let (stomp, epmd, node) = (free_port(), free_port(), free_port());
    let path = |name: &str| folder.path().join(name);
    let listener = format!("listeners.tcp = none\nloopback_users = none\nstomp.listeners.tcp.1 = 127.0.0.1:{stomp}\n");
    fs::write(path("rabbitmq.conf"), listener).unwrap();
    fs::write(path("enabled_plugins"), "[rabbitmq_stomp].").unwrap();
    let child = Command::new(RABBITMQ)
        .env("HOME", folder.path())
        .env("ERL_EPMD_ADDRESS", "127.0.0.1")
        .env("ERL_EPMD_PORT", epmd.to_string())
        .env("RABBITMQ_DIST_PORT", node.to_string())
        .env("RABBITMQ_NODENAME", "bench@localhost")
        .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
        .env("RABBITMQ_CONFIG_FILE", path("rabbitmq.conf"))
        .env("RABBITMQ_ENABLED_PLUGINS_FILE", path("enabled_plugins"))
        .env("RABBITMQ_MNESIA_BASE", path("mnesia"))
        .env("RABBITMQ_LOG_BASE", path("log"))
        .env("RABBITMQ_PID_FILE", path("pid"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let login = "login:guest\npasscode:guest\n";
    let tcp = ready(stomp, login);
    let pid = fs::read_to_string(path("pid")).unwrap().trim().parse().unwrap();
    Some(Peer { name: "RabbitMQ", tcp, ws: None, login, pid, child, epmd_port: Some(epmd), _folder: folder })
}

pub(crate) fn activemq() -> Option<Peer> {
    let folder = is_there("ActiveMQ", ACTIVEMQ)?;
    let stomp = free_port();
    let data = folder.path().join("data");
    let broker = format!("broker:(stomp+nio://127.0.0.1:{stomp})?persistent=false&useJmx=false&dataDirectory=");
    let child = Command::new("java")
        .args(["-Xmx512m", "-cp", &format!("{ACTIVEMQ}/*:{ACTIVEMQ}/optional/*")])
        .args(["org.apache.activemq.console.command.ShellCommand", "start"])
        .arg(format!("{broker}{}", data.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (tcp, pid) = (ready(stomp, ""), child.id());
    Some(Peer { name: "ActiveMQ", tcp, ws: None, login: "", pid, child, epmd_port: None, _folder: folder })
}

fn is_there(name: &str, path: &str) -> Option<TempDir> {
    if Path::new(path).exists() {
        return Some(tempfile::tempdir().unwrap());
    }
    println!("{name} is not installed and is left out");
    None
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn ready(port: u16, login: &str) -> SocketAddr {
    let (address, begun) = (SocketAddr::from(([127, 0, 0, 1], port)), Instant::now());
    while !load::answers(address, login) {
        assert!(begun.elapsed() < START_WAIT, "nobody answers on {address}");
        thread::sleep(Duration::from_millis(200));
    }
    address
}

impl Peer {
    /// Processor time of all its threads.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid)).unwrap().flatten();
        let nanos = threads.filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().next()?.parse::<u64>().ok()
        });
        nanos.sum::<u64>() as f64 / 1e9
    }

    pub(crate) fn resident_kib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Each may be gone already; what it leaves lies in its own folder.
        let _ = Command::new("sh").args(["-c", "kill -KILL \"$0\"", &self.pid.to_string()]).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.epmd_port.into_iter().for_each(end_epmd);
    }
}

/// Erlang's directory of nodes, which RabbitMQ leaves running; it does not end before it has noticed that the node is gone.
fn end_epmd(port: u16) {
    for _ in 0..50 {
        let asked = Command::new("epmd").args(["-port", &port.to_string(), "-kill"]).output();
        if asked.is_ok_and(|asked| asked.status.success() && !String::from_utf8_lossy(&asked.stdout).contains("not")) {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}
