//! A strategy process as the bridge sees it.

use std::collections::BTreeMap;

use domain::command::StrategyPhase;
use domain::query::{ProcessRun, SettledRefusal};
use domain::{Command, StrategyId, Text};
use runtime::strategies::protocol::{CommandRefusal, ServerMessage};
use runtime::strategies::{
    AttachedStrategy, DeliveryRecord, LocalLink, PhaseCompleted, ProcessHeartbeat, RunId, RunnerEvent, RunnerExit,
};
use strategy::BarHistoryRequest;

use super::send_window::{SendWindow, WAITING_MAX, WindowFull};

/// Answers that are kept for a command that is sent again.
const ANSWERS_MAX: usize = 8_192;
/// Commands of one process in flight; one more is refused and has no effect.
const OPEN_COMMANDS_MAX: usize = 1_024;

pub(crate) struct StrategyProcess {
    pub(crate) id: StrategyId,
    pub(crate) run: u64,
    /// Address of its process.
    pub(crate) address: Text,
    window: SendWindow,
    /// Only a final message is sent to it any more.
    is_closed: bool,
    pub(crate) link: LocalLink,
    notes: crossbeam_channel::Sender<RunnerEvent>,
    pub(crate) heartbeat: ProcessHeartbeat,
    newest_key: Option<u64>,
    /// Commands by key: answered, or in flight.
    answers: BTreeMap<u64, Option<ServerMessage>>,
    /// What became of commands up to this key is not known any more.
    forgotten: u64,
    open_commands: usize,
    /// A phase that it has not completed, with its history.
    pending_phase: Vec<ServerMessage>,
    /// It has reconnected, and its replay has not begun: events that come before that are older, and the replay has them, or the welcome.
    awaits_replay: bool,
}

impl StrategyProcess {
    /// One whose run began at another server may not have heard of RUN, and sends again what was not answered there.
    pub(crate) fn new(attached: AttachedStrategy, epoch: u64, address: Text) -> Self {
        let run_phase = ServerMessage::Enter { phase: StrategyPhase::Run, bars: vec![], is_partial: false };
        let pending_phase = attached.adopted.iter().map(|_| run_phase.clone()).collect();
        let (forgotten, answers) = attached.adopted.map_or_else(Default::default, settled_answers);
        Self {
            id: attached.identity.id,
            run: attached.identity.run,
            address,
            window: SendWindow::new_epoch(epoch),
            is_closed: false,
            newest_key: answers.keys().next_back().copied(),
            link: attached.link,
            notes: attached.events,
            heartbeat: attached.heartbeat,
            answers,
            forgotten,
            open_commands: 0,
            pending_phase,
            awaits_replay: false,
        }
    }

    pub(crate) fn run_id(&self) -> RunId {
        RunId { strategy: self.id, run: self.run }
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.window.epoch()
    }

    /// From now on messages have a new epoch. Queued messages are sent again from the last received one on.
    pub(crate) fn resume(&mut self, epoch: u64) {
        self.window = SendWindow::new_epoch(epoch);
        self.awaits_replay = true;
    }

    /// Queues a message. A process that acknowledges nothing is declared lost when its queue is full; others are not
    /// affected.
    pub(crate) fn enqueue(&mut self, message: ServerMessage) {
        if let ServerMessage::Disconnected { .. } = message {
            self.is_closed = true;
            return self.window.push_final(message);
        }
        if !self.is_closed && self.window.push(message) == Err(WindowFull) {
            self.lose();
        }
    }

    fn lose(&mut self) {
        self.is_closed = true;
        let reason = format!("it takes nothing: {WAITING_MAX} messages wait for it");
        self.send_note(RunnerEvent::Ended(self.run_id(), RunnerExit::Disconnected(reason)));
    }

    pub(crate) fn on_replay(&mut self) {
        self.awaits_replay = false;
    }

    pub(crate) fn awaits_replay(&self) -> bool {
        self.awaits_replay
    }

    pub(crate) fn next_envelope(&mut self) -> Option<Vec<u8>> {
        self.window.next_envelope()
    }

    pub(crate) fn on_acknowledged(&mut self, number: u64) {
        self.window.on_acknowledged(number);
    }

    /// The resume request after envelopes may have been lost, unless the process has ended.
    pub(crate) fn resume_request(&mut self) -> Option<Vec<u8>> {
        (!self.is_closed).then(|| self.window.encode_envelope(ServerMessage::Reconnect))
    }

