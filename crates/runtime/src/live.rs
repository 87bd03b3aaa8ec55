//! Live loop: take a batch, stamp it, hand it to the journal, apply it, release what is durable. The engine never waits
//! for the disk, and nothing leaves before it is durable.

use std::sync::Arc;
use std::time::Duration;

use bus::inbox::{Lanes, Request, Wanted};
use bus::ticket::{Promise, Reply};
use bus::{Catalogue, Feed, Outlets};
use crossbeam_channel::{Receiver, select};
use domain::command::MarketData;
use domain::query::Answer;
use domain::report::Report;
use domain::{Event, Input, Published, SecurityId, Stamped, Timestamp};
use engine::{Engine, Outbox};
use storage::journal::{Batch, Durable, Journal, Record};
use storage::{LedgerBook, Snapshots};
use tracing::error;

use crate::about::{Asked, has_effect, origin_of, subject};
use crate::gate::{Gate, Held};
use crate::numbers::Numbers;
use crate::records;
use crate::simulation::Digest;
use crate::snapshotting::{Scene, Snapshotting};
use crate::unsent::Unsent;

/// Requests of each lane, and reports, that one turn of the loop takes at the most.
const BATCH_MAX: usize = 1_024;
/// Batches that one turn hands to the journal: prices where they are journalled, then inputs.
const BATCHES_PER_TURN: usize = 2;
/// How often changed prices are passed to trading.
const PULSE: Duration = Duration::from_secs(1);
/// How often an adapter's full queue is checked while cancels wait for it.
const NAP_FOR_ROOM: Duration = Duration::from_millis(1);

pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Receives durable events, and the sequence up to which they are complete.
pub type Reader = Box<dyn FnMut(u64, &[Published]) + Send>;

/// Everything the loop works with.
pub struct Parts {
    pub engine: Engine,
    pub lanes: Lanes,
    pub journal: Journal,
    pub snapshots: Arc<Snapshots>,
    pub ledger: Arc<LedgerBook>,
    pub feed: Feed,
    pub catalogue: Catalogue,
    pub outlets: Outlets,
    /// Feeds the read model.
    pub reader: Reader,
    pub clock: Clock,
    /// Stops the loop in order.
    pub stop: Receiver<()>,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub snapshot_every_inputs: u64,
    pub journal_ticks: bool,
    pub build: String,
}

/// Why the loop ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// With the digest over everything since the journal began, where it is known.
    InOrder(Option<String>),
    /// The disk failed: nothing was acknowledged after it. A restart recovers.
    JournalFailed(String),
}

pub struct Live {
    parts: Parts,
    options: Options,
    numbers: Numbers,
    /// Output of the current input; empty in between.
    out: Outbox,
    gate: Gate,
    unsent: Unsent,
    /// Sequence that the read model has received.
    read: u64,
    /// Sequence that the engine has applied: what an answer reflects. The rest of the batch is numbered already.
    seen: u64,
    /// Whether a venue has reported since the last valuation.
    traded: bool,
    inputs_since_snapshot: u64,
    snapshotting: Snapshotting,
    /// A state that is written once it is durable.
    snapshot_due: Option<Scene>,
    next_pulse: Timestamp,
    digest: Option<Digest>,
    /// When the newest input was journalled.
    journalled_at: Timestamp,
}

/// Input of one turn.
#[derive(Default)]
struct Taken {
    requests: Vec<Request>,
    reports: Vec<Report>,
    prices: Vec<MarketData>,
    pulse: bool,
}

enum Wake {
    Work(Taken),
    Stop,
    Failed(String),
}

impl Live {
    pub fn new(parts: Parts, options: Options, recovered: &crate::Recovered) -> Self {
        Self {
            numbers: Numbers::after(recovered.last_sequence, recovered.reserved),
            snapshotting: Snapshotting::new(parts.snapshots.clone(), options.build.clone()),
            parts,
            options,
            out: Outbox::default(),
            gate: Gate::default(),
            unsent: Unsent::default(),
            read: recovered.last_sequence,
            seen: recovered.last_sequence,
            traded: false,
            inputs_since_snapshot: recovered.replayed,
            snapshot_due: None,
            next_pulse: Timestamp(0),
            digest: recovered.digest.clone(),
            journalled_at: recovered.at,
        }
    }

    pub fn run(mut self) -> Ended {
        self.parts.catalogue.replace(self.parts.engine.reference().clone());
        loop {
            match self.wait() {
                Wake::Work(taken) => self.turn(taken),
                Wake::Stop => return self.finish(),
                Wake::Failed(error) => return self.fail(error),
            }
        }
    }

