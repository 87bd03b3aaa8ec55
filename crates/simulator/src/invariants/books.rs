//! What the journal says, read apart from the platform from its first record on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bus::inbox::inbox;
use domain::admin::AdminState;
use domain::report::{Report, ReportKind, SessionState, VenueSnapshot};
use domain::{
    AdapterName, Command, CommandEnvelope, Event, Input, IntId, Order, OrderId, PublishedEvent, Quantity, Timestamp,
    Transaction,
};
use engine::Engine;
use runtime::simulation::RunDigest;
use runtime::{RecoveredState, RecoverySources, recover_further};
use storage::journal::{self, JournalEntry, JournalReader};
use storage::{JournalLedger, SnapshotStore, StorageError};

use crate::machine::Machine;
use crate::releases::ReplayedState;
use crate::users::AdminRecords;

/// The kind of an input in the journal: see docs/journal-format.md.
const INPUT: u8 = 1;
/// The numbers of inputs and reports that checks look at.
const COMMAND: u32 = 0;
const REPORT: u32 = 1;
const ATTACHED: u32 = 0;
const SESSION: u32 = 1;
const SNAPSHOT: u32 = 2;
/// In whose name the FIX port cancels orders of a client that is disconnected.
const CANCEL_ON_DISCONNECT: &str = "cancel on disconnect";

/// The state and the history that follow from the journal alone, without any snapshot.
pub(crate) struct JournalBooks {
    pub(crate) engine: Engine,
    pub(crate) recovered: RecoveredState,
    pub(crate) events: BTreeMap<u64, Vec<Event>>,
    /// When the inputs that caused them were taken in.
    pub(crate) times: BTreeMap<u64, Timestamp>,
    pub(crate) inputs: JournalInputs,
    pub(crate) orders: BTreeMap<OrderId, Arc<Order>>,
    /// Each order as it was when it was accepted.
    pub(crate) accepted: BTreeMap<OrderId, Arc<Order>>,
    /// The most that was ever filled of each order: a bust takes it back.
    pub(crate) most_filled: BTreeMap<OrderId, Quantity>,
    pub(crate) transactions: Vec<Arc<Transaction>>,
    /// Has users, tokens and settings.
    ledger: JournalLedger,
    /// Where the folder began under an earlier release: the state that follows from its snapshot and the rest of the journal.
    by_snapshot: Option<ReplayedState>,
}

impl JournalBooks {
    /// The journal from its first record up to this sequence, which is its last.
    pub(crate) fn read(machine: &Machine, end: u64) -> Result<Self, String> {
        let (engine, recovered) = (Engine::default(), RecoveredState::at_the_beginning());
        let mut books = Self {
            engine,
            recovered,
            events: BTreeMap::new(),
            times: BTreeMap::new(),
            inputs: JournalInputs::default(),
            orders: BTreeMap::new(),
            accepted: BTreeMap::new(),
            most_filled: BTreeMap::new(),
            transactions: vec![],
            ledger: JournalLedger::new(inbox().0),
            by_snapshot: machine.earlier.as_ref().map(|earlier| earlier.by_snapshot()).transpose()?,
        };
        books.read_on(machine, end)?;
        Ok(books)
    }

    /// Goes on behind the last record: what is before it was read, and a journal does not change there.
    pub(crate) fn read_on(&mut self, machine: &Machine, end: u64) -> Result<(), String> {
        let before = self.recovered.last_sequence;
        self.inputs.read_on(machine, before, end)?;
        let (events, times) = (&mut self.events, &mut self.times);
        let mut keep = |sequence: u64, published: &[PublishedEvent]| {
            if let Some(first) = published.first() {
                times.insert(sequence, first.at);
                events.insert(sequence, published.iter().map(|published| published.event.clone()).collect());
            }
        };
        let so_far = (std::mem::take(&mut self.engine), std::mem::take(&mut self.recovered));
        (self.engine, self.recovered) = replay_on(machine, so_far, &self.ledger, end, &mut keep)?;
        if let Some(state) = &mut self.by_snapshot {
            let so_far = (std::mem::take(&mut state.engine), std::mem::take(&mut state.recovered));
            (state.engine, state.recovered) = replay_on(machine, so_far, &state.ledger, end, &mut |_, _| {})?;
        }
        self.fold(before);
        Ok(())
    }

