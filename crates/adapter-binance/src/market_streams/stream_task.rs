//! The task of the market streams: reconnects by itself, names all streams again, and renews its connection without a gap, until
//! the adapter drops its commands.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;

use super::stream_connection::{StreamChange, StreamConnection, StreamLink, StreamNews};
use super::stream_successor::{OpenSuccessor, StreamSuccessor, SuccessorStep};
use crate::network::{EventSender, NetworkEvent};

/// Pauses between attempts to open the streams while there are none: the first one, and the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Between attempts to renew a connection that still delivers.
const RENEW_AGAIN: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) enum StreamCommand {
    Subscribe(Vec<String>),
    Unsubscribe(Vec<String>),
    /// They are confirmed and do not send.
    Resubscribe(Vec<String>),
    /// A new connection takes over.
    Renew,
}

pub(crate) struct StreamTask {
    link: StreamLink,
    commands: Receiver<StreamCommand>,
    out: EventSender,
    wanted: BTreeSet<String>,
}

/// Why no connection is left.
enum StreamEnd {
    Lost(String),
    /// The adapter does not want it any more.
    Stopped,
}

/// The connection in use, and the one that is to take over.
struct FollowedStreams {
    current: StreamConnection,
    successor: StreamSuccessor,
}

enum TaskStep {
    Current(StreamNews),
    Successor(SuccessorStep),
    Command(Option<StreamCommand>),
}

impl StreamTask {
    pub(crate) fn new(link: StreamLink, commands: Receiver<StreamCommand>, out: EventSender) -> Self {
        Self { link, commands, out, wanted: BTreeSet::new() }
    }

