//! A disk that fails, fills up, or is slow.

use super::*;

#[test]
fn after_a_failed_sync_nothing_is_durable_and_nothing_is_taken() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "kept");
    bench.disk.0.sync_fails.store(true, Ordering::SeqCst);
    journal.append(batch(2, "in doubt")).unwrap();
    let error = bench.text(&wait_failed(&journal));
    let expected = "cannot sync journal/00000000000000000001.journal: Input/output error (os error 5)";
    assert_eq!(error, expected);

    // The disk works again, but it is not retried.
    bench.disk.0.sync_fails.store(false, Ordering::SeqCst);
    let refused = journal.append(batch(3, "too late")).unwrap_err();
    assert!(matches!(refused.reason, AppendError::Failed { .. }), "{refused:?}");
    assert_eq!((journal.durable(), journal.monitor().failure().is_some()), (1, true));
    assert!(journal.durability_events().recv_timeout(PATIENCE).is_err(), "Failed is the last news");
    assert!(matches!(journal.close(), Err(StorageError::Failed { .. })));

    let (found, _journal) = bench.open();
    assert!(found.last_sequence == 1 || found.last_sequence == 2);
}

#[test]
fn a_failed_write_is_the_end_as_well() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "kept");
    bench.disk.0.write_fails.store(true, Ordering::SeqCst);
    journal.append(batch(2, "lost")).unwrap();
    let error = bench.text(&wait_failed(&journal));
    let expected = "cannot write journal/00000000000000000001.journal: Input/output error (os error 5)";
    assert_eq!((error.as_str(), journal.durable()), (expected, 1));
}

#[test]
fn short_and_interrupted_writes_are_finished() {
    let bench = JournalFixture::new();
    bench.disk.0.longest_write.store(7, Ordering::SeqCst);
    let (_, mut journal) = bench.open();
    for sequence in 1..=20 {
        append_durable(&mut journal, sequence, "an order of some length");
    }
    journal.close().unwrap();
    assert_eq!((bench.read().len(), bench.report().damage), (20, None));
}

#[test]
fn a_full_disk_is_announced_early_and_fails_only_at_the_end_of_the_segment() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "an order of some length");
    // The segment after this one was prepared at once; fill both.
    bench.disk.0.is_full.store(true, Ordering::SeqCst);
    let mut sequence = 1;
    let error = loop {
        sequence += 1;
        journal.append(batch(sequence, "an order of some length")).unwrap();
        match journal.durability_events().recv_timeout(PATIENCE).unwrap() {
            DurabilityEvent::Advanced { to } => assert_eq!(to, sequence),
            DurabilityEvent::Failed { error } => break bench.text(&error),
        }
    };
    let expected = "the disk is full: cannot prepare the next segment journal/next.filling: \
                    No space left on device (os error 28)";
    assert_eq!(error, expected);
    assert!(journal.monitor().spare_error().is_some());
    assert_eq!(journal.durable(), sequence - 1);
    drop(journal);
    assert_eq!(bench.read().len() as u64, sequence - 1);
}

#[test]
fn space_that_is_free_again_in_time_is_used() {
    let bench = JournalFixture::new();
    bench.disk.0.is_full.store(true, Ordering::SeqCst);
    let (_, mut journal) = bench.open();
    // The first try has failed once this is reported.
    while journal.monitor().spare_error().is_none() {
        thread::yield_now();
    }
    bench.disk.0.is_full.store(false, Ordering::SeqCst);
    append_durable(&mut journal, 1, "an order of some length");
    assert_eq!(journal.monitor().spare_error(), None);
}

#[test]
fn a_full_queue_refuses_and_what_waited_is_committed_as_one_group() {
    let mut bench = JournalFixture::new();
    bench.options.queue_batches = 2;
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "first");
    let (begun, permit) = bench.disk.hold_syncs();
    journal.append(batch(2, "being synced")).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    assert_eq!(journal.free_batches(), 2);
    journal.append(batch(3, "waits")).unwrap();
    journal.append(batch(4, "waits too")).unwrap();
    assert_eq!((journal.free_batches(), journal.durable()), (0, 1));
    let refused = journal.append(batch(5, "no room")).unwrap_err();
    assert_eq!(refused, RefusedBatch { batch: batch(5, "no room"), reason: AppendError::QueueFull });

    drop(permit);
    wait_durable(&journal, 4);
    append_durable(&mut journal, 5, "no room");
    let metrics = journal.monitor().metrics();
    assert_eq!((metrics.frames, metrics.records, metrics.queued_batches), (4, 5, 0));
    assert_eq!(metrics.queued_bytes, 0);
}

