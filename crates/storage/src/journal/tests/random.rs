//! Any batches, any restarts: what goes in comes out.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

/// The batches between two restarts; each record as (gap before its sequence, kind, payload).
type Session = Vec<(i64, Vec<(u64, u8, Vec<u8>)>)>;

fn session() -> impl Strategy<Value = Session> {
    let payload = prop_oneof![9 => vec(any::<u8>(), 0..40), 1 => vec(Just(0), 0..200)];
    let record = (1_u64..1000, any::<u8>(), payload);
    vec((any::<i64>(), vec(record, 1..4)), 0..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_goes_in_comes_out(segment_bytes in 1024_u64..4096, sessions in vec(session(), 1..4)) {
        let mut bench = JournalFixture::new();
        bench.options.segment_bytes = segment_bytes;
        let mut expected = Vec::new();
        let mut sequence = 0;
        for session in sessions {
            let (found, mut journal) = bench.open();
            prop_assert_eq!((found.records, found.last_sequence), (expected.len() as u64, sequence));
            for (time, records) in session {
                let batch = stamp(time, records, &mut sequence);
                expected.extend(batch.records.iter().map(|record| (time, record.clone())));
                journal.append(batch).unwrap();
            }
            journal.close().unwrap();
        }
        prop_assert_eq!(read_all(&bench.journal_folder()), expected);
        prop_assert_eq!(bench.report().damage, None);
    }
}

fn stamp(time: i64, records: Vec<(u64, u8, Vec<u8>)>, sequence: &mut u64) -> JournalBatch {
    let mut next = |(gap, kind, payload)| {
        *sequence += gap;
        JournalRecord { sequence: *sequence, kind, payload }
    };
    JournalBatch { time, records: records.into_iter().map(&mut next).collect() }
}

fn read_all(folder: &Path) -> Vec<(i64, JournalRecord)> {
    let mut reader = JournalReader::open(folder, 0).unwrap();
    let mut found = Vec::new();
    while let Some(JournalEntry { sequence, time, kind, payload }) = reader.read_to(u64::MAX).unwrap() {
        found.push((time, JournalRecord { sequence, kind, payload: payload.to_vec() }));
    }
    found
}
