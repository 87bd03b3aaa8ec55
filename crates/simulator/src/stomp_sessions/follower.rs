//! A client that follows kept families: it gets every event once and in order, and goes on behind the last one after every cut.

use domain::SeededRng;

use super::topic_record::{KeptMessage, KeptPlace, TOPICS_IN_ORDER, TopicRecord};
use crate::invariants::broken_invariant::{InvariantResult, ensure};

/// Mostly no more than so many messages are wanted again.
const ASKED_AGAIN_MAX: usize = 30;
/// Sometimes so many, also in a long run: with more the time of a run would grow with the square of its length.
const REWIND_MAX: usize = 2_000;

pub(crate) struct Follower {
    /// The first segments of its topics.
    families: &'static [&'static str],
    /// All that it has received, once and in order: the record against the platform.
    received: Vec<KeptMessage>,
    /// Where the next message belongs: behind all, or where the client has asked again from.
    next: usize,
    /// How many of its messages, and of the record's, were compared.
    compared: (usize, usize),
    pub(crate) repeats: u64,
}

impl Follower {
    pub(crate) fn new(families: &'static [&'static str]) -> Self {
        Self { families, received: vec![], next: 0, compared: (0, 0), repeats: 0 }
    }

    pub(crate) fn destinations(&self) -> String {
        let destination = |family: &&str| format!("/topic/{family}.>");
        self.families.iter().map(destination).collect::<Vec<_>>().join(",")
    }

    /// Behind what it wants to go on.
    pub(crate) fn position(&self) -> String {
        let last = self.next.checked_sub(1).and_then(|last| self.received.get(last));
        last.map_or("0".to_owned(), |last| format!("{}-{}", last.place.0, last.place.1))
    }

    /// Wants to have again what it had; where a sequence is behind it as a whole, by its bare number, sometimes.
    pub(crate) fn go_back(&mut self, rng: &mut SeededRng) -> String {
        let most = self.next.min(if rng.one_in(8) { REWIND_MAX } else { ASKED_AGAIN_MAX });
        self.next -= usize::try_from(rng.below(most as u64 + 1)).unwrap_or(0);
        let ends = self.next.checked_sub(1).and_then(|last| self.received.get(last)).map(|last| last.place.0);
        let begins = self.received.get(self.next).map(|next| next.place.0);
        match (ends, begins) {
            (Some(ends), Some(begins)) if ends < begins && rng.one_in(2) => ends.to_string(),
            _ => self.position(),
        }
    }

    /// The next message; why it is none.
    pub(crate) fn receive(&mut self, place: KeptPlace, destination: &str, body: &str) -> Result<(), String> {
        let message = KeptMessage { place, destination: destination.to_owned(), body: body.to_owned() };
        if let Some(known) = self.received.get(self.next) {
            if *known != message {
                return Err(format!("{known:?} was received before, and now {message:?}"));
            }
            self.repeats += 1;
        } else {
            if let Some(last) = self.received.last().filter(|last| last.place >= place) {
                return Err(format!("{message:?} comes behind {last:?}"));
            }
            self.received.push(message);
        }
        self.next += 1;
        Ok(())
    }

    /// What it has is the beginning of what the journal has; everything, up to the given sequence.
    pub(crate) fn check(&mut self, name: &str, record: &TopicRecord, complete_through: Option<u64>) -> InvariantResult {
        let (mut own, mut of_record) = self.compared;
        while let Some(due) = record.kept.get(of_record) {
            let told = self.received.get(own);
            if !self.selects(due) {
                of_record += 1;
                continue;
            }
            let Some(told) = told else { break };
            ensure(told == due, TOPICS_IN_ORDER, || format!("{name} was told {told:?}, the journal has {due:?}"))?;
            (own, of_record) = (own + 1, of_record + 1);
        }
        self.compared = (own, of_record);
        let phantom = self.received.get(own).filter(|_| of_record == record.kept.len());
        ensure(phantom.is_none(), TOPICS_IN_ORDER, || format!("{name} was told {phantom:?}, the journal ends before"))?;
        let Some(through) = complete_through else { return Ok(()) };
        let missing = record.kept[of_record..].iter().find(|due| self.selects(due) && due.place.0 <= through);
        ensure(missing.is_none(), "a topic is incomplete", || format!("{name} was never told {missing:?}"))
    }

    fn selects(&self, message: &KeptMessage) -> bool {
        let family = message.destination.trim_start_matches("/topic/").split('.').next();
        family.is_some_and(|family| self.families.contains(&family))
    }
}
