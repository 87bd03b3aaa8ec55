//! Live loop: take a batch, stamp it, hand it to the journal, apply it, release what is durable. The engine never waits
//! for the disk, and nothing leaves before it is durable.

mod retired_orders;
mod gate;
mod report_counter;
mod sequencer;
mod stamped_batch;
pub(crate) mod snapshots;
mod unsent_instructions;
mod intake;
mod journalled_state;
mod pulse;
mod leader_bars;
mod market_clock;

use std::collections::VecDeque;
use std::sync::Arc;

use bus::inbox::{EngineRequest, InboxReceiver};
use bus::reply::{Reply, ReplySender};
use bus::{Catalogue, EventFeed, InstructionRouter, PriceDrop};
use crossbeam_channel::Receiver;
use domain::command::MarketData;
use domain::query::Answer;
use domain::report::Report;
use domain::{Event, Input, PlantedBug, PublishedEvent, SecurityId, Sequenced, Timestamp};
use engine::{Engine, Outbox};
use storage::journal::{AppendError, DurabilityEvent, Journal, JournalBatch, JournalRecord};
use storage::{JournalLedger, LedgerStreams, RetiredIndex, SnapshotStore};
use tracing::error;

use self::gate::{Gate, GatedOutput};
pub use self::pulse::PulseOptions;
use self::retired_orders::RetiredOrders;
use self::sequencer::Sequencer;
use self::snapshots::schedule::{SnapshotSchedule, UnsavedInputs};
use self::snapshots::writer::{SnapshotJob, SnapshotWriter};
use self::stamped_batch::{
    InputBatch, LoopWake, StampedBatch, StampedRequest, StopCause, UnansweredRequest, gate_scope_of, needs_marks,
    origin_of, security_of,
};
use self::unsent_instructions::UnsentInstructions;
use crate::journal_records;
use crate::simulation::RunDigest;

pub type EngineClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Receives durable events, and the sequence up to which they are complete.
pub type EventSink = Box<dyn FnMut(u64, &[PublishedEvent]) + Send>;

/// Everything the loop works with.
pub struct LiveParts {
    pub engine: Engine,
    pub inbox: InboxReceiver,
    pub journal: Journal,
    pub snapshots: Arc<SnapshotStore>,
    pub ledger: Arc<JournalLedger>,
    /// Takes the ids of retired orders; without it they stay in memory.
    pub retired: Option<Arc<RetiredIndex>>,
    pub feed: EventFeed,
    pub catalogue: Catalogue,
    pub instructions: InstructionRouter,
    /// Feeds the read model.
    pub event_sink: EventSink,
    pub clock: EngineClock,
    /// Stops the loop in order.
    pub stop: Receiver<()>,
}

#[derive(Debug, Clone)]
pub struct LiveOptions {
    pub snapshots: SnapshotSchedule,
    pub journal_ticks: bool,
    /// Whether prices of a feed that is silent for longer than usual are marked as stale.
    pub flag_silence: bool,
    pub build: String,
    /// Of a cluster's leader: without one, nothing is journalled while nothing happens.
    pub pulse: Option<PulseOptions>,
}

/// Why the loop ended.
#[derive(Debug, PartialEq, Eq)]
pub enum LiveExit {
    /// With the digest over everything since the journal began, where it is known.
    Stopped(Option<String>),
    /// The disk failed: nothing was acknowledged after it. A restart recovers.
    JournalFailed(String),
}

pub struct LiveLoop {
    parts: LiveParts,
    options: LiveOptions,
    sequencer: Sequencer,
    /// Output of the current input; empty in between.
    out: Outbox,
    gate: Gate,
    unsent: UnsentInstructions,
    /// Sequence that the read model has received.
    read_model_sequence: u64,
    /// Sequence that the engine has applied: what an answer reflects. The rest of the batch is numbered already.
    applied_sequence: u64,
    /// Requests that were taken and did not fit into the batch; they go first.
    carried_over: VecDeque<EngineRequest>,
    /// Whether a venue has reported since the last valuation.
    traded: bool,
    report_counter: report_counter::ReportCounter,
    unsaved: UnsavedInputs,
    snapshot_writer: SnapshotWriter,
    /// A state that is written once it is durable.
    snapshot_due: Option<SnapshotJob>,
    retired: Option<RetiredOrders>,
    next_mark_at: Timestamp,
    next_digest_at: Timestamp,
    digest: Option<RunDigest>,
    /// When the newest input was journalled.
    journalled_at: Timestamp,
}

