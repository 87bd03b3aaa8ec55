//! A strategy process as the bridge sees it.

use std::collections::BTreeMap;

use domain::command::Phase;
use domain::{Command, StrategyId, Text};
use runtime::strategies::protocol::{Message, Refusal};
use runtime::strategies::{Attached, Ending, Inside, Leaf, LifeId, Note, Progress, Pulse};
use strategy::Wish;

use super::outbox::{Full, Outbox, WAITING_MAX};

/// Answers that are kept for a command that is sent again.
const ANSWERS_MAX: usize = 8_192;
/// Commands of one process in flight; one more is refused and has no effect.
const OPEN_COMMANDS_MAX: usize = 1_024;

pub(super) struct Member {
    pub(super) id: StrategyId,
    pub(super) run: u64,
    /// Address of its process.
    pub(super) address: Text,
    outbox: Outbox,
    /// Only a final message is sent to it any more.
    is_over: bool,
    pub(super) link: Inside,
    notes: crossbeam_channel::Sender<Note>,
    pub(super) pulse: Pulse,
    newest_key: Option<u64>,
    /// Commands by key: answered, or in flight.
    answers: BTreeMap<u64, Option<Message>>,
    open_commands: usize,
    /// A phase that it has not completed, with its history.
    phase: Vec<Message>,
    /// Events before the replay are dropped: the replay contains them.
    pub(super) awaits_replay: bool,
}

impl Member {
    pub(super) fn new(attached: Attached, epoch: u64, address: Text) -> Self {
        Self {
            id: attached.who.id,
            run: attached.who.run,
            address,
            outbox: Outbox::of(epoch),
            is_over: false,
            newest_key: None,
            link: attached.link,
            notes: attached.notes,
            pulse: attached.pulse,
            answers: BTreeMap::new(),
            open_commands: 0,
            phase: vec![],
            awaits_replay: false,
        }
    }

    pub(super) fn life(&self) -> LifeId {
        LifeId { strategy: self.id, run: self.run }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.outbox.epoch()
    }

    /// From now on messages have a new epoch. Queued messages are sent again from the last received one on.
    pub(super) fn resume(&mut self, epoch: u64) {
        (self.outbox, self.awaits_replay) = (Outbox::of(epoch), true);
    }

    /// Queues a message. A process that acknowledges nothing is declared lost when its queue is full; others are not
    /// affected.
    pub(super) fn put(&mut self, message: Message) {
        if let Message::Cut { .. } = message {
            self.is_over = true;
            return self.outbox.put_last(message);
        }
        if !self.is_over && self.outbox.put(message) == Err(Full) {
            self.is_over = true;
            let reason = format!("it takes nothing: {WAITING_MAX} messages wait for it");
            self.note(Note::Ended(self.life(), Ending::Lost(reason)));
        }
    }

    pub(super) fn next_parcel(&mut self) -> Option<Vec<u8>> {
        self.outbox.next()
    }

    pub(super) fn taken(&mut self, number: u64) {
        self.outbox.taken(number);
    }

    /// The resume request after envelopes may have been lost, unless the process has ended.
    pub(super) fn call_back(&mut self) -> Option<Vec<u8>> {
        (!self.is_over).then(|| self.outbox.pack(Message::ComeBack))
    }

    /// Whether a command is new; a known one is answered again, or its answer is awaited.
    pub(super) fn begin(&mut self, key: u64) -> Result<(), Option<Message>> {
        if let Some(known) = self.answers.get(&key) {
            return Err(known.clone());
        }
        // Keys have no gaps: a missing one was dropped by the client before it was sent, and no client waits for it.
        let missing = self.newest_key.map_or(0, |newest| key.saturating_sub(newest + 1));
        (0..missing).for_each(|_| self.turn_away());
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
    pub(super) fn is_busy(&self) -> bool {
        self.open_commands > OPEN_COMMANDS_MAX
    }

    /// A command does not reach the engine: the delivery log records it.
    pub(super) fn turn_away(&self) {
        // A stopping server writes nothing.
        let _ = self.link.turn_away();
    }

    /// Appends a record to the delivery log of this strategy, in the journal.
    pub(super) fn write(&self, leaf: Vec<u8>) -> Result<(), Refusal> {
        if Leaf::signature(&leaf) != Some((self.id, self.run)) {
            return Err(foreign());
        }
        // A stopping server writes nothing.
        let _ = self.link.write_diary(leaf);
        Ok(())
    }

    pub(super) fn answered(&mut self, key: u64, message: &Message) {
        if let Some(answer @ None) = self.answers.get_mut(&key) {
            *answer = Some(message.clone());
            self.open_commands -= 1;
        }
    }

    /// A strategy trades only for itself: its commands name the owner of an order, and the engine refuses others.
    pub(super) fn check(&self, command: &Command) -> Result<(), Refusal> {
        let is_own = match command {
            Command::Place(ask) => ask.strategy == Some(self.id),
            Command::Modify(change) => change.restated.strategy == Some(self.id),
            Command::Cancel(cancel) => cancel.restated.strategy == Some(self.id),
            Command::Subscribe(wish) | Command::Unsubscribe(wish) => wish.strategy == self.id,
            Command::Publish(event) => event.strategy == self.id,
            _ => false,
        };
        if is_own { Ok(()) } else { Err(foreign()) }
    }

    pub(super) fn enters(&mut self, part: &Message) {
        if !matches!(self.phase.last(), Some(Message::Enter { is_partial: true, .. })) {
            self.phase.clear();
        }
        self.phase.push(part.clone());
    }

    /// The phase messages that must be sent again after a reconnect, as far as they were sent.
    pub(super) fn unfinished_phase(&self) -> Vec<Message> {
        self.phase.clone()
    }

    pub(super) fn entered(&mut self, phase: Phase, wishes: Vec<Wish>) {
        // It may be reported twice, the second time during the next phase.
        self.phase.retain(|part| !matches!(part, Message::Enter { phase: told, .. } if *told == phase));
        self.is_over |= phase == Phase::Exit;
        self.note(Note::Entered(self.life(), Progress { phase, wishes }));
        if phase == Phase::Exit {
            self.note(Note::Ended(self.life(), Ending::Exited));
        }
    }

    pub(super) fn failed(&mut self, reason: &str) {
        self.is_over = true;
        self.note(Note::Ended(self.life(), Ending::Panicked(reason.to_owned())));
    }

    fn note(&self, note: Note) {
        // A stopped host needs no note.
        let _ = self.notes.send(note);
    }
}

fn foreign() -> Refusal {
    let text = "a strategy trades in its own name and touches nothing of others".into();
    Refusal { code: "foreign-strategy".into(), text }
}
