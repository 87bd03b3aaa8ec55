//! The end of a series: what clients were told, the members' journals, the epochs of the log and the venue's ledger agree.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use domain::{OrderId, WireId};
use replication_nats::{JetStreamSettings, JetStreamStore};
use scenarios::http::HttpClient;
use scenarios::nats::NatsServers;
use serde_json::Value;
use storage::replication::{LoadReply, LogEntry, LogPayload, LogPosition, LogStore};

use super::fix_load::{FixLoad, FixLog};
use super::rest_load::{RestLoad, RestLog};
use super::{LOG, MEMBERS, RECOVERY, Series, wait_long};
use crate::evidence::JournalEvidence;
use crate::test_platform::TraderClient;

/// The first sequence of each epoch, read from the log while it is there.
pub(crate) struct EpochLog {
    settings: JetStreamSettings,
    next: LogPosition,
    begins: BTreeMap<u64, u64>,
    epoch: u64,
}

impl EpochLog {
    pub(crate) fn new(nats: &NatsServers) -> Self {
        let settings = JetStreamSettings::new(nats.servers(), nats.monitors(), LOG);
        Self { settings, next: LogPosition(1), begins: BTreeMap::new(), epoch: 0 }
    }

    pub(crate) fn read_on(&mut self) {
        let mut store = JetStreamStore::open(self.settings.clone()).unwrap();
        loop {
            match store.load(self.next) {
                LoadReply::Entry(bytes) => self.note(&LogEntry::decode(&bytes).unwrap()),
                LoadReply::End => return,
                other => panic!("entry {} can't be read: {other:?}", self.next),
            }
            self.next = LogPosition(self.next.0 + 1);
        }
    }

    fn note(&mut self, entry: &LogEntry) {
        match &entry.payload {
            LogPayload::EpochRecord { .. } => {
                assert!(entry.epoch.0 > self.epoch, "an epoch began twice: {}", entry.epoch);
                self.epoch = entry.epoch.0;
            }
            // Of an old epoch: it does not count.
            LogPayload::Frame(_) if entry.epoch.0 < self.epoch => {}
            LogPayload::Mark { .. } => {}
            LogPayload::Frame(frame) => {
                let first = frame.records().next().expect("a frame has records").sequence;
                self.begins.entry(self.epoch).or_insert(first);
            }
        }
    }

    fn of_sequence(&self, sequence: u64) -> u64 {
        let begun = self.begins.iter().rev().find(|(_, first)| **first <= sequence);
        *begun.expect("every sequence is of an epoch").0
    }
}

pub(crate) fn finish(mut series: Series, rest: RestLoad, fix: FixLoad) {
    let (rest, fix) = (rest.end(), fix.end());
    let leader = series.wait_for_leader();
    let mut client = series.client(leader);
    // On a busy machine the venue answers inquiries too late for their own time window, and they are made again.
    wait_until_settled(&mut client);
    series.cluster.lab.expect_equal_books(&mut client);
    let session = client.get_json("/rest/fix/sessions")[0].clone();
    expect_equal_journals(&series);
    series.epochs.read_on();
    let follower = MEMBERS.into_iter().find(|member| *member != leader).expect("there are three");
    series.members.remove(follower).expect("it runs").stop();
    let journal = JournalEvidence::read(&series.cluster.data(follower));
    expect_known_once(&journal, &rest, &fix);
    let at_venue = expect_epochs_in_order(&series, &journal);
    // The client's Logout was answered with a number too.
    assert_eq!(session["nextOut"], fix.next_number, "no number is missing: {session}");
    report(&series, (&rest, &fix), at_venue);
    expect_documented_refusals(&fix);
}

/// Where one stays in doubt, the failure shows it.
fn wait_until_settled(client: &mut HttpClient) {
    let begun = Instant::now();
    loop {
        let orders = client.get_json("/rest/execution/order");
        let open: Vec<_> = orders.as_array().unwrap().iter().filter(|order| !is_settled(order)).collect();
        if open.is_empty() {
            return;
        }
        assert!(begun.elapsed() < RECOVERY, "{} orders are not settled, the first {:#}", open.len(), open[0]);
        thread::sleep(Duration::from_millis(100));
    }
}

fn is_settled(order: &Value) -> bool {
    order["status"] == "SUBMITTED" && order["inDoubt"] == false
}