    fn turn(&mut self, taken: Taken) {
        let now = (self.parts.clock)();
        self.take_prices(now, taken.prices);
        self.take_inputs(now, taken.requests, taken.reports, taken.pulse);
        self.release();
        self.unsent.bring_on(&mut self.parts.outlets);
        self.write_snapshot_if_due();
    }

    /// Sleeps until there is work. While the journal is behind, nothing is taken in.
    fn wait(&mut self) -> Wake {
        if let Some(error) = self.parts.journal.watch().failure() {
            return Wake::Failed(error);
        }
        let lanes = &self.parts.lanes;
        let journal_has_room = self.parts.journal.room() >= BATCHES_PER_TURN;
        let never = crossbeam_channel::never();
        let never_reports = crossbeam_channel::never();
        let requests = if journal_has_room { lanes.requests.wake() } else { &never };
        let reports = if journal_has_room { &lanes.reports } else { &never_reports };
        let mut taken = Taken::default();
        let has_work = journal_has_room && !(self.unsent.is_empty() && lanes.requests.is_empty());
        let nap = if has_work { Duration::ZERO } else { self.sleep() };
        select! {
            // All senders are dropped: no request can come any more.
            recv(requests) -> rung => if rung.is_err() && lanes.requests.is_empty() { return Wake::Stop },
            recv(reports) -> report => taken.reports.extend(report),
            recv(lanes.wake) -> _ => {}
            recv(self.parts.journal.news()) -> news => if let Ok(Durable::Failed { error }) = news {
                return Wake::Failed(error);
            },
            recv(self.parts.stop) -> _ => return Wake::Stop,
            default(nap) => {}
        }
        if journal_has_room {
            self.drain(&mut taken);
        }
        Wake::Work(taken)
    }

    /// Takes what else waits, so that one commit carries it all.
    fn drain(&mut self, taken: &mut Taken) {
        let lanes = &self.parts.lanes;
        taken.requests = lanes.requests.take(BATCH_MAX, |asked| self.parts.engine.knows(asked));
        taken.reports.extend(self.unsent.drain());
        taken.reports.extend(lanes.reports.try_iter().take(BATCH_MAX));
        taken.prices = lanes.take_prices();
        let now = (self.parts.clock)();
        taken.pulse = now >= self.next_pulse;
        if taken.pulse {
            self.next_pulse = now.plus_seconds(1);
        }
    }

    fn sleep(&self) -> Duration {
        let now = (self.parts.clock)();
        let deadline = self.parts.engine.next_deadline().unwrap_or(self.next_pulse).min(self.next_pulse);
        let nanos = u64::try_from(deadline.nanos_since(now)).unwrap_or(0);
        let nap_max = if self.parts.outlets.has_waiting() { NAP_FOR_ROOM } else { PULSE };
        Duration::from_nanos(nanos).min(nap_max)
    }

    /// Raw prices are published at once: they show nothing of trading.
    fn take_prices(&mut self, now: Timestamp, prices: Vec<MarketData>) {
        let mut journalled = Vec::new();
        for data in prices {
            let input = Input::Market(data);
            let sequence = if self.options.journal_ticks {
                let sequence = self.numbers.next();
                journalled.push(records::input(sequence, &input));
                sequence
            } else {
                // Without a number a price waits for the next of its security.
                let Some(sequence) = self.numbers.next_unjournalled() else { continue };
                sequence
            };
            self.apply_price(Stamped { sequence, at: now, what: input });
        }
        self.journal(now, journalled);
    }

    fn apply_price(&mut self, input: Stamped<Input>) {
        let mut out = Outbox::default();
        // A price has no reply: its output is events.
        let _ = self.parts.engine.apply(&input, &mut out);
        self.publish_market(input.sequence, input.at, out);
    }

    fn publish_market(&mut self, sequence: u64, at: Timestamp, out: Outbox) {
        for event in out.events {
            self.parts.feed.publish(&Published { sequence, at, event });
        }
    }

