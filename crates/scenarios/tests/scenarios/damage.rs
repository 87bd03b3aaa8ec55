//! Damaged or torn journals: damage is named and refused, a torn end is cut and reported.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use storage::journal;

use crate::test_platform::{AAPL, TestPlatform, TraderClient, limit, with_id};

#[test]
fn a_good_journal_is_proven() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let order = server.client().place(&limit(AAPL, "BUY", 1, "250"));
    server.stop();
    let verified = desk.launch.run(&["journal", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified}");
    let report = journal::verify(&desk.data().join(journal::FOLDER), &mut |_| {}).unwrap();
    assert_eq!(verified.output, report.to_string());
    assert!(verified.output.ends_with("damage          none"), "{verified}");
    let server = desk.start();
    server.client().order(&order);
    server.stop();
}

#[test]
fn a_journal_with_a_changed_byte_is_refused_by_file_and_offset() {
    let server = TestPlatform::new();
    trade_and_crash(&server);
    let (segment, end) = only_segment(server.data());
    flip(&segment, end / 2);
    let before = fs::read(&segment).unwrap();
    let damage = journal::verify(segment.parent().unwrap(), &mut |_| {}).unwrap().damage.expect("it is damaged");
    assert!(damage.offset <= end / 2, "the frame begins before the byte");
    let refused = server.launch.expect_refused();
    assert_eq!((refused.code, refused.output.as_str()), (Some(4), ""), "{refused}");
    let text = format!("{} is damaged at offset {}", segment.display(), damage.offset);
    assert!(refused.log.contains(&text), "{refused}");
    let verified = server.launch.run(&["journal", "verify"]);
    assert_eq!(verified.code, Some(4), "{verified}");
    assert!(verified.output.contains(&format!("damage          {text}")), "{verified}");
    assert!(fs::read(&segment).unwrap() == before, "nothing was repaired by guessing");
}

#[test]
fn a_torn_end_is_cut_and_told_and_nothing_acknowledged_is_lost() {
    let desk = TestPlatform::new();
    let order = trade_and_crash(&desk);
    let (segment, end) = only_segment(desk.data());
    tear(&segment, end);
    let verified = desk.launch.run(&["journal", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified}");
    let text = format!("{} has a torn end at offset {end}", segment.display());
    assert!(verified.output.contains(&text), "{verified}");
    let server = desk.start();
    server.client().order(&order);
    let ended = server.stop();
    assert!(ended.log.contains(&text), "{ended}");
}

#[test]
fn a_flipped_bit_in_the_read_model_is_found_and_history_is_built_again() {
    let desk = TestPlatform::new();
    let server = desk.start();
    let mut client = server.client();
    client.place(&with_id(limit(AAPL, "BUY", 1, "250"), "a-marked-order"));
    client.wait_for_status("a-marked-order", "SUBMITTED");
    let history = client.get_json("/rest/history/order");
    server.stop();
    let file = desk.data().join(storage::read_model::FILE);
    // The stop copied its log into the file; as long as it is there, SQLite reads it instead.
    fs::remove_file(file.with_extension("sqlite-wal")).unwrap();
    let bytes = fs::read(&file).unwrap();
    let places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"a-marked-order"));
    for place in places.collect::<Vec<_>>() {
        flip(&file, place as u64);
    }
    let server = desk.start();
    assert_eq!(server.client().get_json("/rest/history/order"), history);
    let ended = server.stop();
    assert!(ended.log.contains("read model is unusable and is rebuilt from the journal"), "{ended}");
}

/// Leaves an order in a journal that no snapshot stands behind.
fn trade_and_crash(desk: &TestPlatform) -> String {
    let server = desk.start();
    let mut client = server.client();
    let order = client.place(&limit(AAPL, "BUY", 1, "250"));
    client.wait_for_status(&order, "SUBMITTED");
    server.kill();
    order
}

/// The file of the journal, and where its frames end.
fn only_segment(data: &Path) -> (PathBuf, u64) {
    let folder = data.join(journal::FOLDER);
    let report = journal::verify(&folder, &mut |_| {}).unwrap();
    assert_eq!(report.good.segments, 1);
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut segments = files.filter(|path| path.extension().is_some_and(|extension| extension == "journal"));
    (segments.next().unwrap(), report.good.bytes)
}

fn flip(file: &Path, offset: u64) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
}

/// A write that a crash cut off: the beginning of a frame, and nothing after it.
fn tear(file: &Path, end: u64) {
    const SEGMENT_HEADER_BYTES: u64 = 128;
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut half = [0; 40];
    file.read_exact_at(&mut half, SEGMENT_HEADER_BYTES).unwrap();
    file.write_all_at(&half, end).unwrap();
}
