//! Seeded STOMP clients: they connect, subscribe, go on where they were after every cut and restart, ask for the past again, publish,
//! hang up, and keep what they were told.

use std::collections::{BTreeMap, BTreeSet};

use domain::SeededRng;
use stomp::{FrameDecoder, FrameLimits, StompCommand, StompFrame, StompVersion};

use super::follower::Follower;
use super::topic_record::{KeptPlace, OrderMessage, TOPICS_IN_ORDER, TopicRecord};
use super::watcher::{ORDERS, Watcher};
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};
use crate::network::{ClientInput, ClientNetwork};
use crate::schedule::SECOND;

/// In milliseconds, as CONNECT has it.
const HEART_BEAT: &str = "4000,4000";
const BEAT_EVERY: i64 = 3 * SECOND;
const SILENCE_MAX: i64 = 12 * SECOND;
const RETRY_AFTER: i64 = 2 * SECOND;
/// Words of an ERROR that a client must live with, beside that it is slow or that events were lost: it was silent, its past could not
/// be read for long, or the disk does not answer.
const EXCUSES: [&str; 3] = ["nothing was heard", "connect again", "journal-stalled"];
/// The receipt of a DISCONNECT.
const GOODBYE: &str = "goodbye";

const TRADES: [&str; 3] = ["order-status", "fill", "transaction"];
const KEPT: [&str; 10] = [
    "order-status",
    "fill",
    "transaction",
    "market-data-subscription",
    "life-cycle",
    "session",
    "risk",
    "break",
    "generic-event",
    "log-event",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StompPhase {
    Away,
    Connecting,
    Connected,
    Leaving,
}

enum TopicView {
    Follower(Follower),
    Watcher(Watcher),
}

/// What the sessions have come to, for the coverage.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StompCounts {
    pub(crate) connects: u64,
    pub(crate) messages: u64,
    /// Of the messages those that were marked as replayed, and as part of a snapshot.
    pub(crate) replayed: u64,
    pub(crate) shown: u64,
    pub(crate) confirmed: u64,
    /// The platform said that events were lost, or that the client is too slow.
    pub(crate) gaps: u64,
    pub(crate) slow: u64,
}

impl StompCounts {
    pub(crate) fn add(&mut self, other: &Self) {
        self.connects += other.connects;
        self.messages += other.messages;
        self.replayed += other.replayed;
        self.shown += other.shown;
        self.confirmed += other.confirmed;
        self.gaps += other.gaps;
        self.slow += other.slow;
    }
}

pub(crate) struct TopicClient {
    number: usize,
    pub(crate) network: ClientNetwork,
    version: StompVersion,
    phase: StompPhase,
    /// A row of the read model could not be read since it connected: what it asks for may be refused.
    pub(crate) is_row_bad: bool,
    retry_at: i64,
    heard_at: i64,
    sent_at: i64,
    decoder: FrameDecoder,
    /// The id of the newest subscription.
    subscription: u64,
    view: TopicView,
    published: u64,
    /// Generic events that were sent, by their receipts.
    sent: BTreeMap<String, String>,
    confirmed: BTreeSet<String>,
    outgoing: Vec<Vec<u8>>,
    pub(crate) lines: Vec<String>,
    pub(crate) counts: StompCounts,
}

impl TopicClient {
    pub(crate) fn new(number: usize, seed: u64) -> Self {
        let (version, view) = match number {
            0 => (StompVersion::V12, TopicView::Follower(Follower::new(&TRADES))),
            1 => (StompVersion::V11, TopicView::Follower(Follower::new(&KEPT))),
            _ => (StompVersion::V10, TopicView::Watcher(Watcher::default())),
        };
        Self {
            number,
            network: ClientNetwork::new(SeededRng::new(seed, 40 + number as u64)),
            version,
            phase: StompPhase::Away,
            is_row_bad: false,
            retry_at: 0,
            heard_at: 0,
            sent_at: 0,
            decoder: FrameDecoder::new(FrameLimits::default()),
            subscription: 0,
            view,
            published: 0,
            sent: BTreeMap::new(),
            confirmed: BTreeSet::new(),
            outgoing: vec![],
            lines: vec![],
            counts: StompCounts::default(),
        }
    }

    fn name(&self) -> String {
        format!("STOMP client {}", self.number + 1)
    }

    pub(crate) fn wants_connection(&self, now: i64) -> bool {
        self.phase == StompPhase::Away && now >= self.retry_at
    }

    /// A connection is open.
    pub(crate) fn connect(&mut self, now: i64) {
        self.decoder = FrameDecoder::new(FrameLimits::default());
        (self.phase, self.heard_at, self.is_row_bad) = (StompPhase::Connecting, now, false);
        let hello = StompFrame::new(StompCommand::Connect).with("accept-version", self.version.name());
        self.send(now, &hello.with("host", "desk").with("heart-beat", HEART_BEAT));
    }

