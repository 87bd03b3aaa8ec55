//! A subscriber of the kill test. It reconnects after every crash behind the last event that it received; in the end it has
//! received what history has, each event once and in order.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::thread::{self, JoinHandle};

use scenarios::http::HttpClient;
use serde_json::Value;

use crate::topics::TopicListener;
use crate::topics_replay::{TRADING, for_each_event};

/// Received events by their ids; of a body only its hash is kept, because a long run has many.
#[derive(Default)]
pub(crate) struct TopicFlow {
    events: Vec<(String, u64)>,
}

impl TopicFlow {
    fn join(&self, client: &mut HttpClient) -> TopicListener {
        let last = self.events.last().map_or("0", |(id, _)| id);
        let mut listener = TopicListener::join(client);
        listener.send(&format!("SUBSCRIBE\nid:1\ndestination:{TRADING}\nfrom-sequence:{last}\n\n"));
        listener
    }

    /// Listens until the server is gone.
    pub(crate) fn begin(mut self, client: &mut HttpClient) -> JoinHandle<Self> {
        let mut listener = self.join(client);
        thread::spawn(move || {
            while self.receive(&mut listener) {}
            self
        })
    }

    fn receive(&mut self, listener: &mut TopicListener) -> bool {
        let Some((headers, body)) = listener.next_message() else { return false };
        let id = headers["event-id"].as_str().unwrap_or_else(|| panic!("no event-id: {headers}"));
        self.events.push((id.to_owned(), hash(&body)));
        true
    }

    /// Receives the rest, and compares everything with history.
    pub(crate) fn finish(mut self, client: &mut HttpClient) -> usize {
        let mut expected = Vec::new();
        for_each_event(client, |id, body| expected.push((id, hash(body))));
        let mut listener = self.join(client);
        while self.events.len() < expected.len() {
            assert!(self.receive(&mut listener), "the broker has closed");
        }
        let different = self.events.iter().zip(&expected).position(|(heard, wanted)| heard != wanted);
        assert_eq!(different, None, "received {:?}", different.map(|at| (&self.events[at], &expected[at])));
        assert_eq!(self.events.len(), expected.len());
        expected.len()
    }
}

fn hash(body: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.to_string().hash(&mut hasher);
    hasher.finish()
}
