//! A Rialto as a venue: the demo with a standing market, and a session for each harness.

use std::cell::Cell;
use std::fs;
use std::net::SocketAddr;

use scenarios::server::{RunningServer, ServerLauncher};
use tempfile::TempDir;

const DEMO_REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../demo/reference");

/// More than the kit has rules.
const SESSIONS: usize = 120;

const DEFAULTS: &str = "[DEFAULT]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=RIALTO\nNonStopSession=Y\n\
                        SocketAcceptPort=0\nMaxOrdersPerSecond=0\nExtendedMessages=Y\n";

pub(crate) struct RialtoVenue {
    server: RunningServer,
    /// Sessions that a harness has had.
    given: Cell<usize>,
    /// How often its listing was changed.
    listings: Cell<u64>,
    folder: TempDir,
}

impl RialtoVenue {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sessions: String = (1..=SESSIONS).map(sessions_of).collect();
        let file = folder.path().join("sessions.cfg");
        fs::write(&file, format!("{DEFAULTS}{sessions}")).unwrap();
        let launcher = ServerLauncher::in_folder(&folder.path().join("data")).set("fix.settings", file.display());
        let launcher = launcher.set("auth.anonymousRole", "admin");
        Self { server: launcher.start(), given: Cell::new(0), listings: Cell::new(0), folder }
    }

    /// Apple's largest order becomes another one, as it never was before.
    pub(crate) fn change_listing(&self) {
        self.listings.set(self.listings.get() + 1);
        let folder = self.folder.path().join("reference");
        fs::create_dir_all(&folder).unwrap();
        for file in fs::read_dir(DEMO_REFERENCE).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
        let securities = fs::read_to_string(folder.join("securities.csv")).unwrap();
        let (usual, changed) = (",1,1000000,1,,,0.01,", format!(",1,{},1,,,0.01,", 1_000_000 + self.listings.get()));
        let securities = securities.replacen(usual, &changed, 1);
        assert!(securities.lines().any(|line| line.starts_with("1,Stock,AAPL,") && line.contains(&changed)));
        fs::write(folder.join("securities.csv"), securities).unwrap();
        let body = serde_json::json!({ "path": folder.display().to_string() }).to_string();
        let answer = self.server.client().post("/rest/reference/import", &body).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }

    /// A session that nobody had before.
    pub(crate) fn next_session(&self) -> String {
        self.given.set(self.given.get() + 1);
        name(self.given.get())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.port_address("fix")
    }

    /// Of the server's REST interface.
    pub(crate) fn rest_address(&self) -> SocketAddr {
        self.server.address()
    }
}

/// One for orders, and one for prices and securities.
fn sessions_of(number: usize) -> String {
    let (orders, prices) = (name(number), price_session(&name(number)));
    format!("[SESSION]\nTargetCompID={orders}\n[SESSION]\nTargetCompID={prices}\nMarketData=Y\nResetOnLogon=Y\n")
}

pub(crate) fn price_session(session: &str) -> String {
    format!("{session}P")
}

fn name(number: usize) -> String {
    format!("KIT{number}")
}
