//! What the runs have reached: transitions of orders, refusals, kinds of journal records, kinds of faults. What was never reached is
//! listed too.

mod order_table;
mod session_counts;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use domain::order::{ExecType, OrdStatus};
use domain::{Event, IntId};

use crate::client::SeededClient;
use crate::error_codes::{UNLISTED_CODE, listed_codes};
use crate::fix_sessions::FixClient;
use crate::invariants::books::JournalBooks;
use crate::lab_venue::LabCounts;
use crate::pace::PacePeaks;
use crate::request_log::RequestOutcome;
use crate::schedule::Fault;
use crate::stomp_sessions::TopicClient;
use crate::users::UserCounts;
use order_table::OrderTable;
use session_counts::{FixCoverage, StompCoverage};

/// Kinds of journal records by number: see docs/journal-format.md.
const RECORD_KINDS: [(u8, &str); 5] =
    [(1, "input"), (2, "reservation"), (3, "ledger record"), (4, "delivery log"), (5, "pulse of a cluster's leader")];
const CHANGES: [ExecType; 16] = [
    ExecType::PendingNew,
    ExecType::New,
    ExecType::Rejected,
    ExecType::PartialFill,
    ExecType::Fill,
    ExecType::PendingCancel,
    ExecType::CancelRejected,
    ExecType::Canceled,
    ExecType::Expired,
    ExecType::PendingReplace,
    ExecType::ReplaceRejected,
    ExecType::Replaced,
    ExecType::TradeCancel,
    ExecType::TradeCorrect,
    ExecType::InDoubt,
    ExecType::DoubtResolved,
];

#[derive(Debug, Clone, Default)]
pub struct Coverage {
    faults: BTreeMap<&'static str, u64>,
    /// From a status by a change to a status.
    transitions: BTreeMap<(String, String, String), u64>,
    changes: BTreeSet<ExecType>,
    order_table: OrderTable,
    refusals: BTreeMap<&'static str, u64>,
    records: BTreeMap<u8, u64>,
    starts: u64,
    torn_ends: u64,
    orders: u64,
    fills: u64,
    unknown: u64,
    /// Orders that were accepted over HTTP.
    http_orders: u64,
    /// Reads over HTTP, and those that were compared with the journal.
    http_reads: [u64; 2],
    /// Orders that were cancelled because their FIX client was disconnected.
    disconnect_cancels: u64,
    fix: FixCoverage,
    stomp: StompCoverage,
    /// Runs of the strategy, its orders, and what it was told.
    strategy: [u64; 3],
    users: UserCounts,
    samples: u64,
    legs: u64,
    lab: LabCounts,
    pace: PacePeaks,
    /// Orders that went to their venue once more, because it certainly did not have them.
    sent_again: u64,
    statuses: BTreeMap<IntId, OrdStatus>,
}

impl Coverage {
    pub(crate) fn fault(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }

    pub(crate) fn start(&mut self, torn: bool) {
        self.starts += 1;
        self.torn_ends += u64::from(torn);
    }

    pub(crate) fn event(&mut self, event: &Event) {
        let Event::OrderStatus(status) = event else { return };
        let before = self.statuses.insert(status.int_id.clone(), status.status);
        let from = before.map_or("(none)", OrdStatus::name);
        let key = (from.to_owned(), format!("{:?}", status.exec_type), status.status.name().to_owned());
        *self.transitions.entry(key).or_default() += 1;
        self.changes.insert(status.exec_type);
    }

    pub(crate) fn books(&mut self, books: &JournalBooks) {
        for (kind, count) in &books.inputs.record_kinds {
            *self.records.entry(*kind).or_default() += count;
        }
        self.order_table.add_journal(books.events.values().flatten());
        self.refusals(&session_refusals(books));
        self.disconnect_cancels += books.inputs.disconnect_cancels;
        self.orders += books.orders.len() as u64;
        self.fills += books.transactions.len() as u64;
    }

    pub(crate) fn clients(&mut self, clients: &[SeededClient]) {
        for entry in clients.iter().flat_map(|client| &client.log) {
            match &entry.outcome {
                RequestOutcome::Refused { code, .. } | RequestOutcome::Declined { code } => {
                    *self.refusals.entry(code).or_default() += 1;
                }
                RequestOutcome::Unknown => self.unknown += 1,
                RequestOutcome::SaidUnknown { code } => {
                    self.unknown += 1;
                    *self.refusals.entry(code).or_default() += 1;
                }
                // Over HTTP an order is told by its id, not by its number.
                RequestOutcome::Accepted { order: None, .. } if entry.placed().is_some() => self.http_orders += 1,
                RequestOutcome::Waiting | RequestOutcome::Accepted { .. } | RequestOutcome::NotSent => {}
            }
        }
    }