#[test]
fn waiting_bytes_are_limited_too() {
    let mut bench = JournalFixture::new();
    bench.options.queue_bytes = 50;
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "first");
    let (begun, permit) = bench.disk.hold_syncs();
    journal.append(batch(2, "being synced")).unwrap();
    begun.recv_timeout(PATIENCE).unwrap();
    journal.append(batch(3, "thirty bytes of a large order.")).unwrap();
    assert_eq!((journal.free_batches(), journal.monitor().metrics().queued_bytes), (0, 51));
    assert_eq!(journal.append(batch(4, "")).unwrap_err().reason, AppendError::QueueFull);
    drop(permit);
    wait_durable(&journal, 3);
    append_durable(&mut journal, 4, "");
}

#[test]
fn a_slow_receiver_gets_only_the_newest_event() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    let watch = journal.monitor();
    for sequence in 1..=5 {
        journal.append(batch(sequence, "order")).unwrap();
        while watch.durable() < sequence {
            thread::yield_now();
        }
    }
    journal.stop();
    let news: Vec<_> = journal.durability_events().iter().collect();
    assert_eq!(news, [DurabilityEvent::Advanced { to: 5 }]);
}

#[test]
fn with_an_interval_written_is_durable_and_the_sync_comes_by_itself_later() {
    let mut bench = JournalFixture::new();
    bench.options.sync = "interval:1".parse().unwrap();
    let (_, mut journal) = bench.open();
    let (begun, permit) = bench.disk.hold_syncs();
    journal.append(batch(1, "order")).unwrap();
    begun.recv_timeout(PATIENCE).expect("the header of the segment is synced first");
    permit.send(()).unwrap();
    wait_durable(&journal, 1);
    begun.recv_timeout(PATIENCE).expect("a sync without any further batch");
    drop(permit);
}

#[test]
fn with_an_interval_a_failed_sync_is_the_end_too() {
    let mut bench = JournalFixture::new();
    bench.options.sync = "interval:1".parse().unwrap();
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "begins the segment");
    bench.disk.0.sync_fails.store(true, Ordering::SeqCst);
    // Where the sync of the first record fails already, the second is not taken; both ways it ends.
    let _ = journal.append(batch(2, "written"));
    assert!(wait_failed(&journal).contains("cannot sync"));
}

#[test]
fn left_to_the_system_nothing_is_synced_but_the_end() {
    let mut bench = JournalFixture::new();
    bench.options.sync = SyncMode::Os;
    let (_, mut journal) = bench.open();
    for sequence in 1..=5 {
        append_durable(&mut journal, sequence, "order");
    }
    let watch = journal.monitor();
    let syncs = || watch.metrics().syncs.buckets.iter().sum::<u64>();
    assert_eq!(syncs(), 0);
    journal.close().unwrap();
    assert_eq!(syncs(), 1);
}

#[test]
fn a_segment_that_was_begun_but_never_used_is_dropped() {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    for sequence in 1..=9 {
        append_durable(&mut journal, sequence, "an order of some length");
    }
    journal.close().unwrap();
    let second = bench.segments().remove(1);
    let header = fs::read(&second).unwrap()[..segment::HEADER_BYTES].to_vec();
    fs::write(&second, [header.as_slice(), &[0; 1024 - segment::HEADER_BYTES]].concat()).unwrap();
    // Nothing of it was synced, so no head file knows of it.
    fs::remove_file(bench.journal_folder().join(head::FILE)).unwrap();

    let (found, mut journal) = bench.open();
    assert_eq!((found.segments, found.last_sequence, found.torn), (1, 8, None));
    append_durable(&mut journal, 20, "goes another way now");
    journal.close().unwrap();
    assert_eq!((bench.read().len(), bench.report().damage), (9, None));
}
