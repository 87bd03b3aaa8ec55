//! One strategy process, as the bridge sees it.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Command, IntId, StrategyId, Text};
use runtime::strategies::protocol::{Message, Refusal};
use runtime::strategies::{Attached, Inside, Leaf, Note, Progress, Pulse};
use strategy::Wish;

/// Answers that are kept for a command that is sent again.
const ANSWERS_MAX: usize = 8_192;

pub(super) struct Member {
    pub(super) id: StrategyId,
    pub(super) run: u64,
    pub(super) epoch: u64,
    /// Of its process.
    pub(super) address: Text,
    number: u64,
    pub(super) link: Inside,
    notes: crossbeam_channel::Sender<Note>,
    pub(super) pulse: Pulse,
    newest_key: Option<u64>,
    /// Commands by key: answered, or still under way.
    answers: BTreeMap<u64, Option<Message>>,
    own_orders: BTreeSet<IntId>,
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
            epoch,
            address,
            number: 0,
            newest_key: None,
            link: attached.link,
            notes: attached.notes,
            pulse: attached.pulse,
            answers: BTreeMap::new(),
            own_orders: BTreeSet::new(),
            phase: vec![],
            awaits_replay: false,
        }
    }

    pub(super) fn pack(&mut self, message: Message) -> Vec<u8> {
        self.number += 1;
        message.into_bytes(self.epoch, self.number)
    }

    /// From now on it is spoken to under a new epoch.
    pub(super) fn resume(&mut self, epoch: u64) {
        (self.epoch, self.number, self.awaits_replay) = (epoch, 0, true);
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
        if self.answers.len() > ANSWERS_MAX {
            self.answers.pop_first();
        }
        Ok(())
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
        if let Some(answer) = self.answers.get_mut(&key) {
            *answer = Some(message.clone());
        }
    }

    pub(super) fn owns(&mut self, int_id: IntId) {
        self.own_orders.insert(int_id);
    }

    /// A strategy trades in its own name alone and touches nothing of others.
    pub(super) fn check(&mut self, command: &Command) -> Result<(), Refusal> {
        let is_own = match command {
            Command::Place(ask) => {
                ask.int_id.clone().into_iter().for_each(|int_id| self.owns(int_id));
                ask.strategy == Some(self.id)
            }
            Command::Modify(change) => self.own_orders.contains(&change.int_id),
            Command::Cancel(cancel) => self.own_orders.contains(&cancel.int_id),
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

    pub(super) fn entered(&mut self, phase: domain::command::Phase, wishes: Vec<Wish>) {
        self.phase.clear();
        self.note(Note::Entered(self.id, Progress { phase, wishes }));
    }

    pub(super) fn note(&self, note: Note) {
        // A host that is gone needs no note.
        let _ = self.notes.send(note);
    }
}

fn foreign() -> Refusal {
    let text = "a strategy trades in its own name and touches nothing of others".into();
    Refusal { code: "foreign-strategy".into(), text }
}