    /// What has arrived is handled, and what time makes due.
    pub(crate) fn step(&mut self, now: i64) -> InvariantResult {
        for input in self.network.receive(now) {
            match input {
                ClientInput::Closed => self.hang_up(now),
                ClientInput::Bytes(bytes) => self.receive(now, &bytes)?,
            }
        }
        if self.phase != StompPhase::Away && now - self.heard_at > SILENCE_MAX {
            self.hang_up(now);
        }
        if self.phase == StompPhase::Connected && now - self.sent_at >= BEAT_EVERY {
            self.outgoing.push(b"\n".to_vec());
            self.sent_at = now;
        }
        self.flush(now);
        Ok(())
    }

    /// What the client does at this draw, beside listening.
    pub(crate) fn act(&mut self, now: i64, draw: u64) {
        if self.phase != StompPhase::Connected {
            return;
        }
        let mut rng = SeededRng::new(draw, 9);
        match rng.below(10) {
            0 => self.hang_up(now),
            1 => {
                self.phase = StompPhase::Leaving;
                self.send(now, &StompFrame::new(StompCommand::Disconnect).with("receipt", GOODBYE));
            }
            2..=5 => self.subscribe_again(now, &mut rng),
            _ => self.publish(now),
        }
        self.flush(now);
    }

    fn send(&mut self, now: i64, frame: &StompFrame) {
        self.outgoing.push(frame.to_bytes(self.version));
        self.sent_at = now;
    }

    fn flush(&mut self, now: i64) {
        for bytes in std::mem::take(&mut self.outgoing) {
            self.network.send(now, bytes);
        }
    }

    fn hang_up(&mut self, now: i64) {
        self.network.close();
        if self.phase != StompPhase::Away {
            self.lines.push(format!("{} is disconnected", self.name()));
        }
        (self.phase, self.retry_at) = (StompPhase::Away, now + RETRY_AFTER);
        self.outgoing.clear();
    }

    fn subscribe(&mut self, now: i64, from: Option<String>) {
        self.subscription += 1;
        let frame = StompFrame::new(StompCommand::Subscribe).with("id", &self.subscription.to_string());
        let frame = match &mut self.view {
            TopicView::Follower(follower) => {
                let from = from.unwrap_or_else(|| follower.position());
                let frame = frame.with("destination", &follower.destinations()).with("from-sequence", &from);
                // The first one says what it has worked on.
                if self.number == 0 { frame.with("ack", "client-individual") } else { frame }
            }
            TopicView::Watcher(watcher) => {
                watcher.begin();
                frame.with("destination", ORDERS).with("snapshot", "true")
            }
        };
        let from = frame.headers.get("from-sequence").map_or("a snapshot".to_owned(), |from| format!("behind {from}"));
        self.lines.push(format!("{} subscribes, {from}", self.name()));
        self.send(now, &frame);
    }

    /// Ends its subscription and begins another, which repeats what it had.
    fn subscribe_again(&mut self, now: i64, rng: &mut SeededRng) {
        let ended = self.subscription.to_string();
        self.send(now, &StompFrame::new(StompCommand::Unsubscribe).with("id", &ended));
        let from = match &mut self.view {
            TopicView::Follower(follower) => Some(follower.go_back(rng)),
            TopicView::Watcher(_) => None,
        };
        self.subscribe(now, from);
    }

