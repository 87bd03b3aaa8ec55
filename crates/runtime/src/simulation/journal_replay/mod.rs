//! Journal replay: the same inputs give the same events and digest. Strategies with a delivery log run again, and the
//! first different command is reported.

mod strategy_replay;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use domain::command::StrategyPhase;
use domain::order::ExecType;
use domain::{Command, CommandEnvelope, Event, Input, ReferenceData, Sequenced, Source, StrategyId, Text, Timestamp};
use engine::{Engine, Outbox};
use storage::StoredSnapshot;
use storage::journal::{self, JournalEntry, JournalReader, ScanProgress};
use strategy::StrategyRunner;

use self::strategy_replay::StrategyReplay;
use super::digest::RunDigest;
use crate::journal_records::{self, UnreadableRecord};
use crate::recovery::RecoveryError;
use crate::strategies::DeliveryRecord;
use crate::strategies::protocol::delivery_log::LoggedDelivery;

/// Input of a journal replay.
pub struct JournalReplay<'a> {
    /// The data folder of the session.
    pub folder: &'a Path,
    /// The last sequence to replay.
    pub up_to: u64,
    /// A state that the session wrote, to be compared with the replayed one.
    pub snapshot: Option<StoredSnapshot>,
    /// None where strategies are not to run again.
    pub runner_factory: Option<RunnerFactory<'a>>,
}

/// Builds the runner of that strategy for a run number, or returns why it cannot.
pub type RunnerFactory<'a> = &'a dyn Fn(StrategyId, &Text, u64, &Arc<ReferenceData>) -> Result<StrategyRunner, String>;

/// Result of a journal replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalReplayResult {
    pub records: u64,
    pub prices: u64,
    pub orders: u64,
    pub fills: u64,
    pub digest: String,
    /// The sequence of the snapshot that was compared, and whether its state was reached.
    pub snapshot: Option<(u64, bool)>,
    /// Strategy runs that were replayed.
    pub runs: u64,
    /// Strategy runs without a delivery log.
    pub unlogged_runs: u64,
    /// Strategies that could not run again, and why.
    pub not_runnable: BTreeMap<Text, String>,
    /// Commands that were the same.
    pub matching_commands: u64,
    pub first_difference: Option<CommandDifference>,
}

/// The first different command. One of both is absent where only the other exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDifference {
    pub sequence: u64,
    pub at: Timestamp,
    pub strategy: Text,
    pub recorded: Option<Command>,
    pub replayed: Option<Command>,
}

pub fn replay_journal(
    what: &JournalReplay<'_>,
    progress: &mut dyn FnMut(ScanProgress),
) -> Result<JournalReplayResult, RecoveryError> {
    let mut session = ReplaySession::new(what);
    let reader = JournalReader::open(&what.folder.join(journal::FOLDER), 1)?;
    reader.replay_to(what.up_to, &mut |entry| session.on_record(&entry), progress)?;
    Ok(session.finish())
}

struct ReplaySession<'a> {
    what: &'a JournalReplay<'a>,
    engine: Engine,
    out: Outbox,
    digest: RunDigest,
    /// By name, with the number of the run.
    strategies: BTreeMap<Text, (u64, StrategyReplay)>,
    /// Runs that have begun without a delivery log so far.
    unlogged: BTreeSet<StrategyId>,
    sequence: u64,
    at: Timestamp,
    result: JournalReplayResult,
}

impl<'a> ReplaySession<'a> {
    fn new(what: &'a JournalReplay<'a>) -> Self {
        Self {
            what,
            engine: Engine::default(),
            out: Outbox::default(),
            digest: RunDigest::default(),
            strategies: BTreeMap::new(),
            unlogged: BTreeSet::new(),
            sequence: 0,
            at: Timestamp::default(),
            result: JournalReplayResult::default(),
        }
    }

