//! One connection: input goes to the STOMP session, its actions are executed in order, the outbound queue is written
//! when the socket is writable.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use access::{Credentials, Identity, Pass};
use stomp::lanes::{Batch, Lanes, Patience, Pressure, Progress, SlowConsumer};
use stomp::session::Closing;
use stomp::{Action, Session, Time};
use tokio::time::{Sleep, sleep, sleep_until, timeout};

use crate::ending::{self, End, codes};
use crate::house::House;
use crate::limits::{BATCH_BYTES, FAREWELL_BYTES_MAX, FAREWELL_MAX, FAULT_LINGER};
use crate::mailbox::{Mailbox, Waiting};
use crate::place::Place;
use crate::places::Taken;
use crate::replay::{self, NotRead, Replay};
use crate::slowness;
use crate::snapshot::Snapshot;
use crate::transport::{Received, Transport};

/// The origin of a connection.
pub(crate) struct Visitor {
    pub(crate) peer: Option<IpAddr>,
    pub(crate) shown: Shown,
}

/// What is known of the client before CONNECT.
pub(crate) enum Shown {
    Nothing,
    Credentials(Credentials),
    /// A part of this process.
    Insider,
}

/// The effect of an answer.
pub(super) enum Answered {
    /// An internal client needs no pass.
    Admitted(Identity, Option<Pass>),
    /// The connection ends with this text, which answers the frame of that receipt.
    Refused(String, Option<String>),
    /// Continue with the next action.
    Done,
}

/// An answer that must arrive before further input of this client is processed.
pub(super) type Pending = Pin<Box<dyn Future<Output = Answered> + Send>>;

/// A page of history that is being read.
pub(super) type Reading = Pin<Box<dyn Future<Output = Result<replay::Found, NotRead>> + Send>>;

pub(crate) struct Connection<T> {
    pub(super) house: Arc<House>,
    pub(super) transport: T,
    pub(super) session: Session,
    pub(super) place: Place,
    /// Its permit among all connections; an internal client needs none.
    pub(super) taken: Option<Taken>,
    /// Boxed beside the task, so that an idle connection uses little memory.
    pub(super) lanes: Box<Lanes>,
    pub(super) visitor: Visitor,
    pub(super) identity: Option<Identity>,
    pub(super) actions: VecDeque<Action>,
    pub(super) pending: Option<Pending>,
    pub(super) snapshots: VecDeque<Snapshot>,
    /// Subscriptions with a replay; the first is in progress.
    pub(super) replays: VecDeque<Replay>,
    pub(super) reading: Option<Reading>,
    /// When the first is advanced again.
    pub(super) replay_at: Time,
    /// Since when it cannot read.
    pub(super) replay_waits: Option<Time>,
    /// The close code of a WebSocket, once it is closed.
    pub(super) closing: Option<u16>,
    /// A transport error below STOMP, as a WebSocket close code.
    fault: Option<u16>,
    /// A queue may wait for room in our lanes.
    pub(super) takes_from_queues: bool,
    input: Vec<u8>,
    batch: Batch,
    /// Something was passed to the transport and may not be sent yet.
    is_sending: bool,
    /// Whether the client reads, and the octets that the socket had accepted at the last check.
    progress: Progress,
    taken_octets: u64,
    /// Whether it acknowledges, and the waiting octets at the last check.
    acknowledging: Progress,
    unacknowledged: usize,
    ping_at: Time,
}

enum Step {
    Received(io::Result<Received>),
    Sent(io::Result<()>),
    Answered(Answered),
    Read(Result<replay::Found, NotRead>),
    Woken,
}

impl<T: Transport> Connection<T> {
    pub(crate) fn new(house: Arc<House>, transport: T, visitor: Visitor, lanes: Lanes) -> Self {
        let now = house.clock.now();
        let rules = if T::PINGS { &house.websocket_rules } else { &house.stream_rules };
        let place = Place::take(&house.hub, Mailbox::new(&lanes, house.limits.connection_bytes));
        let session = Session::new(now, session_name(&place), rules.clone());
        let ping_at = if T::PINGS { now.after(house.limits.ping_every) } else { Time::NEVER };
        Self {
            house,
            transport,
            session,
            place,
            taken: None,
            lanes: lanes.into(),
            visitor,
            identity: None,
            actions: VecDeque::new(),
            pending: None,
            snapshots: VecDeque::new(),
            replays: VecDeque::new(),
            reading: None,
            replay_at: Time(0),
            replay_waits: None,
            closing: None,
            fault: None,
            takes_from_queues: false,
            input: Vec::new(),
            batch: Batch::default(),
            is_sending: false,
            progress: Progress::new(now),
            taken_octets: 0,
            acknowledging: Progress::new(now),
            unacknowledged: 0,
            ping_at,
        }
    }

