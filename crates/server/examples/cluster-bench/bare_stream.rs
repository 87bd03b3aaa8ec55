//! Appends to a stream with three copies, by the same client as a leader's, and nothing else.

use std::thread;
use std::time::{Duration, Instant};

use replication_nats::{JetStreamSettings, JetStreamStore, LogOpenError};
use scenarios::http::HttpClient;
use scenarios::nats::NatsServers;
use scenarios::server::send_signal;
use serde_json::Value;
use storage::journal::ChainHash;
use storage::replication::{Epoch, LogPosition, LogStore, MessageId, StoreReply};

use crate::Outcome;

const STREAM: &str = "bare";
/// About as many as the frame of an order has.
const ENTRY_BYTES: usize = 512;
/// An election takes some seconds.
const PATIENCE: Duration = Duration::from_secs(60);
const RETRY_PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct BareStream {
    store: JetStreamStore,
    monitors: Vec<String>,
    end: LogPosition,
}

impl BareStream {
    pub(crate) fn open(nats: &NatsServers) -> Outcome<Self> {
        let settings = JetStreamSettings::new(nats.servers(), nats.monitors(), STREAM);
        Ok(Self { store: open_patiently(&settings)?, monitors: nats.monitors(), end: LogPosition(0) })
    }

    pub(crate) fn append(&mut self) -> Outcome<()> {
        match self.store() {
            StoreReply::Stored { position } | StoreReply::Duplicate { position } => {
                self.end = position;
                Ok(())
            }
            other => Err(format!("not appended: {other:?}").into()),
        }
    }

    /// The same entry under the same id for as long as it is not there.
    fn store(&mut self) -> StoreReply {
        let id = MessageId::of_frame(Epoch(1), self.end, ChainHash([7; 32]));
        self.store.store(self.end, &id, &[7; ENTRY_BYTES])
    }

    /// Kills the server that leads the stream: how long until the next entry is appended. The server comes back afterwards.
    pub(crate) fn kill_leader(&mut self, nats: &mut NatsServers) -> Outcome<Duration> {
        let leader = self.leader()?;
        send_signal(nats.pid(leader), "KILL");
        let begun = Instant::now();
        while let Err(problem) = self.append() {
            if begun.elapsed() > PATIENCE {
                return Err(problem);
            }
        }
        let taken = begun.elapsed();
        nats.stop(leader);
        nats.start_again(leader);
        Ok(taken)
    }

    fn leader(&self) -> Outcome<usize> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(leader) = self.monitors.iter().find_map(|monitor| stream_leader(monitor)) {
                return Ok(leader);
            }
        }
        Err("nobody leads the stream".into())
    }
}

/// Until the servers have found each other.
fn open_patiently(settings: &JetStreamSettings) -> Outcome<JetStreamStore> {
    let begun = Instant::now();
    loop {
        match JetStreamStore::open(settings.clone()) {
            Err(LogOpenError::Unavailable { .. }) if begun.elapsed() < PATIENCE => thread::sleep(RETRY_PAUSE),
            opened => return Ok(opened?),
        }
    }
}

/// The number of the server that leads the stream, as another one tells it.
fn stream_leader(monitor: &str) -> Option<usize> {
    let answer = HttpClient::new(monitor.parse().ok()?).get("/jsz?streams=1").ok()?;
    let told: Value = serde_json::from_str(&answer.body).ok()?;
    let streams = told["account_details"][0]["stream_detail"].as_array()?;
    let stream = streams.iter().find(|stream| stream["name"] == STREAM)?;
    stream["cluster"]["leader"].as_str()?.strip_prefix('n')?.parse().ok()
}