    /// Stamps everything with one reading of the clock, hands it to the journal as one batch, and applies it.
    fn take_inputs(&mut self, now: Timestamp, requests: Vec<Request>, reports: Vec<Report>, pulse: bool) {
        let mut inputs = Vec::with_capacity(requests.len() + reports.len() + 2);
        let mut records = Vec::with_capacity(inputs.capacity());
        let mut asked = Vec::with_capacity(requests.len());
        records.extend(self.numbers.reservation());
        self.seen = self.numbers.last();
        if pulse {
            self.close_bars(now);
        }
        if self.parts.engine.next_deadline().is_some_and(|deadline| deadline <= now) {
            self.stamp(now, Input::Clock, &mut inputs, &mut records);
        }
        self.stamp_marks(now, &requests, !reports.is_empty(), pulse, &mut inputs, &mut records);
        for report in reports {
            self.stamp(now, Input::Report(report), &mut inputs, &mut records);
        }
        let first_request = inputs.len();
        for request in requests {
            asked.push(self.stamp_request(now, request, &mut inputs, &mut records));
        }
        if !self.journal(now, records) {
            // Nothing of this may be published: reply channels are dropped, and the loop ends.
            return;
        }
        let rest = inputs.split_off(first_request);
        inputs.into_iter().for_each(|input| self.apply(input, None));
        self.apply_requests(now, rest, asked);
    }

    fn close_bars(&mut self, now: Timestamp) {
        let mut out = Outbox::default();
        self.parts.engine.advance_market(now, &mut out);
        if !out.events.is_empty()
            && let Some(sequence) = self.numbers.next_unjournalled()
        {
            self.publish_market(sequence, now, out);
        }
    }

    fn stamp(
        &mut self,
        at: Timestamp,
        what: Input,
        inputs: &mut Vec<Stamped<Input>>,
        records: &mut Vec<Record>,
    ) -> u64 {
        let sequence = self.numbers.next();
        records.push(records::input(sequence, &what));
        inputs.push(Stamped { sequence, at, what });
        sequence
    }

    /// The newest relevant prices that changed come first, so that the following inputs are checked against them. At
    /// the valuation also without any, where something was traded since: portfolio values are published then.
    fn stamp_marks(
        &mut self,
        now: Timestamp,
        requests: &[Request],
        reports: bool,
        pulse: bool,
        inputs: &mut Vec<Stamped<Input>>,
        records: &mut Vec<Record>,
    ) {
        let mut marks = Vec::new();
        if reports || requests.iter().any(|request| has_effect(&request.wanted)) {
            let subjects: Vec<SecurityId> = requests.iter().filter_map(|request| subject(&request.wanted)).collect();
            marks = self.parts.engine.changed_marks(&subjects);
        }
        if pulse {
            marks.extend(self.parts.engine.all_changed_marks());
        }
        let values_due = pulse && std::mem::take(&mut self.traded);
        if values_due || !marks.is_empty() {
            self.stamp(now, Input::Marks(marks), inputs, records);
        }
        self.traded |= reports;
    }

    fn stamp_request(
        &mut self,
        now: Timestamp,
        request: Request,
        inputs: &mut Vec<Stamped<Input>>,
        records: &mut Vec<Record>,
    ) -> (Promise, Asked) {
        let asked = match request.wanted {
            Wanted::Command(envelope) => {
                self.stamp(now, Input::Command(envelope), inputs, records);
                Asked::Command
            }
            Wanted::Query(query) => Asked::Query(query),
            Wanted::Remember(bytes) => {
                let sequence = self.numbers.next();
                records.push(records::ledger(sequence, bytes.clone()));
                Asked::Remember(sequence, bytes)
            }
            Wanted::Diary(leaf) => {
                records.push(records::diary(self.numbers.next(), leaf));
                Asked::Nothing
            }
        };
        (request.promise, asked)
    }

    /// Whether the journal accepted them. `wait` left room, so only a failed journal refuses.
    fn journal(&mut self, now: Timestamp, records: Vec<Record>) -> bool {
        if records.is_empty() {
            return true;
        }
        self.inputs_since_snapshot += records.len() as u64;
        self.journalled_at = now;
        let taken = self.parts.journal.append(Batch { time: now.0, records });
        if let Err(refused) = &taken {
            error!(reason = ?refused.reason, "journal refused a batch; stopping");
        }
        taken.is_ok()
    }

    /// In order of arrival, so that a query sees the command before it.
    fn apply_requests(&mut self, now: Timestamp, inputs: Vec<Stamped<Input>>, asked: Vec<(Promise, Asked)>) {
        let mut inputs = inputs.into_iter();
        for (promise, asked) in asked {
            match asked {
                Asked::Command => {
                    let input = inputs.next().expect("every command was stamped");
                    self.apply(input, Some(promise));
                }
                Asked::Query(query) => {
                    let sequence = self.seen;
                    let outcome = self.parts.engine.answer(now, sequence, &query);
                    self.gate.hold(Held::reply(self.shown(), promise, Reply { sequence, outcome }));
                }
                Asked::Remember(sequence, bytes) => {
                    let mut held = Held::reply(sequence, promise, Reply { sequence, outcome: Ok(Answer::Done) });
                    held.remembered = Some(bytes);
                    self.gate.hold(held);
                }
                Asked::Nothing => {}
            }
        }
    }