    /// With the permit that was acquired for it.
    #[must_use]
    pub(crate) fn at(mut self, taken: Taken) -> Self {
        taken.reached_by(&self.place.mailbox);
        self.taken = Some(taken);
        self
    }

    pub(crate) async fn run(mut self) {
        let mut timer = pin!(sleep_until(self.house.clock.instant(Time(0))));
        loop {
            let now = self.house.clock.now();
            self.look_at_time(now);
            self.perform(now);
            if self.closing.is_some() {
                break;
            }
            self.fill(now);
            let deadline = self.deadline(now);
            timer.as_mut().reset(self.house.clock.instant(deadline));
            let step = self.step(timer.as_mut()).await;
            if self.take(step).is_err() {
                return;
            }
        }
        // A client that does not read its final frame in time goes without it.
        let _ = timeout(FAREWELL_MAX, self.farewell()).await;
    }

    fn look_at_time(&mut self, now: Time) {
        self.note_progress(now);
        let pages = self.page_octets();
        let end = self.place.mailbox.take(&mut self.lanes, pages, self.progress.since());
        let end = end.or_else(|| self.check_progress(now).err().map(|slow| self.cut(slow)));
        let mut actions = Vec::new();
        match end {
            Some(end) => self.session.refuse(&end.text(), None, &mut actions),
            None if self.pending.is_some() => self.wait_alive(now),
            None => self.session.tick(now, &mut actions),
        }
        self.follow(actions);
        if self.ping_at <= now {
            self.ping_at = now.after(self.house.limits.ping_every);
            self.transport.ping();
            self.is_sending = true;
        }
    }

    /// While its work is under way a client is not read, and so it is not silent; nor are we, since a heart-beat may stand
    /// between any two frames.
    fn wait_alive(&mut self, now: Time) {
        self.session.alive(now);
        let mut beats = Vec::new();
        self.session.tick(now, &mut beats);
        for beat in beats {
            if let Err((text, receipt)) = self.perform_one(now, beat) {
                self.refuse(&text, receipt.as_deref());
            }
        }
    }

    fn note_progress(&mut self, now: Time) {
        let taken = self.transport.taken();
        if !self.is_sending || taken != self.taken_octets {
            self.progress.made(now);
        }
        self.taken_octets = taken;
        let unacknowledged = self.lanes.unacknowledged_bytes();
        if unacknowledged == 0 || unacknowledged < self.unacknowledged {
            self.acknowledging.made(now);
        }
        self.unacknowledged = unacknowledged;
    }

    /// A client that makes progress is not slow, however much is queued.
    fn check_progress(&mut self, now: Time) -> Result<(), SlowConsumer> {
        let patience = self.house.limits.patience;
        let was_told = self.progress.is_told() || self.acknowledging.is_told();
        let reading = self.progress.check(now, self.lanes.reliable_bytes(), patience);
        let acknowledging = self.acknowledging.check(now, self.unacknowledged, lenient(patience));
        let is_cut = reading.is_err() || acknowledging.is_err();
        // Also where no check happened between half of the limit and its end.
        if [reading, acknowledging].contains(&Ok(Pressure::Slow)) || is_cut && !was_told {
            let user = self.identity.as_ref().and_then(|identity| identity.name.as_deref());
            slowness::tell(&self.house, &session_name(&self.place), user);
        }
        reading.and(acknowledging).map(drop)
    }

    fn cut(&self, slow: SlowConsumer) -> End {
        self.place.mailbox.end(End::Slow(slow));
        End::Slow(slow)
    }

    pub(super) fn follow(&mut self, actions: Vec<Action>) {
        self.actions.extend(actions);
    }

    /// Drains the outbound queue when the last batch is written.
    fn fill(&mut self, now: Time) {
        if self.is_sending {
            return;
        }
        self.go_on_with_snapshots();
        self.go_on_with_replays(now);
        self.batch.clear();
        self.lanes.drain(now, BATCH_BYTES, self.session.subscriptions(), &mut self.batch);
        self.is_sending = self.batch.bytes() > 0;
        self.house.counters.handed_over(&self.batch);
    }

