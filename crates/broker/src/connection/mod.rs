//! One connection: input goes to the STOMP session, its actions are executed in order, the outbound queue is written
//! when the socket is writable.

pub(crate) mod actions;
pub(crate) mod close_reason;
pub(crate) mod permissions;
pub(crate) mod known_topics;
mod replay_driver;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use access::{AccessCredentials, AccessGrant, Identity};
use net::ConnectionPermit;
use stomp::lanes::{ConsumerPressure, ConsumerProgress, FrameBatch, OutboundLanes, SlowConsumer, StallLimits};
use stomp::session::CloseCause;
use stomp::{MonotonicTime, StompAction, StompSession};
use tokio::task::coop::consume_budget;
use tokio::time::{Sleep, sleep, sleep_until, timeout};

use crate::cache::snapshot::SubscriptionSnapshot;
use crate::cache::subscription_replay::{self, NotRead, SubscriptionReplay};
use crate::connection::close_reason::{CloseReason, codes};
use crate::hub::hub_handle::HubHandle;
use crate::hub::outbound_queue::{OutboundQueue, QueueDepth};
use crate::limits::{BATCH_BYTES, CLOSE_BYTES_MAX, CLOSE_WAIT_MAX, FAULT_LINGER};
use crate::ports::transport::{Received, Transport};
use crate::publisher::warn_slow_consumer;
use crate::state::BrokerState;

/// The origin of a connection.
pub(crate) struct ConnectionOrigin {
    pub(crate) peer: Option<IpAddr>,
    pub(crate) credentials: PresentedCredentials,
}

/// What is known of the client before CONNECT.
pub(crate) enum PresentedCredentials {
    Absent,
    Credentials(AccessCredentials),
    /// A part of this process.
    Internal,
}

/// The effect of an answer.
pub(super) enum ActionOutcome {
    /// An internal client needs no pass.
    Authenticated(Identity, Option<AccessGrant>),
    /// The connection ends with this text, which answers the frame of that receipt.
    Refused(String, Option<String>),
    /// Continue with the next action.
    Done,
}

/// An answer that must arrive before further input of this client is processed.
pub(super) type PendingAction = Pin<Box<dyn Future<Output = ActionOutcome> + Send>>;

/// A page of history that is being read.
pub(super) type HistoryRead = Pin<Box<dyn Future<Output = Result<subscription_replay::HistoryPage, NotRead>> + Send>>;

pub(crate) struct StompConnection<T> {
    pub(super) broker: Arc<BrokerState>,
    pub(super) transport: T,
    pub(super) session: StompSession,
    pub(super) hub: HubHandle,
    /// Its permit among all connections; an internal client needs none.
    pub(super) permit: Option<ConnectionPermit>,
    /// Boxed beside the task, so that an idle connection uses little memory.
    pub(super) lanes: Box<OutboundLanes>,
    pub(super) origin: ConnectionOrigin,
    pub(super) identity: Option<Identity>,
    pub(super) actions: VecDeque<StompAction>,
    pub(super) pending: Option<PendingAction>,
    pub(super) snapshots: VecDeque<SubscriptionSnapshot>,
    /// Subscriptions with a replay; the first is in progress.
    pub(super) replays: VecDeque<SubscriptionReplay>,
    pub(super) history_read: Option<HistoryRead>,
    /// When the first is advanced again.
    pub(super) replay_at: MonotonicTime,
    /// Since when it cannot read.
    pub(super) replay_waits: Option<MonotonicTime>,
    /// The close code of a WebSocket, once it is closed.
    pub(super) closing: Option<u16>,
    /// A transport error below STOMP, as a WebSocket close code.
    transport_error: Option<u16>,
    /// A queue may wait for room in our lanes.
    pub(super) consumes_queues: bool,
    input: Vec<u8>,
    batch: FrameBatch,
    /// Something was passed to the transport and may not be sent yet.
    is_sending: bool,
    /// Whether the client reads, and the octets that the socket had accepted at the last check.
    progress: ConsumerProgress,
    taken_octets: u64,
    /// Whether it acknowledges, and the waiting octets at the last check.
    acknowledging: ConsumerProgress,
    unacknowledged: usize,
    ping_at: MonotonicTime,
}

