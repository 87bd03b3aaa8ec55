//! What a server left on disk: its journal, replayed here from the first record by the engine alone, and the ledgers that
//! its venues keep for themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use domain::command::Command;
use domain::query::{Answer, Filter};
use domain::report::ReportKind;
use domain::{
    AccountId, Event, Fill, Input, Order, OrderId, Position, Quantity, Query, SecurityId, Sequenced, Side, Source,
    Text, Timestamp, Transaction,
};
use engine::{Engine, Outbox};
use storage::append_log::AppendLog;
use storage::journal::{self, JournalEntry, JournalReader};
use storage::lock::DataDirLock;
use storage::snapshot::{self, SnapshotStore};
use venue_sim::record::SubmittedOrder;
use venue_sim::{ClientOrder, VenueRecord};

/// The kind of a journal record that holds an input.
const INPUT: u8 = 1;

/// A report of a venue as the journal has it.
pub(crate) struct JournalledReport {
    pub(crate) sequence: u64,
    /// When the server had it, by its own clock.
    pub(crate) at: Timestamp,
    pub(crate) kind: ReportKind,
}

/// All reports of an adapter, from a folder where no server runs.
pub(crate) fn reports_of(adapter: &str, data: &Path) -> Vec<JournalledReport> {
    let mut reader = JournalReader::open(&data.join(journal::FOLDER), 1).unwrap();
    let mut reports = Vec::new();
    while let Some(entry) = reader.read_to(u64::MAX).unwrap() {
        if entry.kind != INPUT {
            continue;
        }
        if let Input::Report(report) = minicbor::decode(entry.payload).unwrap()
            && &*report.adapter.0 == adapter
        {
            let (sequence, at) = (entry.sequence, Timestamp(entry.time));
            reports.push(JournalledReport { sequence, at, kind: report.kind });
        }
    }
    reports
}

/// The journal as far as it was read, and the state that follows from it.
#[derive(Default)]
pub(crate) struct JournalEvidence {
    engine: Engine,
    last_sequence: u64,
    last_at: Timestamp,
    /// Orders as they were taken, by their number.
    pub(crate) placed: BTreeMap<OrderId, Arc<Order>>,
    /// The sequence at which each was taken.
    pub(crate) placed_at: BTreeMap<OrderId, u64>,
    /// Numbers of the orders that carry a client's note.
    pub(crate) noted: BTreeMap<Text, Vec<OrderId>>,
    /// Ids that were given to clients or orders, each once.
    pub(crate) minted: BTreeSet<Text>,
    /// Executions by the venue's id.
    pub(crate) fills: BTreeMap<Text, Arc<Fill>>,
    pub(crate) transactions: Vec<Arc<Transaction>>,
    /// Our numbers of the orders that somebody else placed, each adopted once.
    pub(crate) external: BTreeMap<ExternalId, OrderId>,
    /// How often the end was torn.
    pub(crate) torn_ends: usize,
}

impl JournalEvidence {
    pub(crate) fn read(data: &Path) -> Self {
        let mut journal = Self::default();
        journal.read_on(data);
        journal
    }

    /// Reads what was added since, from a folder where no server runs.
    pub(crate) fn read_on(&mut self, data: &Path) {
        let folder = data.join(journal::FOLDER);
        let report = journal::verify(&folder, &mut |_| {}).unwrap();
        assert_eq!(report.damage, None);
        self.torn_ends += usize::from(report.good.torn.is_some());
        let mut reader = JournalReader::open(&folder, self.last_sequence + 1).unwrap();
        while let Some(entry) = reader.read_to(u64::MAX).unwrap() {
            self.take(&entry);
        }
        assert_eq!(self.last_sequence, report.good.last_sequence);
    }

    fn take(&mut self, entry: &JournalEntry<'_>) {
        (self.last_sequence, self.last_at) = (entry.sequence, Timestamp(entry.time));
        if entry.kind != INPUT {
            return;
        }
        let what: Input = minicbor::decode(entry.payload).unwrap();
        let input = Sequenced { sequence: entry.sequence, at: self.last_at, payload: what };
        let mut out = Outbox::default();
        let reply = self.engine.apply(&input, &mut out);
        if let (Input::Command(envelope), Ok(answer)) = (&input.payload, reply) {
            self.note_answer(&envelope.command, answer);
        }
        out.events.into_iter().for_each(|event| self.note_event(event));
    }

