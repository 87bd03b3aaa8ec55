//! Bus handle of a strategy process: runs of the strategy out, requests in.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, bounded};
use domain::{ReferenceData, Text};
use runtime::strategies::Lost;
use runtime::strategies::protocol::Request;
use strategy::Who;
use tokio::sync::mpsc;

use super::outside::{Outside, Said, Words};
use super::server_time::ServerTime;
use super::talk::Talk;

/// Items of the strategy that are not sent yet.
const SAID_MAX: usize = 8_192;

/// A run of the strategy: it begins with INIT.
pub struct Life {
    pub who: Who,
    pub reference: Arc<ReferenceData>,
    pub link: Outside,
    /// Whether the strategy records its deliveries.
    pub has_diary: bool,
}

pub struct Conversation {
    lives: Receiver<Life>,
    said: mpsc::Sender<Said>,
    time: ServerTime,
    thread: JoinHandle<Lost>,
}

impl Conversation {
    /// Connects as that strategy. The broker's address is queried at every attempt: a restarted server may have another
    /// one. While another process runs the strategy and is alive, `takes_over` is required.
    pub fn begin(
        broker: impl Fn() -> io::Result<String> + Send + Sync + 'static,
        strategy: Text,
        token: Option<String>,
        takes_over: bool,
    ) -> io::Result<Self> {
        let (begun, lives) = bounded(1);
        let (said, waiting) = mpsc::channel(SAID_MAX);
        let time = ServerTime::new();
        let mut talk = Talk::new(Arc::new(broker), strategy, token, time.clone(), begun, (said.downgrade(), waiting));
        talk.takes_over = takes_over;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || runtime.block_on(talk.converse());
        let thread = std::thread::Builder::new().name("conversation".into()).spawn(run)?;
        Ok(Self { lives, said, time, thread })
    }

    /// The next run; `None` when the bus client has ended.
    pub fn next_life(&self) -> Option<Life> {
        self.lives.recv().ok()
    }

    /// Whether the bus client has ended.
    pub fn is_over(&self) -> bool {
        self.thread.is_finished()
    }

    /// The server's time.
    pub fn clock(&self) -> runtime::Clock {
        self.time.shared()
    }

    /// Sends a request of that run.
    pub fn say(&self, run: u64, request: Request) {
        // A closed client receives nothing.
        let _ = self.said.blocking_send(Said { run: Some(run), words: Words::Request(request) });
    }

    /// Sends requests from any thread, whatever the current run.
    pub fn sayer(&self) -> impl Fn(Request) + Clone + Send + 'static {
        let said = self.said.downgrade();
        move |request| {
            if let Some(said) = said.upgrade() {
                let _ = said.blocking_send(Said { run: None, words: Words::Request(request) });
            }
        }
    }

    /// Sends everything that is queued; then returns why it ended.
    pub fn end(self) -> Lost {
        drop(self.said);
        self.thread.join().unwrap_or_else(|_| Lost("the conversation broke off".to_owned()))
    }
}
