//! A follower's engine: it applies the frames of a leader's journal and has the leader's state, or stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bus::inbox::{Inbox, inbox};
use bus::{Catalogue, EventFeed};
use crossbeam_channel::{Receiver, unbounded};
use domain::command::MarketData;
use domain::query::{Answer, Filter};
use domain::{Price, PublishedEvent, Query, SecurityId, Tick};
use runtime::{
    FollowerEngine, FollowerError, FollowerExit, FollowerLoop, FollowerParts, FollowerUpdate, LiveExit, PriceDemand,
    PulseOptions, QueriedPrices, RecoverySources, recover_up_to,
};
use storage::journal::{FOLDER, Journal, JournalBatch, JournalOptions, JournalReader, JournalRecord, SealedFrame};
use storage::lock::DataDirLock;
use storage::{JournalLedger, SnapshotStore};
use tempfile::TempDir;

use crate::fixture::{INSTANCE, LiveFixture, TRADED};

/// Every turn of the leader has a digest when a day has passed.
const PULSE: PulseOptions = PulseOptions {
    every: Duration::from_millis(500),
    digest_every: Duration::from_secs(10),
    epoch: 3,
    bars_from: domain::Timestamp(0),
};

struct Follower {
    folder: TempDir,
    lock: DataDirLock,
    inbox: Inbox,
    /// The sequence up to which the read model was given everything.
    told: Arc<AtomicU64>,
    /// The last record with the leader's digest.
    compared: Arc<AtomicU64>,
}

impl Follower {
    /// On an empty folder, with snapshots after so many records.
    fn start(snapshot_every_inputs: u64) -> (Self, FollowerEngine, bus::inbox::InboxReceiver) {
        Self::with_store(snapshot_every_inputs, |store| store)
    }

    fn with_store(
        snapshot_every_inputs: u64,
        prepare: impl FnOnce(SnapshotStore) -> SnapshotStore,
    ) -> (Self, FollowerEngine, bus::inbox::InboxReceiver) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let lock = DataDirLock::acquire(folder.path()).unwrap();
        let snapshots = Arc::new(prepare(SnapshotStore::open(&lock, INSTANCE).unwrap()));
        let (inbox, lanes) = inbox();
        let ledger = Arc::new(JournalLedger::new(inbox.clone()));
        let sources = RecoverySources {
            folder: folder.path(),
            last_sequence: 0,
            snapshots: &snapshots,
            ledger: &ledger,
            retired: None,
        };
        let recovered = recover_up_to(&sources, 0, &mut |_, _| {}).unwrap();
        let told = Arc::<AtomicU64>::default();
        let sink = told.clone();
        let compared = Arc::<AtomicU64>::default();
        let parts = FollowerParts {
            ledger,
            retired: None,
            snapshots,
            feed: EventFeed::default(),
            catalogue: Catalogue::default(),
            digest_compared: compared.clone(),
            event_sink: Box::new(move |through, _: &[PublishedEvent]| sink.store(through, Ordering::Relaxed)),
            snapshot_schedule: runtime::SnapshotSchedule::every_inputs(snapshot_every_inputs),
            journal_ticks: false,
            build: "stories".to_owned(),
        };
        (Self { folder, lock, inbox, told, compared }, FollowerEngine::new(recovered, parts), lanes)
    }

    fn follow(
        &self,
        engine: FollowerEngine,
        inbox: bus::inbox::InboxReceiver,
        updates: Receiver<FollowerUpdate>,
    ) -> FollowerLoop {
        FollowerLoop {
            engine,
            inbox,
            updates,
            applied: Arc::default(),
            is_writing_snapshot: Arc::default(),
            data_folder: self.folder.path().to_owned(),
            clock: Arc::new(|| domain::Timestamp(0)),
            demand: Arc::default(),
        }
    }
}

/// A session of a leader with two orders and a day's end: its frames, and its last digest.
fn session() -> (Vec<SealedFrame>, String) {
    let fixture = LiveFixture { pulse: Some(PULSE), ..LiveFixture::default() };
    let mut live = fixture.start_trading();
    for (id, order) in [("A-1", 1), ("A-2", 2)] {
        live.place(id).wait();
        live.accept(order);
    }
    fixture.days.fetch_add(1, Ordering::Relaxed);
    live.pass_price();
    assert_eq!(live.place("B-1").wait(), "placed B-1");
    let (exit, _) = live.stop();
    let LiveExit::Stopped(Some(digest)) = exit else { panic!("{exit:?}") };
    (frames(fixture.folder.path()), digest)
}

fn frames(data_folder: &std::path::Path) -> Vec<SealedFrame> {
    let mut reader = JournalReader::open(&data_folder.join(FOLDER), 0).unwrap();
    std::iter::from_fn(|| reader.next_sealed().unwrap()).collect()
}