impl LiveLoop {
    pub fn new(mut parts: LiveParts, options: LiveOptions, recovered: &crate::RecoveredState) -> Self {
        parts.engine.doubt_prices();
        Self {
            sequencer: Sequencer::resume_after(recovered.last_sequence, recovered.reserved),
            snapshot_writer: SnapshotWriter::new(parts.snapshots.clone(), options.build.clone()),
            retired: parts.retired.clone().map(RetiredOrders::new),
            parts,
            options,
            out: Outbox::default(),
            gate: Gate::default(),
            unsent: UnsentInstructions::default(),
            read_model_sequence: recovered.last_sequence,
            applied_sequence: recovered.last_sequence,
            carried_over: VecDeque::new(),
            traded: false,
            report_counter: report_counter::ReportCounter::default(),
            unsaved: UnsavedInputs::new(recovered.replayed, recovered.at),
            snapshot_due: None,
            next_mark_at: Timestamp(0),
            next_digest_at: Timestamp(0),
            digest: recovered.digest.clone(),
            journalled_at: recovered.at,
        }
    }

    pub fn run(mut self) -> LiveExit {
        self.parts.catalogue.replace(self.parts.engine.reference().clone());
        loop {
            self.wait();
            let cycle = match self.take() {
                LoopWake::Work(taken) => self.run_cycle(taken),
                LoopWake::Stop(cause) => return self.finish(cause),
                LoopWake::Failed(error) => Err(error),
            };
            if let Err(error) = cycle {
                return self.fail(error);
            }
        }
    }

    /// For whoever steps the loop: it sleeps never and has no thread of its own.
    pub fn by_hand(self) -> Self {
        self.parts.catalogue.replace(self.parts.engine.reference().clone());
        let retired = self.retired.map(RetiredOrders::without_thread);
        Self { snapshot_writer: self.snapshot_writer.without_thread(), retired, ..self }
    }

    /// One turn with what is there, or why the loop ends.
    pub fn step(mut self) -> Result<Self, LiveExit> {
        let cycle = match self.take() {
            LoopWake::Work(taken) => self.run_cycle(taken),
            LoopWake::Stop(cause) => return Err(self.finish(cause)),
            LoopWake::Failed(error) => Err(error),
        };
        match cycle {
            Ok(()) => Ok(self),
            Err(error) => Err(self.fail(error)),
        }
    }

    /// What became durable meanwhile leaves before anything else is worked on. Fails where the journal takes no more: nothing
    /// that it refused was applied or may be published.
    fn run_cycle(&mut self, taken: InputBatch) -> Result<(), String> {
        self.release();
        let now = (self.parts.clock)();
        self.handle_prices(now, taken.prices)?;
        self.handle_inputs(now, taken.requests, taken.reports, taken.mark_due)?;
        self.report_counter.count(taken.venue_reports, self.visible_sequence());
        self.release();
        self.unsent.flush(&mut self.parts.instructions);
        self.write_snapshot_if_due();
        Ok(())
    }

    /// Raw prices are published at once: they show nothing of trading.
    fn handle_prices(&mut self, now: Timestamp, prices: Vec<MarketData>) -> Result<(), String> {
        let (mut journalled, mut unnumbered) = (Vec::new(), 0);
        let invalid_before = self.parts.engine.dropped_prices();
        for data in prices {
            let number = (!self.options.journal_ticks).then(|| self.sequencer.next_unjournalled()).flatten();
            // Without a number a price waits for the next of its security. A gap would be lost: nothing comes behind it.
            let is_journalled = self.options.journal_ticks || number.is_none() && matches!(data, MarketData::Gap(_));
            let input = Input::Market(data);
            let Some(sequence) = number.or_else(|| is_journalled.then(|| self.sequencer.next())) else {
                unnumbered += 1;
                continue;
            };
            if is_journalled {
                journalled.push(journal_records::input(sequence, &input));
            }
            self.apply_price(Sequenced { sequence, at: now, payload: input });
        }
        let metrics = self.parts.inbox.metrics();
        metrics.count_dropped_prices(PriceDrop::NoSequence, unnumbered);
        metrics.count_dropped_prices(PriceDrop::Invalid, self.parts.engine.dropped_prices() - invalid_before);
        self.journal(now, journalled)
    }