    /// Whether the journal still has the records that were read from it, byte for byte; why they cannot be read, where they cannot.
    pub(crate) fn are_records_unchanged(&self, machine: &Machine) -> Result<bool, String> {
        let now = RecordsHash::read(machine, self.recovered.last_sequence).map_err(|error| machine.text(&error))?;
        Ok(now == self.inputs.records)
    }

    /// The states that a start may find: that of the whole journal, and that of an earlier release's snapshot with what is behind it.
    pub(crate) fn states(&self) -> impl Iterator<Item = (Vec<u8>, &Option<RunDigest>)> {
        let by_snapshot = self.by_snapshot.iter().map(|state| (&state.engine, &state.recovered));
        let all = std::iter::once((&self.engine, &self.recovered)).chain(by_snapshot);
        all.map(|(engine, recovered)| (engine.encode_state(), &recovered.digest))
    }

    pub(crate) fn admin(&self) -> Arc<AdminState> {
        self.ledger.admin()
    }

    fn fold(&mut self, before: u64) {
        for event in self.events.range(before + 1..).flat_map(|(_, events)| events) {
            match event {
                Event::Order(order) => {
                    let most = self.most_filled.entry(order.id).or_default();
                    *most = order.filled.max(*most);
                    self.accepted.entry(order.id).or_insert_with(|| order.clone());
                    self.orders.insert(order.id, order.clone());
                }
                Event::Transaction(transaction) => self.transactions.push(transaction.clone()),
                _ => {}
            }
        }
    }
}

/// Goes on with an engine behind its last record.
fn replay_on(
    machine: &Machine,
    so_far: (Engine, RecoveredState),
    ledger: &JournalLedger,
    end: u64,
    reader: &mut dyn FnMut(u64, &[PublishedEvent]),
) -> Result<(Engine, RecoveredState), String> {
    let snapshots = SnapshotStore::look(&machine.folder, machine.instance);
    let folder = &machine.folder;
    let sources = RecoverySources { folder, last_sequence: end, snapshots: &snapshots, ledger, retired: None };
    recover_further(so_far, &sources, reader).map_err(|error| machine.text(&error))
}

/// Adds the records of administration behind a sequence.
pub(crate) fn read_admin_records(
    machine: &Machine,
    behind: u64,
    end: u64,
    records: &mut AdminRecords,
) -> Result<(), String> {
    let mut add = |(sequence, record)| drop(records.insert(sequence, record));
    storage::ledger::read_admin_records(&machine.folder, behind, end, &mut add).map_err(|error| machine.text(&error))
}

/// The inputs of the journal, as far as checks need them.
#[derive(Default)]
pub(crate) struct JournalInputs {
    /// By their sequence.
    pub(crate) commands: BTreeMap<u64, Command>,
    /// The inputs that say that the line to a venue is not there, with its adapter.
    pub(crate) lines_lost: BTreeMap<u64, AdapterName>,
    /// The inputs in which a venue shows all that it has and can still get.
    pub(crate) snapshots: BTreeMap<u64, ShownOrders>,
    /// Cancels that the platform asked for because a client was disconnected.
    pub(crate) disconnect_cancels: u64,
    /// How often each kind of record was met.
    pub(crate) record_kinds: BTreeMap<u8, u64>,
    /// Over all of them.
    records: RecordsHash,
}

/// What a venue has shown of its orders.
pub(crate) struct ShownOrders {
    pub(crate) adapter: AdapterName,
    pub(crate) orders: BTreeSet<OrderId>,
    /// It shows at least what was there then; none where that is when it was taken in.
    pub(crate) as_of: Option<Timestamp>,
}

/// Equal where all records are equal, byte for byte.
#[derive(Default)]
struct RecordsHash(blake3::Hasher);

impl RecordsHash {
    fn add(&mut self, entry: &JournalEntry<'_>) {
        let (sequence, time, length) = (entry.sequence, entry.time, entry.payload.len() as u64);
        self.0.update(&sequence.to_le_bytes()).update(&time.to_le_bytes()).update(&length.to_le_bytes());
        self.0.update(&[entry.kind]).update(entry.payload);
    }

    /// Of the records up to this sequence as they are on the disk now.
    fn read(machine: &Machine, end: u64) -> Result<Self, StorageError> {
        let mut hash = Self::default();
        let mut visit = |entry: JournalEntry<'_>| -> Result<(), StorageError> {
            hash.add(&entry);
            Ok(())
        };
        JournalReader::open(&machine.folder.join(journal::FOLDER), 1)?.replay_to(end, &mut visit, &mut |_| {})?;
        Ok(hash)
    }
}

