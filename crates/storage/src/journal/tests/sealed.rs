//! Sealed frames: what one machine wrote, another can check and write again.

use super::*;

const FRAMES: u64 = 30;

/// A journal of several segments, and its frames.
fn journal_and_frames() -> (JournalFixture, Vec<SealedFrame>) {
    let bench = JournalFixture::new();
    let (_, mut journal) = bench.open();
    (1..=FRAMES).for_each(|sequence| append_durable(&mut journal, sequence * 10, &format!("order {sequence}")));
    journal.close().unwrap();
    let frames = frames_of(&bench.journal_folder(), 0);
    (bench, frames)
}

fn frames_of(folder: &Path, from: u64) -> Vec<SealedFrame> {
    let mut reader = JournalReader::open(folder, from).unwrap();
    std::iter::from_fn(|| reader.next_sealed().unwrap()).collect()
}

fn chain_of(frames: &[SealedFrame]) -> FrameChain {
    frames.iter().fold(FrameChain::start(INSTANCE), |chain, frame| chain.with(frame).unwrap())
}

#[test]
fn sealed_frames_are_one_chain_that_ends_at_the_head_of_the_journal() {
    let (bench, frames) = journal_and_frames();
    let found = bench.report().good;
    assert!(found.segments > 3);
    assert_eq!(frames.iter().filter(|frame| frame.segment.is_some()).count() as u64, found.segments);
    assert_eq!(chain_of(&frames).head(), ChainAnchor { sequence: FRAMES * 10, hash: found.head });
}

#[test]
fn segments_written_from_sealed_frames_are_the_same_files() {
    let (bench, frames) = journal_and_frames();
    let mut files: Vec<Vec<u8>> = Vec::new();
    for frame in &frames {
        files.extend(frame.segment.map(|header| header.to_vec()));
        files.last_mut().unwrap().extend_from_slice(&frame.bytes);
    }
    for (path, mut written) in bench.segments().into_iter().zip(files) {
        let found = fs::read(path).unwrap();
        written.resize(found.len(), 0);
        assert!(found == written);
    }
}

#[test]
fn a_reader_may_begin_at_any_segment() {
    let (bench, frames) = journal_and_frames();
    let late = frames_of(&bench.journal_folder(), FRAMES * 10);
    assert!(late.len() < frames.len() && late[0].segment.is_some());
    assert_eq!(late, frames[frames.len() - late.len()..]);
}

#[test]
fn every_flipped_bit_of_a_frame_and_of_a_header_is_refused() {
    let (_, frames) = journal_and_frames();
    let before = chain_of(&frames[..1]);
    for bit in 0..frames[1].bytes.len() * 8 {
        let mut frame = frames[1].clone();
        frame.bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(before.with(&frame).is_err(), "{bit}");
    }
    for bit in 0..segment::HEADER_BYTES * 8 {
        let mut frame = frames[0].clone();
        frame.segment.as_mut().unwrap()[bit / 8] ^= 1 << (bit % 8);
        assert!(FrameChain::start(INSTANCE).with(&frame).is_err(), "{bit}");
    }
}

#[test]
fn a_missing_a_repeated_and_a_foreign_frame_are_told_apart() {
    let (_, frames) = journal_and_frames();
    let is_not_continued =
        |chain: &FrameChain, frame| matches!(chain.with(frame), Err(ChainError::NotContinued { .. }));
    for (at, frame) in frames.iter().enumerate().skip(1) {
        assert!(is_not_continued(&chain_of(&frames[..at - 1]), frame) || frames[at - 1].segment.is_some(), "{at}");
        assert!(chain_of(&frames[..at - 1]).with(frame).is_err(), "{at}");
        assert!(chain_of(&frames[..=at]).with(frame).is_err(), "{at}");
    }
    let other = FrameChain::start(InstanceId([9; 16])).with(&frames[0]);
    assert!(matches!(other, Err(ChainError::OtherInstance { found: INSTANCE, .. })));
}

#[test]
fn a_cut_and_a_lengthened_frame_are_refused() {
    let (_, frames) = journal_and_frames();
    let before = chain_of(&frames[..1]);
    let whole = &frames[1].bytes;
    for length in 0..whole.len() {
        let frame = SealedFrame { segment: None, bytes: whole[..length].to_vec() };
        assert!(matches!(before.with(&frame), Err(ChainError::Damaged { .. })), "{length}");
    }
    let longer = SealedFrame { segment: None, bytes: [whole.as_slice(), &[0]].concat() };
    assert!(before.with(&longer).is_err());
}