    fn apply_price(&mut self, input: Sequenced<Input>) {
        let mut out = Outbox::default();
        // A price has no reply: its output is events.
        let _ = self.parts.engine.apply(&input, &mut out);
        self.publish_market(input.sequence, input.at, out);
    }

    fn publish_market(&mut self, sequence: u64, at: Timestamp, out: Outbox) {
        for event in out.events {
            self.parts.feed.publish(&PublishedEvent { sequence, at, event });
        }
    }

    /// Stamps everything with one reading of the clock, hands it to the journal as one batch, and applies it.
    fn handle_inputs(
        &mut self,
        now: Timestamp,
        mut requests: VecDeque<EngineRequest>,
        reports: Vec<Report>,
        mark_due: bool,
    ) -> Result<(), String> {
        // A journal without room leaves everything where it is, deadlines too.
        if requests.is_empty() && reports.is_empty() && !self.journal_has_room() {
            return Ok(());
        }
        let mut batch = StampedBatch::new(now, requests.len() + reports.len());
        self.sequencer.reservation().into_iter().for_each(|record| batch.push_record(record));
        self.applied_sequence = self.sequencer.last();
        self.stamp_pulse(&mut batch, now);
        if mark_due {
            self.advance_market(now);
        }
        if self.parts.engine.next_deadline().is_some_and(|deadline| deadline <= now) {
            batch.push_input(&mut self.sequencer, Input::Clock);
        }
        self.stamp_marks(&mut batch, &requests, !reports.is_empty(), mark_due);
        self.stamp_recalled(&mut batch, &requests, &reports);
        for report in reports {
            batch.push_input(&mut self.sequencer, Input::Report(report));
        }
        while !batch.is_full()
            && let Some(request) = requests.pop_front()
        {
            batch.push_request(&mut self.sequencer, request);
        }
        self.carried_over.append(&mut requests);
        self.stamp_retired(&mut batch);
        self.journal(now, batch.records)?;
        batch.unasked.into_iter().for_each(|input| self.apply(input, None));
        batch.requests.into_iter().for_each(|request| self.apply_request(now, request));
        batch.last.into_iter().for_each(|input| self.apply(input, None));
        Ok(())
    }

    /// What the index knows of ids that the inputs of this turn name comes before them.
    fn stamp_recalled(&mut self, batch: &mut StampedBatch, requests: &VecDeque<EngineRequest>, reports: &[Report]) {
        let Some(retired) = &self.retired else { return };
        if let Some(found) = retired.recall(&self.parts.engine, requests, reports) {
            batch.push_input(&mut self.sequencer, Input::RetiredOrders(found));
        }
    }

    /// What the engine forgets comes last: the inputs of this turn were looked up while the engine knew it.
    fn stamp_retired(&mut self, batch: &mut StampedBatch) {
        if !self.journal_has_room() {
            return;
        }
        let durable = self.parts.journal.durable();
        let told = self.retired.as_mut().and_then(|retired| retired.next_input(&self.parts.engine, durable));
        if let Some(told) = told {
            batch.push_last(&mut self.sequencer, Input::RetiredOrders(told));
        }
    }

    /// The newest relevant prices that changed come first, so that the following inputs are checked against them. At
    /// the valuation also without any, where something was traded since: portfolio values are published then.
    fn stamp_marks(
        &mut self,
        batch: &mut StampedBatch,
        requests: &VecDeque<EngineRequest>,
        reports: bool,
        mark_due: bool,
    ) {
        let mut marks = Vec::new();
        if reports || requests.iter().any(|request| needs_marks(&request.payload)) {
            let subjects: Vec<SecurityId> =
                requests.iter().filter_map(|request| security_of(&request.payload)).collect();
            marks = self.parts.engine.changed_marks(&subjects);
        }
        if mark_due {
            marks.extend(self.parts.engine.all_changed_marks());
        }
        let values_due = mark_due && std::mem::take(&mut self.traded);
        if values_due || !marks.is_empty() {
            batch.push_input(&mut self.sequencer, Input::Marks(marks));
        }
        self.traded |= reports;
    }

