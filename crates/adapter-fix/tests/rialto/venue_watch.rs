//! What the venue shows of the two sessions of a harness: whether everything that was asked is answered.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use scenarios::http::HttpClient;
use serde_json::Value;

/// A wait that takes longer than this has failed, on any machine.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(60);
/// Between two looks at the venue; what it has sent is here by the second.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Clone)]
pub(crate) struct VenueWatch {
    pub(crate) address: SocketAddr,
    pub(crate) orders: String,
    pub(crate) prices: String,
    /// Where the adapter has the numbers of its order session.
    pub(crate) numbers: PathBuf,
}

impl VenueWatch {
    /// Until the venue has every request, every order has its answer, and nothing more is sent.
    pub(crate) fn settle(&self) {
        let begun = Instant::now();
        let mut sent = None;
        loop {
            let ((next_in, next_out), (_, prices_out)) = (self.numbers_of(&self.orders), self.numbers_of(&self.prices));
            let has_all = next_in.is_none_or(|next_in| next_in >= self.next_out());
            let is_quiet = has_all && !self.is_busy();
            if is_quiet && sent.replace((next_out, prices_out)) == Some((next_out, prices_out)) {
                return;
            }
            assert!(begun.elapsed() < WAIT_MAX, "the venue did not answer: {} of {next_in:?}", self.next_out());
            thread::sleep(LOOK_EVERY);
        }
    }

    pub(crate) fn is_logged_on(&self) -> bool {
        self.numbers_of(&self.orders).0.is_some()
    }

    pub(crate) fn has_price_session(&self) -> bool {
        self.numbers_of(&self.prices).0.is_some()
    }

    /// The number of the adapter's next message, which is on disk before a message leaves.
    fn next_out(&self) -> u64 {
        let text = fs::read_to_string(&self.numbers).unwrap_or_default();
        text.lines().last().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(1)
    }

    /// MsgSeqNum that it expects next, none while nobody is logged on, and the one that it sends next.
    fn numbers_of(&self, session: &str) -> (Option<u64>, u64) {
        let sessions = self.read("/rest/fix/sessions");
        let found = sessions.as_array().unwrap().iter().find(|one| one["id"] == session).unwrap();
        let next_in = (found["state"] == "LOGGED_ON").then(|| found["nextIn"].as_u64().unwrap());
        (next_in, found["nextOut"].as_u64().unwrap())
    }

    /// Whether one of its orders waits for the exchange.
    fn is_busy(&self) -> bool {
        let orders = self.read("/rest/execution/order");
        let source = format!("FIX:{}", self.orders);
        let mut own = orders.as_array().unwrap().iter().filter(|order| order["source"] == source.as_str());
        own.any(|order| matches!(order["status"].as_str(), Some("OPEN" | "PENDING_CANCEL" | "PENDING_REPLACE")))
    }

    fn read(&self, path: &str) -> Value {
        serde_json::from_str(&HttpClient::new(self.address).get(path).unwrap().body).unwrap()
    }
}