    /// The newest journalled sequence: what an answer may show.
    fn shown(&self) -> u64 {
        self.parts.journal.last_sequence()
    }

    fn apply(&mut self, input: Stamped<Input>, promise: Option<Promise>) {
        let outcome = self.parts.engine.apply(&input, &mut self.out);
        let Stamped { sequence, at, what } = input;
        self.seen = sequence;
        let origin = origin_of(what);
        if let Some(digest) = &mut self.digest {
            self.out.events.iter().for_each(|event| digest.see(event));
        }
        let events = self.out.events.drain(..).map(|event| Published { sequence, at, event }).collect();
        let instructions = std::mem::take(&mut self.out.instructions);
        let reply = promise.map(|promise| (promise, Reply { sequence, outcome }));
        self.gate.hold(Held { sequence, reply, events, instructions, remembered: None, origin });
    }

    /// Releases everything that is durable.
    fn release(&mut self) {
        let durable = self.parts.journal.durable();
        self.numbers.durable(durable);
        let mut events = Vec::new();
        while let Some(held) = self.gate.pass(durable) {
            self.let_out(held, &mut events);
        }
        // With everything durable, the numbers of prices have passed too: readers need not wait for them.
        let all = self.gate.is_empty() && durable >= self.shown();
        let through = if all { self.numbers.last() } else { durable };
        if through > self.read {
            self.read = through;
            (self.parts.reader)(through, &events);
        }
    }

    fn let_out(&mut self, held: Held, events: &mut Vec<Published>) {
        if let Some(Err(reason)) = held.remembered.map(|bytes| self.parts.ledger.absorb(&bytes)) {
            error!(%reason, "ledger record is unreadable and was skipped");
        }
        held.origin.iter().for_each(|origin| self.parts.ledger.note(origin));
        for published in &held.events {
            if let Event::Reference(data) = &published.event {
                self.parts.catalogue.replace(data.clone());
            }
            self.parts.feed.publish(published);
        }
        events.extend(held.events);
        for (adapter, instruction) in held.instructions {
            self.unsent.hand_over(&mut self.parts.outlets, &adapter, instruction);
        }
        if let Some((promise, reply)) = held.reply {
            promise.keep(reply);
        }
    }

    fn write_snapshot_if_due(&mut self) {
        let is_due = self.inputs_since_snapshot >= self.options.snapshot_every_inputs;
        if is_due && self.snapshot_due.is_none() && !self.snapshotting.is_busy() {
            self.snapshot_due = Some(self.scene());
            self.inputs_since_snapshot = 0;
        }
        let durable = self.parts.journal.durable();
        if let Some(scene) = self.snapshot_due.take_if(|scene| scene.sequence <= durable) {
            self.snapshotting.begin(scene);
        }
    }

    fn scene(&self) -> Scene {
        Scene {
            sequence: self.shown(),
            engine: self.parts.engine.still(),
            ledger: self.parts.ledger.export(),
            reserved: self.numbers.reserved(),
            digest: self.digest.clone(),
            at: self.journalled_at,
        }
    }

    /// Everything that was taken in becomes durable and is released, then the event feed closes.
    fn finish(mut self) -> Ended {
        while !self.gate.is_empty() {
            if let Ok(Durable::Failed { error }) = self.parts.journal.news().recv() {
                return self.fail(error);
            }
            self.release();
        }
        let is_newer = self.inputs_since_snapshot > 0 || self.snapshot_due.is_some();
        let last = is_newer.then(|| self.scene());
        self.snapshotting.finish(last.as_ref());
        self.parts.feed.close();
        let digest = self.digest.take();
        let digest = digest.map(|digest| digest.finish(&self.parts.engine, self.journalled_at, self.seen));
        match self.parts.journal.close() {
            Ok(()) => Ended::InOrder(digest),
            Err(problem) => Ended::JournalFailed(problem.to_string()),
        }
    }

    /// Reply channels are dropped, so callers learn that the outcome is unknown.
    fn fail(self, error: String) -> Ended {
        error!(%error, "journal failed: trading is halted and the process exits; restart to recover");
        self.parts.feed.close();
        Ended::JournalFailed(error)
    }
}