    fn on_record(&mut self, entry: &JournalEntry<'_>) -> Result<(), RecoveryError> {
        self.result.records += 1;
        (self.sequence, self.at) = (entry.sequence, Timestamp(entry.time));
        let unreadable = |reason: String| Err(RecoveryError::Unreadable { sequence: entry.sequence, reason });
        match entry.kind {
            journal_records::INPUT => match journal_records::decode_input(entry.payload) {
                Ok(input) => self.apply(input),
                Err(UnreadableRecord(reason)) => return unreadable(reason),
            },
            journal_records::DELIVERY_LOG => match minicbor::decode(entry.payload) {
                Ok(record) => self.deliver(record),
                Err(error) => return unreadable(error.to_string()),
            },
            _ => {}
        }
        self.compare_snapshot()
    }

    fn apply(&mut self, what: Input) {
        let stamped = Sequenced { sequence: self.sequence, at: self.at, payload: what };
        // Callers were answered in the session, and the delivery log has the refusals of a strategy.
        let _ = self.engine.apply(&stamped, &mut self.out);
        self.out.instructions.clear();
        for event in std::mem::take(&mut self.out.events) {
            self.count(&event);
            self.digest.update(&event);
        }
        match stamped.payload {
            Input::Market(_) => self.result.prices += 1,
            Input::Command(envelope) => self.compare(*envelope),
            Input::Report(_) | Input::Marks(_) | Input::Clock | Input::RetiredOrders(_) => {}
        }
    }

    fn count(&mut self, event: &Event) {
        match event {
            Event::OrderStatus(status) if status.exec_type == ExecType::PendingNew => self.result.orders += 1,
            Event::Fill(_) => self.result.fills += 1,
            _ => {}
        }
    }

    /// Repeats deliveries to a strategy. By then all its earlier commands are in the journal.
    fn deliver(&mut self, record: DeliveryRecord) {
        self.unlogged.remove(&record.strategy);
        let reference = self.engine.reference().clone();
        let Some(name) = reference.strategies.get(&record.strategy).map(|known| known.name.clone()) else { return };
        if self.strategies.get(&name).is_none_or(|(run, _)| *run != record.run) {
            self.start_strategy(record.strategy, &name, record.run, &reference);
        }
        for told in record.deliveries {
            let Some((_, runner)) = self.strategies.get_mut(&name) else { return };
            match (told, runner.next_command()) {
                (LoggedDelivery::CommandRejected, _) => {}
                (told, None) => runner.deliver(told),
                (_, Some(again)) => return self.record_difference(&name, None, Some(again)),
            }
        }
    }

    fn start_strategy(&mut self, strategy: StrategyId, name: &Text, run: u64, reference: &Arc<ReferenceData>) {
        self.strategies.remove(name);
        let Some(make) = self.what.runner_factory.filter(|_| !self.result.not_runnable.contains_key(name)) else {
            return;
        };
        match make(strategy, name, run, reference) {
            Ok(runner) => {
                self.strategies.insert(name.clone(), (run, StrategyReplay::new(runner)));
                self.result.runs += 1;
            }
            Err(reason) => drop(self.result.not_runnable.insert(name.clone(), reason)),
        }
    }

    /// Compares a command of the session with the one of the replay.
    fn compare(&mut self, envelope: CommandEnvelope) {
        if let Command::EnterPhase { strategy, phase, failure, .. } = envelope.command {
            return self.enter(strategy, phase, failure.is_some());
        }
        let caller = envelope.caller;
        let Some(name) = caller.user.filter(|_| caller.source == Source::Strategy) else { return };
        let Some((_, runner)) = self.strategies.get_mut(&name) else { return };
        let again = runner.next_command();
        if again.as_ref() == Some(&envelope.command) {
            self.result.matching_commands += 1;
        } else {
            self.record_difference(&name, Some(envelope.command), again);
        }
    }

    /// From here on the run is another one: only the first difference matters.
    fn record_difference(&mut self, name: &Text, recorded: Option<Command>, again: Option<Command>) {
        self.strategies.get_mut(name).into_iter().for_each(|(_, runner)| runner.end());
        let (sequence, at, strategy) = (self.sequence, self.at, name.clone());
        self.result.first_difference.get_or_insert(CommandDifference {
            sequence,
            at,
            strategy,
            recorded,
            replayed: again,
        });
    }