    pub(crate) fn fix_clients(&mut self, clients: &[FixClient]) {
        clients.iter().for_each(|client| self.fix.add_client(client));
    }

    pub(crate) fn stomp_clients(&mut self, clients: &[TopicClient]) {
        clients.iter().for_each(|client| self.stomp.add_client(client));
    }

    pub(crate) fn strategy(&mut self, counts: [u64; 3], refusals: &BTreeMap<String, u64>) {
        self.strategy = counts;
        self.refusals(refusals);
    }

    pub(crate) fn users(&mut self, counts: UserCounts, refusals: &BTreeMap<String, u64>) {
        self.users = counts;
        self.refusals(refusals);
    }

    fn refusals(&mut self, refusals: &BTreeMap<String, u64>) {
        let codes = listed_codes();
        for (code, count) in refusals {
            let code = codes.get(code.as_str()).copied().unwrap_or(UNLISTED_CODE);
            *self.refusals.entry(code).or_default() += count;
        }
    }

    pub(crate) fn http_reads(&mut self, counts: [u64; 2], refusals: &BTreeMap<String, u64>) {
        self.http_reads = counts;
        self.refusals(refusals);
    }

    pub(crate) fn values(&mut self, samples: u64, legs: usize) {
        self.samples += samples;
        self.legs += legs as u64;
    }

    pub(crate) fn lab(&mut self, counts: LabCounts) {
        self.lab.add(&counts);
    }

    pub(crate) fn pace(&mut self, peaks: &PacePeaks) {
        self.pace.raise_to(peaks);
    }

    pub(crate) fn sent_again(&mut self, count: usize) {
        self.sent_again += count as u64;
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        add_counts(&mut self.faults, &other.faults);
        add_counts(&mut self.transitions, &other.transitions);
        add_counts(&mut self.refusals, &other.refusals);
        add_counts(&mut self.records, &other.records);
        self.changes.extend(&other.changes);
        self.order_table.add(&other.order_table);
        self.starts += other.starts;
        self.torn_ends += other.torn_ends;
        self.orders += other.orders;
        self.fills += other.fills;
        self.unknown += other.unknown;
        self.http_orders += other.http_orders;
        self.http_reads.iter_mut().zip(other.http_reads).for_each(|(sum, count)| *sum += count);
        self.disconnect_cancels += other.disconnect_cancels;
        self.users.add(&other.users);
        self.samples += other.samples;
        self.legs += other.legs;
        self.lab.add(&other.lab);
        self.pace.raise_to(&other.pace);
        self.sent_again += other.sent_again;
        self.fix.add(&other.fix);
        self.stomp.add(&other.stomp);
        self.strategy.iter_mut().zip(other.strategy).for_each(|(sum, count)| *sum += count);
    }

    /// Trades at the lab.
    pub fn lab_trades(&self) -> u64 {
        self.lab.trades
    }

    /// Orders that were accepted over HTTP.
    pub fn http_orders(&self) -> u64 {
        self.http_orders
    }

    /// Reads over HTTP that were compared with the journal.
    pub fn http_reads_compared(&self) -> u64 {
        self.http_reads[1]
    }

    /// Requests with credentials that were let in, and that were denied.
    pub fn log_ins(&self) -> [u64; 2] {
        let [_, let_in, denied] = self.users.attempts;
        [let_in, denied]
    }

    /// Whether an order has changed so.
    pub fn has_change(&self, change: ExecType) -> bool {
        self.changes.contains(&change)
    }

    /// How often a fault of the lab's catalogue met a request or a report, by the lab's name of it.
    pub fn lab_faults_struck(&self, name: &str) -> u64 {
        self.lab.struck.get(name).copied().unwrap_or(0)
    }

    /// Orders that were cancelled because their FIX client was disconnected.
    pub fn disconnect_cancels(&self) -> u64 {
        self.disconnect_cancels
    }

    /// Orders that were sent once more, because they certainly had not arrived.
    pub fn orders_sent_again(&self) -> u64 {
        self.sent_again
    }