    fn note_answer(&mut self, command: &Command, answer: Answer) {
        match (command, answer) {
            (Command::Place(ask), Answer::Order(order)) => {
                if ask.int_id.is_none() {
                    self.note_minted(order.int_id.as_str());
                }
                if let Some(note) = &order.reference {
                    self.noted.entry(note.clone()).or_default().push(order.id);
                }
                self.placed_at.insert(order.id, self.last_sequence);
                let before = self.placed.insert(order.id, order);
                assert_eq!(before, None, "an order's number was given twice");
            }
            (Command::NextOrderId(_), Answer::OrderId(id)) => self.note_minted(id.as_str()),
            _ => {}
        }
    }

    fn note_minted(&mut self, id: &str) {
        assert!(self.minted.insert(id.into()), "{id} was minted twice");
    }

    fn note_event(&mut self, event: Event) {
        match event {
            Event::Fill(fill) => {
                let before = self.fills.insert(fill.ext_id.clone(), fill);
                assert_eq!(before, None, "an execution was booked twice");
            }
            Event::Transaction(transaction) => self.transactions.push(transaction),
            Event::Order(order) if order.source == Source::External => self.note_external(&order),
            _ => {}
        }
    }

    fn note_external(&mut self, order: &Order) {
        let id = (order.adapter.0.clone(), order.ext_id.clone().expect("it has the venue's id"));
        let known = *self.external.entry(id.clone()).or_insert(order.id);
        assert_eq!(known, order.id, "{id:?} was adopted twice");
    }

    /// Orders that the state knows by this id.
    pub(crate) fn order(&self, int_id: &str) -> Vec<Arc<Order>> {
        match self.ask(&Query::Order(int_id.into())) {
            Ok(Answer::Orders(orders)) => orders,
            _ => vec![],
        }
    }

    pub(crate) fn positions(&self) -> Vec<Position> {
        match self.ask(&Query::Positions(Filter::default())) {
            Ok(Answer::Positions(positions)) => positions,
            other => panic!("positions: {other:?}"),
        }
    }

    /// Cash by account and currency, as the state has it.
    pub(crate) fn cash(&self) -> BTreeMap<(AccountId, String), domain::Decimal> {
        let Ok(Answer::Balances(balances)) = self.ask(&Query::Balances(Filter::default())) else { panic!("balances") };
        let mut cash = BTreeMap::new();
        for balance in balances {
            *cash.entry((balance.account, balance.currency.to_string())).or_default() += balance.amount.0;
        }
        cash
    }

    fn ask(&self, query: &Query) -> domain::query::EngineResult {
        self.engine.answer(self.last_at, self.last_sequence, query)
    }

    /// Of the whole state: equal states have equal digests.
    pub(crate) fn digest(&self) -> [u8; 32] {
        snapshot::digest(&self.engine.encode_state())
    }
}

/// An order that somebody else placed: the adapter of its venue, and the venue's id.
pub(crate) type ExternalId = (Text, Text);

/// Orders that somebody else placed have numbers from here on at a venue.
const EXTERNAL_FROM: u64 = 1 << 62;
/// And so many between those of two venues here.
const EXTERNAL_OF_VENUE: u64 = 1 << 50;

/// What the venues wrote down: each order that reached one, each execution.
#[derive(Default)]
pub(crate) struct VenueLedgers {
    pub(crate) submitted: BTreeMap<OrderId, SubmittedOrder>,
    pub(crate) executions: BTreeMap<Text, LedgerExecution>,
    /// The venues' numbers of accepted orders that somebody else placed.
    pub(crate) external: BTreeMap<ExternalId, OrderId>,
    pub(crate) torn_ends: usize,
    venues: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LedgerExecution {
    pub(crate) order: OrderId,
    pub(crate) quantity: Quantity,
    pub(crate) price: domain::Price,
}

impl VenueLedgers {
    /// Of all venues of a data folder. They are read from copies, because reading cuts a torn end.
    pub(crate) fn read(data: &Path) -> Self {
        let copies = tempfile::tempdir().unwrap();
        let mut ledgers = Self::default();
        for entry in fs::read_dir(data.join("venues")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "ledger") {
                let copy = copies.path().join(path.file_name().unwrap());
                fs::copy(&path, &copy).unwrap();
                ledgers.take(&copy);
            }
        }
        ledgers
    }