/// Whether a digest of the leader is in it.
fn has_digest(frame: &SealedFrame) -> bool {
    frame.records().any(|record| record.kind == 5 && record.payload.len() > 64)
}

#[test]
fn a_follower_that_applies_the_frames_has_the_state_of_the_leader() {
    let (frames, digest) = session();
    assert!(frames.iter().filter(|frame| has_digest(frame)).count() >= 2, "digests are compared on the way");
    let (follower, mut engine, _lanes) = Follower::start(3);
    frames.iter().for_each(|frame| engine.apply(frame).unwrap());
    assert_eq!(engine.digest(), Some(digest.clone()));
    let with_digest =
        frames.iter().flat_map(SealedFrame::records).filter(|record| record.kind == 5 && record.payload.len() > 64);
    assert_eq!(follower.compared.load(Ordering::Relaxed), with_digest.map(|record| record.sequence).max().unwrap());
    let last = frames.last().unwrap().last_sequence().unwrap();
    assert_eq!((engine.applied(), follower.told.load(Ordering::Relaxed)), (last, last));
    // Its snapshots are as good as the leader's.
    engine.stop();
    let snapshots = SnapshotStore::look(follower.folder.path(), INSTANCE);
    assert_eq!(snapshots.newest_claim().unwrap().map(|(sequence, _)| sequence), Some(last));
}

#[test]
fn only_the_last_record_of_an_orderly_stop_resigns_the_lead_of_its_epoch() {
    let (told, _) = session();
    let resigned: Vec<_> = told.iter().filter_map(runtime::resigned_epoch).collect();
    assert_eq!((resigned, told.last().and_then(runtime::resigned_epoch)), (vec![3], Some(3)));
    // A loop whose owner is gone has adapters that may still run.
    let fixture = LiveFixture { pulse: Some(PULSE), ..LiveFixture::default() };
    let live = fixture.start_trading();
    drop(live.stop);
    assert!(matches!(live.thread.join(), Ok(LiveExit::Stopped(_))));
    assert!(frames(fixture.folder.path()).iter().all(|frame| runtime::resigned_epoch(frame).is_none()));
}

#[test]
fn a_follower_whose_state_differs_stops() {
    let (frames, _) = session();
    let (_follower, mut engine, _lanes) = Follower::start(u64::MAX);
    let with_order = frames.iter().rposition(has_digest).unwrap() - 1;
    let outcome = frames
        .iter()
        .enumerate()
        .filter(|(place, _)| *place != with_order)
        .try_for_each(|(_, frame)| engine.apply(frame));
    let error = outcome.unwrap_err();
    assert!(matches!(error, FollowerError::Diverged { .. }), "{error}");
    assert!(error.to_string().contains("differs from the leader's: its digest is "), "{error}");
}

/// A frame as a newer version may write it, behind all others.
fn frame_of_a_newer_version(sequence: u64) -> SealedFrame {
    let folder = tempfile::tempdir().unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let (_, mut journal) = Journal::open(&lock, &JournalOptions::new(INSTANCE), &mut |_| {}).unwrap();
    let record = JournalRecord { sequence, kind: 200, payload: b"of tomorrow".to_vec() };
    journal.append(JournalBatch { time: 0, records: vec![record] }).unwrap();
    journal.close().unwrap();
    frames(folder.path()).pop().unwrap()
}

/// Whether the engine says that it has applied everything, and how its loop ended.
fn asked_to_lead(frames: Vec<SealedFrame>) -> (bool, FollowerExit) {
    let (follower, engine, inbox) = Follower::start(u64::MAX);
    let (sender, updates) = unbounded();
    let (reply, applied) = unbounded();
    sender.send(FollowerUpdate::Frames(frames)).unwrap();
    sender.send(FollowerUpdate::Applied(reply)).unwrap();
    drop(sender);
    let exit = follower.follow(engine, inbox, updates).run();
    (applied.recv().is_ok(), exit)
}

#[test]
fn a_follower_says_that_it_writes_a_snapshot_for_as_long_as_it_does() {
    let (frames, _) = session();
    let (finish, writing) = unbounded::<()>();
    // The last step of the first snapshot does not end before this is dropped.
    let stall = move || {
        let _ = writing.recv();
        None
    };
    let (follower, engine, inbox) = Follower::with_store(1, |store| store.keep_for(stall));
    let (sender, updates) = unbounded();
    let following = follower.follow(engine, inbox, updates);
    let is_writing = following.is_writing_snapshot.clone();
    let thread = thread::spawn(move || following.run());
    let is_writing = || {
        let (reply, answer) = unbounded();
        sender.send(FollowerUpdate::Applied(reply)).unwrap();
        answer.recv().unwrap();
        is_writing.load(Ordering::Acquire)
    };
    assert!(!is_writing());
    sender.send(FollowerUpdate::Frames(frames)).unwrap();
    assert!(is_writing());
    drop(finish);
    while is_writing() {
        thread::yield_now();
    }
    drop(sender);
    assert!(matches!(thread.join(), Ok(FollowerExit::Stopped)));
}