    /// The codes of everything that was refused.
    pub fn refusal_codes(&self) -> impl Iterator<Item = &'static str> {
        self.refusals.keys().copied()
    }

    /// How often a fault of this kind was injected; of one that waits for an operation of the disk, how often it struck.
    pub fn faults_of_kind(&self, kind: &str) -> u64 {
        self.faults.get(kind).copied().unwrap_or(0)
    }

    /// How often faults of all kinds were injected.
    pub fn faults_injected(&self) -> u64 {
        self.faults.values().sum()
    }
}

/// What FIX clients were refused is in the journal; other clients tell it by themselves.
fn session_refusals(books: &JournalBooks) -> BTreeMap<String, u64> {
    let mut codes = BTreeMap::new();
    for event in books.events.values().flatten() {
        if let Event::Refused(refused) = event {
            *codes.entry(refused.code.to_string()).or_default() += 1;
        }
    }
    codes
}

fn add_counts<K: Ord + Clone>(sum: &mut BTreeMap<K, u64>, other: &BTreeMap<K, u64>) {
    for (key, count) in other {
        *sum.entry(key.clone()).or_default() += count;
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "starts          {} ({} after a torn write)", self.starts, self.torn_ends)?;
        writeln!(f, "orders          {}, bookings {}", self.orders, self.fills)?;
        writeln!(f, "value samples   {}", self.samples)?;
        writeln!(f, "further legs    {} placed by venues for a replace", self.legs)?;
        writeln!(f, "sent again      {} orders that had not arrived", self.sent_again)?;
        let [asked, compared] = self.http_reads;
        writeln!(f, "over HTTP       {} orders, {asked} reads, {compared} of them compared", self.http_orders)?;
        writeln!(f, "disconnects     {} cancels of FIX orders whose client was away", self.disconnect_cancels)?;
        writeln!(f, "unknown ends    {} requests without an answer", self.unknown)?;
        writeln!(f, "\nfaults")?;
        for kind in Fault::KINDS {
            writeln!(f, "{:>9}  {kind}", self.faults.get(kind).copied().unwrap_or(0))?;
        }
        writeln!(f, "\ntransitions of orders")?;
        for ((from, change, to), count) in &self.transitions {
            writeln!(f, "{count:>9}  {from} - {change} -> {to}")?;
        }
        writeln!(f, "\nrefusals")?;
        for (code, count) in &self.refusals {
            writeln!(f, "{count:>9}  {code}")?;
        }
        writeln!(f, "\njournal records")?;
        for (kind, name) in RECORD_KINDS {
            writeln!(f, "{:>9}  {name}", self.records.get(&kind).copied().unwrap_or(0))?;
        }
        writeln!(f, "\nFIX sessions\n{}", self.fix)?;
        writeln!(f, "STOMP sessions\n{}", self.stomp)?;
        writeln!(f, "the lab behind the FIX adapter\n{}", self.lab)?;
        let [runs, orders, told] = self.strategy;
        writeln!(f, "the strategy\n{runs:>9}  runs\n{orders:>9}  orders\n{told:>9}  events of orders and bookings\n")?;
        writeln!(f, "users, tokens, settings\n{}", self.users)?;
        let PacePeaks { turns, steps, instructions } = self.pace;
        writeln!(f, "the most in one simulated second\n{turns:>9}  turns of the loop\n{steps:>9}  steps of all parts")?;
        writeln!(f, "{instructions:>9}  instructions about one order\n")?;
        let faults = Fault::KINDS.into_iter().filter(|kind| !self.faults.contains_key(kind));
        writeln!(f, "kinds of faults never reached\n  {}\n", faults.collect::<Vec<_>>().join(", "))?;
        let records = RECORD_KINDS.into_iter().filter(|(kind, _)| !self.records.contains_key(kind));
        let records: Vec<_> = records.map(|(_, name)| name).collect();
        writeln!(f, "kinds of journal records never reached\n  {}\n", records.join(", "))?;
        let changes = CHANGES.iter().filter(|change| !self.changes.contains(change));
        writeln!(f, "changes of orders never reached\n  {:?}", changes.collect::<Vec<_>>())?;
        writeln!(f, "\nrows of docs/order-states.md never reached\n{}", self.order_table)?;
        let codes = listed_codes().into_iter().filter(|code| !self.refusals.contains_key(code));
        writeln!(f, "codes of docs/errors.md never reached\n  {}", codes.collect::<Vec<_>>().join(", "))
    }
}
