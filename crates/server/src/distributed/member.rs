//! One strategy process, as the bridge sees it.

use std::collections::BTreeMap;

use domain::command::Phase;
use domain::{Command, StrategyId, Text};
use runtime::strategies::protocol::{Message, Refusal};
use runtime::strategies::{Attached, Ending, Inside, Leaf, LifeId, Note, Progress, Pulse};
use strategy::Wish;

use super::outbox::{Full, Outbox, WAITING_MAX};

/// Answers that are kept for a command that is sent again.
const ANSWERS_MAX: usize = 8_192;
/// Commands of one process that wait for the engine's answer; one more is refused and has no effect.
const OPEN_COMMANDS_MAX: usize = 1_024;

pub(super) struct Member {
    pub(super) id: StrategyId,
    pub(super) run: u64,
    /// Of its process.
    pub(super) address: Text,
    outbox: Outbox,
    /// Nothing but a last word goes to it any more.
    is_over: bool,
    pub(super) link: Inside,
    notes: crossbeam_channel::Sender<Note>,
    pub(super) pulse: Pulse,
    newest_key: Option<u64>,
    /// Commands by key: answered, or still under way.
    answers: BTreeMap<u64, Option<Message>>,
    open_commands: usize,
    /// A phase that it has not gone through, with its past.
    phase: Vec<Message>,
    /// Events before the replay are dropped: it has them too.
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

    /// From now on it is spoken to under a new epoch. What waited is told again from where it stopped hearing.
    pub(super) fn resume(&mut self, epoch: u64) {
        (self.outbox, self.awaits_replay) = (Outbox::of(epoch), true);
    }

    /// A message for it waits. One that takes nothing is lost when too much does, and nobody else is.
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

    /// What calls it back after parcels may have been lost, unless it is gone.
    pub(super) fn call_back(&mut self) -> Option<Vec<u8>> {
        (!self.is_over).then(|| self.outbox.pack(Message::ComeBack))
    }

    /// Whether a command is new; one that is known is answered again, or waited for.
    pub(super) fn begin(&mut self, key: u64) -> Result<(), Option<Message>> {
        if let Some(known) = self.answers.get(&key) {
            return Err(known.clone());
        }
        // Keys come without a gap: what is missing was given up before it came here, and nobody will see it.
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

    /// Whether so many of its commands wait for an answer that no other is taken.
    pub(super) fn is_busy(&self) -> bool {
        self.open_commands > OPEN_COMMANDS_MAX
    }

    /// A command does not reach the engine: its diary tells.
    pub(super) fn turn_away(&self) {
        // A server that stops writes nothing.
        let _ = self.link.turn_away();
    }

    /// A leaf of its diary goes into the journal, where it is its own.
    pub(super) fn write(&self, leaf: Vec<u8>) -> Result<(), Refusal> {
        if Leaf::signature(&leaf) != Some((self.id, self.run)) {
            return Err(foreign());
        }
        // A server that stops writes nothing.
        let _ = self.link.write_diary(leaf);
        Ok(())
    }

    pub(super) fn answered(&mut self, key: u64, message: &Message) {
        if let Some(answer @ None) = self.answers.get_mut(&key) {
            *answer = Some(message.clone());
            self.open_commands -= 1;
        }
    }

    /// A strategy trades in its own name alone and touches nothing of others: it says whose order it means, and the engine
    /// refuses where that is not so.
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

    /// What must be told again to one that comes back, as far as it was told.
    pub(super) fn unfinished_phase(&self) -> Vec<Message> {
        self.phase.clone()
    }

    pub(super) fn entered(&mut self, phase: Phase, wishes: Vec<Wish>) {
        // It may say it twice, and the second time be on its way through the next.
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
        // A host that is gone needs no note.
        let _ = self.notes.send(note);
    }
}

fn foreign() -> Refusal {
    let text = "a strategy trades in its own name and touches nothing of others".into();
    Refusal { code: "foreign-strategy".into(), text }
}