    fn take(&mut self, ledger: &Path) {
        self.venues.push(ledger.file_stem().unwrap().to_str().unwrap().into());
        let mut note = |payload: &[u8]| {
            VenueRecord::decode_batch(payload)?.into_iter().for_each(|record| self.note(record));
            Ok(())
        };
        let (replayed, _) = AppendLog::open(ledger, &mut note).unwrap();
        self.torn_ends += usize::from(replayed.torn.is_some());
    }

    fn note(&mut self, record: VenueRecord) {
        match record {
            VenueRecord::Submitted(submission) => {
                let before = self.submitted.insert(self.number(submission.order), submission);
                assert_eq!(before, None, "a venue got an order twice");
            }
            VenueRecord::Accepted { order, ext_id, .. } => self.note_external(order, &ext_id),
            VenueRecord::Traded(deal) => {
                for side in deal.executions {
                    let (quantity, price) = (deal.quantity, deal.price);
                    let execution = LedgerExecution { order: self.number(side.order), quantity, price };
                    let before = self.executions.insert(side.exec_id, execution);
                    assert_eq!(before, None, "a venue gave an execution's id twice");
                }
            }
            VenueRecord::Kept(held) => self.note_kept(&held),
            _ => {}
        }
    }

    /// An order of a compacted ledger.
    fn note_kept(&mut self, held: &ClientOrder) {
        let order = held.submission().order;
        self.submitted.insert(self.number(order), held.submission().clone());
        held.ext_id().into_iter().for_each(|ext_id| self.note_external(order, ext_id));
        for fill in held.fills() {
            let order = self.number(fill.order);
            let execution = LedgerExecution { order, quantity: fill.quantity, price: fill.price };
            self.executions.insert(fill.exec_id.clone(), execution);
        }
    }

    fn note_external(&mut self, order: OrderId, ext_id: &Text) {
        if order.0 >= EXTERNAL_FROM {
            let venue = self.venues.last().expect("a ledger is read").clone();
            self.external.insert((venue, ext_id.clone()), self.number(order));
        }
    }

    /// Clients number their orders for all venues, and each venue those of somebody else for itself.
    fn number(&self, order: OrderId) -> OrderId {
        let is_external = order.0 >= EXTERNAL_FROM;
        OrderId(order.0 + if is_external { self.venues.len() as u64 * EXTERNAL_OF_VENUE } else { 0 })
    }

    /// The orders that clients of ours sent.
    pub(crate) fn own(&self) -> impl Iterator<Item = &OrderId> {
        self.submitted.keys().filter(|order| order.0 < EXTERNAL_FROM)
    }

    /// The positions that follow from the executions alone; those of nought are left out.
    pub(crate) fn positions(&self) -> BTreeMap<(AccountId, SecurityId), Quantity> {
        let mut positions: BTreeMap<_, Quantity> = BTreeMap::new();
        for execution in self.executions.values() {
            let submission = &self.submitted[&execution.order];
            let position = positions.entry((submission.account, submission.security)).or_insert(Quantity::ZERO);
            *position = match submission.side {
                Side::Buy => position.plus(execution.quantity),
                Side::Sell => position.minus(execution.quantity),
            }
            .unwrap();
        }
        positions.retain(|_, quantity| !quantity.is_zero());
        positions
    }
}

/// Of the engine's state in the newest snapshot, which an orderly stop wrote.
pub(crate) fn digest_in_snapshot(data: &Path) -> [u8; 32] {
    let lock = DataDirLock::acquire(data).unwrap();
    let instance = journal::instance_of(&data.join(journal::FOLDER)).unwrap().unwrap();
    let snapshots = SnapshotStore::open(&lock, instance).unwrap();
    let newest = snapshots.latest_valid(None).unwrap().expect("an orderly stop leaves a snapshot");
    let mut decoder = minicbor::Decoder::new(&newest.state);
    decoder.array().unwrap();
    snapshot::digest(decoder.bytes().unwrap())
}
