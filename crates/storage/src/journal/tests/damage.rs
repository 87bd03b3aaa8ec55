//! Everything that can happen to the bytes. Whatever it is: the records come back unchanged, or the very last
//! frame is cut and reported, or the journal is refused with file and offset. Never wrong data, never less in
//! silence. Here the segments tell by themselves, as in a folder without a head file; `lost` has what that file adds.

use super::*;
use crate::{Damage, TornWrite};
use expect_test::expect;
use std::ops::Range;

/// A closed journal of three segments, its bytes, and where its frames lie.
struct Sample {
    bench: JournalFixture,
    segments: Vec<(PathBuf, Vec<u8>)>,
    frames: Vec<Vec<Range<usize>>>,
    lines: Vec<String>,
}

impl Sample {
    fn new() -> Self {
        let bench = JournalFixture::new();
        let (_, mut journal) = bench.open();
        let mut lines = Vec::new();
        for sequence in 1..=16 {
            let text = format!("order {sequence} {}", "RBLK".repeat(10));
            append_durable(&mut journal, sequence, &text);
            lines.push(line(sequence, &text));
        }
        journal.close().unwrap();
        fs::remove_file(bench.journal_folder().join(head::FILE)).unwrap();
        let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
        let segments: Vec<_> = bench.segments().into_iter().map(read).collect();
        let frames: Vec<_> = segments.iter().map(|(path, _)| frames_of(path)).collect();
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6, 4]);
        Self { bench, segments, frames, lines }
    }

    fn last(&self) -> usize {
        self.segments.len() - 1
    }

    /// Runs a check while one file has other bytes.
    fn with<T>(&self, segment: usize, bytes: &[u8], check: impl FnOnce() -> T) -> T {
        let (path, good) = &self.segments[segment];
        fs::write(path, bytes).unwrap();
        let outcome = check();
        fs::write(path, good).unwrap();
        outcome
    }

    /// How many records come back, or where and why the journal is refused. Panics at wrong data.
    fn outcome(&self) -> Result<(usize, Option<TornWrite>), Damage> {
        let report = self.bench.report();
        let read = read_from(&self.bench.journal_folder(), 0);
        if let Some(damage) = report.damage {
            return Err(damage);
        }
        let read = read.expect("verify and reader agree");
        assert_eq!(read, self.lines[..read.len()], "wrong data");
        assert_eq!(read.len() as u64, report.good.records);
        Ok((read.len(), report.good.torn))
    }

    /// The frames of the last segment that end at or before `offset`, plus all before that segment.
    fn whole_frames(&self, offset: usize) -> usize {
        let sealed: usize = self.frames[..self.last()].iter().map(Vec::len).sum();
        sealed + self.frames[self.last()].iter().filter(|frame| frame.end <= offset).count()
    }

    fn used(&self, segment: usize) -> usize {
        self.frames[segment].last().unwrap().end
    }
}

fn frames_of(path: &Path) -> Vec<Range<usize>> {
    let (segment, file) = segment::Segment::open(path.to_owned()).unwrap();
    let mut reader = segment_reader::SegmentReader::new(segment, file).unwrap();
    let mut frames = Vec::new();
    loop {
        let start = usize::try_from(reader.offset()).unwrap();
        match reader.step().unwrap() {
            Ok(_) => frames.push(start..usize::try_from(reader.offset()).unwrap()),
            Err(_) => return frames,
        }
    }
}

#[test]
fn a_flipped_bit_is_refused_or_hits_nothing() {
    let sample = Sample::new();
    for (segment, (path, good)) in sample.segments.iter().enumerate() {
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            match sample.with(segment, &bytes, || sample.outcome()) {
                Err(damage) => assert!(at < sample.used(segment) && damage.file == *path, "{at}: {damage}"),
                Ok((16, torn)) => {
                    assert!(at >= sample.used(segment), "{at} passed unseen");
                    assert_eq!(torn.is_some(), segment == sample.last(), "{at}");
                }
                Ok(other) => panic!("{at}: {other:?}"),
            }
        }
    }
}

#[test]
fn damage_is_named_at_the_frame_where_it_is() {
    let sample = Sample::new();
    for (segment, frames) in sample.frames.iter().enumerate() {
        for frame in frames {
            let mut bytes = sample.segments[segment].1.clone();
            bytes[frame.start + 70] ^= 1;
            let damage = sample.with(segment, &bytes, || sample.outcome()).unwrap_err();
            assert_eq!(damage.offset, frame.start as u64);
        }
    }
}

