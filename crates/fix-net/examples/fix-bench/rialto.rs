//! The real server on a folder of its own, with as many FIX sessions as are wanted.

use crate::Outcome;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Where `make` says that the binary is.
const BINARY_VARIABLE: &str = "RIALTO_BIN";

/// A desk that is not held back: no limit on its rate, cash for everything it orders, a market that stands still.
const SETTINGS: [&str; 12] = [
    "journal.sync=always",
    "demo.activity=off",
    "strategies.instances=",
    "demo.openingCash=1000000000000",
    "risk.ordersPerSecond=",
    "http.port=0",
    "https.port=off",
    "broker.tcp.port=off",
    "broker.tls.port=off",
    "broker.ws.port=off",
    "fix.port=0",
    "log.level=warn",
];

/// A server that listens; it is ended when this is dropped.
pub(crate) struct Rialto {
    process: Child,
    pub(crate) fix: SocketAddr,
    pub(crate) http: SocketAddr,
}

impl Rialto {
    pub(crate) fn start(folder: &Path, clients: &[String]) -> Outcome<Self> {
        let sessions = folder.join("sessions.cfg");
        std::fs::write(&sessions, session_file(clients))?;
        let program = std::env::var_os(BINARY_VARIABLE).ok_or("RIALTO_BIN names no binary: make bench sets it")?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--data-dir").arg(folder.join("data"));
        for setting in SETTINGS {
            command.args(["--set", setting]);
        }
        command.arg("--set").arg(format!("fix.settings={}", sessions.display()));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let door = |name, scheme| address_in(&line, name, scheme).ok_or_else(|| format!("no door for {name}: {line}"));
        let (fix, http) = (door("fix", "tcp")?, door("http", "http")?);
        Ok(Self { process, fix, http })
    }

    /// Processor time so far, by the names of its threads.
    pub(crate) fn processor_time(&self) -> BTreeMap<String, Duration> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.process.id())).into_iter().flatten().flatten();
        let mut times = BTreeMap::new();
        for thread in threads.map(|thread| thread.path()) {
            let read = |name| std::fs::read_to_string(thread.join(name)).unwrap_or_default();
            // The scheduler counts in nanoseconds; the first word is the time spent running.
            let nanoseconds =
                read("schedstat").split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
            *times.entry(read("comm").trim().to_owned()).or_default() += Duration::from_nanos(nanoseconds);
        }
        times
    }
}

impl Drop for Rialto {
    fn drop(&mut self) {
        // It may have ended by itself; its folder goes away too.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The specification's example, for each client, with the throttle off: the driver sends as fast as it can.
fn session_file(clients: &[String]) -> String {
    let default = "[DEFAULT]\nConnectionType=acceptor\nBeginString=FIX.4.4\nStartTime=00:00:00\nEndTime=00:00:00\n\
        HeartBtInt=30\nUseDataDictionary=Y\nValidateIncomingMessage=N\nResetOnLogon=Y\nRefreshOnLogon=Y\n\
        SocketAcceptPort=0\nSenderCompID=RIALTO\nMaxOrdersPerSecond=0\nMaxCancelsPerSecond=0\n";
    let session = |client: &String| format!("[SESSION]\nTargetCompID={client}\n");
    clients.iter().fold(default.to_owned(), |file, client| file + &session(client))
}

/// `"fix":"tcp://127.0.0.1:40001"` inside the ready line.
fn address_in(ready_line: &str, name: &str, scheme: &str) -> Option<SocketAddr> {
    let (_, rest) = ready_line.split_once(&format!("\"{name}\":\"{scheme}://"))?;
    rest.split_once('"')?.0.parse().ok()
}
