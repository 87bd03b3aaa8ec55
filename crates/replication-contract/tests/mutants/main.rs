//! Every rule is broken by a log with a mistake, and a log without mistakes breaks none.

mod mistaken_log;
mod mistaken_store;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use mistaken_log::{LogMistake, MistakenLog};
use mistaken_store::{MistakenStore, StoreMistake};
use replication_contract::{FaultQueue, FaultyStore, LogClient, LogLab, MemoryLab, MemoryLog, rules, violations};
use storage::replication::{CandidateId, LoadReply, LogPosition, LogStore, MessageId, ReplicatedLog, StoreReply};

/// A log in memory whose clients make a mistake.
struct MutantLab {
    log: MemoryLog,
    clients: u8,
    mistake: Mistake,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// In the verbs.
    Log(LogMistake),
    /// In the engine, or in what an adapter makes of its answers.
    Store(StoreMistake),
}

impl LogLab for MutantLab {
    fn connect(&mut self) -> LogClient {
        self.clients += 1;
        let (faults, candidate) = (FaultQueue::default(), CandidateId([self.clients; 16]));
        let store = FaultyStore::new(self.log.client(), faults.clone());
        match self.mistake {
            Mistake::Log(mistake) => {
                LogClient::new(MistakenLog::new(SharedStore(Rc::new(RefCell::new(store))), candidate, mistake), faults)
            }
            Mistake::Store(mistake) => {
                LogClient::new(ReplicatedLog::new(MistakenStore::new(store, mistake), candidate), faults)
            }
        }
    }

    fn store_raw(&mut self, entry: &[u8]) {
        self.log.store_raw(entry);
    }

    fn forget_ids(&mut self) -> bool {
        self.log.forget_ids();
        true
    }
}

/// A client of the engine that a handle and its mistake share.
#[derive(Clone)]
struct SharedStore(Rc<RefCell<FaultyStore<replication_contract::MemoryLogClient>>>);

impl LogStore for SharedStore {
    fn store(&mut self, expected: LogPosition, id: &MessageId, entry: &[u8]) -> StoreReply {
        self.0.borrow_mut().store(expected, id, entry)
    }

    fn load(&mut self, position: LogPosition) -> LoadReply {
        self.0.borrow_mut().load(position)
    }

    fn load_copy(&mut self, position: LogPosition) -> Option<Vec<u8>> {
        self.0.borrow_mut().load_copy(position)
    }

    fn discard(&mut self, below: LogPosition) -> Result<(), String> {
        self.0.borrow_mut().discard(below)
    }
}

fn broken_by(mistake: Mistake) -> BTreeSet<&'static str> {
    let lab = || Box::new(MutantLab { log: MemoryLog::default(), clients: 0, mistake }) as Box<dyn LogLab>;
    violations(lab).into_iter().map(|(rule, _)| rule).collect()
}

fn all_mistakes() -> Vec<Mistake> {
    let of_logs = LogMistake::ALL.iter().copied().map(Mistake::Log);
    of_logs.chain(StoreMistake::ALL.iter().copied().map(Mistake::Store)).collect()
}

#[test]
fn a_log_without_mistakes_keeps_every_rule() {
    assert_eq!(violations(|| Box::<MemoryLab>::default()), []);
    assert_eq!(broken_by(Mistake::Log(LogMistake::Sound)), BTreeSet::new());
    assert_eq!(broken_by(Mistake::Store(StoreMistake::Sound)), BTreeSet::new());
}

#[test]
fn every_rule_has_a_name_of_its_own() {
    let names: BTreeSet<_> = rules().iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), rules().len());
    assert!(names.len() >= 40);
}

#[test]
fn every_mistake_breaks_a_rule_and_every_rule_is_broken_by_a_mistake() {
    let mut caught: BTreeMap<&str, Vec<Mistake>> = BTreeMap::new();
    for mistake in all_mistakes() {
        let broken = broken_by(mistake);
        assert!(!broken.is_empty(), "{mistake:?} is not caught");
        broken.into_iter().for_each(|rule| caught.entry(rule).or_default().push(mistake));
    }
    let uncaught: Vec<_> = rules().iter().map(|rule| rule.name).filter(|name| !caught.contains_key(name)).collect();
    assert!(uncaught.is_empty(), "no mistake breaks {uncaught:#?}");
}

/// The four that matter most, by the rule that names them.
#[test]
fn a_pipeline_trust_in_stream_information_and_unchecked_readers_are_caught_by_name() {
    let cases = [
        (Mistake::Log(LogMistake::TwoInFlight), "a stale leader puts nothing behind the record of a new one"),
        (Mistake::Log(LogMistake::TwoInFlight), "nothing else is sent while an outcome is unknown"),
        (Mistake::Store(StoreMistake::TrustsInformation), "an unknown outcome is not decided by the end of the log"),
        (Mistake::Log(LogMistake::NoChainCheck), "a frame of another history is named"),
        (Mistake::Log(LogMistake::NoChainCheck), "entries in another order are named"),
        (Mistake::Log(LogMistake::NoEpochCheck), "a frame of an older epoch behind a newer record is dropped"),
        (Mistake::Log(LogMistake::NoEpochCheck), "a frame of an epoch that no record begins is named"),
        (Mistake::Log(LogMistake::NoEpochCheck), "a leader of an epoch that is over is named"),
    ];
    for (mistake, rule) in cases {
        assert!(broken_by(mistake).contains(rule), "{mistake:?} is not caught by: {rule}");
    }
}
