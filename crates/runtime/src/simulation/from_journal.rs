//! A live session's journal replayed: the same inputs give the same events, so the digest is that of the session. Where
//! prices were journalled too, the strategies run again beside it and the first command that differs is shown.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::command::{FailureKind, Phase};
use domain::order::Step;
use domain::query::{Answer, Filter};
use domain::{
    Command, Envelope, Event, Input, Published, Query, ReferenceData, Refusal, Source, Stamped, StrategyId, Text,
    Timestamp,
};
use engine::{Engine, Outbox};
use storage::Snapshot;
use storage::bars::{self, BarFiles};
use storage::journal::{self, Entry, Progress, Reader};
use strategy::{Past, Seat, Wish};

use super::again::{Again, Call};
use super::digest::Digest;
use crate::records::{self, Unreadable};
use crate::recovery::RecoveryError;
use crate::strategies::asking::joined;

/// Timers may fire so much earlier than the record that shows what they caused: each is set from the one before, and in the
/// session their calls came a little before the records.
const TIMER_AHEAD_NANOS: i64 = 1_000_000_000;

/// What is replayed.
pub struct FromJournal<'a> {
    /// The data folder of the session.
    pub folder: &'a Path,
    /// A state that the session wrote, to be compared with the replayed one.
    pub snapshot: Option<Snapshot>,
    /// None where strategies are not to run again.
    pub seat: Option<SeatMaker<'a>>,
    /// A strategy that hung in the session hangs again when a call-back takes so long.
    pub hang_after: Duration,
}

/// Makes the strategy of that name sit down again, with the number of its run, or says why it can't.
pub type SeatMaker<'a> = &'a dyn Fn(StrategyId, &Text, u64, &Arc<ReferenceData>) -> Result<Seat, String>;

/// What a replay found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replayed {
    pub records: u64,
    pub prices: u64,
    pub orders: u64,
    pub fills: u64,
    pub digest: String,
    /// The sequence of the snapshot that was compared, and whether its state was reached.
    pub snapshot: Option<(u64, bool)>,
    /// Lives of strategies that were lived again.
    pub lives: u64,
    /// Strategies of the session that could not run again, and why.
    pub unseated: BTreeMap<Text, String>,
    /// Commands of strategies that came out the same.
    pub agreed: u64,
    pub differs: Option<Differs>,
}

/// The first command that came out otherwise. One of both is absent where only the other exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    pub sequence: u64,
    pub at: Timestamp,
    pub strategy: Text,
    pub recorded: Option<Command>,
    pub again: Option<Command>,
}

pub fn replay_journal(what: &FromJournal<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Replayed, RecoveryError> {
    let folder = what.folder.join(journal::FOLDER);
    let lives = lives(&folder)?;
    let mut session = Session::new(what, lives);
    Reader::open(&folder, 1)?.replay(&mut |entry| session.take(&entry), progress)?;
    Ok(session.finish())
}

/// The lives of each strategy, in their order, as far as they must be known before they are lived again.
type Lives = BTreeMap<StrategyId, VecDeque<Life>>;

#[derive(Debug, Default)]
struct Life {
    /// Orders are named `NAME-RUN-NUMBER`; without the run of the session nobody could follow their fate.
    run: Option<u64>,
    has_hung: bool,
}

fn lives(folder: &Path) -> Result<Lives, RecoveryError> {
    let mut lives = Lives::new();
    let mut visit = |entry: Entry<'_>| -> Result<(), RecoveryError> {
        if entry.kind == records::INPUT
            && let Input::Command(envelope) = decode(&entry)?
        {
            note_life(&envelope, &mut lives);
        }
        Ok(())
    };
    Reader::open(folder, 1)?.replay(&mut visit, &mut |_| ())?;
    Ok(lives)
}

fn note_life(envelope: &Envelope, lives: &mut Lives) {
    match &envelope.command {
        Command::EnterPhase { strategy, phase: Phase::Init, .. } => {
            lives.entry(*strategy).or_default().push_back(Life::default());
        }
        Command::EnterPhase { strategy, failure: Some(failure), .. } => {
            if let Some(life) = lives.get_mut(strategy).and_then(VecDeque::back_mut) {
                life.has_hung = failure.kind == FailureKind::Hung;
            }
        }
        Command::Place(ask) if strategy_of(envelope).is_some() => {
            let life = ask.strategy.and_then(|strategy| lives.get_mut(&strategy)?.back_mut());
            if let (Some(life), Some(id)) = (life, &ask.int_id) {
                life.run = life.run.or_else(|| run_of(id.as_str()));
            }
        }
        _ => {}
    }
}