    /// Whether a command is new; a known one is answered again, or its answer is awaited.
    pub(crate) fn begin_command(&mut self, key: u64) -> Result<(), Option<ServerMessage>> {
        if let Some(known) = self.answers.get(&key) {
            return Err(known.clone());
        }
        if key <= self.forgotten {
            return Err(Some(outcome_unknown(key)));
        }
        // Keys have no gaps: a missing one was dropped by the client before it was sent, and no client waits for it.
        let missing = self.newest_key.map_or(0, |newest| key.saturating_sub(newest + 1));
        (0..missing).for_each(|_| self.on_command_dropped());
        self.newest_key = Some(key);
        self.answers.insert(key, None);
        self.open_commands += 1;
        if self.answers.len() > ANSWERS_MAX
            && let Some((_, None)) = self.answers.pop_first()
        {
            self.open_commands -= 1;
        }
        Ok(())
    }

    /// Whether the limit of commands in flight is reached.
    pub(crate) fn is_busy(&self) -> bool {
        self.open_commands > OPEN_COMMANDS_MAX
    }

    /// A command does not reach the engine: the delivery log records it.
    pub(crate) fn on_command_dropped(&self) {
        // A stopping server writes nothing.
        let _ = self.link.log_rejected_command();
    }

    /// Appends a record to the delivery log of this strategy, in the journal.
    pub(crate) fn append_delivery_record(&self, record: Vec<u8>) -> Result<(), CommandRefusal> {
        if DeliveryRecord::owner(&record) != Some((self.id, self.run)) {
            return Err(foreign_strategy());
        }
        // A stopping server writes nothing.
        let _ = self.link.append_delivery_log(record);
        Ok(())
    }

    pub(crate) fn on_answer(&mut self, key: u64, message: &ServerMessage) {
        if let Some(answer @ None) = self.answers.get_mut(&key) {
            *answer = Some(message.clone());
            self.open_commands -= 1;
        }
    }

    /// A strategy trades only for itself: its commands name the owner of an order, and the engine refuses others.
    pub(crate) fn check(&self, command: &Command) -> Result<(), CommandRefusal> {
        let is_own = match command {
            Command::Place(ask) => ask.strategy == Some(self.id),
            Command::Modify(change) => change.restated.strategy == Some(self.id),
            Command::Cancel(cancel) => cancel.restated.strategy == Some(self.id),
            Command::Subscribe(wish) | Command::Unsubscribe(wish) => wish.strategy == self.id,
            Command::Publish(event) => event.strategy == self.id,
            _ => false,
        };
        if is_own { Ok(()) } else { Err(foreign_strategy()) }
    }

    pub(crate) fn on_phase_sent(&mut self, part: &ServerMessage) {
        if !matches!(self.pending_phase.last(), Some(ServerMessage::Enter { is_partial: true, .. })) {
            self.pending_phase.clear();
        }
        self.pending_phase.push(part.clone());
    }

    /// The phase messages that must be sent again after a reconnect, as far as they were sent.
    pub(crate) fn unfinished_phase_messages(&self) -> Vec<ServerMessage> {
        self.pending_phase.clone()
    }

    pub(crate) fn on_phase_completed(&mut self, phase: StrategyPhase, wishes: Vec<BarHistoryRequest>) {
        // It may be reported twice, the second time during the next phase.
        self.pending_phase.retain(|part| !matches!(part, ServerMessage::Enter { phase: told, .. } if *told == phase));
        self.is_closed |= phase == StrategyPhase::Exit;
        self.send_note(RunnerEvent::Entered(self.run_id(), PhaseCompleted { phase, history_requests: wishes }));
        if phase == StrategyPhase::Exit {
            self.send_note(RunnerEvent::Ended(self.run_id(), RunnerExit::Exited));
        }
    }

    pub(crate) fn on_failed(&mut self, reason: &str) {
        self.is_closed = true;
        self.send_note(RunnerEvent::Ended(self.run_id(), RunnerExit::Panicked(reason.to_owned())));
    }

    fn send_note(&self, note: RunnerEvent) {
        // A stopped host needs no note.
        let _ = self.notes.send(note);
    }
}

/// What the journal knows of the requests of a run that began at another server, as that one has answered them or would have.
fn settled_answers(known: ProcessRun) -> (u64, BTreeMap<u64, Option<ServerMessage>>) {
    let answer = |(key, refusal): (u64, Option<SettledRefusal>)| {
        let refusal = refusal.map(|SettledRefusal { code, text }| CommandRefusal { code, text });
        (key, Some(ServerMessage::Answer { key, refusal }))
    };
    (known.forgotten, known.requests.into_iter().map(answer).collect())
}

fn outcome_unknown(key: u64) -> ServerMessage {
    let text = "it is too long ago: it is not known whether this took effect".into();
    ServerMessage::Answer { key, refusal: Some(CommandRefusal { code: "outcome-unknown".into(), text }) }
}

fn foreign_strategy() -> CommandRefusal {
    let text = "a strategy trades in its own name and touches nothing of others".into();
    CommandRefusal { code: "foreign-strategy".into(), text }
}
