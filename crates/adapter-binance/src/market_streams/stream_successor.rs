//! The connection that is to take over from the one in use. It is subscribed first; for a while both deliver, and what the new
//! one brings is held back, because the old one may not have brought it yet. Then the new one continues with what it holds.

use std::collections::{BTreeSet, VecDeque};
use std::future::pending;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::stream_connection::{StreamChange, StreamConnection, StreamNews};
use crate::protocol::market_events::MarketEvent;

/// So long both deliver: what the old connection brings late is still read.
const OVERLAP: Duration = Duration::from_secs(5);
/// The venue answers every command within this time, or the new connection is given up.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// Events of the new connection that are held back. With one more it takes over at once; before it is subscribed the oldest are
/// dropped, which the old connection brings too.
const HELD_EVENTS_MAX: usize = 65_536;

pub(super) enum StreamSuccessor {
    /// None is wanted.
    Absent,
    DueAt(Instant),
    /// With the streams that it subscribes to.
    Opening(JoinHandle<Result<StreamConnection, String>>, BTreeSet<String>),
    Open(Box<OpenSuccessor>),
}

pub(super) struct OpenSuccessor {
    pub(super) connection: StreamConnection,
    pub(super) confirmed: Vec<String>,
    pub(super) refused: Vec<String>,
    pub(super) held: VecDeque<MarketEvent>,
    /// Since when all of its streams are answered.
    ready_at: Option<Instant>,
    /// Without an answer by then it is given up.
    answered_by: Instant,
    /// Whether the connection before it has brought an event since then.
    has_old_delivered: bool,
}

pub(super) enum SuccessorStep {
    OpenNow,
    Opened(Result<Box<StreamConnection>, String>),
    News(StreamNews),
    /// The overlap is over.
    TakeOver,
    /// The venue does not answer it.
    Unanswered,
}

impl StreamSuccessor {
    /// It may be dropped and called again without a loss.
    pub(super) async fn next(&mut self) -> SuccessorStep {
        match self {
            Self::Absent => pending().await,
            Self::DueAt(at) => {
                sleep_until(*at).await;
                SuccessorStep::OpenNow
            }
            Self::Opening(task, _) => {
                let opened = task.await.unwrap_or_else(|stopped| Err(stopped.to_string()));
                SuccessorStep::Opened(opened.map(Box::new))
            }
            Self::Open(open) => open.next().await,
        }
    }

    /// Wanted at once, unless one is under way.
    pub(super) fn want(&mut self) {
        if matches!(self, Self::Absent | Self::DueAt(_)) {
            *self = Self::DueAt(Instant::now());
        }
    }

    pub(super) fn change(&mut self, change: &StreamChange) {
        if let Self::Open(open) = self {
            open.connection.change(change.clone());
            open.ready_at = None;
            open.answered_by = Instant::now() + ANSWERED_WITHIN;
        }
    }

    /// It is open. What was changed while it opened is asked for now.
    pub(super) fn open(&mut self, connection: StreamConnection, wanted: &BTreeSet<String>) {
        let mut open = OpenSuccessor::new(connection);
        if let Self::Opening(_, asked) = self {
            open.ask_difference(asked, wanted);
        }
        open.note_ready();
        *self = Self::Open(Box::new(open));
    }

    pub(super) fn on_old_delivered(&mut self) {
        if let Self::Open(open) = self {
            open.has_old_delivered |= open.ready_at.is_some();
        }
    }
}

impl OpenSuccessor {
    fn new(connection: StreamConnection) -> Self {
        Self {
            connection,
            confirmed: Vec::new(),
            refused: Vec::new(),
            held: VecDeque::new(),
            ready_at: None,
            answered_by: Instant::now() + ANSWERED_WITHIN,
            has_old_delivered: false,
        }
    }

    fn ask_difference(&mut self, asked: &BTreeSet<String>, wanted: &BTreeSet<String>) {
        for (is_wanted, [more, less]) in [(true, [wanted, asked]), (false, [asked, wanted])] {
            let streams: Vec<String> = more.difference(less).cloned().collect();
            if !streams.is_empty() {
                self.connection.change(StreamChange { is_wanted, streams });
            }
        }
    }

    /// Whether nothing is missed where it takes over now.
    pub(super) fn is_ready(&self) -> bool {
        self.ready_at.is_some()
    }

    /// The old connection delivers and this one does not, or the venue has refused it a stream: it must not take over.
    pub(super) fn is_worse(&self) -> bool {
        !self.refused.is_empty() || (self.has_old_delivered && self.held.is_empty())
    }

    /// Whether it must take over at once.
    pub(super) fn hold(&mut self, event: MarketEvent) -> bool {
        self.held.push_back(event);
        let is_full = self.held.len() > HELD_EVENTS_MAX;
        if is_full && !self.is_ready() {
            self.held.pop_front();
        }
        is_full && self.is_ready()
    }

    /// After each answer of the venue.
    pub(super) fn note_ready(&mut self) {
        if self.ready_at.is_none() && self.connection.is_answered() {
            self.ready_at = Some(Instant::now());
        }
    }

    async fn next(&mut self) -> SuccessorStep {
        let over = self.ready_at.map(|at| at + OVERLAP);
        tokio::select! {
            news = self.connection.next() => SuccessorStep::News(news),
            () = sleep_until(over.unwrap_or(self.answered_by)) => match over {
                Some(_) => SuccessorStep::TakeOver,
                None => SuccessorStep::Unanswered,
            },
        }
    }
}