enum ConnectionEvent {
    Received(io::Result<Received>),
    Sent(io::Result<()>),
    Answered(ActionOutcome),
    Read(Result<subscription_replay::HistoryPage, NotRead>),
    Woken,
}

impl<T: Transport> StompConnection<T> {
    pub(crate) fn new(broker: Arc<BrokerState>, transport: T, origin: ConnectionOrigin, lanes: OutboundLanes) -> Self {
        let now = broker.clock.now();
        let rules = if T::SENDS_PINGS { &broker.websocket_rules } else { &broker.stream_rules };
        let hub = HubHandle::register(&broker.hub, OutboundQueue::new(&lanes, broker.limits.connection_bytes));
        let session = StompSession::new(now, session_id(&hub), rules.clone());
        let ping_at = if T::SENDS_PINGS { now.after(broker.limits.ping_every) } else { MonotonicTime::NEVER };
        Self {
            broker,
            transport,
            session,
            hub,
            permit: None,
            lanes: lanes.into(),
            origin,
            identity: None,
            actions: VecDeque::new(),
            pending: None,
            snapshots: VecDeque::new(),
            replays: VecDeque::new(),
            history_read: None,
            replay_at: MonotonicTime(0),
            replay_waits: None,
            closing: None,
            transport_error: None,
            consumes_queues: false,
            input: Vec::new(),
            batch: FrameBatch::default(),
            is_sending: false,
            progress: ConsumerProgress::new(now),
            taken_octets: 0,
            acknowledging: ConsumerProgress::new(now),
            unacknowledged: 0,
            ping_at,
        }
    }

    /// With the permit that was acquired for it.
    #[must_use]
    pub(crate) fn with_permit(mut self, taken: ConnectionPermit) -> Self {
        // It is told why, where that is possible.
        let mailbox = self.hub.mailbox.clone();
        taken.on_eviction(move || mailbox.close(CloseReason::Evicted));
        self.permit = Some(taken);
        self
    }

    pub(crate) async fn run(mut self) {
        let broker = self.broker.clone();
        broker.wait_until_loaded().await;
        let mut timer = pin!(sleep_until(self.broker.clock.instant(MonotonicTime(0))));
        loop {
            let now = self.broker.clock.now();
            self.on_timer(now);
            self.run_actions(now);
            if self.closing.is_some() {
                break;
            }
            self.fill_batch(now);
            let deadline = self.deadline(now);
            timer.as_mut().reset(self.broker.clock.instant(deadline));
            let step = self.next_event(timer.as_mut()).await;
            if self.handle(step).is_err() {
                return;
            }
            // One read of the socket may have hundreds of tiny frames: others have their turn between them.
            consume_budget().await;
        }
        // A client that does not read its final frame in time goes without it.
        let _ = timeout(CLOSE_WAIT_MAX, self.shut_down()).await;
    }

    fn on_timer(&mut self, now: MonotonicTime) {
        self.update_progress(now);
        let pages = self.page_octets();
        let end = self.hub.mailbox.drain_into(&mut self.lanes, pages, self.progress.since());
        let end = end.or_else(|| self.check_progress(now).err().map(|slow| self.on_slow_consumer(slow)));
        let mut actions = Vec::new();
        match end {
            Some(end) => self.session.close_with_error(&end.text(), None, &mut actions),
            None if self.pending.is_some() => self.wait_alive(now),
            None => self.session.tick(now, &mut actions),
        }
        self.queue_actions(actions);
        if self.ping_at <= now {
            self.ping_at = now.after(self.broker.limits.ping_every);
            self.transport.ping();
            self.is_sending = true;
        }
    }

