//! Copy reader: entries of the log as each server has them, one server after the other.
//!
//! A server answers a question by itself where it holds the stream, and passes it on only where it does not. So a question that is repeated
//! over one connection is answered by the same machine each time; another copy needs a connection to another server.

use std::thread;
use std::time::Duration;

use async_nats::Message;
use serde_json::json;
use storage::replication::LogPosition;

use crate::nats_client::NatsClient;
use crate::read_ahead::sequence_of;
use crate::settings::JetStreamSettings;

/// Before the next server is asked, where one has not answered or does not have the entry: one that has just started may need a moment.
const PAUSE: Duration = Duration::from_millis(100);

/// At most one connection to each server. They are made when an entry is damaged somewhere, which is seldom, and kept.
#[derive(Debug)]
pub(crate) struct CopyReader {
    settings: JetStreamSettings,
    connections: Vec<Option<NatsClient>>,
    next: usize,
}

impl CopyReader {
    pub(crate) fn new(settings: JetStreamSettings) -> Self {
        let connections = settings.servers.iter().map(|_| None).collect();
        Self { settings, connections, next: 0 }
    }

    /// The entry as the next server has it; none where that server does not answer, or does not have it.
    pub(crate) fn load(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        let server = self.next;
        self.next = (server + 1) % self.connections.len().max(1);
        let message = self.ask(server, position).filter(|message| sequence_of(message) == Some(position.0));
        if message.is_none() {
            thread::sleep(PAUSE);
        }
        message.map(|message| message.payload.to_vec())
    }

    fn ask(&mut self, server: usize, position: LogPosition) -> Option<Message> {
        let connection = self.connections.get_mut(server)?;
        // One that is down comes back by itself, but not before the other copies have been asked.
        if connection.as_ref().is_none_or(|connection| !connection.is_connected()) {
            *connection = NatsClient::connect_to(&self.settings, &self.settings.servers[server]).ok();
        }
        let (subject, body) = (direct_get(&self.settings.stream), json!({ "seq": position.0 }));
        connection.as_ref()?.exchange(&subject, &[], body.to_string().into_bytes(), self.settings.answer_wait).ok()
    }
}

/// Where any server that holds the stream is asked for entries.
pub(crate) fn direct_get(stream: &str) -> String {
    format!("$JS.API.DIRECT.GET.{stream}")
}