    /// `wait` left room, so only a failed journal refuses.
    fn journal(&mut self, now: Timestamp, records: Vec<JournalRecord>) -> Result<(), String> {
        if records.is_empty() {
            return Ok(());
        }
        self.unsaved.add(now, records.iter().map(|record| record.payload.len()));
        self.journalled_at = now;
        let taken = self.parts.journal.append(JournalBatch { time: now.0, records });
        taken.map_err(|refused| match refused.reason {
            AppendError::Failed { error } => error,
            other => format!("the journal refused a batch: {other}"),
        })
    }

    /// Requests come in order of arrival, so that a query sees the command before it.
    fn apply_request(&mut self, now: Timestamp, request: StampedRequest) {
        let promise = request.reply_to;
        match request.payload {
            UnansweredRequest::Command(input) => self.apply(input, Some(promise)),
            UnansweredRequest::Query(query) => {
                let sequence = self.applied_sequence;
                let outcome = self.answer(now, &query);
                self.gate.push(GatedOutput::reply(self.visible_sequence(), promise, Reply { sequence, outcome }));
            }
            UnansweredRequest::LedgerRecord(sequence, bytes) => {
                let mut held = GatedOutput::reply(sequence, promise, Reply { sequence, outcome: Ok(Answer::Done) });
                held.ledger_record = Some(bytes);
                self.gate.push(held);
            }
            UnansweredRequest::NoReply => {}
        }
    }

    /// The newest journalled sequence: what an answer may show.
    fn visible_sequence(&self) -> u64 {
        self.parts.journal.last_sequence()
    }

    fn apply(&mut self, input: Sequenced<Input>, promise: Option<ReplySender>) {
        let outcome = self.parts.engine.apply(&input, &mut self.out);
        let Sequenced { sequence, at, payload: what } = input;
        self.applied_sequence = sequence;
        let (gate_scope, origin) = (gate_scope_of(&what), origin_of(what));
        let is_skipped = PlantedBug::DigestSkipsInput.is_planted() && sequence.is_multiple_of(64);
        if let Some(digest) = self.digest.as_mut().filter(|_| !is_skipped) {
            self.out.events.iter().for_each(|event| digest.update(event));
        }
        let events = self.out.events.drain(..).map(|event| PublishedEvent { sequence, at, event }).collect();
        let instructions = std::mem::take(&mut self.out.instructions);
        let told = sequence.saturating_sub(u64::from(PlantedBug::AnswerWithWrongSequence.is_planted()));
        let reply = promise.map(|promise| (promise, Reply { sequence: told, outcome }));
        self.gate.push(GatedOutput { sequence, reply, events, instructions, ledger_record: None, origin, gate_scope });
    }

    /// Releases everything that is durable.
    fn release(&mut self) {
        let durable = self.parts.journal.durable();
        self.sequencer.on_durable(durable);
        self.report_counter.release(durable, self.parts.inbox.report_progress());
        let mut events = Vec::new();
        while let Some(held) = self.gate.pop_durable(durable) {
            self.release_output(held, &mut events);
        }
        // With everything durable, the numbers of prices have passed too: readers need not wait for them.
        let all = self.gate.is_empty() && durable >= self.visible_sequence();
        let through = if all { self.sequencer.last() } else { durable };
        if through > self.read_model_sequence {
            self.read_model_sequence = through;
            (self.parts.event_sink)(through, &events);
        }
    }