fn expect_equal_journals(series: &Series) {
    let [first, second, third] = MEMBERS.map(|member| member);
    wait_long("the journals to be equal", || {
        let of_first = series.cluster.segments(first);
        (of_first == series.cluster.segments(second) && of_first == series.cluster.segments(third)).then_some(())
    });
}

/// Acknowledged orders lost: 0; doubled: 0.
fn expect_known_once(journal: &JournalEvidence, rest: &RestLog, fix: &FixLog) {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for order in journal.placed.values() {
        *known.entry(order.int_id.as_str()).or_default() += 1;
    }
    let times = |id: &String| known.get(id.as_str()).copied().unwrap_or(0);
    let lost: Vec<_> = rest.acknowledged.iter().chain(&fix.accepted).filter(|id| times(id) == 0).collect();
    let doubled: Vec<_> = known.iter().filter(|(_, times)| **times > 1).collect();
    assert!(lost.is_empty() && doubled.is_empty(), "lost: {lost:?}; doubled: {doubled:?}");
    assert_eq!(rest.refused, [], "nothing was wrong with these orders");
}

/// No order of an old epoch reaches the venue behind the first of a new one, and none reaches it twice. Returns how many did.
fn expect_epochs_in_order(series: &Series, journal: &JournalEvidence) -> usize {
    let rows = series.cluster.lab.ledger("orders");
    let (mut seen, mut newest) = (BTreeSet::<OrderId>::new(), 0);
    for row in &rows {
        let id = row["clientOrderId"].as_str().expect("an id").split('_').next().unwrap_or_default().to_owned();
        let WireId { order, .. } = id.parse().unwrap_or_else(|_| panic!("{row} is none of our orders"));
        assert!(seen.insert(order), "the venue got an order twice: {row}");
        let sequence = journal.placed_at.get(&order).unwrap_or_else(|| panic!("not in the journal: {row}"));
        let epoch = series.epochs.of_sequence(*sequence);
        assert!(epoch >= newest, "an order of epoch {epoch} came behind one of epoch {newest}: {row}");
        newest = epoch;
    }
    rows.len()
}

/// Why an order over FIX may be refused while a cluster changes its leader, by docs/fix.md: it had no effect, and may be placed again. Which
/// part of the orders that is depends on the machine.
const REFUSALS: [&str; 9] = [
    "adapter-down",
    "adapter-reconciling",
    "busy",
    "cash-unknown",
    "journal-stalled",
    "line-down",
    "no-reference-price",
    "stale-price",
    "stopping",
];

fn expect_documented_refusals(fix: &FixLog) {
    let is_documented = |text: &str| text.split_once(':').is_some_and(|(code, _)| REFUSALS.contains(&code));
    let others: Vec<_> = fix.rejected.iter().filter(|(_, text)| !is_documented(text)).collect();
    assert!(others.is_empty(), "{} orders over FIX were refused for another reason: {others:?}", others.len());
    assert!(!fix.accepted.is_empty(), "no order over FIX was accepted");
}

fn report(series: &Series, (rest, fix): (&RestLog, &FixLog), at_venue: usize) {
    let rate = |count: u64| count / rest.seconds.max(1);
    let share = 100 * fix.rejected.len() / fix.sent.max(1);
    println!(
        "over REST offered {} a second ({} orders, {} that were due never placed), acknowledged {} a second; over FIX offered {} a second, \
         refused {share} of 100",
        rate(rest.offered),
        rest.offered,
        rest.skipped,
        rate(rest.acknowledged.len() as u64),
        rate(fix.sent as u64),
    );
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    fix.rejected.values().for_each(|reason| *reasons.entry(reason).or_default() += 1);
    println!("refused over FIX: {reasons:?}");
    println!(
        "in {} s acknowledged {} over REST ({} sent again, {} unknown), {} of {} over FIX ({} logons, {} possible duplicates, {} refused); at the \
         venue {at_venue}; epochs {}, takeovers {}: lost 0, doubled 0, of an old epoch 0, FIX numbers without a gap up to {}",
        rest.seconds,
        rest.acknowledged.len(),
        rest.sent_again,
        rest.unknown.len(),
        fix.accepted.len(),
        fix.sent,
        fix.logons,
        fix.possible_duplicates,
        fix.rejected.len(),
        series.epochs.epoch,
        series.takeovers,
        fix.next_number - 1,
    );
}
