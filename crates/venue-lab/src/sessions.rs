//! Connections of the WebSocket faces, for the admin page.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::sequencer::now_micros;

#[derive(Debug)]
struct Session {
    face: &'static str,
    peer: SocketAddr,
    since_micros: i64,
    text: String,
}

#[derive(Debug, Default)]
struct SessionTable {
    next: u64,
    open: BTreeMap<u64, Session>,
}

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    table: Mutex<SessionTable>,
}

/// An open connection; dropping it ends its entry.
pub(crate) struct SessionEntry {
    sessions: Arc<Sessions>,
    id: u64,
}

impl Sessions {
    fn table(&self) -> MutexGuard<'_, SessionTable> {
        // Each change is one statement.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(self: &Arc<Self>, face: &'static str, peer: SocketAddr) -> SessionEntry {
        let mut table = self.table();
        let id = table.next;
        table.next += 1;
        table.open.insert(id, Session { face, peer, since_micros: now_micros(), text: String::new() });
        SessionEntry { sessions: self.clone(), id }
    }

    pub(crate) fn list(&self) -> Value {
        let encode = |session: &Session| {
            json!({
                "face": session.face,
                "peer": session.peer.to_string(),
                "since": session.since_micros / 1_000,
                "text": session.text,
            })
        };
        self.table().open.values().map(encode).collect()
    }
}

impl SessionEntry {
    pub(crate) fn describe(&self, text: impl FnOnce() -> String) {
        if let Some(session) = self.sessions.table().open.get_mut(&self.id) {
            session.text = text();
        }
    }
}

impl Drop for SessionEntry {
    fn drop(&mut self) {
        self.sessions.table().open.remove(&self.id);
    }
}