    fn release_output(&mut self, mut held: GatedOutput, events: &mut Vec<PublishedEvent>) {
        if let Some(Err(reason)) = held.ledger_record.map(|bytes| self.parts.ledger.apply(held.sequence, &bytes)) {
            error!(%reason, "ledger record is unreadable and was skipped");
        }
        held.origin.iter().for_each(|origin| self.parts.ledger.record_seq_num(origin));
        for published in &held.events {
            if let Event::Reference(update) = &published.event {
                self.parts.catalogue.replace(update.data.clone());
            }
            self.parts.feed.publish(published);
        }
        let is_lost = PlantedBug::LoseEvent.is_planted() && held.sequence.is_multiple_of(16) && held.events.len() > 1;
        if is_lost {
            held.events.pop();
        }
        if PlantedBug::PublishTwice.is_planted() && held.sequence.is_multiple_of(64) {
            events.extend(held.events.iter().cloned());
        }
        events.extend(held.events);
        for (adapter, instruction) in held.instructions {
            let gate = &self.parts.inbox.outbound_gate;
            self.unsent.send(&mut self.parts.instructions, gate, &adapter, instruction);
        }
        held.gate_scope.into_iter().for_each(|scope| self.parts.inbox.outbound_gate.open(scope));
        let is_dropped = |reply: &Reply| match reply.outcome {
            Ok(_) => PlantedBug::DropAnswer.is_planted() && held.sequence.is_multiple_of(16),
            Err(_) => PlantedBug::DropRefusal.is_planted(),
        };
        if let Some((promise, reply)) = held.reply.filter(|(_, reply)| !is_dropped(reply)) {
            promise.send(reply);
        }
    }

    fn write_snapshot_if_due(&mut self) {
        let orders = self.parts.engine.orders_kept() as u64;
        let is_due = self.unsaved.is_due(&self.options.snapshots, orders, self.journalled_at);
        if is_due && self.snapshot_due.is_none() && !self.snapshot_writer.is_busy() {
            self.snapshot_due = Some(self.snapshot_job());
            self.unsaved.clear();
        }
        let durable = self.parts.journal.durable();
        let is_early = PlantedBug::SnapshotAheadOfJournal.is_planted();
        if let Some(scene) = self.snapshot_due.take_if(|scene| is_early || scene.sequence <= durable) {
            self.snapshot_writer.start(scene);
        }
    }

    fn snapshot_job(&self) -> SnapshotJob {
        let sequence = self.visible_sequence();
        let before = u64::from(PlantedBug::SnapshotAtWrongSequence.is_planted());
        SnapshotJob {
            sequence: sequence.saturating_sub(before),
            engine: self.parts.engine.snapshot(),
            ledger: self.journalled_ledger(),
            reserved: self.sequencer.reserved(),
            digest: self.digest.clone(),
            at: self.journalled_at,
        }
    }

    /// The ledger as of the newest journalled record: what waits for its sync belongs to the state of a snapshot too.
    fn journalled_ledger(&self) -> LedgerStreams {
        let mut ledger = self.parts.ledger.snapshot();
        for held in self.gate.iter() {
            // One that cannot be read is skipped and logged when it is released.
            held.ledger_record.iter().for_each(|bytes| drop(ledger.apply(held.sequence, bytes)));
            held.origin.iter().for_each(|origin| ledger.record_seq_num(origin));
        }
        ledger
    }

    /// Everything that was taken in becomes durable and is released, then the event feed closes.
    fn finish(mut self, cause: StopCause) -> LiveExit {
        // The turn that saw the stop may have read the last durability event already.
        self.release();
        // A snapshot must not know more than the journal, not even of records that nothing waits for.
        let durable = self.wait_durable().and_then(|()| self.resign(cause)).and_then(|()| self.wait_durable());
        if let Err(error) = durable {
            return self.fail(error);
        }
        let is_newer = !self.unsaved.is_empty() || self.snapshot_due.is_some();
        let last = is_newer.then(|| self.snapshot_job());
        self.snapshot_writer.finish(last.as_ref());
        self.parts.feed.close();
        let digest = self.digest.take();
        let digest = digest.map(|digest| digest.finish(&self.parts.engine, self.journalled_at, self.applied_sequence));
        match self.parts.journal.close() {
            Ok(()) => LiveExit::Stopped(digest),
            Err(problem) => LiveExit::JournalFailed(problem.to_string()),
        }
    }

    fn wait_durable(&mut self) -> Result<(), String> {
        while !self.gate.is_empty() || self.parts.journal.durable() < self.visible_sequence() {
            if let Ok(DurabilityEvent::Failed { error }) = self.parts.journal.durability_events().recv() {
                return Err(error);
            }
            self.release();
        }
        Ok(())
    }

    /// Reply channels are dropped, so callers learn that the outcome is unknown.
    fn fail(self, error: String) -> LiveExit {
        error!(%error, "journal failed: trading is halted and the process exits; restart to recover");
        self.parts.feed.close();
        LiveExit::JournalFailed(error)
    }
}