    fn go_on_with_snapshots(&mut self) {
        if !self.has_room() {
            return;
        }
        let Some(snapshot) = self.snapshots.front_mut() else { return };
        // What is published from now on is queued after the snapshot.
        let mut found = Vec::new();
        let is_all = self.place.go_on(snapshot, &self.house.bus.catalogue.now(), &mut found);
        found.into_iter().for_each(|found| found.put_into(&mut self.lanes));
        if is_all {
            self.snapshots.pop_front();
        }
    }

    fn deadline(&mut self, now: Time) -> Time {
        // While the socket is not writable, only heart-beats matter.
        let wake_at = if self.is_sending { Time::NEVER } else { self.lanes.wake_at(now) };
        let snapshot_waits = self.snapshots.is_empty() || self.is_sending || !self.has_room();
        let snapshot = if snapshot_waits { Time::NEVER } else { now };
        let replay = if self.is_sending { Time::NEVER } else { self.replay_at(now) };
        let deadlines = [self.session.deadline(), wake_at, self.late_at(), self.ping_at, snapshot, replay];
        deadlines.into_iter().min().unwrap_or(Time::NEVER)
    }

    /// When a client that neither reads nor acknowledges becomes slow.
    fn late_at(&self) -> Time {
        let patience = self.house.limits.patience;
        let waiting = if self.is_sending { self.lanes.reliable_bytes() } else { 0 };
        let unacknowledged = self.acknowledging.late_at(self.unacknowledged, lenient(patience));
        self.progress.late_at(waiting, patience).min(unacknowledged)
    }

    async fn step(&mut self, mut timer: Pin<&mut Sleep>) -> Step {
        let mailbox = self.place.mailbox.clone();
        let mut mail = pin!(mailbox.notified());
        poll_fn(|context| {
            if let Some(pending) = &mut self.pending {
                if let Poll::Ready(answered) = pending.as_mut().poll(context) {
                    return Poll::Ready(Step::Answered(answered));
                }
            } else if let Poll::Ready(received) = self.transport.poll_receive(context, &mut self.input) {
                return Poll::Ready(Step::Received(received));
            }
            if self.is_sending
                && let Poll::Ready(sent) = self.transport.poll_send(context, &mut self.batch)
            {
                return Poll::Ready(Step::Sent(sent));
            }
            if let Some(reading) = &mut self.reading
                && let Poll::Ready(read) = reading.as_mut().poll(context)
            {
                return Poll::Ready(Step::Read(read));
            }
            if mail.as_mut().poll(context).is_ready() || timer.as_mut().poll(context).is_ready() {
                return Poll::Ready(Step::Woken);
            }
            Poll::Pending
        })
        .await
    }

    /// An error or an end comes from the peer, so nothing is sent to it.
    fn take(&mut self, step: Step) -> io::Result<()> {
        let now = self.house.clock.now();
        match step {
            Step::Received(received) => match received? {
                Received::End => return Err(io::ErrorKind::UnexpectedEof.into()),
                Received::Life => self.session.alive(now),
                Received::Bytes => self.read(now),
                Received::Fault(code) => self.end_by_fault(code),
            },
            Step::Sent(sent) => {
                sent?;
                self.sent(now);
            }
            Step::Answered(answered) => {
                self.pending = None;
                self.session.alive(now);
                self.answered(now, answered);
            }
            Step::Read(read) => self.take_page(now, read),
            Step::Woken => {}
        }
        Ok(())
    }

    fn end_by_fault(&mut self, code: u16) {
        self.fault = Some(code);
        let mut last_words = Vec::new();
        self.session.refuse(ending::fault_text(code), None, &mut last_words);
        self.follow(last_words);
    }

    fn read(&mut self, now: Time) {
        let mut actions = Vec::new();
        self.session.receive(now, &self.input, &mut actions);
        self.input.clear();
        self.lanes.room_made();
        self.follow(actions);
    }

    fn sent(&mut self, now: Time) {
        self.is_sending = false;
        self.session.sent(now);
        for (subscription, token) in self.batch.settled() {
            self.place.settle(*subscription, &[*token]);
        }
        if self.takes_from_queues && Lanes::takes_more(self.lanes.reliable_bytes()) {
            self.place.mailbox.hold(Waiting::of(&self.lanes, self.page_octets(), now));
            self.place.take_more();
        }
    }

