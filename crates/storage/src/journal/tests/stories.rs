//! Journal scenarios: append, read, follow, roll.

use super::*;
use expect_test::expect;

#[test]
fn what_was_durable_is_read_back_after_a_restart() {
    let bench = JournalFixture::new();
    let (found, mut journal) = bench.open();
    assert_eq!((found.segments, found.last_sequence, found.torn), (0, 0, None));
    append_durable(&mut journal, 1, "buy 100 AAPL");
    append_durable(&mut journal, 2, "sell 50 MSFT");
    journal.close().unwrap();

    let (found, mut journal) = bench.open();
    assert_eq!((found.records, found.first_sequence, found.last_sequence), (2, Some(1), 2));
    assert_eq!((journal.durable(), found.instance), (2, Some(INSTANCE)));
    append_durable(&mut journal, 3, "cancel 1");
    drop(journal);
    assert_eq!(bench.read(), [line(1, "buy 100 AAPL"), line(2, "sell 50 MSFT"), line(3, "cancel 1")]);
}

#[test]
fn sequences_may_have_holes_and_each_record_keeps_its_own_time() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let records = vec![record(7, "order"), record(1000, "fill")];
    journal.append(JournalBatch { time: -5, records }).unwrap();
    journal.append(JournalBatch { time: 9, records: vec![record(u64::MAX, "end")] }).unwrap();
    journal.close().unwrap();
    let expected = ["7 at -5 kind 1: order", "1000 at -5 kind 1: fill", "18446744073709551615 at 9 kind 0: end"];
    assert_eq!(bench.read(), expected);
}

#[test]
fn a_batch_that_makes_no_sense_is_given_back_with_the_reason() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 5, "first");
    let mut refusal = |records: Vec<JournalRecord>| {
        let batch = JournalBatch { time: 0, records };
        let refused = journal.append(batch.clone()).unwrap_err();
        assert_eq!(refused.batch, batch);
        refused.reason.to_string()
    };
    assert_eq!(refusal(vec![]), "the batch has no record");
    assert_eq!(refusal(vec![record(5, "again")]), "sequence 5 is not above 5");
    assert_eq!(refusal(vec![record(9, "late"), record(8, "early")]), "sequence 8 is not above 9");
    let large = "x".repeat(16 << 20);
    assert_eq!(refusal(vec![record(6, &large)]), "a record has 16777237 bytes, the limit is 16777152");
    append_durable(&mut journal, 6, "second");
}

#[test]
fn the_largest_batch_fills_a_segment_of_its_own() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let large = "x".repeat(832 - 21);
    for sequence in 1..=3 {
        append_durable(&mut journal, sequence, &large);
    }
    journal.close().unwrap();
    assert_eq!(bench.segments().len(), 3);
    assert_eq!(bench.read(), [line(1, &large), line(2, &large), line(3, &large)]);
}

#[test]
fn a_record_that_is_larger_than_a_segment_has_one_of_its_size() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let large = "x".repeat(5000);
    append_durable(&mut journal, 1, "before");
    append_durable(&mut journal, 2, &large);
    append_durable(&mut journal, 3, "after");
    journal.close().unwrap();
    let (_, journal) = bench.open();
    journal.close().unwrap();
    assert_eq!(bench.read(), [line(1, "before"), line(2, &large), line(3, "after")]);
    let lengths = bench.segments().iter().map(|path| path.metadata().unwrap().len()).collect::<Vec<_>>();
    assert_eq!(lengths, [1024, 5213, 1024]);
}

#[test]
fn a_batch_of_more_than_a_frame_holds_goes_in_parts() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let large = "x".repeat(7 << 20);
    let records = (1..=5).map(|sequence| record(sequence, &large)).collect();
    journal.append(JournalBatch { time: 0, records }).unwrap();
    journal.close().unwrap();
    let sequences = bench.read().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(sequences, ["1", "2", "3", "4", "5"]);
    assert_eq!(bench.segments().len(), 3);
}

#[test]
fn a_large_batch_behind_small_ones_shares_no_frame_that_would_be_too_long_to_read() {
    let mut bench = JournalFixture::new();
    bench.options.segment_bytes = 32 << 20;
    let (_, mut journal) = bench.open();
    let (small, large) = ("x".repeat(100 << 10), "y".repeat((16 << 20) - 200));
    // All made before the first is given away, so that they wait together.
    let batch = |sequence| JournalBatch {
        time: 0,
        records: vec![record(sequence, if sequence < 4 { &small } else { &large })],
    };
    let batches: Vec<_> = (1..=4).map(batch).collect();
    batches.into_iter().for_each(|batch| journal.append(batch).unwrap());
    journal.close().unwrap();
    assert_eq!(bench.read().len(), 4);
}

#[test]
fn segments_follow_one_another_and_the_report_has_all_of_them() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    for sequence in 1..=20 {
        append_durable(&mut journal, sequence * 10, "an order of some length");
    }
    journal.close().unwrap();
    let names: Vec<_> = bench.segments().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    let expected = ["00000000000000000010.journal", "00000000000000000090.journal", "00000000000000000170.journal"];
    assert_eq!(names, expected);
    expect![[r#"
        segments        3
        frames          20
        records         20
        bytes           2544
        first sequence  10
        last sequence   200
        head            9d2bbb21fc7bde1b602ec113d31ca48d6bc29f17052a260a74562705095cefa0
        damage          none"#]]
    .assert_eq(&bench.report().to_string());
}

#[test]
fn a_reader_begins_at_its_sequence_and_reports_its_progress() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    for sequence in 1..=20 {
        append_durable(&mut journal, sequence * 10, "an order of some length");
    }
    journal.close().unwrap();
    let folder = bench.journal_folder();
    let from = |sequence| read_from(&folder, sequence).unwrap().len();
    assert_eq!([0, 10, 11, 90, 91, 199, 200, 201].map(from), [20, 20, 19, 12, 11, 1, 1, 0]);

    let mut seen = Vec::new();
    let mut visit = |_: JournalEntry<'_>| Ok::<(), StorageError>(());
    let reader = JournalReader::open(&folder, 0).unwrap();
    reader.replay(&mut visit, &mut |progress| seen.push((progress.read, progress.total))).unwrap();
    assert_eq!((seen.len(), seen[0], seen[20]), (21, (236, 2608), (2608, 2608)));
    assert!(seen.is_sorted(), "{seen:?}");
}

