//! A live session's journal replayed: the same inputs give the same events, so the digest is that of the session. Where
//! prices were journalled too, the strategies run again beside it and the first command that differs is shown.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use domain::command::Phase;
use domain::order::Step;
use domain::query::{Answer, Filter};
use domain::{
    Command, Envelope, Event, Input, Published, Query, ReferenceData, Refusal, Source, Stamped, StrategyId, Text,
    Timestamp,
};
use engine::{Engine, Outbox};
use storage::Snapshot;
use storage::journal::{self, Entry, Progress, Reader};
use strategy::{Past, Seat};

use super::digest::Digest;
use crate::records::{self, Unreadable};
use crate::recovery::RecoveryError;

/// What is replayed.
pub struct FromJournal<'a> {
    /// The data folder of the session.
    pub folder: &'a Path,
    /// A state that the session wrote, to be compared with the replayed one.
    pub snapshot: Option<Snapshot>,
    /// None where strategies are not to run again.
    pub seat: Option<SeatMaker<'a>>,
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
    let runs = runs(&folder)?;
    let mut session = Session::new(what, runs);
    Reader::open(&folder, 1)?.replay(&mut |entry| session.take(&entry), progress)?;
    Ok(session.finish())
}

/// The numbers of runs that each strategy's orders bear, in the order of the runs.
type Runs = BTreeMap<Text, VecDeque<u64>>;

/// Orders are named `NAME-RUN-NUMBER`; without the run of the session nobody could follow their fate.
fn runs(folder: &Path) -> Result<Runs, RecoveryError> {
    let mut runs = Runs::new();
    let mut visit = |entry: Entry<'_>| -> Result<(), RecoveryError> {
        if entry.kind == records::INPUT
            && let Input::Command(envelope) = decode(&entry)?
            && let (Some(name), Command::Place(ask)) = (strategy_of(&envelope), &envelope.command)
            && let Some(run) = ask.int_id.as_ref().and_then(|id| run_of(id.as_str()))
        {
            let known = runs.entry(name.clone()).or_default();
            if known.back() != Some(&run) {
                known.push_back(run);
            }
        }
        Ok(())
    };
    Reader::open(folder, 1)?.replay(&mut visit, &mut |_| ())?;
    Ok(runs)
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
    runs: Runs,
    engine: Engine,
    out: Outbox,
    digest: Digest,
    /// By name, with what each asked for and the journal has not shown yet.
    seats: BTreeMap<Text, (Seat, VecDeque<Command>)>,
    sequence: u64,
    at: Timestamp,
    found: Replayed,
}

impl<'a> Session<'a> {
    fn new(what: &'a FromJournal<'a>, runs: Runs) -> Self {
        Self {
            what,
            runs,
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
        for (seat, asked) in self.seats.values_mut() {
            seat.hear(published);
            asked.extend(seat.commands());
        }
    }

    fn fire_timers(&mut self) {
        for (seat, asked) in self.seats.values_mut() {
            if seat.next_timer().is_some_and(|due| due <= self.at) {
                seat.advance(self.at);
                asked.extend(seat.commands());
            }
        }
    }

    /// Strategies follow the phases of the session; what they asked for in it is held against what they ask for now.
    fn compare(&mut self, envelope: Envelope, refusal: Option<Refusal>) {
        if let Command::EnterPhase { strategy, phase, .. } = envelope.command {
            return self.enter(strategy, phase);
        }
        let Some(name) = strategy_of(&envelope).cloned() else { return };
        let Some((seat, asked)) = self.seats.get_mut(&name) else { return };
        let again = asked.pop_front();
        if again.as_ref() == Some(&envelope.command) {
            self.found.agreed += 1;
        } else if self.found.differs.is_none() {
            let (sequence, at, recorded) = (self.sequence, self.at, Some(envelope.command.clone()));
            self.found.differs = Some(Differs { sequence, at, strategy: name, recorded, again });
        }
        if let Some(refusal) = refusal {
            seat.refuse(self.at, envelope.command, &refusal);
            asked.extend(seat.commands());
        }
    }

    fn enter(&mut self, strategy: StrategyId, phase: Phase) {
        let reference = self.engine.reference().clone();
        let Some(name) = reference.strategies.get(&strategy).map(|known| known.name.clone()) else { return };
        if phase == Phase::Init {
            self.sit_down(strategy, &name, &reference);
        }
        let Some((seat, _)) = self.seats.get(&name) else { return };
        let past = if phase == Phase::Prefeed { self.past(seat) } else { Past::default() };
        if let Some((seat, asked)) = self.seats.get_mut(&name) {
            seat.enter(phase, self.at, &past);
            asked.extend(seat.commands());
        }
    }

    fn sit_down(&mut self, strategy: StrategyId, name: &Text, reference: &Arc<ReferenceData>) {
        let run = self.runs.get_mut(name).and_then(VecDeque::pop_front).unwrap_or(0);
        match self.what.seat.map(|make| make(strategy, name, run, reference)) {
            Some(Ok(mut seat)) => {
                self.picture(strategy).iter().for_each(|published| seat.hear(published));
                self.seats.insert(name.clone(), (seat, VecDeque::new()));
                self.found.lives += 1;
            }
            Some(Err(reason)) => drop(self.found.unseated.insert(name.clone(), reason)),
            None => {}
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

    fn past(&self, seat: &Seat) -> Past {
        let mut past = Past::default();
        for wish in seat.wishes() {
            let query = Query::Bars(wish.security, wish.size);
            if let Ok(Answer::Bars(bars)) = self.engine.answer(self.at, self.sequence, &query) {
                past.fulfil(wish, bars);
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
        self.found.snapshot = Some((snapshot.sequence, parts.engine == self.engine.encode_state()));
        Ok(())
    }

    fn finish(mut self) -> Replayed {
        self.find_unrecorded();
        let ask = |query| self.engine.answer(self.at, self.sequence, &query);
        let positions = match ask(Query::Positions(Filter::default())) {
            Ok(Answer::Positions(positions)) => positions,
            _ => Vec::new(),
        };
        let balances = match ask(Query::Balances(Filter::default())) {
            Ok(Answer::Balances(balances)) => balances,
            _ => Vec::new(),
        };
        self.found.digest = self.digest.finish(&positions, &balances);
        self.found
    }

    /// What is asked for now and was not in the session.
    fn find_unrecorded(&mut self) {
        if self.found.differs.is_some() {
            return;
        }
        let left = self.seats.iter().find_map(|(name, (_, asked))| Some((name.clone(), asked.front()?.clone())));
        self.found.differs = left.map(|(strategy, again)| Differs {
            sequence: self.sequence,
            at: self.at,
            strategy,
            recorded: None,
            again: Some(again),
        });
    }
}