    /// While its work is under way a client is not read, and so it is not silent; nor are we, since a heart-beat may stand
    /// between any two frames.
    fn wait_alive(&mut self, now: MonotonicTime) {
        self.session.on_pong(now);
        let mut beats = Vec::new();
        self.session.tick(now, &mut beats);
        for beat in beats {
            if let Err((text, receipt)) = self.run_action(now, beat) {
                self.reject(&text, receipt.as_deref());
            }
        }
    }

    fn update_progress(&mut self, now: MonotonicTime) {
        let taken = self.transport.taken();
        if !self.is_sending || taken != self.taken_octets {
            self.progress.on_progress(now);
        }
        self.taken_octets = taken;
        let unacknowledged = self.lanes.unacknowledged_bytes();
        if unacknowledged == 0 || unacknowledged < self.unacknowledged {
            self.acknowledging.on_progress(now);
        }
        self.unacknowledged = unacknowledged;
    }

    /// A client that makes progress is not slow, however much is queued.
    fn check_progress(&mut self, now: MonotonicTime) -> Result<(), SlowConsumer> {
        let patience = self.broker.limits.stall_limits;
        let was_told = self.progress.is_reported() || self.acknowledging.is_reported();
        let reading = self.progress.check(now, self.lanes.reliable_bytes(), patience);
        let acknowledging = self.acknowledging.check(now, self.unacknowledged, acknowledgement_patience(patience));
        let is_cut = reading.is_err() || acknowledging.is_err();
        // Also where no check happened between half of the limit and its end.
        if [reading, acknowledging].contains(&Ok(ConsumerPressure::Slow)) || is_cut && !was_told {
            let user = self.identity.as_ref().and_then(|identity| identity.name.as_deref());
            warn_slow_consumer(&self.broker, &session_id(&self.hub), user);
        }
        reading.and(acknowledging).map(drop)
    }

    fn on_slow_consumer(&self, slow: SlowConsumer) -> CloseReason {
        self.hub.mailbox.close(CloseReason::Slow(slow));
        CloseReason::Slow(slow)
    }

    pub(super) fn queue_actions(&mut self, actions: Vec<StompAction>) {
        self.actions.extend(actions);
    }

    /// Drains the outbound queue when the last batch is written.
    fn fill_batch(&mut self, now: MonotonicTime) {
        if self.is_sending {
            return;
        }
        self.advance_snapshots();
        self.advance_replays(now);
        self.batch.clear();
        self.lanes.drain(now, BATCH_BYTES, self.session.subscriptions(), &mut self.batch);
        self.is_sending = self.batch.bytes() > 0;
        self.broker.counters.on_batch_sent(&self.batch);
    }

    fn advance_snapshots(&mut self) {
        if !self.has_room() {
            return;
        }
        let Some(snapshot) = self.snapshots.front_mut() else { return };
        // What is published from now on is queued after the snapshot.
        let mut found = Vec::new();
        let is_all = self.hub.next_snapshot_step(snapshot, &self.broker.bus.catalogue.current(), &mut found);
        found.into_iter().for_each(|found| found.push_to(&mut self.lanes));
        if is_all {
            self.snapshots.pop_front();
        }
    }

    fn deadline(&mut self, now: MonotonicTime) -> MonotonicTime {
        // While the socket is not writable, only heart-beats matter.
        let wake_at = if self.is_sending { MonotonicTime::NEVER } else { self.lanes.wake_at(now) };
        let snapshot_waits = self.snapshots.is_empty() || self.is_sending || !self.has_room();
        let snapshot = if snapshot_waits { MonotonicTime::NEVER } else { now };
        let replay = if self.is_sending { MonotonicTime::NEVER } else { self.replay_at(now) };
        let deadlines = [self.session.deadline(), wake_at, self.slow_deadline(), self.ping_at, snapshot, replay];
        deadlines.into_iter().min().unwrap_or(MonotonicTime::NEVER)
    }