#[test]
fn a_follower_that_does_not_know_a_kind_of_record_ends_and_may_not_lead() {
    let (mut frames, _) = session();
    let (may_lead, exit) = asked_to_lead(frames.clone());
    assert!(may_lead && matches!(exit, FollowerExit::Stopped));
    let sequence = frames.last().unwrap().last_sequence().unwrap() + 1;
    frames.push(frame_of_a_newer_version(sequence));
    let (may_lead, exit) = asked_to_lead(frames);
    let FollowerExit::Failed(error) = exit else { panic!("it goes on") };
    let told = error.to_string();
    assert!(
        told.contains(&format!("record {sequence}")) && told.contains("record kind 200 is not known to this build"),
        "{told}"
    );
    assert!(!may_lead);
}

#[test]
fn a_loop_answers_from_what_is_applied_and_hands_over_when_the_process_leads() {
    let (frames, digest) = session();
    let (follower, engine, inbox) = Follower::start(u64::MAX);
    let (sender, updates) = unbounded();
    let following = follower.follow(engine, inbox, updates);
    let applied = following.applied.clone();
    let thread = thread::spawn(move || following.run());
    let (proven, unproven) = frames.split_at(frames.len() - 1);
    sender.send(FollowerUpdate::Frames(proven.to_vec())).unwrap();
    let last = proven.last().unwrap().last_sequence().unwrap();
    while applied.load(Ordering::Acquire) < last {
        thread::yield_now();
    }
    let reply = follower.inbox.query(Query::OpenOrders(Filter::default())).unwrap().recv_blocking().unwrap();
    assert_eq!(reply.sequence, last);
    assert!(matches!(reply.outcome, Ok(Answer::Orders(_))));

    // Its own journal has one frame more, which is the first of its epoch.
    let options = JournalOptions { segment_bytes: 1 << 20, ..JournalOptions::new(INSTANCE) };
    let (_, mut sealed) = Journal::inspect(&follower.lock, &options, &mut |_| {}).unwrap().open_sealed().unwrap();
    proven.iter().chain(unproven).for_each(|frame| sealed.append(frame).unwrap());
    sealed.sync().unwrap();
    drop(sealed);
    let (_, journal) = Journal::open(&follower.lock, &options, &mut |_| {}).unwrap();
    sender.send(FollowerUpdate::Lead(Box::new(journal))).unwrap();
    let FollowerExit::Leads(lead) = thread.join().unwrap() else { panic!("it leads") };
    let end = unproven[0].last_sequence().unwrap();
    assert_eq!((lead.recovered.last_sequence, lead.journal.last_sequence()), (end, end));
    let found = lead.recovered.digest.unwrap().finish(&lead.engine, lead.recovered.at, end);
    assert_eq!(found, digest);
}

#[test]
fn a_follower_stops_when_nobody_reads_the_log_any_more() {
    let (follower, engine, inbox) = Follower::start(u64::MAX);
    let (sender, updates) = unbounded();
    drop(sender);
    assert!(matches!(follower.follow(engine, inbox, updates).run(), FollowerExit::Stopped));
}

/// A question that comes before the follower has heard the leader gets the leader's price as soon as it is there.
#[test]
fn a_question_for_prices_right_after_the_start_waits_until_the_leader_is_heard() {
    let (frames, _) = session();
    let (follower, mut engine, inbox) = Follower::start(u64::MAX);
    frames.iter().for_each(|frame| engine.apply(frame).unwrap());
    let (sender, updates) = unbounded();
    let (demand, security) = (Arc::new(PriceDemand::from_leader(Instant::now())), SecurityId(TRADED));
    let following = FollowerLoop { demand: demand.clone(), ..follower.follow(engine, inbox, updates) };
    let thread = thread::spawn(move || following.run());
    let only = Filter { security: Some(security), ..Filter::default() };
    let question = follower.inbox.query(Query::Ticks(only)).unwrap();
    // The loop has it now.
    while demand.queried(Instant::now()).0 != QueriedPrices::Of([security].into()) {
        thread::yield_now();
    }
    let (bid, ask) = (Some(Price::from(10)), Some(Price::from(11)));
    follower.inbox.send_price(MarketData::Tick(Tick { bid, ask, ..samples::tick(TRADED) }));
    demand.set_current(security, true);
    demand.set_state(true, None);
    let reply = question.recv_blocking().unwrap();
    let Ok(Answer::Ticks(ticks)) = reply.outcome else { panic!("{:?}", reply.outcome) };
    assert_eq!(ticks.iter().map(|tick| (tick.bid, tick.stale)).collect::<Vec<_>>(), [(bid, None)]);
    drop(sender);
    assert!(matches!(thread.join().unwrap(), FollowerExit::Stopped));
}
