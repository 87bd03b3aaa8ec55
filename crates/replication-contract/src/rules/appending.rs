//! Rules of `append`, and of leaders that follow each other.

use storage::replication::{Epoch, LogEvent, LogOutcome, LogPosition, LogRefusal, StoreReply};

use super::stories::{accepted, ensure, expect, expect_journal, fenced, leader, read_all, refused, successor, unknown};
use crate::faults::StoreFault;
use crate::lab::{LogLab, Rule, Verdict};
use crate::sample_frames::{FORK_AT, forked_frames, frames};

pub(super) const RULES: &[Rule] = &[
    Rule { name: "only a leader appends", check: leader_only },
    Rule { name: "frames are read byte for byte, with position and epoch", check: byte_for_byte },
    Rule { name: "a frame that does not continue the chain is not sent", check: chain_of_the_leader },
    Rule { name: "a request that arrives twice is stored once", check: twice },
    Rule { name: "a fenced leader appends no more", check: stays_fenced },
    Rule { name: "a stale leader puts nothing behind the record of a new one", check: nothing_behind },
    Rule { name: "a frame before the record of a new leader is accepted, however late the answer", check: late_answer },
    Rule { name: "an end that is not named fences", check: unnamed_end },
    Rule { name: "a frame that was stored at another position fences", check: other_position },
];

fn leader_only(lab: &mut dyn LogLab) -> Verdict {
    let mut client = lab.connect();
    refused("append without lead", &client.log.append(&frames()[0]), LogRefusal::NotLeading)?;
    expect("entries", &read_all(&mut client)?.0.len(), &0)
}

fn byte_for_byte(lab: &mut dyn LogLab) -> Verdict {
    leader(lab, frames().len())?;
    let (events, cursor) = read_all(&mut lab.connect())?;
    for (event, (frame, position)) in events.iter().skip(1).zip(frames().iter().zip(2..)) {
        let expected = LogEvent::Frame { position: LogPosition(position), epoch: Epoch(1), frame: frame.clone() };
        expect("entry", event, &expected)?;
    }
    let last = frames().last().map(storage::journal::SealedFrame::hash);
    expect("hash of the last frame", &Some(cursor.chain().head().hash), &last)?;
    expect_journal(lab, frames().len())
}

fn chain_of_the_leader(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, FORK_AT + 1)?;
    let mut damaged = frames()[FORK_AT + 1].clone();
    damaged.bytes[20] ^= 1;
    for wrong in [&frames()[FORK_AT], &frames()[FORK_AT + 2], &forked_frames()[FORK_AT + 1], &damaged] {
        let outcome = client.log.append(wrong);
        let is_refused = matches!(&outcome, LogOutcome::Refused { reason: LogRefusal::WrongFrame { .. } });
        ensure(is_refused, "append of a wrong frame", &outcome)?;
    }
    accepted("append of the right frame", &client.log.append(&frames()[FORK_AT + 1]), FORK_AT as u64 + 3)?;
    expect_journal(lab, FORK_AT + 2)
}

fn twice(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::Twice);
    accepted("append that arrives twice", &client.log.append(&frames()[1]), 3)?;
    accepted("the next append", &client.log.append(&frames()[2]), 4)?;
    expect_journal(lab, 3)
}

fn stays_fenced(lab: &mut dyn LogLab) -> Verdict {
    let mut old = leader(lab, 2)?;
    successor(lab, 2)?;
    fenced("append of the old leader", &old.log.append(&frames()[2]))?;
    for _ in 0..3 {
        refused("further append", &old.log.append(&frames()[2]), LogRefusal::NotLeading)?;
        refused("settle after the fence", &old.log.settle(), LogRefusal::NothingInFlight)?;
    }
    expect_journal(lab, 2)
}

/// The trap of a pipeline: the first frame is still under way when the new leader takes its position. A second frame that expects
/// the first one before it would find the position that it expects.
fn nothing_behind(lab: &mut dyn LogLab) -> Verdict {
    let mut old = leader(lab, 2)?;
    old.faults.on_store(StoreFault::Delayed);
    unknown("append that is under way", &old.log.append(&frames()[2]))?;
    successor(lab, 2)?;
    refused("second frame in flight", &old.log.append(&frames()[3]), LogRefusal::Unsettled)?;
    fenced("settled append", &old.log.settle())?;
    old.faults.release();
    refused("append after the fence", &old.log.append(&frames()[3]), LogRefusal::NotLeading)?;
    read_all(&mut old)?;
    expect_journal(lab, 2)
}

fn late_answer(lab: &mut dyn LogLab) -> Verdict {
    let mut old = leader(lab, 2)?;
    old.faults.on_store(StoreFault::LOST_ANSWER);
    unknown("append whose answer is lost", &old.log.append(&frames()[2]))?;
    let mut new = successor(lab, 2)?;
    accepted("settled append", &old.log.settle(), 4)?;
    fenced("the next append of the old leader", &old.log.append(&frames()[3]))?;
    accepted("append of the new leader", &new.log.append(&frames()[3]), 6)?;
    expect_journal(lab, 4)
}

fn unnamed_end(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::NotDelivered(StoreReply::OtherEnd { end: None }));
    fenced("append", &client.log.append(&frames()[1]))
}

fn other_position(lab: &mut dyn LogLab) -> Verdict {
    let mut client = leader(lab, 1)?;
    client.faults.on_store(StoreFault::NotDelivered(StoreReply::Stored { position: LogPosition(7) }));
    fenced("append", &client.log.append(&frames()[1]))?;
    refused("further append", &client.log.append(&frames()[1]), LogRefusal::NotLeading)
}