    /// When a client that neither reads nor acknowledges becomes slow.
    fn slow_deadline(&self) -> MonotonicTime {
        let patience = self.broker.limits.stall_limits;
        let waiting = if self.is_sending { self.lanes.reliable_bytes() } else { 0 };
        let unacknowledged = self.acknowledging.deadline(self.unacknowledged, acknowledgement_patience(patience));
        self.progress.deadline(waiting, patience).min(unacknowledged)
    }

    async fn next_event(&mut self, mut timer: Pin<&mut Sleep>) -> ConnectionEvent {
        let queue = self.hub.mailbox.clone();
        let mut mail = pin!(queue.notified());
        poll_fn(|context| {
            if let Some(pending) = &mut self.pending {
                if let Poll::Ready(answered) = pending.as_mut().poll(context) {
                    return Poll::Ready(ConnectionEvent::Answered(answered));
                }
            } else if let Poll::Ready(received) = self.transport.poll_receive(context, &mut self.input) {
                return Poll::Ready(ConnectionEvent::Received(received));
            }
            if self.is_sending
                && let Poll::Ready(sent) = self.transport.poll_send(context, &mut self.batch)
            {
                return Poll::Ready(ConnectionEvent::Sent(sent));
            }
            if let Some(reading) = &mut self.history_read
                && let Poll::Ready(read) = reading.as_mut().poll(context)
            {
                return Poll::Ready(ConnectionEvent::Read(read));
            }
            if mail.as_mut().poll(context).is_ready() || timer.as_mut().poll(context).is_ready() {
                return Poll::Ready(ConnectionEvent::Woken);
            }
            Poll::Pending
        })
        .await
    }

    /// An error or an end comes from the peer, so nothing is sent to it.
    fn handle(&mut self, step: ConnectionEvent) -> io::Result<()> {
        let now = self.broker.clock.now();
        match step {
            ConnectionEvent::Received(received) => match received? {
                Received::End => return Err(io::ErrorKind::UnexpectedEof.into()),
                Received::KeepAlive => self.session.on_pong(now),
                Received::Bytes => self.on_input(now),
                Received::Fault(code) => self.close_on_transport_error(code),
            },
            ConnectionEvent::Sent(sent) => {
                sent?;
                self.on_sent(now);
            }
            ConnectionEvent::Answered(answered) => {
                self.pending = None;
                self.session.on_pong(now);
                self.on_answer(now, answered);
            }
            ConnectionEvent::Read(read) => self.on_page(now, read),
            ConnectionEvent::Woken => {}
        }
        Ok(())
    }

    fn close_on_transport_error(&mut self, code: u16) {
        self.transport_error = Some(code);
        let mut last_words = Vec::new();
        self.session.close_with_error(close_reason::transport_error_text(code), None, &mut last_words);
        self.queue_actions(last_words);
    }

    fn on_input(&mut self, now: MonotonicTime) {
        let mut actions = Vec::new();
        self.session.receive(now, &self.input, &mut actions);
        self.input.clear();
        self.lanes.on_room();
        self.queue_actions(actions);
    }

    fn on_sent(&mut self, now: MonotonicTime) {
        self.is_sending = false;
        self.session.on_sent(now);
        for (subscription, token) in self.batch.acknowledged() {
            self.hub.acknowledge(*subscription, &[*token]);
        }
        if self.consumes_queues && OutboundLanes::has_room(self.lanes.reliable_bytes()) {
            self.hub.mailbox.set_held(QueueDepth::from_lanes(&self.lanes, self.page_octets(), now));
            self.hub.resume_queues();
        }
    }