    /// Writes what is in progress, then the final frame, then the peer may close first.
    async fn farewell(&mut self) -> io::Result<()> {
        let now = self.house.clock.now();
        while self.is_sending {
            poll_fn(|context| self.transport.poll_send(context, &mut self.batch)).await?;
            self.batch.clear();
            self.lanes.drain(now, BATCH_BYTES, self.session.subscriptions(), &mut self.batch);
            self.is_sending = self.batch.bytes() > 0;
        }
        let code = self.closing.unwrap_or(codes::NORMAL);
        poll_fn(|context| self.transport.poll_close(context, code)).await?;
        if self.fault.is_some() {
            // Nothing can be read after a transport error. A close while the peer still sends would discard the final
            // frame.
            sleep(FAULT_LINGER).await;
            return Ok(());
        }
        // A client that floods instead of reading does not close first.
        let mut unheard = 0;
        while unheard <= FAREWELL_BYTES_MAX {
            self.input.clear();
            if poll_fn(|context| self.transport.poll_receive(context, &mut self.input)).await? == Received::End {
                return Ok(());
            }
            unheard += self.input.len();
        }
        Ok(())
    }

    /// From now on only the final frame is sent; the connection is removed from the hub.
    pub(super) fn close(&mut self, closing: &Closing) {
        let end = self.place.mailbox.ended();
        if matches!(end, Some(End::Slow(_))) {
            self.house.counters.cut(self.place.mailbox.untaken() + self.lanes.waiting_messages() as u64);
        }
        self.place.leave();
        self.lanes.forget_all();
        (self.replays, self.reading) = (VecDeque::new(), None);
        self.closing = Some(self.fault.unwrap_or_else(|| ending::close_code(closing, end.as_ref())));
        self.is_sending = true;
    }
}

/// The limit for acknowledgements is the one for small queues.
fn lenient(patience: Patience) -> Patience {
    Patience { stall: patience.wait, wait: Duration::MAX, ..patience }
}

/// As in CONNECTED.
fn session_name(place: &Place) -> String {
    format!("rialto-{}", place.id.0)
}

#[cfg(test)]
mod tests {
    use domain::command::{Mode, Phase};
    use domain::event::LifeCycle;
    use domain::{Event, Published, ReferenceData, StrategyId, Timestamp};
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::house::tests::house;
    use crate::stream::ByteStream;

    fn running(strategy: u64) -> Published {
        let strategy = StrategyId(strategy);
        let change = LifeCycle { strategy, mode: Mode::RealTime, phase: Phase::Run, failure: None };
        Published { sequence: 1, at: Timestamp(0), event: Event::LifeCycle(change.into()) }
    }

    /// A client takes one value and acknowledges nothing; the others wait until it does, and so does the connection.
    #[tokio::test]
    async fn a_snapshot_that_waits_for_an_acknowledgement_wakes_nobody() {
        let (house, _folder) = house(0);
        house.hub.tell(Time(0), (1..=5_000).map(running), &ReferenceData::default());
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let visitor = Visitor { peer: None, shown: Shown::Insider };
        let mut connection = Connection::new(house, ByteStream::new(ours), visitor, Lanes::free());
        let ack = "ack:client\nactivemq.prefetchSize:1\nsnapshot:true\n";
        let frames =
            format!("CONNECT\naccept-version:1.2\nhost:desk\n\n\0SUBSCRIBE\nid:1\n{ack}destination:/topic/>\n\n\0");
        theirs.write_all(frames.as_bytes()).await.unwrap();
        let mut timer = pin!(sleep_until(connection.house.clock.instant(Time(0))));
        for _ in 0..200 {
            let now = connection.house.clock.now();
            connection.look_at_time(now);
            connection.perform(now);
            connection.fill(now);
            let deadline = connection.deadline(now);
            if connection.lanes.unacknowledged_bytes() > 0 && !connection.is_sending && deadline > now {
                assert!(!connection.snapshots.is_empty());
                return;
            }
            timer.as_mut().reset(connection.house.clock.instant(deadline));
            let step = connection.step(timer.as_mut()).await;
            connection.take(step).unwrap();
        }
        panic!("it does not rest");
    }
}