    /// A generic event, of which it wants to know that it is durable.
    fn publish(&mut self, now: i64) {
        self.published += 1;
        let body = format!(r#"{{"client":{},"number":{}}}"#, self.number + 1, self.published);
        let receipt = receipt_of(self.published);
        let frame = StompFrame::new(StompCommand::Send).with("destination", "/topic/generic-event.SERVER.note");
        self.lines.push(format!("{} publishes {body}", self.name()));
        self.send(now, &frame.with("receipt", &receipt).with_body(body.clone()));
        self.sent.insert(receipt, body);
    }

    /// One more event when nothing goes wrong any more: its receipt must come.
    pub(crate) fn publish_last(&mut self, now: i64) {
        if self.phase == StompPhase::Connected {
            self.publish(now);
            self.flush(now);
        }
    }

    fn is_last_confirmed(&self) -> bool {
        self.sent.get(&receipt_of(self.published)).is_some_and(|body| self.confirmed.contains(body))
    }

    fn receive(&mut self, now: i64, bytes: &[u8]) -> InvariantResult {
        self.heard_at = now;
        let mut rest = bytes;
        loop {
            let frame = self.decoder.decode(&mut rest);
            match frame.map_err(|error| self.broken(format!("bytes that are no frame: {error}")))? {
                Some(frame) => self.on_frame(now, &frame)?,
                None => return Ok(()),
            }
        }
    }

    fn on_frame(&mut self, now: i64, frame: &StompFrame) -> InvariantResult {
        match frame.command {
            StompCommand::Connected => {
                self.decoder.set_version(self.version);
                self.phase = StompPhase::Connected;
                self.counts.connects += 1;
                self.subscribe(now, None);
                Ok(())
            }
            StompCommand::Message => self.on_message(now, frame),
            StompCommand::Receipt => {
                let receipt = frame.headers.get("receipt-id").unwrap_or_default();
                if let Some(body) = self.sent.get(receipt) {
                    self.confirmed.insert(body.clone());
                    self.counts.confirmed += 1;
                }
                Ok(())
            }
            StompCommand::Error => self.on_error(frame),
            other => Err(self.broken(format!("the platform sends {}", other.name()))),
        }
    }

    fn on_message(&mut self, now: i64, frame: &StompFrame) -> InvariantResult {
        let header = |name| frame.headers.get(name);
        let destination = header("destination").unwrap_or_default();
        // What an ended subscription had under way, and lines of the broker, which are no events of the journal.
        let is_line = header("event-id").is_none() && destination.starts_with("/topic/log-event.");
        if header("subscription") != Some(&self.subscription.to_string()) || is_line {
            return Ok(());
        }
        if let Some(ack) = header("ack") {
            self.send(now, &StompFrame::new(StompCommand::Ack).with("id", ack));
        }
        self.counts.messages += 1;
        self.counts.replayed += u64::from(header("replayed").is_some());
        self.counts.shown += u64::from(header("snapshot").is_some());
        let body = String::from_utf8_lossy(&frame.body);
        let received = match &mut self.view {
            TopicView::Follower(follower) => match header("event-id").and_then(event_place) {
                Some(place) => follower.receive(place, destination, &body),
                None => Err(format!("{destination} has a message without an event-id: {body}")),
            },
            TopicView::Watcher(watcher) => {
                let sequence = header("sequence").and_then(|number| number.parse().ok()).unwrap_or(0);
                let message = OrderMessage { sequence, destination: destination.to_owned(), body: body.into_owned() };
                watcher.receive(message, header("snapshot").is_some())
            }
        };
        received.map_err(|detail| self.broken(detail))
    }

    /// A client may be told that it must come again, and why; never that it knows more than the platform.
    fn on_error(&mut self, frame: &StompFrame) -> InvariantResult {
        let told = frame.headers.get("message").unwrap_or_default().to_owned();
        self.lines.push(format!("{} is told: {told}", self.name()));
        let is_gap = told.contains("events were lost");
        let is_slow = told.contains("slow consumer");
        self.counts.gaps += u64::from(is_gap);
        self.counts.slow += u64::from(is_slow);
        let is_refused = self.is_row_bad && told.contains("was written by another build");
        let is_excused = is_gap || is_slow || is_refused || EXCUSES.iter().any(|excuse| told.contains(excuse));
        if is_excused { Ok(()) } else { Err(self.broken(format!("an ERROR: {told}"))) }
    }

    /// Holds at any moment; at the end everything up to a sequence was told, too.
    pub(crate) fn check(&mut self, record: &TopicRecord, complete_through: Option<u64>) -> InvariantResult {
        let name = self.name();
        let is_away = complete_through.is_some() && self.phase != StompPhase::Connected;
        ensure(!is_away, "a STOMP client is not connected", || name.clone())?;
        let is_answered = complete_through.is_none() || self.is_last_confirmed();
        ensure(is_answered, "a request was never answered", || format!("the last event of {name} has no receipt"))?;
        match &mut self.view {
            TopicView::Follower(follower) => follower.check(&name, record, complete_through)?,
            TopicView::Watcher(watcher) => watcher.check(&name, record, complete_through)?,
        }
        for body in self.sent.values() {
            let times = record.generic.get(body).copied().unwrap_or(0);
            ensure(times <= 1, "published twice", || format!("{name}: {body}, {times} times"))?;
            let is_lost = times == 0 && self.confirmed.contains(body);
            ensure(!is_lost, "acknowledged and lost", || format!("{name} has a receipt for {body}"))?;
        }
        Ok(())
    }

    /// Messages that came again because the client asked for them.
    pub(crate) fn asked_again(&self) -> u64 {
        match &self.view {
            TopicView::Follower(follower) => follower.repeats,
            TopicView::Watcher(_) => 0,
        }
    }

    fn broken(&self, detail: String) -> BrokenInvariant {
        broken(TOPICS_IN_ORDER, format!("{}: {detail}", self.name()))
    }
}

/// Of the n-th event that a client publishes.
fn receipt_of(number: u64) -> String {
    format!("event-{number}")
}

fn event_place(id: &str) -> Option<KeptPlace> {
    let (sequence, index) = id.split_once('-')?;
    Some((sequence.parse().ok()?, index.parse().ok()?))
}
