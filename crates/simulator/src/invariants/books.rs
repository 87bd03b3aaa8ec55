//! What the files say, read apart from the platform: the journal from its first record on, and the venue's ledger.

use std::collections::BTreeMap;
use std::sync::Arc;

use bus::inbox::inbox;
use domain::report::{Report, ReportKind, SessionState, VenueFill, VenueOrderState};
use domain::{AdapterName, Command, Event, Input, IntId, Order, OrderId, Text, Timestamp, Transaction};
use engine::Engine;
use runtime::{RecoveredState, recover};
use storage::append_log::AppendLog;
use storage::journal::{self, JournalEntry, JournalReader};
use storage::{JournalLedger, SnapshotStore, StorageError};
use venue_sim::{ClientOrder, VenueRecord};

use crate::market::VENUES;
use crate::platform::{INSTANCE, Machine};

/// The kind of an input in the journal: see docs/journal-format.md.
const INPUT: u8 = 1;

/// The state and the history that follow from the journal alone, without any snapshot.
pub(crate) struct JournalBooks {
    pub(crate) engine: Engine,
    pub(crate) recovered: RecoveredState,
    pub(crate) events: BTreeMap<u64, Vec<Event>>,
    /// When the inputs that caused them were taken in.
    pub(crate) times: BTreeMap<u64, Timestamp>,
    /// Commands by their sequence.
    pub(crate) commands: BTreeMap<u64, Command>,
    /// The inputs that say that the line to a venue is not there, with its adapter.
    pub(crate) lines_lost: BTreeMap<u64, AdapterName>,
    /// How often each kind of record was met.
    pub(crate) record_kinds: BTreeMap<u8, u64>,
    pub(crate) orders: BTreeMap<OrderId, Arc<Order>>,
    pub(crate) transactions: Vec<Arc<Transaction>>,
}

impl JournalBooks {
    /// The journal up to this sequence, which is its last.
    pub(crate) fn read(machine: &Machine, end: u64) -> Result<Self, String> {
        let snapshots = SnapshotStore::look(&machine.folder, INSTANCE);
        let ledger = JournalLedger::new(inbox().0);
        let (mut events, mut times) = (BTreeMap::new(), BTreeMap::new());
        let mut keep = |sequence: u64, published: &[domain::PublishedEvent]| {
            let of_input: Vec<Event> = published.iter().map(|published| published.event.clone()).collect();
            if let Some(first) = published.first() {
                times.insert(sequence, first.at);
                events.insert(sequence, of_input);
            }
        };
        // A reader that has nothing yet makes recovery begin at the beginning.
        let (engine, recovered) = recover(&machine.folder, end, &snapshots, &ledger, 0, &mut keep, &mut |_| {})
            .map_err(|error| machine.text(&error))?;
        let JournalInputs { commands, lines_lost, record_kinds } = JournalInputs::read(machine)?;
        let (orders, transactions) = (BTreeMap::new(), vec![]);
        let mut books =
            Self { engine, recovered, events, times, commands, lines_lost, record_kinds, orders, transactions };
        books.fold();
        Ok(books)
    }

    fn fold(&mut self) {
        for event in self.events.values().flatten() {
            match event {
                Event::Order(order) => drop(self.orders.insert(order.id, order.clone())),
                Event::Transaction(transaction) => self.transactions.push(transaction.clone()),
                _ => {}
            }
        }
    }
}

/// The inputs of the journal, as far as checks need them.
#[derive(Default)]
struct JournalInputs {
    commands: BTreeMap<u64, Command>,
    lines_lost: BTreeMap<u64, AdapterName>,
    record_kinds: BTreeMap<u8, u64>,
}

