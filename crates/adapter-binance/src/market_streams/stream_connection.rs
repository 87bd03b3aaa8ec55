//! One connection of market streams with its commands: those that wait leave in pauses, and answers are matched with them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adapter_kit::connection::{Dialer, SocketLimits, VenueUrl};
use adapter_kit::recording::MessageRecorder;
use tokio::time::{Instant, sleep_until};

use crate::connection::StreamSession;
use crate::protocol::market_events::MarketEvent;
use crate::transcript::STREAMS_LINE;

/// The venue takes at most five messages a second on a stream connection.
const COMMAND_PAUSE: Duration = Duration::from_millis(250);

/// How a connection is opened.
#[derive(Clone)]
pub(crate) struct StreamLink {
    pub(crate) url: VenueUrl,
    pub(crate) dialer: Dialer,
    pub(crate) recorder: Option<Arc<MessageRecorder>>,
}

/// Streams that are wanted from now on, or not any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StreamChange {
    pub(super) is_wanted: bool,
    pub(super) streams: Vec<String>,
}

/// What a connection has to tell.
#[derive(Debug)]
pub(super) enum StreamNews {
    Event(MarketEvent),
    Confirmed(Vec<String>),
    Refused(Vec<String>),
    /// The venue ends the connection soon.
    Shutdown,
    /// A command may leave now: see [`StreamConnection::send_waiting`].
    CommandDue,
    Ended(String),
}

#[derive(Debug)]
pub(super) struct StreamConnection {
    session: StreamSession,
    waiting: Vec<StreamChange>,
    /// Without an answer yet, by the numbers of their commands.
    asked: BTreeMap<u64, StreamChange>,
    next_command: Instant,
}

impl StreamConnection {
    pub(super) async fn open(link: StreamLink, wanted: Vec<String>) -> Result<Self, String> {
        let line = link.recorder.as_ref().map(|recorder| recorder.line(STREAMS_LINE));
        let connecting = StreamSession::connect(&link.url, &link.dialer, SocketLimits::default(), line);
        let session = connecting.await.map_err(|error| error.to_string())?;
        let mut connection =
            Self { session, waiting: Vec::new(), asked: BTreeMap::new(), next_command: Instant::now() };
        if !wanted.is_empty() {
            connection.change(StreamChange { is_wanted: true, streams: wanted });
        }
        Ok(connection)
    }

    /// Commands of one kind that wait are one.
    pub(super) fn change(&mut self, change: StreamChange) {
        match self.waiting.last_mut() {
            Some(last) if last.is_wanted == change.is_wanted => last.streams.extend(change.streams),
            _ => self.waiting.push(change),
        }
    }

    /// Whether the venue has answered every command.
    pub(super) fn is_answered(&self) -> bool {
        self.waiting.is_empty() && self.asked.is_empty()
    }

    /// It may be dropped and called again without a loss.
    pub(super) async fn next(&mut self) -> StreamNews {
        tokio::select! {
            received = self.session.receive() => match received {
                Ok(MarketEvent::Answered { id, refused }) => self.on_answered(id, refused),
                Ok(MarketEvent::ServerShutdown) => StreamNews::Shutdown,
                Ok(event) => StreamNews::Event(event),
                Err(error) => StreamNews::Ended(error.to_string()),
            },
            () = sleep_until(self.next_command), if !self.waiting.is_empty() => StreamNews::CommandDue,
        }
    }

    /// Sends the next command. It must not be dropped before its end.
    pub(super) async fn send_waiting(&mut self) -> Result<(), String> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let change = self.waiting.remove(0);
        let sent = match change.is_wanted {
            true => self.session.subscribe(&change.streams).await,
            false => self.session.unsubscribe(&change.streams).await,
        };
        let number = sent.map_err(|error| error.to_string())?;
        self.asked.insert(number, change);
        self.next_command = Instant::now() + COMMAND_PAUSE;
        Ok(())
    }

    pub(super) async fn close(self) {
        self.session.close().await;
    }

    /// An answer about streams that are not wanted any more is news too, without any stream.
    fn on_answered(&mut self, id: Option<i64>, refused: Option<String>) -> StreamNews {
        let found = id.and_then(|id| u64::try_from(id).ok()).and_then(|id| self.asked.remove(&id));
        let wanted = found.filter(|change| change.is_wanted).map_or_else(Vec::new, |change| change.streams);
        match refused {
            None => StreamNews::Confirmed(wanted),
            Some(reason) => {
                tracing::warn!(reason, "the venue refused a command about market streams");
                StreamNews::Refused(wanted)
            }
        }
    }
}