    /// Writes what is in progress, then the final frame, then the peer may close first.
    async fn shut_down(&mut self) -> io::Result<()> {
        let now = self.broker.clock.now();
        while self.is_sending {
            poll_fn(|context| self.transport.poll_send(context, &mut self.batch)).await?;
            self.batch.clear();
            self.lanes.drain(now, BATCH_BYTES, self.session.subscriptions(), &mut self.batch);
            self.is_sending = self.batch.bytes() > 0;
        }
        let code = self.closing.unwrap_or(codes::NORMAL);
        poll_fn(|context| self.transport.poll_close(context, code)).await?;
        if self.transport_error.is_some() {
            // Nothing can be read after a transport error. A close while the peer still sends would discard the final
            // frame.
            sleep(FAULT_LINGER).await;
            return Ok(());
        }
        // A client that floods instead of reading does not close first.
        let mut unheard = 0;
        while unheard <= CLOSE_BYTES_MAX {
            self.input.clear();
            if poll_fn(|context| self.transport.poll_receive(context, &mut self.input)).await? == Received::End {
                return Ok(());
            }
            unheard += self.input.len();
        }
        Ok(())
    }

    /// From now on only the final frame is sent; the connection is removed from the hub.
    pub(super) fn close(&mut self, closing: &CloseCause) {
        let end = self.hub.mailbox.close_reason();
        if matches!(end, Some(CloseReason::Slow(_))) {
            self.broker
                .counters
                .on_slow_disconnect(self.hub.mailbox.undelivered() + self.lanes.waiting_messages() as u64);
        }
        self.hub.disconnect();
        self.lanes.clear();
        (self.replays, self.history_read) = (VecDeque::new(), None);
        self.closing = Some(self.transport_error.unwrap_or_else(|| close_reason::close_code(closing, end.as_ref())));
        self.is_sending = true;
    }
}

/// The limit for acknowledgements is the one for small queues.
fn acknowledgement_patience(patience: StallLimits) -> StallLimits {
    StallLimits { stall: patience.wait, wait: Duration::MAX, ..patience }
}

/// As in CONNECTED.
fn session_id(place: &HubHandle) -> String {
    format!("rialto-{}", place.id.0)
}

#[cfg(test)]
mod tests {
    use domain::command::{Mode, StrategyPhase};
    use domain::event::LifeCycle;
    use domain::{Event, PublishedEvent, ReferenceData, StrategyId, Timestamp};
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::ports::stream::ByteStream;
    use crate::state::tests::broker_state;

    fn running(strategy: u64) -> PublishedEvent {
        let strategy = StrategyId(strategy);
        let change = LifeCycle { strategy, mode: Mode::RealTime, phase: StrategyPhase::Run, failure: None };
        PublishedEvent { sequence: 1, at: Timestamp(0), event: Event::LifeCycle(change.into()) }
    }

    /// A client takes one value and acknowledges nothing; the others wait until it does, and so does the connection.
    #[tokio::test]
    async fn a_snapshot_that_waits_for_an_acknowledgement_wakes_nobody() {
        let (broker, _folder) = broker_state(0);
        broker.hub.publish_events(MonotonicTime(0), (1..=5_000).map(running), &ReferenceData::default());
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let origin = ConnectionOrigin { peer: None, credentials: PresentedCredentials::Internal };
        let mut connection = StompConnection::new(broker, ByteStream::new(ours), origin, OutboundLanes::unthrottled());
        let ack = "ack:client\nactivemq.prefetchSize:1\nsnapshot:true\n";
        let frames =
            format!("CONNECT\naccept-version:1.2\nhost:desk\n\n\0SUBSCRIBE\nid:1\n{ack}destination:/topic/>\n\n\0");
        theirs.write_all(frames.as_bytes()).await.unwrap();
        let mut timer = pin!(sleep_until(connection.broker.clock.instant(MonotonicTime(0))));
        for _ in 0..200 {
            let now = connection.broker.clock.now();
            connection.on_timer(now);
            connection.run_actions(now);
            connection.fill_batch(now);
            let deadline = connection.deadline(now);
            if connection.lanes.unacknowledged_bytes() > 0 && !connection.is_sending && deadline > now {
                assert!(!connection.snapshots.is_empty());
                return;
            }
            timer.as_mut().reset(connection.broker.clock.instant(deadline));
            let step = connection.next_event(timer.as_mut()).await;
            connection.handle(step).unwrap();
        }
        panic!("it does not rest");
    }
}