    pub(crate) async fn run(mut self) {
        let mut pause = PAUSE_FIRST;
        loop {
            let end = match StreamConnection::open(self.link.clone(), self.all_wanted()).await {
                Ok(connection) => {
                    self.out.send(NetworkEvent::PricesUp).await;
                    pause = PAUSE_FIRST;
                    self.follow(connection).await
                }
                Err(reason) => StreamEnd::Lost(reason),
            };
            match end {
                StreamEnd::Stopped => return,
                StreamEnd::Lost(reason) => self.out.send(NetworkEvent::PricesDown(reason)).await,
            }
            if self.wait(pause).await.is_none() {
                return;
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    fn all_wanted(&self) -> Vec<String> {
        self.wanted.iter().cloned().collect()
    }

    /// A pause in which commands are still taken; `None` where the adapter has ended.
    async fn wait(&mut self, pause: Duration) -> Option<()> {
        let until = Instant::now() + pause;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(until) => return Some(()),
                command = self.commands.recv() => drop(self.changes_of(command?)),
            }
        }
    }

    /// What a command changes of the subscriptions.
    fn changes_of(&mut self, command: StreamCommand) -> Vec<StreamChange> {
        let change = |is_wanted: bool, streams: Vec<String>| StreamChange { is_wanted, streams };
        match command {
            StreamCommand::Subscribe(streams) => {
                self.wanted.extend(streams.iter().cloned());
                vec![change(true, streams)]
            }
            StreamCommand::Unsubscribe(streams) => {
                self.wanted.retain(|stream| !streams.contains(stream));
                vec![change(false, streams)]
            }
            StreamCommand::Resubscribe(streams) => vec![change(false, streams.clone()), change(true, streams)],
            StreamCommand::Renew => Vec::new(),
        }
    }

    async fn follow(&mut self, connection: StreamConnection) -> StreamEnd {
        let mut lines = FollowedStreams { current: connection, successor: StreamSuccessor::Absent };
        loop {
            let step = tokio::select! {
                news = lines.current.next() => TaskStep::Current(news),
                step = lines.successor.next() => TaskStep::Successor(step),
                command = self.commands.recv() => TaskStep::Command(command),
            };
            let lost = match step {
                TaskStep::Current(news) => self.on_current(news, &mut lines).await,
                TaskStep::Successor(step) => {
                    self.on_successor(step, &mut lines).await;
                    None
                }
                TaskStep::Command(Some(command)) => {
                    self.on_command(command, &mut lines);
                    None
                }
                TaskStep::Command(None) => {
                    lines.current.close().await;
                    return StreamEnd::Stopped;
                }
            };
            if let Some(reason) = lost {
                return StreamEnd::Lost(reason);
            }
        }
    }

    fn on_command(&mut self, command: StreamCommand, lines: &mut FollowedStreams) {
        if matches!(command, StreamCommand::Renew) {
            lines.successor.want();
        }
        for change in self.changes_of(command) {
            lines.successor.change(&change);
            lines.current.change(change);
        }
    }

    /// The reason where no connection is left.
    async fn on_current(&mut self, news: StreamNews, lines: &mut FollowedStreams) -> Option<String> {
        match news {
            StreamNews::Event(event) => {
                lines.successor.on_old_delivered();
                self.out.send(NetworkEvent::Market(event)).await;
            }
            StreamNews::Confirmed(streams) => self.out.send(NetworkEvent::StreamsConfirmed(streams)).await,
            StreamNews::Refused(streams) => self.out.send(NetworkEvent::StreamsRefused(streams)).await,
            StreamNews::Shutdown => lines.successor.want(),
            StreamNews::CommandDue => {
                if let Err(reason) = lines.current.send_waiting().await {
                    return self.on_current_ended(reason, lines).await;
                }
            }
            StreamNews::Ended(reason) => return self.on_current_ended(reason, lines).await,
        }
        None
    }

    /// A successor that is subscribed takes over at once, without a gap. One that is merely open is used after the gap.
    async fn on_current_ended(&mut self, reason: String, lines: &mut FollowedStreams) -> Option<String> {
        let StreamSuccessor::Open(open) = std::mem::replace(&mut lines.successor, StreamSuccessor::Absent) else {
            return Some(reason);
        };
        let is_ready = open.is_ready();
        if !is_ready {
            self.out.send(NetworkEvent::PricesDown(reason)).await;
            self.out.send(NetworkEvent::PricesUp).await;
        }
        self.take_over(*open, is_ready, lines).await;
        None
    }

    async fn on_successor(&mut self, step: SuccessorStep, lines: &mut FollowedStreams) {
        match step {
            SuccessorStep::OpenNow => {
                let opening = StreamConnection::open(self.link.clone(), self.all_wanted());
                lines.successor = StreamSuccessor::Opening(tokio::spawn(opening), self.wanted.clone());
            }
            SuccessorStep::Opened(Ok(connection)) => lines.successor.open(*connection, &self.wanted),
            SuccessorStep::Opened(Err(reason)) => give_up(&reason, lines),
            SuccessorStep::News(news) => self.on_successor_news(news, lines).await,
            SuccessorStep::TakeOver => self.finish_overlap(lines).await,
            SuccessorStep::Unanswered => give_up("the venue does not answer what is asked on it", lines),
        }
    }

    async fn on_successor_news(&mut self, news: StreamNews, lines: &mut FollowedStreams) {
        let StreamSuccessor::Open(open) = &mut lines.successor else { return };
        match news {
            StreamNews::Event(event) => {
                if open.hold(event) {
                    self.finish_overlap(lines).await;
                }
                return;
            }
            StreamNews::Confirmed(streams) => open.confirmed.extend(streams),
            StreamNews::Refused(streams) => open.refused.extend(streams),
            StreamNews::CommandDue => {
                if let Err(reason) = open.connection.send_waiting().await {
                    return give_up(&reason, lines);
                }
            }
            StreamNews::Shutdown => return give_up("the venue ends it", lines),
            StreamNews::Ended(reason) => return give_up(&reason, lines),
        }
        open.note_ready();
    }

    async fn finish_overlap(&mut self, lines: &mut FollowedStreams) {
        let StreamSuccessor::Open(open) = std::mem::replace(&mut lines.successor, StreamSuccessor::Absent) else {
            return;
        };
        if open.is_worse() {
            return give_up("the venue refuses it a stream, or it does not send", lines);
        }
        self.take_over(*open, true, lines).await;
    }

    /// What both have brought is told twice; the numbers of the updates show it.
    async fn take_over(&mut self, open: OpenSuccessor, is_renewal: bool, lines: &mut FollowedStreams) {
        let OpenSuccessor { connection, confirmed, refused, held, .. } = open;
        let old = std::mem::replace(&mut lines.current, connection);
        tokio::spawn(old.close());
        if is_renewal {
            self.out.send(NetworkEvent::PricesRenewed).await;
        }
        // The old connection may not have answered for some of them.
        self.out.send(NetworkEvent::StreamsConfirmed(confirmed)).await;
        if !refused.is_empty() {
            self.out.send(NetworkEvent::StreamsRefused(refused)).await;
        }
        for event in held {
            self.out.send(NetworkEvent::Market(event)).await;
        }
    }
}

/// The connection in use goes on.
fn give_up(reason: &str, lines: &mut FollowedStreams) {
    tracing::warn!(reason, "the connection of market streams is not renewed yet");
    lines.successor = StreamSuccessor::DueAt(Instant::now() + RENEW_AGAIN);
}
