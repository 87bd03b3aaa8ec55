//! Rules of `read`: entries that the leader of the log did not write.

use storage::journal::{ChainAnchor, ChainHash, InstanceId, SealedFrame};
use storage::replication::{
    CandidateId, DropReason, EntryFault, Epoch, LogEntry, LogError, LogEvent, LogPayload, LogPosition,
};

use super::stories::{accepted, ensure, expect, fenced, journal, leader, read_all, read_until_fault, start, successor};
use crate::lab::{LogLab, Rule, Verdict};
use crate::sample_frames::{FORK_AT, INSTANCE, OTHER_INSTANCE, forked_frames, frames};

pub(super) const RULES: &[Rule] = &[
    Rule { name: "bytes of another program are named", check: foreign_bytes },
    Rule { name: "an entry of another journal is named", check: foreign_journal },
    Rule { name: "a frame of another history is named", check: fork },
    Rule { name: "a frame of an older epoch behind a newer record is dropped", check: old_epoch },
    Rule { name: "a frame of an epoch that no record begins is named", check: unknown_epoch },
    Rule { name: "a frame that stands twice is read once", check: repeated },
    Rule { name: "a record of a leader with another history is named", check: other_history },
    Rule { name: "a second leader of one epoch is named", check: second_leader },
    Rule { name: "a leader of an epoch that is over is named", check: backwards },
    Rule { name: "a mark at another place of the journal is named", check: misplaced_mark },
    Rule { name: "a mark of another leader is named", check: foreign_mark },
];

fn frame_entry(epoch: u64, frame: &SealedFrame) -> Vec<u8> {
    LogEntry { instance: INSTANCE, epoch: Epoch(epoch), payload: LogPayload::Frame(frame.clone()) }.encode()
}

fn epoch_record(instance: InstanceId, epoch: u64, after: ChainAnchor) -> Vec<u8> {
    let payload = LogPayload::EpochRecord { candidate: CandidateId([0xee; 16]), after };
    LogEntry { instance, epoch: Epoch(epoch), payload }.encode()
}

/// The end of the first `count` frames.
fn end_of(lab: &mut dyn LogLab) -> Result<ChainAnchor, String> {
    Ok(read_all(&mut lab.connect())?.1.chain().head())
}

/// The entry that was stored last is named, and everything before it is delivered.
fn expect_fault(lab: &mut dyn LogLab, bad: u64, is_named: fn(&EntryFault) -> bool) -> Verdict {
    let (events, cursor, error) = read_until_fault(&mut lab.connect());
    expect("entries before it", &(events.len() as u64), &(bad - 1))?;
    expect("position of the cursor", &cursor.position(), &LogPosition(bad - 1))?;
    let is_named = matches!(&error, Some(LogError::Bad { position, fault }) if position.0 == bad && is_named(fault));
    ensure(is_named, "the entry is named", &error)
}

fn foreign_bytes(lab: &mut dyn LogLab) -> Verdict {
    let mut leader = leader(lab, 2)?;
    lab.store_raw(b"hello");
    fenced("append behind it", &leader.log.append(&frames()[2]))?;
    expect_fault(lab, 4, |fault| matches!(fault, EntryFault::Damaged { .. }))
}

fn foreign_journal(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    let after = end_of(lab)?;
    lab.store_raw(&epoch_record(OTHER_INSTANCE, 2, after));
    expect_fault(lab, 4, |fault| matches!(fault, EntryFault::OtherInstance { found: OTHER_INSTANCE, .. }))
}

fn fork(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, FORK_AT + 1)?;
    lab.store_raw(&frame_entry(1, &forked_frames()[FORK_AT + 1]));
    expect_fault(lab, FORK_AT as u64 + 3, |fault| matches!(fault, EntryFault::Chain(_)))
}

fn old_epoch(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    successor(lab, 2)?;
    lab.store_raw(&frame_entry(1, &frames()[2]));
    let (events, _) = read_all(&mut lab.connect())?;
    let dropped = LogEvent::Dropped { position: LogPosition(5), epoch: Epoch(1), reason: DropReason::OldEpoch };
    expect("the stale frame", &events.last(), &Some(&dropped))?;
    let mut third = successor(lab, 3)?;
    accepted("the same frame in the right epoch", &third.log.append(&frames()[2]), 7)?;
    ensure(journal(lab)? == frames()[..3], "the journal has each frame once", &events.len())
}

fn backwards(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    successor(lab, 2)?;
    let after = end_of(lab)?;
    lab.store_raw(&epoch_record(INSTANCE, 1, after));
    expect_fault(lab, 5, |fault| matches!(fault, EntryFault::EpochBackwards { .. }))
}

fn unknown_epoch(lab: &mut dyn LogLab) -> Verdict {
    lab.store_raw(&frame_entry(0, &frames()[0]));
    expect_fault(lab, 1, |fault| matches!(fault, EntryFault::UnknownEpoch { .. }))?;
    let mut client = lab.connect();
    let outcome = client.log.lead(Epoch(1), &start());
    fenced("lead of a log that has a foreign entry", &outcome)
}

fn repeated(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    lab.store_raw(&frame_entry(1, &frames()[1]));
    let (events, cursor) = read_all(&mut lab.connect())?;
    let dropped = LogEvent::Dropped { position: LogPosition(4), epoch: Epoch(1), reason: DropReason::Repeated };
    expect("the second copy", &events.last(), &Some(&dropped))?;
    expect("position of the cursor", &cursor.position(), &LogPosition(4))?;
    ensure(journal(lab)? == frames()[..2], "the journal has each frame once", &events.len())
}

fn other_history(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    let after = ChainAnchor { hash: ChainHash([9; 32]), ..end_of(lab)? };
    lab.store_raw(&epoch_record(INSTANCE, 2, after));
    expect_fault(lab, 4, |fault| matches!(fault, EntryFault::OtherHistory { .. }))
}

fn second_leader(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    let after = end_of(lab)?;
    lab.store_raw(&epoch_record(INSTANCE, 1, after));
    expect_fault(lab, 4, |fault| matches!(fault, EntryFault::TwoLeaders { .. }))
}

fn mark(epoch: u64, after: ChainAnchor) -> Vec<u8> {
    let payload = LogPayload::Mark { leader: Some(CandidateId([0xee; 16])), after };
    LogEntry { instance: INSTANCE, epoch: Epoch(epoch), payload }.encode()
}

fn misplaced_mark(lab: &mut dyn LogLab) -> Verdict {
    lab.store_raw(&epoch_record(INSTANCE, 1, ChainAnchor::START));
    lab.store_raw(&mark(1, ChainAnchor { hash: ChainHash([9; 32]), ..ChainAnchor::START }));
    expect_fault(lab, 2, |fault| matches!(fault, EntryFault::OtherHistory { .. }))
}

fn foreign_mark(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, 2)?;
    let after = end_of(lab)?;
    lab.store_raw(&mark(1, after));
    expect_fault(lab, 4, |fault| matches!(fault, EntryFault::TwoLeaders { .. }))
}