    fn enter(&mut self, strategy: StrategyId, phase: StrategyPhase, has_failed: bool) {
        if phase == StrategyPhase::Init && !self.unlogged.insert(strategy) {
            self.result.unlogged_runs += 1;
        }
        let name = self.engine.reference().strategies.get(&strategy).map(|known| known.name.clone());
        if let Some(name) = name.filter(|_| has_failed) {
            // Its commands at its stop had no effect in the session either.
            self.strategies.remove(&name);
        }
    }

    fn compare_snapshot(&mut self) -> Result<(), RecoveryError> {
        let Some(snapshot) = self.what.snapshot.as_ref().filter(|snapshot| snapshot.sequence == self.sequence) else {
            return Ok(());
        };
        let parts = journal_records::decode_snapshot(&snapshot.state)
            .map_err(|UnreadableRecord(reason)| RecoveryError::Unreadable { sequence: snapshot.sequence, reason })?;
        let is_same_digest = parts.digest.is_none_or(|digest| digest == self.digest);
        self.result.snapshot = Some((snapshot.sequence, is_same_digest && self.engine.is_state(parts.engine)));
        Ok(())
    }

    /// The last commands of a strategy may have been lost in a crash, so missing ones are no difference.
    fn finish(mut self) -> JournalReplayResult {
        self.result.unlogged_runs += self.unlogged.len() as u64;
        self.result.digest = self.digest.finish(&self.engine, self.at, self.sequence);
        self.result
    }
}

#[cfg(test)]
mod tests {
    use domain::Caller;
    use domain::command::{GenericEvent, ReferenceChange};
    use strategy::{Context, Strategy, StrategyIdentity, Timer};

    use super::*;

    const ECHO: StrategyId = StrategyId(7);

    /// The recorded and the repeated command.
    type Difference = (Option<Command>, Option<Command>);

    /// Publishes when each of its timers fired.
    struct Echo;

    impl Strategy for Echo {
        fn start(&mut self, context: &mut Context<'_>) {
            context.set_timer("next", context.now());
        }

        fn on_timer(&mut self, _: &Timer, context: &mut Context<'_>) {
            context.publish("echo", context.now().0.to_string());
            context.set_timer("next", Timestamp(context.now().0 + 1));
        }
    }

    fn sit(id: StrategyId, name: &Text, run: u64, reference: &Arc<ReferenceData>) -> Result<StrategyRunner, String> {
        Ok(StrategyRunner::new(StrategyIdentity { id, name: name.clone(), run }, Box::new(Echo), reference.clone()))
    }

    fn said(at: i64) -> Input {
        let event = GenericEvent { strategy: ECHO, name: "echo".into(), body: at.to_string().into() };
        let caller = Caller::new(Source::Strategy, Some("ECHO".into()));
        Input::Command(Box::new(CommandEnvelope { caller, command: Command::Publish(event) }))
    }

    /// Result of a journal of these records: numbers are times of timer deliveries, in a run that has begun.
    fn lived(records: &[Record]) -> (u64, Option<Difference>) {
        let what = JournalReplay { folder: Path::new(""), up_to: u64::MAX, snapshot: None, runner_factory: Some(&sit) };
        let mut session = ReplaySession::new(&what);
        let echo = domain::StrategyRecord { id: ECHO, name: "ECHO".into(), auto_activate: true };
        let command = Command::Reference(vec![ReferenceChange::Strategy(echo)]);
        session.apply(Input::Command(Box::new(CommandEnvelope { caller: Caller::platform(), command })));
        let begins =
            [StrategyPhase::Init, StrategyPhase::Start].map(|phase| LoggedDelivery::Entered(phase, Timestamp(0)));
        session.deliver(DeliveryRecord { strategy: ECHO, run: 1, deliveries: begins.into() });
        for record in records {
            match record {
                Record::Told(at) => {
                    session.deliver(DeliveryRecord {
                        strategy: ECHO,
                        run: 1,
                        deliveries: vec![LoggedDelivery::Advanced(Timestamp(*at))],
                    });
                }
                Record::TurnedAway => session.deliver(DeliveryRecord::command_rejected(ECHO, 1)),
                Record::Said(at) => session.apply(said(*at)),
            }
        }
        let found = session.finish();
        (found.matching_commands, found.first_difference.map(|differs| (differs.recorded, differs.replayed)))
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