impl PartialEq for RecordsHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.finalize() == other.0.finalize()
    }
}

impl JournalInputs {
    fn read_on(&mut self, machine: &Machine, before: u64, end: u64) -> Result<(), String> {
        let mut visit = |entry: JournalEntry<'_>| -> Result<(), StorageError> {
            self.add(&entry);
            Ok(())
        };
        JournalReader::open(&machine.folder.join(journal::FOLDER), before + 1)
            .and_then(|reader| reader.replay_to(end, &mut visit, &mut |_| {}))
            .map_err(|error| machine.text(&error))
    }

    fn add(&mut self, entry: &JournalEntry<'_>) {
        self.records.add(entry);
        *self.record_kinds.entry(entry.kind).or_default() += 1;
        // An input whose beginning cannot be read is decoded, and says what is wrong.
        if entry.kind != INPUT || !is_looked_at(entry.payload).unwrap_or(true) {
            return;
        }
        match minicbor::decode::<Input>(entry.payload) {
            Ok(Input::Command(envelope)) => {
                let CommandEnvelope { caller, command } = *envelope;
                self.disconnect_cancels += u64::from(caller.user.as_deref() == Some(CANCEL_ON_DISCONNECT));
                self.commands.insert(entry.sequence, command);
            }
            Ok(Input::Report(Report {
                adapter,
                kind: ReportKind::Attached(_) | ReportKind::Session(SessionState::Disconnected),
                ..
            })) => drop(self.lines_lost.insert(entry.sequence, adapter)),
            Ok(Input::Report(Report { adapter, kind: ReportKind::Snapshot(snapshot), .. }))
                if is_conclusive(&snapshot) =>
            {
                let orders = snapshot.orders.iter().map(|order| order.order).collect();
                self.snapshots.insert(entry.sequence, ShownOrders { adapter, orders, as_of: snapshot.as_of });
            }
            _ => {}
        }
    }
}

/// Whether a venue shows all that it has, and nothing that was sent before can still come to it.
fn is_conclusive(snapshot: &VenueSnapshot) -> bool {
    let are_requests_over = |as_of| snapshot.dead_after.is_some_and(|dead_after| as_of >= dead_after);
    snapshot.complete && snapshot.as_of.is_none_or(are_requests_over)
}

/// Whether checks look at an input: a command, or what is said of the line to a venue or at a log-on. All others are most of the journal,
/// and are not decoded a second time here.
fn is_looked_at(payload: &[u8]) -> Result<bool, minicbor::decode::Error> {
    let mut decoder = minicbor::Decoder::new(payload);
    decoder.array()?;
    match decoder.u32()? {
        COMMAND => Ok(true),
        REPORT => {
            // The fields of the variant, then those of the report: adapter, time, kind.
            decoder.array()?;
            decoder.array()?;
            decoder.skip()?;
            decoder.skip()?;
            decoder.array()?;
            Ok(matches!(decoder.u32()?, ATTACHED | SESSION | SNAPSHOT))
        }
        _ => Ok(false),
    }
}

/// The id by which a command names its order, where it does.
pub(crate) fn named_order(command: &Command) -> Option<&IntId> {
    match command {
        Command::Place(order) => order.int_id.as_ref(),
        Command::Modify(change) => Some(&change.int_id),
        Command::Cancel(cancel) => Some(&cancel.int_id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(input: &Input) -> bool {
        is_looked_at(&minicbor::to_vec(input).unwrap()).unwrap()
    }

    #[test]
    fn commands_and_what_is_said_of_a_line_are_looked_at_and_nothing_else() {
        let report = |kind| {
            let adapter = AdapterName::new("SIMULATED", Some("ALPHA"));
            Input::Report(Report { adapter, ext_at: Some(Timestamp(7)), kind })
        };
        let cancel = Command::Cancel(domain::command::CancelOrder::new("A-1".parse().unwrap()));
        let command = CommandEnvelope { caller: domain::Caller::platform(), command: cancel };
        assert!(is_read(&Input::Command(Box::new(command))));
        assert!(is_read(&report(ReportKind::Session(SessionState::Disconnected))));
        assert!(is_read(&report(ReportKind::Attached(domain::report::AdapterCapabilities::default()))));
        assert!(is_read(&report(ReportKind::Snapshot(VenueSnapshot::default()))));
        assert!(!is_read(&report(ReportKind::Gap)));
        assert!(!is_read(&Input::Clock));
        assert!(!is_read(&Input::Marks(vec![])));
    }
}