#[test]
fn harm_to_the_last_frame_is_not_taken_for_a_torn_write() {
    let sample = Sample::new();
    let frame = sample.frames[sample.last()].last().unwrap().clone();
    let mut told = String::new();
    let mut tell = |what: &str, harm: fn(&mut [u8])| {
        let mut bytes = sample.segments[sample.last()].1.clone();
        harm(&mut bytes[frame.clone()]);
        let outcome = sample.with(sample.last(), &bytes, || sample.outcome());
        let outcome =
            outcome.map_or_else(|damage| sample.bench.text(&damage), |(left, _)| format!("torn: {left} records"));
        told.push_str(&format!("{what}: {outcome}\n"));
    };
    tell("a bit of the magic", |frame| frame[2] ^= 4);
    tell("a bit of the length", |frame| frame[6] ^= 1);
    tell("a bit of the checksum", |frame| frame[9] ^= 128);
    tell("a bit of a record", |frame| frame[90] ^= 16);
    tell("other words in a record", |frame| frame[90..95].copy_from_slice(b"other"));
    tell("no end", |frame| frame[100..].fill(0));
    tell("nothing that tells what it was", |frame| frame[..12].fill(7));
    expect![[r#"
        a bit of the magic: journal/00000000000000000013.journal is damaged at offset 530: a bit at offset 532 has flipped in the last frame, which was written as a whole
        a bit of the length: journal/00000000000000000013.journal is damaged at offset 530: a bit at offset 536 has flipped in the last frame, which was written as a whole
        a bit of the checksum: journal/00000000000000000013.journal is damaged at offset 530: a bit at offset 539 has flipped in the last frame, which was written as a whole
        a bit of a record: journal/00000000000000000013.journal is damaged at offset 530: a bit at offset 620 has flipped in the last frame, which was written as a whole
        other words in a record: journal/00000000000000000013.journal is damaged at offset 530: the checksum of the last frame does not match, and it was written as a whole
        no end: torn: 15 records
        nothing that tells what it was: torn: 15 records
    "#]]
    .assert_eq(&told);
}

/// Whatever sectors of it have arrived.
#[test]
fn a_frame_of_which_sectors_are_missing_is_torn() {
    const SECTOR: usize = 512;
    let mut bench = JournalFixture::new();
    bench.options.segment_bytes = 8192;
    let (_, mut journal) = bench.open();
    append_durable(&mut journal, 1, "kept");
    append_durable(&mut journal, 2, &format!("{} end", "order 2, \0\0\0\0".repeat(250)));
    journal.close().unwrap();
    fs::remove_file(bench.journal_folder().join(head::FILE)).unwrap();
    let path = bench.segments().remove(0);
    let (good, frame) = (fs::read(&path).unwrap(), frames_of(&path).remove(1));
    let parts: Vec<_> = (frame.start / SECTOR..frame.end.div_ceil(SECTOR))
        .map(|sector| frame.start.max(sector * SECTOR)..frame.end.min((sector + 1) * SECTOR))
        .collect();
    assert_eq!(parts.len(), 7);
    for missing in 1..1_usize << parts.len() {
        let mut bytes = good.clone();
        let lost = parts.iter().enumerate().filter(|(index, _)| missing >> index & 1 == 1);
        lost.for_each(|(_, part)| bytes[part.clone()].fill(0));
        fs::write(&path, bytes).unwrap();
        let report = bench.report();
        assert_eq!((report.damage, report.good.last_sequence), (None, 1), "{missing:b}");
    }
}

#[test]
fn every_truncation_gives_whole_frames_or_a_refusal() {
    let sample = Sample::new();
    for (segment, (path, good)) in sample.segments.iter().enumerate() {
        for length in 0..good.len() {
            let outcome = sample.with(segment, &good[..length], || sample.outcome());
            let sealed = segment != sample.last();
            match outcome {
                Err(damage) if sealed => assert!(length < sample.used(segment) && damage.file == *path),
                Err(_) => assert!(length < segment::HEADER_BYTES),
                Ok((16, None)) if length >= sample.used(segment) => {}
                Ok((records, torn)) => {
                    assert_eq!((sealed, records), (false, sample.whole_frames(length)), "{length}");
                    assert_eq!(torn.is_some(), !is_frame_border(&sample, length), "{length}");
                }
            }
        }
    }
}

fn is_frame_border(sample: &Sample, offset: usize) -> bool {
    offset == segment::HEADER_BYTES || sample.frames[sample.last()].iter().any(|frame| frame.end == offset)
}

#[test]
fn every_zeroed_tail_gives_whole_frames_or_a_refusal() {
    let sample = Sample::new();
    for (segment, (path, good)) in sample.segments.iter().enumerate() {
        for from in segment::HEADER_BYTES..good.len() {
            let mut bytes = good.clone();
            bytes[from..].fill(0);
            match sample.with(segment, &bytes, || sample.outcome()) {
                Err(damage) => assert!(segment != sample.last() && damage.file == *path, "{from}: {damage}"),
                Ok((16, _)) => {}
                Ok((records, _)) => {
                    assert_eq!((segment, records), (sample.last(), sample.whole_frames(from)), "{from}");
                }
            }
        }
    }
}

#[test]
fn after_every_truncation_the_journal_continues_where_it_was_cut() {
    for length in (segment::HEADER_BYTES..1024).step_by(7) {
        let sample = Sample::new();
        let (path, good) = &sample.segments[sample.last()];
        fs::write(path, &good[..length]).unwrap();
        let (found, mut journal) = sample.bench.open();
        let kept = sample.whole_frames(length);
        assert_eq!((found.records, found.last_sequence), (kept as u64, kept as u64), "{length}");
        append_durable(&mut journal, 100, "life goes on");
        journal.close().unwrap();
        let expected = [&sample.lines[..kept], &[line(100, "life goes on")]].concat();
        assert_eq!(sample.bench.read(), expected, "{length}");
        let report = sample.bench.report();
        assert_eq!((report.damage, report.good.torn), (None, None), "{length}");
    }
}

#[test]
fn a_torn_end_is_cut_for_good() {
    let sample = Sample::new();
    let (path, good) = &sample.segments[sample.last()];
    let torn_frame = sample.frames[sample.last()].last().unwrap();
    let mut bytes = good.clone();
    bytes[torn_frame.end - 20..].fill(0);
    fs::write(path, bytes).unwrap();
    let (found, journal) = sample.bench.open();
    let torn = found.torn.unwrap();
    let size = torn_frame.len() as u64 - 20;
    assert_eq!((torn.file, torn.offset, torn.bytes), (path.clone(), torn_frame.start as u64, size));
    drop(journal);
    let (found, _journal) = sample.bench.open();
    assert_eq!((found.records, found.torn), (15, None));
    assert!(fs::read(path).unwrap()[torn_frame.start..].iter().all(|byte| *byte == 0));
}

#[test]
fn stale_bytes_behind_the_end_are_never_read() {
    let sample = Sample::new();
    let end = sample.used(sample.last());
    let good = &sample.segments[sample.last()].1;
    let older = &sample.segments[0].1;
    let own = &good[sample.frames[sample.last()].last().unwrap().clone()];
    let other_journal = Sample::new();
    let tails = [&older[end..], &older[sample.frames[0][0].clone()], own, &other_journal.segments[0].1[end..]];
    for stale in tails {
        let mut bytes = good.clone();
        let room = bytes.len() - end;
        let length = stale.len().min(room);
        bytes[end..end + length].copy_from_slice(&stale[..length]);
        match sample.with(sample.last(), &bytes, || sample.outcome()) {
            Ok((records, torn)) => assert_eq!((records, torn.map(|torn| torn.offset)), (16, Some(end as u64))),
            // A whole frame of another place is none that a crash has torn.
            Err(damage) => assert_eq!(damage.offset, end as u64),
        }
    }
}

#[test]
fn two_broken_frames_at_the_end_are_more_than_a_crash_can_leave() {
    let sample = Sample::new();
    let frames = &sample.frames[sample.last()];
    let [before, last] = [&frames[frames.len() - 2], &frames[frames.len() - 1]];
    for (at, also_at) in before.clone().zip(last.clone()) {
        let mut bytes = sample.segments[sample.last()].1.clone();
        bytes[at] ^= 1;
        bytes[also_at] ^= 1;
        match sample.with(sample.last(), &bytes, || sample.outcome()) {
            Err(damage) => assert_eq!(damage.offset, before.start as u64, "{at}"),
            // Without any head that is whole, nothing tells one frame from two; then the head file does.
            Ok((14, Some(_))) => assert!(is_in_head(at - before.start), "{at}"),
            Ok(other) => panic!("{at}: {other:?}"),
        }
    }
}

/// Magic, length, count or first sequence: what a frame is recognised by.
fn is_in_head(offset: usize) -> bool {
    offset < 8 || (12..24).contains(&offset)
}

#[test]
fn two_frames_that_changed_places_are_refused() {
    let sample = Sample::new();
    let (first, second) = (sample.frames[0][0].clone(), sample.frames[0][1].clone());
    let good = &sample.segments[0].1;
    let swapped = [&good[..first.start], &good[second.clone()], &good[first], &good[second.end..]].concat();
    assert!(sample.with(0, &swapped, || sample.outcome()).is_err());
}

#[test]
fn missing_swapped_and_foreign_segments_are_refused_by_name() {
    let mut told = String::new();
    let mut tell = |what: &str, harm: fn(&Sample)| {
        let sample = Sample::new();
        harm(&sample);
        let verified = sample.bench.text(&sample.outcome().unwrap_err());
        let opened = sample.bench.text(&sample.bench.try_open().err().unwrap());
        assert_eq!(opened, verified);
        told.push_str(&format!("{what}:\n    {verified}\n"));
    };
    tell("first missing", |sample| fs::remove_file(&sample.segments[0].0).unwrap());
    tell("second missing", |sample| fs::remove_file(&sample.segments[1].0).unwrap());
    tell("swapped", |sample| {
        fs::write(&sample.segments[0].0, &sample.segments[1].1).unwrap();
        fs::write(&sample.segments[1].0, &sample.segments[0].1).unwrap();
    });
    tell("short", |sample| fs::write(&sample.segments[1].0, b"hello").unwrap());
    tell("no segment", |sample| fs::write(&sample.segments[1].0, [7; 1024]).unwrap());
    tell("foreign", |sample| change_header(sample, 1, |header| header.instance.0 = [7; 16]));
    tell("forged link", |sample| change_header(sample, 1, |header| header.previous.0 = [7; 32]));
    tell("forged size", |sample| change_header(sample, 1, |header| header.capacity = 512));
    expect![[r#"
        first missing:
            journal/00000000000000000007.journal is damaged at offset 0: it is segment 2, but segment 1 is missing before it
        second missing:
            journal/00000000000000000013.journal is damaged at offset 0: it is segment 3, but segment 2 is missing before it
        swapped:
            journal/00000000000000000001.journal is damaged at offset 0: the file is named for another sequence than its header, 7
        short:
            journal/00000000000000000007.journal is damaged at offset 0: it is shorter than a segment header
        no segment:
            journal/00000000000000000007.journal is damaged at offset 0: it does not begin like a journal segment
        foreign:
            journal/00000000000000000007.journal is damaged at offset 0: it belongs to the journal of instance 07070707070707070707070707070707, not 7468652074657374206a6f75726e616c
        forged link:
            journal/00000000000000000001.journal is damaged at offset 926: blank where a block is expected, and the next segment continues a frame that is not here
        forged size:
            journal/00000000000000000007.journal is damaged at offset 128: the checksum does not match, and the next segment continues a frame that is not here
    "#]].assert_eq(&told);
}

/// As a forger would: with a right checksum.
fn change_header(sample: &Sample, segment: usize, change: fn(&mut segment::SegmentHeader)) {
    let (path, good) = &sample.segments[segment];
    let mut header = segment::Segment::open(path.clone()).unwrap().0.header;
    change(&mut header);
    fs::write(path, [header.encode().as_slice(), &good[segment::HEADER_BYTES..]].concat()).unwrap();
}

#[test]
fn the_journal_of_another_instance_is_refused() {
    let mut sample = Sample::new();
    sample.bench.options.instance = InstanceId([1; 16]);
    let refused = sample.bench.try_open().err().unwrap();
    expect!["journal/00000000000000000001.journal is damaged at offset 0: it belongs to the journal of instance 7468652074657374206a6f75726e616c, not 01010101010101010101010101010101"].assert_eq(&sample.bench.text(&refused));
    assert_eq!(instance_of(&sample.bench.journal_folder()).unwrap(), Some(INSTANCE));
}