#[test]
fn a_reader_follows_a_live_journal_up_to_what_is_durable() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let mut reader = JournalReader::open(&bench.journal_folder(), 0).unwrap();
    assert_eq!(reader.read_to(u64::MAX).unwrap(), None);
    for sequence in 1..=30 {
        append_durable(&mut journal, sequence, "an order of some length");
        assert_eq!(reader.read_to(sequence - 1).unwrap(), None);
        let entry = reader.read_to(journal.durable()).unwrap().map(show);
        assert_eq!(entry, Some(line(sequence, "an order of some length")));
        assert_eq!(reader.read_to(u64::MAX).unwrap(), None);
    }
}

#[test]
fn a_reader_races_a_writer_and_misses_nothing() {
    const LAST: u64 = 3000;
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let folder = bench.journal_folder();
    let reading = thread::spawn(move || {
        let mut reader = JournalReader::open(&folder, 0).unwrap();
        let mut next = 1;
        while next <= LAST {
            match reader.read_to(u64::MAX).unwrap() {
                Some(entry) => assert_eq!(show(entry), line(next, "an order of some length")),
                None => continue,
            }
            next += 1;
        }
    });
    for sequence in 1..=LAST {
        append_durable(&mut journal, sequence, "an order of some length");
    }
    reading.join().unwrap();
}

#[test]
fn a_folder_copied_while_the_journal_runs_is_a_good_journal() {
    let (bench, copy) = (JournalFixture::new(), JournalFixture::new());
    let (_, mut journal) = bench.open();
    fs::create_dir_all(copy.journal_folder()).unwrap();
    for sequence in 1..=25 {
        append_durable(&mut journal, sequence, "an order of some length");
    }
    for path in bench.segments() {
        fs::copy(&path, copy.journal_folder().join(path.file_name().unwrap())).unwrap();
    }
    let (found, _journal) = copy.open();
    assert_eq!((found.last_sequence, found.torn), (25, None));
}

#[test]
fn only_one_journal_at_a_time_writes_in_a_folder() {
    let bench = JournalFixture::new();
    let (_, journal) = bench.open();
    assert!(matches!(bench.try_open(), Err(StorageError::Locked { .. })));
    drop(journal);
    assert!(bench.try_open().is_ok());
}

#[test]
fn on_a_real_disk_too() {
    let folder = tempfile::tempdir().unwrap();
    let lock = DataDirLock::acquire(folder.path()).unwrap();
    let options = JournalOptions { segment_bytes: 4096, ..JournalOptions::new(INSTANCE) };
    for round in 0..3 {
        let (found, mut journal) = Journal::open(&lock, &options, &mut |_| {}).unwrap();
        assert_eq!(found.last_sequence, round * 40);
        for sequence in 1..=40 {
            append_durable(&mut journal, round * 40 + sequence, "an order of some length");
        }
        let syncs = journal.monitor().metrics().syncs;
        assert_eq!(syncs.buckets.iter().sum::<u64>(), 40);
        journal.close().unwrap();
    }
    assert_eq!(read_from(&folder.path().join(FOLDER), 1).unwrap().len(), 120);
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let refusal = |change: fn(&mut JournalOptions)| {
        let mut bench = JournalFixture::new();
        change(&mut bench.options);
        bench.try_open().err().unwrap().to_string()
    };
    let small = refusal(|options| options.segment_bytes = 1023);
    assert_eq!(small, "journal.segment-bytes: must be 1024 to 1073741824");
    let queue = refusal(|options| options.queue_batches = 0);
    assert_eq!(queue, "journal.queue: must have room for at least one batch");
}

#[test]
fn a_journal_worked_by_hand_is_durable_as_far_as_its_worker_went() {
    let bench = JournalFixture::new();
    let lock = DataDirLock::acquire(bench.folder.path()).unwrap();
    let inspected = Journal::inspect_on(bench.disk.clone(), &lock, &bench.options, &mut |_| {}).unwrap();
    let (_, mut journal, mut worker) = inspected.open_by_hand().unwrap();
    for sequence in 1..=30 {
        journal.append(batch(sequence, "an order of some length")).unwrap();
        assert_eq!((journal.durable(), worker.has_work()), (sequence - 1, true), "nothing runs by itself");
        worker.commit();
        assert_eq!((journal.durable(), worker.has_work()), (sequence, false));
    }
    bench.disk.0.sync_fails.store(true, Ordering::SeqCst);
    journal.append(batch(31, "lost")).unwrap();
    worker.commit();
    assert!(wait_failed(&journal).contains("cannot sync"));
    assert!(matches!(journal.append(batch(32, "too late")).unwrap_err().reason, AppendError::Failed { .. }));
    drop((journal, worker, lock));
    bench.disk.0.sync_fails.store(false, Ordering::SeqCst);
    let (found, _journal) = bench.open();
    assert!(found.segments > 1 && found.last_sequence >= 30, "{found:?}");
}