impl JournalInputs {
    fn read(machine: &Machine) -> Result<Self, String> {
        let mut inputs = Self::default();
        let mut visit = |entry: JournalEntry<'_>| -> Result<(), StorageError> {
            inputs.add(&entry);
            Ok(())
        };
        JournalReader::open(&machine.folder.join(journal::FOLDER), 0)
            .and_then(|reader| reader.replay(&mut visit, &mut |_| {}))
            .map_err(|error| machine.text(&error))?;
        Ok(inputs)
    }

    fn add(&mut self, entry: &JournalEntry<'_>) {
        *self.record_kinds.entry(entry.kind).or_default() += 1;
        if entry.kind != INPUT {
            return;
        }
        match minicbor::decode::<Input>(entry.payload) {
            Ok(Input::Command(envelope)) => drop(self.commands.insert(entry.sequence, envelope.command)),
            Ok(Input::Report(Report {
                adapter,
                kind: ReportKind::Attached(_) | ReportKind::Session(SessionState::Disconnected),
                ..
            })) => drop(self.lines_lost.insert(entry.sequence, adapter)),
            _ => {}
        }
    }
}

/// What the venues have done, by their own ledgers.
#[derive(Default)]
pub(crate) struct VenueBooks {
    /// The one that is being read.
    venue: usize,
    /// How often each order reached each venue.
    pub(crate) submitted: BTreeMap<(OrderId, usize), u64>,
    /// By venue and id: venues give the same ids.
    pub(crate) executions: BTreeMap<(usize, Text), VenueFill>,
    pub(crate) repeated_executions: Vec<Text>,
    pub(crate) ended: BTreeMap<OrderId, &'static str>,
}

impl VenueBooks {
    pub(crate) fn read(machine: &Machine) -> Result<Self, String> {
        let mut books = Self::default();
        for venue in 0..VENUES.len() {
            books.venue = venue;
            let path = machine.ledger(venue);
            let mut visit = |payload: &[u8]| {
                VenueRecord::decode_batch(payload)?.into_iter().for_each(|record| books.apply(record));
                Ok(())
            };
            if path.exists() {
                AppendLog::read(&path, &mut visit).map_err(|error| machine.text(&error))?;
            }
        }
        Ok(books)
    }

    fn apply(&mut self, record: VenueRecord) {
        match record {
            VenueRecord::Submitted(submission) => {
                *self.submitted.entry((submission.order, self.venue)).or_default() += 1;
            }
            VenueRecord::Traded(trade) => {
                for execution in trade.executions {
                    let fill = VenueFill {
                        order: execution.order,
                        exec_id: execution.exec_id.clone(),
                        quantity: trade.quantity,
                        price: trade.price,
                        at: Some(trade.at),
                        fee: execution.fee,
                        charges: vec![],
                        ext_order: None,
                        liquidity: None,
                    };
                    if self.executions.insert((self.venue, execution.exec_id.clone()), fill).is_some() {
                        self.repeated_executions.push(execution.exec_id);
                    }
                }
            }
            VenueRecord::Rejected { order, .. } => drop(self.ended.insert(order, "rejected")),
            VenueRecord::Canceled { order, .. } => drop(self.ended.insert(order, "canceled")),
            VenueRecord::Expired { order, .. } => drop(self.ended.insert(order, "expired")),
            VenueRecord::Kept(held) => self.apply_kept(&held),
            VenueRecord::Accepted { .. }
            | VenueRecord::Replaced { .. }
            | VenueRecord::Activated { .. }
            | VenueRecord::Opened { .. }
            | VenueRecord::Accounts(_)
            | VenueRecord::Compacted(_) => {}
        }
    }
}

impl VenueBooks {
    /// An order of a compacted ledger; so few orders are traded here that the venue keeps them all.
    fn apply_kept(&mut self, held: &ClientOrder) {
        let order = held.submission().order;
        *self.submitted.entry((order, self.venue)).or_default() += 1;
        let venue = self.venue;
        self.executions.extend(held.fills().map(|fill| ((venue, fill.exec_id.clone()), fill.clone())));
        let ended = match held.final_state().0 {
            VenueOrderState::Live => return,
            VenueOrderState::Rejected => "rejected",
            VenueOrderState::Canceled => "canceled",
            VenueOrderState::Expired => "expired",
        };
        self.ended.insert(order, ended);
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
