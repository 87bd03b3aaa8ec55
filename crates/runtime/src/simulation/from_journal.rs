//! Journal replay: the same inputs give the same events and digest. Strategies with a delivery log run again, and the
//! first different command is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use domain::command::Phase;
use domain::order::Step;
use domain::{Command, Envelope, Event, Input, ReferenceData, Source, Stamped, StrategyId, Text, Timestamp};
use engine::{Engine, Outbox};
use storage::Snapshot;
use storage::journal::{self, Entry, Progress, Reader};
use strategy::Seat;

use super::again::Again;
use super::digest::Digest;
use crate::records::{self, Unreadable};
use crate::recovery::RecoveryError;
use crate::strategies::Leaf;
use crate::strategies::diary::Told;

/// Input of a journal replay.
pub struct FromJournal<'a> {
    /// The data folder of the session.
    pub folder: &'a Path,
    /// A state that the session wrote, to be compared with the replayed one.
    pub snapshot: Option<Snapshot>,
    /// None where strategies are not to run again.
    pub seat: Option<SeatMaker<'a>>,
}

/// Builds the runner of that strategy for a run number, or returns why it cannot.
pub type SeatMaker<'a> = &'a dyn Fn(StrategyId, &Text, u64, &Arc<ReferenceData>) -> Result<Seat, String>;

/// Result of a journal replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replayed {
    pub records: u64,
    pub prices: u64,
    pub orders: u64,
    pub fills: u64,
    pub digest: String,
    /// The sequence of the snapshot that was compared, and whether its state was reached.
    pub snapshot: Option<(u64, bool)>,
    /// Strategy runs that were replayed.
    pub lives: u64,
    /// Strategy runs without a delivery log.
    pub untold: u64,
    /// Strategies that could not run again, and why.
    pub unseated: BTreeMap<Text, String>,
    /// Commands that were the same.
    pub agreed: u64,
    pub differs: Option<Differs>,
}

/// The first different command. One of both is absent where only the other exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    pub sequence: u64,
    pub at: Timestamp,
    pub strategy: Text,
    pub recorded: Option<Command>,
    pub again: Option<Command>,
}

pub fn replay_journal(what: &FromJournal<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Replayed, RecoveryError> {
    let mut session = Session::new(what);
    let reader = Reader::open(&what.folder.join(journal::FOLDER), 1)?;
    reader.replay(&mut |entry| session.take(&entry), progress)?;
    Ok(session.finish())
}

struct Session<'a> {
    what: &'a FromJournal<'a>,
    engine: Engine,
    out: Outbox,
    digest: Digest,
    /// By name, with the number of the run.
    seats: BTreeMap<Text, (u64, Again)>,
    /// Runs that have begun without a delivery log so far.
    untold: BTreeSet<StrategyId>,
    sequence: u64,
    at: Timestamp,
    found: Replayed,
}

