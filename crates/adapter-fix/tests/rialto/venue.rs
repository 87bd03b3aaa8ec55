//! A Rialto as a venue: the demo with a standing market, and a session for each harness.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;

use scenarios::http::HttpClient;
use scenarios::server::{RunningServer, ServerLauncher};
use serde_json::Value;
use tempfile::TempDir;

/// More than the kit has rules.
const SESSIONS: usize = 120;

const DEFAULTS: &str = "[DEFAULT]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=RIALTO\nNonStopSession=Y\n\
                        SocketAcceptPort=0\nMaxOrdersPerSecond=0\nExtendedMessages=Y\n";

pub(crate) struct RialtoVenue {
    server: RunningServer,
    /// Sessions that a harness has had.
    given: Cell<usize>,
    _folder: TempDir,
}

impl RialtoVenue {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sessions: String = (1..=SESSIONS).map(|n| format!("[SESSION]\nTargetCompID={}\n", name(n))).collect();
        let file = folder.path().join("sessions.cfg");
        fs::write(&file, format!("{DEFAULTS}{sessions}")).unwrap();
        let launcher = ServerLauncher::in_folder(&folder.path().join("data")).set("fix.settings", file.display());
        Self { server: launcher.start(), given: Cell::new(0), _folder: folder }
    }

    /// A session that nobody had before.
    pub(crate) fn next_session(&self) -> String {
        self.given.set(self.given.get() + 1);
        name(self.given.get())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.port_address("fix")
    }

    /// MsgSeqNum that it expects next, none while nobody is logged on, and the one that it sends next.
    pub(crate) fn numbers(&self, session: &str) -> (Option<u64>, u64) {
        let sessions = self.read("/rest/fix/sessions");
        let found = sessions.as_array().unwrap().iter().find(|one| one["id"] == session).unwrap();
        let next_in = (found["state"] == "LOGGED_ON").then(|| found["nextIn"].as_u64().unwrap());
        (next_in, found["nextOut"].as_u64().unwrap())
    }

    /// Whether one of its orders waits for the exchange.
    pub(crate) fn is_busy(&self, session: &str) -> bool {
        let orders = self.read("/rest/execution/order");
        let source = format!("FIX:{session}");
        let mut own = orders.as_array().unwrap().iter().filter(|order| order["source"] == source.as_str());
        own.any(|order| matches!(order["status"].as_str(), Some("OPEN" | "PENDING_CANCEL" | "PENDING_REPLACE")))
    }

    fn read(&self, path: &str) -> Value {
        let mut client: HttpClient = self.server.client();
        serde_json::from_str(&client.get(path).unwrap().body).unwrap()
    }
}

fn name(number: usize) -> String {
    format!("KIT{number}")
}