fn run_of(int_id: &str) -> Option<u64> {
    int_id.rsplit('-').nth(1)?.parse().ok()
}

fn strategy_of(envelope: &Envelope) -> Option<&Text> {
    envelope.caller.user.as_ref().filter(|_| envelope.caller.source == Source::Strategy)
}

fn decode(entry: &Entry<'_>) -> Result<Input, RecoveryError> {
    records::decode_input(entry.payload)
        .map_err(|Unreadable(reason)| RecoveryError::Unreadable { sequence: entry.sequence, reason })
}

struct Session<'a> {
    what: &'a FromJournal<'a>,
    stored: BarFiles,
    lives: Lives,
    engine: Engine,
    out: Outbox,
    digest: Digest,
    /// By name.
    seats: BTreeMap<Text, Again>,
    sequence: u64,
    at: Timestamp,
    found: Replayed,
}

impl<'a> Session<'a> {
    fn new(what: &'a FromJournal<'a>, lives: Lives) -> Self {
        Self {
            what,
            stored: BarFiles::open(what.folder.join(bars::FOLDER), usize::MAX),
            lives,
            engine: Engine::default(),
            out: Outbox::default(),
            digest: Digest::default(),
            seats: BTreeMap::new(),
            sequence: 0,
            at: Timestamp::default(),
            found: Replayed::default(),
        }
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<(), RecoveryError> {
        self.found.records += 1;
        (self.sequence, self.at) = (entry.sequence, Timestamp(entry.time));
        if entry.kind == records::INPUT {
            let input = decode(entry)?;
            self.close_bars();
            self.fire_timers();
            self.apply(input);
        }
        self.compare_snapshot()
    }

    fn apply(&mut self, what: Input) {
        let stamped = Stamped { sequence: self.sequence, at: self.at, what };
        let outcome = self.engine.apply(&stamped, &mut self.out);
        match stamped.what {
            Input::Market(_) => self.found.prices += 1,
            Input::Command(envelope) => self.compare(*envelope, outcome.err()),
            Input::Report(_) | Input::Marks(_) | Input::Clock => {}
        }
        self.spread();
    }

    fn spread(&mut self) {
        let (sequence, at) = (self.sequence, self.at);
        self.out.instructions.clear();
        for event in std::mem::take(&mut self.out.events) {
            match &event {
                Event::OrderStatus(status) if status.step == Step::Placed => self.found.orders += 1,
                Event::Fill(_) => self.found.fills += 1,
                _ => {}
            }
            self.digest.see(&event);
            self.hear(&Published { sequence, at, event });
        }
    }

    fn hear(&mut self, published: &Published) {
        self.seats.values_mut().for_each(|seat| seat.call(Call::Hear(published.clone())));
    }

    /// In the session bars closed with the clock; here the next record tells how late it is.
    fn close_bars(&mut self) {
        if !self.seats.is_empty() {
            self.engine.advance_market(self.at, &mut self.out);
            self.spread();
        }
    }

    fn fire_timers(&mut self) {
        for seat in self.seats.values_mut() {
            if seat.next_timer().is_some_and(|due| due <= self.at) {
                seat.call(Call::Advance(self.at));
            }
        }
    }

    /// Strategies follow the phases of the session; what they asked for in it is held against what they ask for now.
    fn compare(&mut self, envelope: Envelope, refusal: Option<Refusal>) {
        if let Command::EnterPhase { strategy, phase, failure, .. } = envelope.command {
            return self.enter(strategy, phase, failure.is_some());
        }
        let Some(name) = strategy_of(&envelope).cloned() else { return };
        let Some(seat) = self.seats.get_mut(&name) else { return };
        let again = next_asked(seat, self.at);
        if again.as_ref() == Some(&envelope.command) {
            self.found.agreed += 1;
        } else if self.found.differs.is_none() {
            let (sequence, at, recorded) = (self.sequence, self.at, Some(envelope.command.clone()));
            self.found.differs = Some(Differs { sequence, at, strategy: name, recorded, again });
        }
        if let Some(refusal) = refusal {
            seat.call(Call::Refuse(self.at, Box::new((envelope.command, refusal))));
        }
    }

    fn enter(&mut self, strategy: StrategyId, phase: Phase, has_failed: bool) {
        let reference = self.engine.reference().clone();
        let Some(name) = reference.strategies.get(&strategy).map(|known| known.name.clone()) else { return };
        if has_failed {
            // What it asked for when it was stopped had no effect in the session either.
            self.seats.remove(&name);
            return;
        }
        if phase == Phase::Init {
            self.sit_down(strategy, &name, &reference);
        }
        let Some(seat) = self.seats.get(&name) else { return };
        let past = if phase == Phase::Prefeed { self.past(seat.wishes()) } else { Past::default() };
        if let Some(seat) = self.seats.get_mut(&name) {
            seat.call(Call::Enter(phase, self.at, past));
        }
    }

    fn sit_down(&mut self, strategy: StrategyId, name: &Text, reference: &Arc<ReferenceData>) {
        self.find_unrecorded(name);
        let life = self.lives.get_mut(&strategy).and_then(VecDeque::pop_front).unwrap_or_default();
        let Some(make) = self.what.seat else { return };
        let patience = life.has_hung.then_some(self.what.hang_after);
        let seat = make(strategy, name, life.run.unwrap_or(0), reference)
            .and_then(|seat| Again::new(seat, patience).map_err(|error| error.to_string()));
        match seat {
            Ok(mut seat) => {
                self.picture(strategy).into_iter().for_each(|published| seat.call(Call::Hear(published)));
                self.seats.insert(name.clone(), seat);
                self.found.lives += 1;
            }
            Err(reason) => drop(self.found.unseated.insert(name.clone(), reason)),
        }
    }

    /// What a strategy that begins is told of itself, as in the session.
    fn picture(&self, strategy: StrategyId) -> Vec<Published> {
        let filter = Filter { strategy: Some(strategy), ..Filter::default() };
        let queries = [Query::OpenOrders(filter), Query::Positions(filter), Query::Balances(filter)];
        let answers = queries.iter().filter_map(|query| self.engine.answer(self.at, self.sequence, query).ok());
        let events = answers.flat_map(|answer| match answer {
            Answer::Orders(orders) => orders.into_iter().map(Event::Order).collect(),
            Answer::Positions(held) => held.into_iter().map(|one| Event::Position(Arc::new(one))).collect(),
            Answer::Balances(cash) => cash.into_iter().map(|one| Event::Cash(Arc::new(one))).collect(),
            _ => Vec::new(),
        });
        events.map(|event| Published { sequence: self.sequence, at: self.at, event }).collect()
    }

    fn past(&self, wishes: &[Wish]) -> Past {
        let mut past = Past::default();
        for wish in wishes {
            let query = Query::Bars(wish.security, wish.size);
            if let Ok(Answer::Bars(bars)) = self.engine.answer(self.at, self.sequence, &query) {
                past.fulfil(wish, joined(wish, &self.stored, self.at, bars));
            }
        }
        past
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

    fn finish(mut self) -> Replayed {
        let names: Vec<Text> = self.seats.keys().cloned().collect();
        names.iter().for_each(|name| self.find_unrecorded(name));
        self.found.digest = self.digest.finish(&self.engine, self.at, self.sequence);
        self.found
    }

    /// What a life that is over asks for now and did not in the session.
    fn find_unrecorded(&mut self, name: &Text) {
        let again = self.seats.remove(name).and_then(|mut seat| seat.next_asked());
        if let (None, Some(again)) = (&self.found.differs, again) {
            let (sequence, at, strategy) = (self.sequence, self.at, name.clone());
            self.found.differs = Some(Differs { sequence, at, strategy, recorded: None, again: Some(again) });
        }
    }
}

/// What the strategy asks for next. In the session its timer was a moment ahead of the record of what it asked for.
fn next_asked(seat: &mut Again, at: Timestamp) -> Option<Command> {
    let soon = Timestamp(at.0.saturating_add(TIMER_AHEAD_NANOS));
    while !seat.has_asked()
        && let Some(due) = seat.next_timer().filter(|due| *due <= soon)
    {
        seat.call(Call::Advance(due));
    }
    seat.next_asked()
}