impl<'a> Session<'a> {
    fn new(what: &'a FromJournal<'a>) -> Self {
        Self {
            what,
            engine: Engine::default(),
            out: Outbox::default(),
            digest: Digest::default(),
            seats: BTreeMap::new(),
            untold: BTreeSet::new(),
            sequence: 0,
            at: Timestamp::default(),
            found: Replayed::default(),
        }
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<(), RecoveryError> {
        self.found.records += 1;
        (self.sequence, self.at) = (entry.sequence, Timestamp(entry.time));
        let unreadable = |reason: String| Err(RecoveryError::Unreadable { sequence: entry.sequence, reason });
        match entry.kind {
            records::INPUT => match records::decode_input(entry.payload) {
                Ok(input) => self.apply(input),
                Err(Unreadable(reason)) => return unreadable(reason),
            },
            records::DIARY => match minicbor::decode(entry.payload) {
                Ok(leaf) => self.tell(leaf),
                Err(error) => return unreadable(error.to_string()),
            },
            _ => {}
        }
        self.compare_snapshot()
    }

    fn apply(&mut self, what: Input) {
        let stamped = Stamped { sequence: self.sequence, at: self.at, what };
        // Callers were answered in the session, and the delivery log has the refusals of a strategy.
        let _ = self.engine.apply(&stamped, &mut self.out);
        self.out.instructions.clear();
        for event in std::mem::take(&mut self.out.events) {
            self.count(&event);
            self.digest.see(&event);
        }
        match stamped.what {
            Input::Market(_) => self.found.prices += 1,
            Input::Command(envelope) => self.compare(*envelope),
            Input::Report(_) | Input::Marks(_) | Input::Clock => {}
        }
    }

    fn count(&mut self, event: &Event) {
        match event {
            Event::OrderStatus(status) if status.step == Step::Placed => self.found.orders += 1,
            Event::Fill(_) => self.found.fills += 1,
            _ => {}
        }
    }

    /// Repeats deliveries to a strategy. By then all its earlier commands are in the journal.
    fn tell(&mut self, leaf: Leaf) {
        self.untold.remove(&leaf.strategy);
        let reference = self.engine.reference().clone();
        let Some(name) = reference.strategies.get(&leaf.strategy).map(|known| known.name.clone()) else { return };
        if self.seats.get(&name).is_none_or(|(run, _)| *run != leaf.run) {
            self.sit_down(leaf.strategy, &name, leaf.run, &reference);
        }
        for told in leaf.told {
            let Some((_, seat)) = self.seats.get_mut(&name) else { return };
            match (told, seat.next_asked()) {
                (Told::TurnedAway, _) => {}
                (told, None) => seat.tell(told),
                (_, Some(again)) => return self.differs(&name, None, Some(again)),
            }
        }
    }

    fn sit_down(&mut self, strategy: StrategyId, name: &Text, run: u64, reference: &Arc<ReferenceData>) {
        self.seats.remove(name);
        let Some(make) = self.what.seat.filter(|_| !self.found.unseated.contains_key(name)) else { return };
        match make(strategy, name, run, reference) {
            Ok(seat) => {
                self.seats.insert(name.clone(), (run, Again::new(seat)));
                self.found.lives += 1;
            }
            Err(reason) => drop(self.found.unseated.insert(name.clone(), reason)),
        }
    }

    /// Compares a command of the session with the one of the replay.
    fn compare(&mut self, envelope: Envelope) {
        if let Command::EnterPhase { strategy, phase, failure, .. } = envelope.command {
            return self.enter(strategy, phase, failure.is_some());
        }
        let caller = envelope.caller;
        let Some(name) = caller.user.filter(|_| caller.source == Source::Strategy) else { return };
        let Some((_, seat)) = self.seats.get_mut(&name) else { return };
        let again = seat.next_asked();
        if again.as_ref() == Some(&envelope.command) {
            self.found.agreed += 1;
        } else {
            self.differs(&name, Some(envelope.command), again);
        }
    }

    /// From here on the run is another one: only the first difference matters.
    fn differs(&mut self, name: &Text, recorded: Option<Command>, again: Option<Command>) {
        self.seats.get_mut(name).into_iter().for_each(|(_, seat)| seat.end());
        let (sequence, at, strategy) = (self.sequence, self.at, name.clone());
        self.found.differs.get_or_insert(Differs { sequence, at, strategy, recorded, again });
    }

    fn enter(&mut self, strategy: StrategyId, phase: Phase, has_failed: bool) {
        if phase == Phase::Init && !self.untold.insert(strategy) {
            self.found.untold += 1;
        }
        let name = self.engine.reference().strategies.get(&strategy).map(|known| known.name.clone());
        if let Some(name) = name.filter(|_| has_failed) {
            // Its commands at its stop had no effect in the session either.
            self.seats.remove(&name);
        }
    }

    fn compare_snapshot(&mut self) -> Result<(), RecoveryError> {
        let Some(snapshot) = self.what.snapshot.as_ref().filter(|snapshot| snapshot.sequence == self.sequence) else {
            return Ok(());
        };
        let parts = records::decode_snapshot(&snapshot.state)
            .map_err(|Unreadable(reason)| RecoveryError::Unreadable { sequence: snapshot.sequence, reason })?;
        let is_same_digest = parts.digest.is_none_or(|digest| digest == self.digest);
        self.found.snapshot = Some((snapshot.sequence, is_same_digest && parts.engine == self.engine.encode_state()));
        Ok(())
    }

    /// The last commands of a strategy may have been lost in a crash, so missing ones are no difference.
    fn finish(mut self) -> Replayed {
        self.found.untold += self.untold.len() as u64;
        self.found.digest = self.digest.finish(&self.engine, self.at, self.sequence);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use domain::Caller;
    use domain::command::{GenericEvent, ReferenceChange};
    use strategy::{Desk, Strategy, Timer, Who};

    use super::*;

    const ECHO: StrategyId = StrategyId(7);

    /// The recorded and the repeated command.
    type Difference = (Option<Command>, Option<Command>);

    /// Publishes when each of its timers fired.
    struct Echo;

    impl Strategy for Echo {
        fn start(&mut self, desk: &mut Desk<'_>) {
            desk.set_timer("next", desk.now());
        }

        fn on_timer(&mut self, _: &Timer, desk: &mut Desk<'_>) {
            desk.publish("echo", desk.now().0.to_string());
            desk.set_timer("next", Timestamp(desk.now().0 + 1));
        }
    }

    fn sit(id: StrategyId, name: &Text, run: u64, reference: &Arc<ReferenceData>) -> Result<Seat, String> {
        Ok(Seat::new(Who { id, name: name.clone(), run }, Box::new(Echo), reference.clone()))
    }

    fn said(at: i64) -> Input {
        let event = GenericEvent { strategy: ECHO, name: "echo".into(), body: at.to_string().into() };
        let caller = Caller { source: Source::Strategy, user: Some("ECHO".into()), origin: None };
        Input::Command(Box::new(Envelope { caller, command: Command::Publish(event) }))
    }

    /// Result of a journal of these records: numbers are times of timer deliveries, in a run that has begun.
    fn lived(records: &[Record]) -> (u64, Option<Difference>) {
        let what = FromJournal { folder: Path::new(""), snapshot: None, seat: Some(&sit) };
        let mut session = Session::new(&what);
        let echo = domain::Strategy { id: ECHO, name: "ECHO".into(), auto_activate: true };
        let command = Command::Reference(vec![ReferenceChange::Strategy(echo)]);
        session.apply(Input::Command(Box::new(Envelope { caller: Caller::platform(), command })));
        let begins = [Phase::Init, Phase::Start].map(|phase| Told::Entered(phase, Timestamp(0)));
        session.tell(Leaf { strategy: ECHO, run: 1, told: begins.into() });
        for record in records {
            match record {
                Record::Told(at) => {
                    session.tell(Leaf { strategy: ECHO, run: 1, told: vec![Told::Advanced(Timestamp(*at))] });
                }
                Record::TurnedAway => session.tell(Leaf::turned_away(ECHO, 1)),
                Record::Said(at) => session.apply(said(*at)),
            }
        }
        let found = session.finish();
        (found.agreed, found.differs.map(|differs| (differs.recorded, differs.again)))
    }

    enum Record {
        Told(i64),
        TurnedAway,
        Said(i64),
    }

    fn echo(at: i64) -> Option<Command> {
        let Input::Command(envelope) = said(at) else { return None };
        Some(envelope.command)
    }

    #[test]
    fn commands_follow_their_deliveries_or_were_refused_at_the_inbox_or_lost_in_a_crash() {
        use Record::*;
        assert_eq!(lived(&[Told(1), Said(1), Told(2), TurnedAway, Told(3), Said(3), Told(4)]), (2, None));
    }

    #[test]
    fn the_first_difference_is_a_command_that_is_another_or_is_absent_on_one_side() {
        use Record::*;
        assert_eq!(lived(&[Told(1), Said(2), Told(3), Said(3)]), (0, Some((echo(2), echo(1)))));
        assert_eq!(lived(&[Told(1), Said(1), Said(2)]), (1, Some((echo(2), None))));
        assert_eq!(lived(&[Told(1), Told(2), Said(2)]), (0, Some((None, echo(1)))));
    }
}
